/** The charts of a board: both curves, and the score. */

import { axisStyle, curveData, curveOptions, Plot } from "../drawing/curves.js";
import { element, named, setLine } from "../drawing/elements.js";
import { explainButton } from "./explanations.js";
import { namedMoves } from "../drawing/costly_moves.js";
import { COLORS } from "../client/games.js";
import { moveText, scoreText, whiteShare } from "../drawing/number_format.js";
import { say, words } from "./language.js";
import { localMove } from "../overlay/language/words.js";
import { sideText } from "./score_words.js";

const FAMILY = "Inter, system-ui, sans-serif";

/**
 * A chart of one `kind`, which has these fields:
 * - `series(game, above)` returns `{data, note}`: columns for uPlot (x first), null if there is nothing to draw;
 * - `options(color, current, above)` returns the other options of uPlot and `marked`, which draws over the chart;
 * - `says(game, above)` returns the chart in words; `empty` is the text in place of an empty chart.
 */
export class Chart {
  /** `picked` is called with the x of a click, `pointed` with the x under the pointer or null. */
  constructor(kind, picked, pointed = () => {}) {
    this._kind = kind;
    this._picked = picked;
    this._pointed = pointed;
    this._game = this._above = this._at = null;
    this._plot = new Plot("plot", () => this._options(), (box) => this._size(box));
    this._box = this._plot.node;
    this._note = element("p", "chart-note");
    const explanation = kind.explain ? [explainButton()] : [];
    const caption = element("figcaption", "", "", element("span", "", kind.title), ...explanation);
    this.node = element("figure", `chart ${kind.name}`, "", caption, this._box, this._note);
  }

  /** Draw a game; `at` is the x of the current position, `above` chooses the figure (see client/figures.js). */
  draw(game, at, above = null) {
    this._at = at;
    if (game === this._game && above === this._above) {
      this._plot.redraw();
      return;
    }
    Object.assign(this, { _game: game, _above: above });
    const { data, note } = this._kind.series(game, above);
    setLine(this._note, data === null ? this._kind.empty : note ?? "");
    this._box.hidden = data === null;
    this._plot.show(data);
    if (data !== null) named(this._box, this._kind.says(game, above), "img");
  }

  restyle() {
    this._plot.remake();
  }

  _options() {
    // Resolve the colour, since a canvas does not understand the keywords of forced colours.
    const color = (name) => {
      this._box.style.color = `var(${name})`;
      return getComputedStyle(this._box).color;
    };
    const { axes, series, marked = () => {}, ...rest } = this._kind.options(color, () => this._game, () => this._above);
    const mark = color("--mark");
    const axis = axisStyle(color, `12px ${FAMILY}`);
    return {
      padding: [8, 10, 0, 0],
      // Without this drag setting uPlot would suppress clicks.
      cursor: { drag: { x: false, y: false, click: () => {} }, points: { show: false }, y: false },
      ...rest,
      axes: axes.map((options) => ({ ...axis, ...options })),
      series,
      hooks: { draw: [(drawn) => this._mark(drawn, mark), marked], ready: [(plot) => this._listen(plot)] },
    };
  }

  _listen(plot) {
    const xAt = ({ offsetX }) => plot.data[0][plot.posToIdx(offsetX)];
    plot.over.addEventListener("click", (event) => {
      if (xAt(event) !== undefined) this._picked(xAt(event));
    });
    plot.over.addEventListener("mousemove", (event) => this._pointed(xAt(event) ?? null));
    plot.over.addEventListener("mouseleave", () => this._pointed(null));
  }

  /** Draw a line at the current position of the board. */
  _mark(plot, color) {
    if (this._at === null || plot.data[0].length === 0) return;
    const x = plot.valToPos(this._at, "x", true);
    const { left, top, width, height } = plot.bbox;
    if (x < left || x > left + width) return;
    const { ctx } = plot;
    ctx.save();
    ctx.strokeStyle = color;
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([]);
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(x, top + height);
    ctx.stroke();
    ctx.restore();
  }

  /** Return the size of the chart, as wide as its box; a narrow one is lower, so that people on phones scroll less. */
  _size({ clientWidth: width }) {
    return { width, height: Math.min(this._kind.height, Math.round(0.44 * width)) };
  }
}

// --- the kinds of charts: by move, on one axis ------------------------------------------------------

/** Smallest length of the axis, moves: without it the scale of a young game would change with every move. */
const LEAST_MOVES = 10;

const movesOf = ({ plies, whole_plies: whole = plies.length }) => Math.max(LEAST_MOVES, Math.ceil(whole / 2));

/** Margins of all charts, equal so that a move is at the same place in each. */
const SIDES = { padding: [8, 44, 0, 0], axis: 40 };

/** Return the axis of moves, labelled with their numbers in the game. */
function moveAxis(current) {
  const number = (move) => moveText(2 * move, "", current().start_fen).replace(/\W+$/, "");
  return { size: 22, incrs: [1, 2, 5, 10, 20, 50, 100], values: (plot, splits) => splits.map((move) => (move > 0 ? number(move) : "")) };
}

/** Ticks of the score's axis, centipawns. The axis shows winning chances, so that large scores do not flatten small ones. */
const SCORE_TICKS = [-800, -300, -100, 0, 100, 300, 800];
/** Number of costly moves of each side that are marked in the score. */
const MARKED = 3;

export const SCORE = {
  name: "score-chart",
  title: say("Score"),
  height: 150,
  empty: say("No position has a score yet."),
  series(game) {
    const scores = [game.start_score_cp, ...game.plies.map(({ score_cp: cp }) => cp)];
    if (scores.every((cp) => cp === null)) return { data: null };
    return { data: [scores.map((_, ply) => ply / 2), scores.map((cp) => (cp === null ? null : whiteShare(cp)))] };
  },
  options(color, current) {
    return {
      padding: SIDES.padding,
      scales: { x: { time: false, range: () => [0, movesOf(current())] }, y: { range: [0, 1] } },
      axes: [
        moveAxis(current),
        {
          size: SIDES.axis,
          splits: () => SCORE_TICKS.map(whiteShare),
          values: () => SCORE_TICKS.map((cp) => (cp === 0 ? "0" : `${cp > 0 ? "+" : "\u2212"}${Math.abs(cp) / 100}`)),
        },
      ],
      series: [
        {},
        { stroke: color("--score-line"), width: 2, spanGaps: true, points: { show: false }, fill: color("--score-fill"), fillTo: 0.5 },
      ],
      marked: (plot) => markCosts(plot, current(), color("--bad")),
    };
  },
  says(game) {
    const scored = game.plies.findLast(({ score_cp: cp }) => cp !== null);
    return `${say("Score")}: ${scored ? scoreText(scored.score_cp, scored.mate) : "\u2013"}`;
  },
};

/** Mark in the score chart the costly moves that are named at the curves. */
function markCosts(plot, game, color) {
  const { ctx } = plot;
  ctx.save();
  ctx.fillStyle = color;
  for (const { ply } of COLORS.flatMap((side) => namedMoves(game, side, MARKED))) {
    const share = plot.data[1][ply] ?? null;
    if (share === null) continue;
    ctx.beginPath();
    ctx.arc(plot.valToPos(ply / 2, "x", true), plot.valToPos(share, "y", true), 4 * devicePixelRatio, 0, 2 * Math.PI);
    ctx.fill();
  }
  ctx.restore();
}

export const CURVES = {
  name: "curves-chart",
  title: say("Playing like"),
  explain: true,
  height: 330,
  empty: say("The curves begin with the fifth rated move."),
  series: (game, above) => ({
    data: curveData(game, above),
    note: above === null ? "" : "95\u00a0%",
  }),
  options: (color, current, above) => ({
    padding: SIDES.padding,
    ...curveOptions({
      color, family: FAMILY, letters: 12, names: 12, thick: 3.4, game: current, above, written: (san) => localMove(san, words.letters),
      axes: [moveAxis(current), { size: SIDES.axis }], usual: say("usual"), moves: () => movesOf(current()),
    }),
  }),
  says: (game, above) => `${say("Playing like")}: ${COLORS.map((color) => sideText(game, color, { above })).join("; ")}.`,
};

/** The second chart of curves: Algorithm 4 as published. */
export const ALGORITHM4 = { ...CURVES, title: say("Algorithm 4, move by move"), explain: false, height: 300 };
