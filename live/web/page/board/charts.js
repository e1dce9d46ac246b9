/** The charts of one board: score, both curves, complexity, clocks. What they show; no page here. */

import { figureOf, hasRating } from "../../client/figures.js";
import { curveData, curveOptions, VALUES } from "../../drawing/curve_marks.js";
import { clockText, moveText, scoreText, whiteShare } from "../../drawing/number_format.js";
import { moverOf } from "../../client/event_state.js";
import { FIGURE_NAMES, sideText } from "../score_words.js";

const line = (stroke, more = {}) => ({
  stroke,
  width: 2,
  spanGaps: true,
  points: { show: false },
  ...more,
});

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
      series: [
        {},
        line(color("--score-line"), {
          fill: color("--score-fill"),
          fillTo: 0.5,
        }),
      ],
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

/** The chart of both curves, by the figure that leads (`basis`). */
export function curvesChart({ choice, engineRating }) {
  // Of the curves as last drawn.
  let game = null;
  // Whose band is shown alone; null: both.
  let alone = null;
  return {
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

const bars = (uPlot) => uPlot.paths.bars({ size: [0.8, 20, 1] });

export function complexityChart(uPlot) {
  return {
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
      series: [{}, { stroke: color("--accent"), fill: color("--accent"), width: 0, paths: bars(uPlot), points: { show: false } }],
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
}

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
    series: [
      {},
      line(color("--white-line")),
      line(color("--black-line")),
    ],
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
