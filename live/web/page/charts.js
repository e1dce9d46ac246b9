/** The charts of one board, each with a title, an explanation, the drawing, and the very figures as a table behind it. */

import { curveData, curveOptions, uPlot, VALUES } from "../drawing/curves.js";
import { element, named, scrollBox, setLine, tableOf } from "../drawing/elements.js";
import { explainButton } from "./explanations.js";
import { figureOf, hasRating } from "../client/figures.js";
import { moverOf } from "../client/games.js";
import { clockText, moveText, scoreText, whiteShare } from "../drawing/number_format.js";
import { countedMoves, FIGURE_NAMES, sideText } from "./score_words.js";

const AXIS_FONT = "11px system-ui, sans-serif";

/** A figure of the page under its title, with what explains it. */
export function figureBox(className, title, explain, ...children) {
  const caption = element("figcaption", "", "", element("span", "", title), ...(explain ? [explainButton(explain)] : []));
  return element("figure", `chart ${className}`, "", caption, ...children);
}

/**
 * `kind` says what is drawn:
 * - `series(game)` answers `{data, notes}`: columns for uPlot (x first), null when nothing is there;
 * - `options(color)` the rest of uPlot's options, for colours by name; `marked` draws over it;
 * - `table(game)` answers `{head, rows}`;
 * - `focus(side)` and `nearest(plot, top)`, where one side can be shown alone;
 * - `empty` what stands there instead of an empty drawing.
 */
export class Chart {
  /** `picked` is given the x that is clicked, `pointed` the one pointed at, or null. */
  constructor(kind, picked, pointed = () => {}) {
    this._kind = kind;
    this._picked = picked;
    this._pointed = pointed;
    this._plot = null;
    this._game = null;
    this._at = null;
    /** Whose band is shown alone, for now and until further notice; null: both. */
    this._focused = null;
    this._pinned = null;
    this._box = element("div", "plot");
    this._note = element("p", "chart-note");
    this._body = scrollBox();
    this._table = element("details", "behind", "", element("summary", "", "As a table"), this._body);
    this._table.addEventListener("toggle", () => this._fillTable());
    this.node = figureBox(kind.name, kind.title, kind.explain, this._box, this._note, this._table);
    new ResizeObserver(() => this._fit()).observe(this._box);
  }

  /** `at` is the x of what is looked at, or null; another `key` asks for a drawing anew. */
  draw(game, at, key = "") {
    this._at = at;
    const same = game === this._game && key === this._key;
    this._key = key;
    if (same) {
      this._plot?.redraw(false, false);
      return;
    }
    this._game = game;
    const { data, note } = this._kind.series(game);
    setLine(this._note, data === null ? this._kind.empty : note ?? "");
    this._box.hidden = data === null;
    this._table.hidden = data === null;
    if (data === null) this._drop();
    else if (this._plot === null) this._plot = this._make(data);
    else this._plot.setData(data);
    if (data !== null) named(this._box, this._kind.says(game), "img");
    this._fillTable();
  }

  restyle() {
    const data = this._plot?.data;
    if (!data) return;
    this._drop();
    this._plot = this._make(data);
  }

  _drop() {
    this._plot?.destroy();
    this._plot = null;
  }

  _make(data) {
    // What a name stands for in the end, as a canvas understands it: forced colours are words.
    const color = (name) => {
      this._box.style.color = `var(${name})`;
      return getComputedStyle(this._box).color;
    };
    const { axes, series, marked = () => {}, ...rest } = this._kind.options(color, () => this._game);
    const mark = color("--mark");
    const axis = {
      stroke: color("--quiet"),
      font: AXIS_FONT,
      grid: { stroke: color("--rule"), width: 1 },
      ticks: { show: false },
    };
    const plot = new uPlot(
      {
        width: this._box.clientWidth || 400,
        height: this._kind.height,
        padding: [8, 10, 0, 0],
        legend: { show: false },
        // A click is a click: without a drag to compare with, the library would swallow it.
        cursor: { drag: { x: false, y: false, click: () => {} }, points: { show: false }, y: false },
        ...rest,
        axes: axes.map((each) => ({ ...axis, ...each })),
        series,
        hooks: { draw: [(drawn) => this._mark(drawn, mark), marked] },
      },
      data,
      this._box,
    );
    plot.over.addEventListener("click", ({ offsetX }) => {
      const x = plot.data[0][plot.posToIdx(offsetX)];
      if (x !== undefined) this._picked?.(x);
    });
    plot.over.addEventListener("mousemove", ({ offsetX }) => this._pointed(plot.data[0][plot.posToIdx(offsetX)] ?? null));
    plot.over.addEventListener("mouseleave", () => this._pointed(null));
    if (this._kind.nearest) {
      plot.over.addEventListener("mousemove", ({ offsetY }) => this.hover(this._kind.nearest(plot, offsetY)));
      plot.over.addEventListener("mouseleave", () => this.hover(null));
    }
    return plot;
  }

  /** One side's band alone while it is pointed at; null: as it was. */
  hover(side) {
    this._focus(side ?? this._pinned);
  }

  /** One side's band alone until further notice; null: both. */
  pin(side) {
    this._pinned = side;
    this._focus(side);
  }

  _focus(side) {
    if (side === this._focused) return;
    this._focused = side;
    this._kind.focus?.(side);
    this._plot?.redraw(false, false);
  }

  /** A line where the board stands now. */
  _mark(plot, color) {
    if (this._at === null || plot.data[0].length === 0) return;
    const x = plot.valToPos(this._at, "x", true);
    const { left, top, width, height } = plot.bbox;
    if (x < left || x > left + width) return;
    const { ctx } = plot;
    ctx.save();
    ctx.strokeStyle = color;
    ctx.lineWidth = devicePixelRatio;
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(x, top + height);
    ctx.stroke();
    ctx.restore();
  }

  _fit() {
    const width = this._box.clientWidth;
    if (this._plot && width && width !== this._plot.width) {
      this._plot.setSize({ width, height: this._kind.height });
    }
  }

  /** The table is made only while somebody looks at it. */
  _fillTable() {
    if (!this._table.open || this._game === null) return;
    const { head, rows } = this._kind.table(this._game);
    const shown = (text) => (text === null || text === undefined ? "\u2013" : String(text));
    const body = rows.map((row) => element("tr", "", "", ...row.map((text) => element("td", "", shown(text)))));
    this._body.replaceChildren(tableOf(this._kind.title, head, element("tbody", "", "", ...body)));
  }
}

// --- what the charts of plies show -----------------------------------------------------------------

const line = (stroke, more = {}) => ({ stroke, width: 2, spanGaps: true, points: { show: false }, ...more });

const moveNumber = (ply, startFen) => moveText(ply, "", startFen).replace(/\W+$/, "");

/** Labels of plies on an axis: the number of the move, where White moves. */
function plyAxis(current) {
  return {
    size: 22,
    incrs: [2, 4, 10, 20, 40, 100],
    values: (plot, splits) => splits.map((ply) => (ply > 0 ? moveNumber(ply, current().start_fen) : "")),
  };
}

const FAMILY = "system-ui, sans-serif";

const plies = (game) => [0, ...game.plies.map(({ ply }) => ply)];

/** Scores as chances, so that 8 pawns do not hide what 0.8 decided. */
const SCORE_TICKS = [-800, -300, -100, 0, 100, 300, 800];

export const SCORE = {
  name: "score-chart",
  title: "Score",
  explain: "score",
  height: 150,
  empty: "No position is scored yet.",
  series(game) {
    const scores = [game.start_score_cp, ...game.plies.map(({ score_cp: cp }) => cp)];
    if (scores.every((cp) => cp === null)) return { data: null };
    return { data: [plies(game), scores.map((cp) => (cp === null ? null : whiteShare(cp)))] };
  },
  options(color, current) {
    return {
      scales: { x: { time: false }, y: { range: [0, 1] } },
      axes: [
        plyAxis(current),
        {
          size: 34,
          splits: () => SCORE_TICKS.map(whiteShare),
          values: () => SCORE_TICKS.map((cp) => (cp === 0 ? "0" : `${cp > 0 ? "+" : "\u2212"}${Math.abs(cp) / 100}`)),
        },
      ],
      series: [{}, line(color("--score-line"), { fill: color("--score-fill"), fillTo: 0.5 })],
    };
  },
  says(game) {
    const scored = game.plies.findLast(({ score_cp: cp }) => cp !== null);
    return `Score by move. Now ${scored ? scoreText(scored.score_cp, scored.mate) : "not known"}.`;
  },
  table: (game) => ({
    head: ["Move", "Score", "Depth", "Final"],
    rows: game.plies.map((ply) => [
      moveText(ply.ply, ply.san, game.start_fen),
      scoreText(ply.score_cp, ply.mate) || null,
      ply.depth,
      ply.score_cp === null ? null : ply.final ? "yes" : "no",
    ]),
  }),
};

/** The chart of both curves, by the figure that leads, as it was last told by `lead(basis)`. */
export function curvesChart() {
  let [choice, engineRating] = ["perceived", null];
  // Of the curves as last drawn.
  let game = null;
  // Whose band is shown alone; null: both.
  let alone = null;
  return {
    lead(basis) {
      ({ choice, engineRating } = basis);
    },
    /** Shows the band of one side alone, or of both (null). */
    focus(side) {
      alone = side;
    },
    /** Whose line is nearest to a height over the plot, at the place of the mouse; null without. */
    nearest(plot, top) {
      const { idx } = plot.cursor;
      const far = (side) => {
        const value = plot.data[VALUES[side]][idx] ?? null;
        return value === null ? Infinity : Math.abs(plot.valToPos(value, "y") - top);
      };
      const side = far("white") <= far("black") ? "white" : "black";
      return far(side) === Infinity ? null : side;
    },
    name: "curves-chart",
    title: "Move by move",
    explain: "curves",
    height: 380,
    empty: "The curves begin with the first rated move.",
    series(drawn) {
      game = drawn;
      if (!hasRating(game, choice, engineRating)) return { data: null };
      const leads = choice === "perceived";
      const bands = leads ? "usual for the Elo" : "95 % intervals";
      return {
        data: curveData(game, choice, engineRating),
        note: `${FIGURE_NAMES[choice]}; bands: ${bands}, / White's, \\ Black's${leads ? "; dashed: own Elo" : ""}`,
      };
    },
    options(color) {
      const shown = (side) => alone === null || alone === side;
      const perceived = () => choice === "perceived";
      const sizes = { letters: 12, names: 11, axes: [{ size: 22 }, { size: 40 }] };
      return { padding: [8, 44, 0, 0], ...curveOptions({ color, family: FAMILY, ...sizes, game: () => game, perceived, shown }) };
    },
    says: (game) => `Figures by move. ${sideText(game, "white")}; ${sideText(game, "black")}.`,
    table(game) {
      const whole = (elo) => (elo === null ? null : Math.round(elo));
      const range = (found) => (found === null || found.low === null || found.high === null ? null : `${whole(found.low)}\u2013${whole(found.high)}`);
      const cells = (point) => {
        const figure = figureOf(point, "perceived");
        const other = figureOf(point, "algorithm4", engineRating);
        return [
          point.counted, point.gain_cp, figure && whole(figure.value), range(figure), figure && whole(figure.percentile),
          other && whole(other.value), range(other),
        ];
      };
      const points = [...game.curves.white, ...game.curves.black].sort((a, b) => a.ply - b.ply);
      return {
        head: ["Move", "Player", "Moves counted", "Gain, cp", "Plays like", "Usual", "Percentile", "Algorithm 4", "95 %"],
        rows: points.map((point) => [
          moveText(point.ply, game.plies[point.ply - 1]?.san ?? "", game.start_fen),
          game[moverOf(point.ply, game.start_fen)].name,
          ...cells(point),
        ]),
      };
    },
  };
}

/** Paths of bars that are so wide: of their share of the room, and at most so many pixels. */
const bars = (share, most) => uPlot.paths.bars({ size: [share, most, 1] });

export const COMPLEXITY = {
  name: "complexity-chart",
  title: "Complexity of the positions",
  explain: "complexity",
  height: 130,
  empty: "Known once a position is searched to the end.",
  series(game) {
    const found = [null, ...game.plies.map(({ complexity }) => complexity?.stability_cp ?? null)];
    if (found.every((value) => value === null)) return { data: null };
    const hardest = game.plies
      .filter(({ complexity }) => complexity)
      .reduce((a, b) => (b.complexity.stability_cp > a.complexity.stability_cp ? b : a));
    const { stability_cp: mean, jump_cp: jump, jump_depth: depth } = hardest.complexity;
    const at = depth === null ? "" : ` (largest ${jump} cp, after depth ${depth})`;
    return {
      data: [plies(game), found],
      note: `Hardest: after ${moveText(hardest.ply, hardest.san, game.start_fen)}, ${mean.toFixed(0)} cp from depth to depth${at}`,
    };
  },
  options: (color, current) => ({
    scales: { x: { time: false }, y: { range: (plot, low, high) => [0, Math.max(20, high ?? 0) * 1.05] } },
    axes: [plyAxis(current), { size: 34 }],
    series: [{}, { stroke: color("--accent"), fill: color("--accent"), width: 0, paths: bars(0.8, 20), points: { show: false } }],
  }),
  says: () => "Complexity of the position after each move; the table beside it has the figures.",
  table: (game) => ({
    head: ["Move", "Mean change, cp", "Largest change, cp", "After depth"],
    rows: game.plies.map(({ ply, san, complexity }) => [
      moveText(ply, san, game.start_fen),
      complexity?.stability_cp.toFixed(1),
      complexity?.jump_cp,
      complexity?.jump_depth,
    ]),
  }),
};

export const CLOCKS = {
  name: "clocks-chart",
  title: "Clocks, minutes left",
  explain: "clocks",
  height: 130,
  empty: "The source sends no clocks.",
  series(game) {
    const of = (color) => [
      null,
      ...game.plies.map(({ ply, clock_s: clock }) =>
        clock !== null && moverOf(ply, game.start_fen) === color ? clock / 60 : null,
      ),
    ];
    const data = [plies(game), of("white"), of("black")];
    return { data: [...data[1], ...data[2]].every((value) => value === null) ? null : data };
  },
  options: (color, current) => ({
    scales: { x: { time: false }, y: { range: (plot, low, high) => [0, (high ?? 1) * 1.05] } },
    axes: [plyAxis(current), { size: 34 }],
    series: [{}, line(color("--white-line")), line(color("--black-line"))],
  }),
  says: () => "Time left on both clocks by move; the table beside it has the figures.",
  table: (game) => ({
    head: ["Move", "Clock after it", "Time taken, s"],
    rows: game.plies.map((ply) => [
      moveText(ply.ply, ply.san, game.start_fen),
      clockText(ply.clock_s) || null,
      ply.spent_s,
    ]),
  }),
};

// --- gains at one centipawn, as Ferreira's figures have them (2012, section 4) ----------------------

/** What lies beyond is drawn here, centipawns. */
const MOST_CP = 200;
/** Shares that the axis names. */
const SHARES = [0.05, 0.2, 0.5, 1];

/** Sizes of what a move wins or loses, centipawns, both ends included. */
const SIZES = [[1, 10], [11, 25], [26, 50], [51, 100], [101, 200], [201, Infinity]];

/** The classes that people read gains in, worst first, `{name, from, to}`; only some gains are above 0 (`both`). Pure. */
function gainClasses(both) {
  const size = ([from, to]) => (to === Infinity ? "over 200" : `${from}\u2013${to}`);
  const lost = SIZES.map((each) => ({ name: `lost ${size(each)}`, from: -each[1], to: -each[0] })).reverse();
  const won = SIZES.map((each) => ({ name: `won ${size(each)}`, from: each[0], to: each[1] }));
  return [...lost, { name: "0", from: 0, to: 0 }, ...(both ? won : [])];
}

/** The gains in a player's histogram: those of its curve. */
export const gainsOf = (game, color) => game.curves[color].map((point) => point.gain_cp);

/**
 * What the engine itself gains, in a list; null with same-search gains, where all are 0 by
 * construction. Successive ones are those of moves that were its own first choice (Ferreira 2012,
 * sections 7 and 10 leave that open; Algorithms 3 and 4 take a single peak at 0).
 */
export function measuredGains(kind, games) {
  if (kind !== "successive") return null;
  const own = ({ best, uci, gain_successive_cp: gain }) => best !== null && best === uci && gain !== null;
  return [...games].flatMap(({ plies }) => plies.filter(own).map((ply) => ply.gain_successive_cp));
}

/** Moves by gain, `[[centipawns, moves], …]`, gains ascending. Pure. */
export function countAtOne(gains) {
  const counts = new Map();
  for (const gain of gains) counts.set(gain, (counts.get(gain) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => a - b);
}

const movesOf = (counts) => counts.reduce((sum, [, moves]) => sum + moves, 0);

/** Shares by gain from -200 to `to`, what lies beyond at the ends; null where no move is. Pure. */
export function sharesAtOne(counts, to) {
  const shares = new Array(MOST_CP + to + 1).fill(null);
  const all = movesOf(counts);
  for (const [gain, moves] of counts) {
    const at = Math.max(-MOST_CP, Math.min(to, gain)) + MOST_CP;
    shares[at] = (shares[at] ?? 0) + moves / all;
  }
  return shares;
}

/** `62 % of 40 moves lose nothing`; empty without a move. Pure. */
export function spikeWords(name, counts) {
  const all = movesOf(counts);
  if (all === 0) return "";
  const kept = counts.find(([gain]) => gain === 0)?.[1] ?? 0;
  return `${name}: ${Math.round((100 * kept) / all)} % of ${countedMoves(all)} at 0`;
}

/**
 * The chart: one histogram upwards, one downwards, the engine's own as a thin line. The spike at 0 holds
 * most moves, so heights are square roots of shares: what is rare can still be seen.
 *
 * A {@link Chart} of it is given `{up, down, engine, both}`: two sides as
 * `{name, color, counts}`, with `said` where their spike is no news; the engine's counts or null;
 * and whether gains above 0 there are.
 */
export function gainChart() {
  const spikes = ({ up, down }) =>
    [up, down].map(({ name, counts, said = spikeWords(name, counts) }) => said).filter(Boolean).join("; ");
  const height = (sign) => (share) => (share === null ? null : sign * Math.sqrt(share));
  let shown = null;
  return {
    name: "gain-chart",
    title: "Gains, centipawn by centipawn",
    explain: "histogram",
    height: 200,
    empty: "No move is counted yet.",
    series(subject) {
      shown = subject;
      const { up, down, engine, both } = subject;
      if (movesOf(up.counts) + movesOf(down.counts) === 0) return { data: null };
      const to = both ? MOST_CP : 0;
      const gains = Array.from({ length: MOST_CP + to + 1 }, (_, at) => at - MOST_CP);
      const of = (counts, sign) => sharesAtOne(counts, to).map(height(sign));
      const own = engine ?? [];
      return {
        data: [gains, of(up.counts, 1), of(down.counts, -1), of(own, 1), of(own, -1)],
        note: `${spikes(subject)}. Heights are square roots of shares; ${MOST_CP} and more stand at the end${engine ? "; thin line: the engine's own" : ""}.`,
      };
    },
    options(color) {
      const marks = [...SHARES.map((share) => -share).reverse(), 0, ...SHARES];
      const at = (share) => Math.sign(share) * Math.sqrt(Math.abs(share));
      const filled = (name, paths) => ({ stroke: color(name), fill: color(name), width: 0, fillTo: 0, paths, points: { show: false } });
      const own = filled("--text", bars(0.2, 1));
      return {
        scales: { x: { time: false, range: (plot, low, high) => [low - 2, high + 2] }, y: { range: [-1.04, 1.04] } },
        axes: [
          { size: 22, incrs: [20, 50, 100], values: (plot, splits) => splits.map((gain) => (gain === 0 ? "0" : `${gain < 0 ? "\u2212" : "+"}${Math.abs(gain)}`)) },
          { size: 42, splits: () => marks.map(at), values: () => marks.map((share) => `${Math.round(100 * Math.abs(share))} %`) },
        ],
        series: [{}, ...[shown.up, shown.down].map((each) => filled(each.color, bars(0.9, 8))), own, { ...own }],
      };
    },
    says: (subject) => `Gains. ${spikes(subject)}.`,
    table({ up, down, engine, both }) {
      const sides = [up, down, ...(engine ? [{ name: "Engine", counts: engine }] : [])];
      const row = ({ name, from, to }) => [name, ...sides.map(({ counts }) => {
        const moves = movesOf(counts.filter(([gain]) => gain >= from && gain <= to));
        return moves ? `${moves} (${Math.round((100 * moves) / movesOf(counts))}\u00a0%)` : "";
      })];
      return { head: ["Gain, cp", ...sides.map(({ name }) => name)], rows: gainClasses(both).map(row) };
    },
  };
}
