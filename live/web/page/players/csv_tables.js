/** Tables as text that any spreadsheet opens. Pure. */

/**
 * Rows of values as CSV (RFC 4180), with a header. Text from a feed that a spreadsheet would take
 * for a formula is given an apostrophe before it; null is an empty cell.
 */
export function csv(header, rows) {
  return [header, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

function cell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "string") return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const FIGURES = [
  "n", "counted", "perceived", "usual_low", "usual_high", "percentile", "low", "high", "score", "difference",
  "difference_low", "difference_high",
];

const BOARD = [
  "event", "round", "board", "white", "white_elo", "black", "black_elo", "result", "moves_scored",
  "last_move", "score_cp", "mate",
  ...["white", "black"].flatMap((color) =>
    FIGURES.map((name) => `${color}_${name}`),
  ),
  "id",
];

/** Boards, one a row. */
export function boardsCsv(games) {
  return csv(
    BOARD,
    games.map((game) => {
      const last = game.plies.at(-1) ?? null;
      const scored = game.plies.findLast((ply) => ply.score_cp !== null) ?? null;
      const side = (color) => {
        const point = game.curves[color].at(-1) ?? {};
        return FIGURES.map((name) => point[name]);
      };
      return [
        game.event, game.round, game.board, game.white.name, game.white.elo, game.black.name,
        game.black.elo, game.result, game.plies_scored, last?.san,
        scored ? scored.score_cp : game.start_score_cp, scored?.mate,
        ...side("white"), ...side("black"), game.id,
      ];
    }),
  );
}

const PLY = [
  "ply", "san", "uci", "clock_s", "spent_s", "score_cp", "mate", "depth", "final", "best",
  "played_cp", "gain_cp", "gain_same_search_cp", "gain_successive_cp",
  "score_source", "win", "draw", "loss",
];
const COMPLEXITY = ["stability_cp", "jump_cp", "jump_depth"];

/** One game, one ply a row, with the point of the curve that the ply made. */
export function gameCsv(game) {
  const points = new Map();
  for (const color of ["white", "black"]) {
    for (const point of game.curves[color]) points.set(point.ply, point);
  }
  return csv(
    [...PLY, ...COMPLEXITY, ...FIGURES],
    game.plies.map((ply) => {
      const point = points.get(ply.ply) ?? {};
      const complexity = ply.complexity ?? {};
      return [
        ...PLY.map((name) => (name === "final" ? Number(ply[name]) : ply[name])),
        ...COMPLEXITY.map((name) => complexity[name]),
        ...FIGURES.map((name) => point[name]),
      ];
    }),
  );
}
