/** The charts of one board: both curves, and the score. */

import { curveData, curveOptions, Plot } from "../drawing/curves.js";
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
 * `kind` says what is drawn:
 * - `series(game, above)` answers `{data, note}`: columns for uPlot (x first), null when nothing is there;
 * - `options(color, current, above)` the rest of uPlot's options, for colours by name; `marked` draws over it;
 * - `says(game, above)` is the same in words;
 * - `empty` what stands there instead of an empty drawing.
 */
export class Chart {
  /** `picked` is given the x that is clicked, `pointed` the one pointed at, or null. */
  constructor(kind, picked, pointed = () => {}) {
    this._kind = kind;
    this._picked = picked;
    this._pointed = pointed;
    this._game = this._above = this._at = null;
    this._plot = new Plot("plot", () => this._options(), (box) => this._size(box));
    this._box = this._plot.node;
    this._note = element("p", "chart-note");
    const why = kind.explain ? [explainButton()] : [];
    const caption = element("figcaption", "", "", element("span", "", say(kind.title)), ...why);
    this.node = element("figure", `chart ${kind.name}`, "", caption, this._box, this._note);
  }

  /** `at` is the x of what is looked at; `above` says which figure is (see client/figures.js). */
  draw(game, at, above = null) {
    this._at = at;
    if (game === this._game && above === this._above) {
      this._plot.redraw();
      return;
    }
    Object.assign(this, { _game: game, _above: above });
    const { data, note } = this._kind.series(game, above);
    setLine(this._note, data === null ? say(this._kind.empty) : note ?? "");
    this._box.hidden = data === null;
    this._plot.show(data);
    if (data !== null) named(this._box, this._kind.says(game, above), "img");
  }

  restyle() {
    this._plot.remake();
  }

  _options() {
    // What a name stands for in the end, as a canvas understands it: forced colours are words.
    const color = (name) => {
      this._box.style.color = `var(${name})`;
      return getComputedStyle(this._box).color;
    };
    const { axes, series, marked = () => {}, ...rest } = this._kind.options(color, () => this._game, () => this._above);
    const mark = color("--mark");
    const axis = {
      stroke: color("--quiet"),
      font: `12px ${FAMILY}`,
      grid: { stroke: color("--rule"), width: 1 },
      ticks: { show: false },
    };
    return {
      padding: [8, 10, 0, 0],
      // A click is a click: without a drag to compare with, the library would swallow it.
      cursor: { drag: { x: false, y: false, click: () => {} }, points: { show: false }, y: false },
      ...rest,
      axes: axes.map((each) => ({ ...axis, ...each })),
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
    ctx.setLineDash([]);
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(x, top + height);
    ctx.stroke();
    ctx.restore();
  }

  /** As wide as there is room; on a phone less high, or one would scroll for ever. */
  _size({ clientWidth: width }) {
    return { width, height: Math.min(this._kind.height, Math.round(0.44 * width)) };
  }
}

// --- what the charts show: move by move, on one axis ------------------------------------------------

/** A chart has room for so many moves at least: a game that begins does not jump about. */
const LEAST_MOVES = 10;

const movesOf = ({ plies, whole_plies: whole = plies.length }) => Math.max(LEAST_MOVES, Math.ceil(whole / 2));

/** Both charts are as wide on either side, so that a move stands at one place. */
const SIDES = { padding: [8, 44, 0, 0], axis: 40 };

/** Labels of moves: the number that each has in its game. */
function moveAxis(current) {
  const number = (move) => moveText(2 * move, "", current().start_fen).replace(/\W+$/, "");
  return { size: 22, incrs: [1, 2, 5, 10, 20, 50, 100], values: (plot, splits) => splits.map((move) => (move > 0 ? number(move) : "")) };
}

/** Scores as chances, so that 8 pawns do not hide what 0.8 decided. */
const SCORE_TICKS = [-800, -300, -100, 0, 100, 300, 800];
/** So many costly moves of each side are marked at the score. */
const MARKED = 3;

export const SCORE = {
  name: "score-chart",
  title: "Score",
  height: 150,
  empty: "No position has a score yet.",
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

/** Marks the moves that the curves name where the score fell. */
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
  title: "Playing like",
  explain: true,
  height: 330,
  empty: "The curves begin with the fifth rated move.",
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

/** The second curve: Algorithm 4 as published. */
export const ALGORITHM4 = { ...CURVES, title: "Algorithm 4, move by move", explain: false, height: 300 };
