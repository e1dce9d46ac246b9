/** What curves draw: columns of figures, and the axis that fits them. Pure. */

import { moverOf } from "./event_state.js";
import { FIELDS, figureOf, isElo, percentText, scaleOf } from "./leading_figure.js";

/** The axis shows at least so many Elo, so that noise does not look like drama. */
const MIN_SPAN = 300;

/** Which figures of a curve are drawn: `{kind, value, low, high}`, the last three as fields. */
export function drawn(curves, choice = "auto") {
  const points = [...curves.white, ...curves.black];
  const last = [curves.white.at(-1), curves.black.at(-1)].filter(Boolean);
  let kind = scaleOf(last, choice);
  // Levels that are nothing but the Elo are no curves: what leads instead of them is.
  const flat = last.every((point) => (figureOf(point, "level") === null) || isElo(figureOf(point, "level")));
  if (kind === "level" && (choice === "percentile" || (choice === "auto" && flat))) {
    const known = (other) => last.some((point) => figureOf(point, other) !== null);
    kind = ["percentile", "alone"].find(known) ?? kind;
  }
  const before = kind === "level" && points.every((point) => (point.level ?? null) === null);
  const [value, low, high] = FIELDS[before ? "calibrated" : kind];
  return { kind, value, low, high };
}

/**
 * Whether a game has a figure that a curve of these names can show: unbounded points have none, and
 * a level that is nothing but the Elo is a flat line that viewers would take for how they play.
 */
export function hasRating({ curves }, names) {
  const says = (point) => valueOf(point, names) !== null && !(names.kind === "level" && isElo(figureOf(point, "level")));
  return [...curves.white, ...curves.black].some(says);
}

/** The value of a point; null where only one end of its interval is known: that end is all that is said. */
function valueOf(point, { value, low, high }) {
  const open = ((point[low] ?? null) === null) !== ((point[high] ?? null) === null);
  return open ? null : (point[value] ?? null);
}

/** How a value of this kind is written beside a line: nobody is better than all. */
export const figureLabel = (kind) => (value) => (kind === "percentile" ? `${percentText(value)} %` : String(Math.round(value)));

/** The same beside an axis. */
export const tickLabel = (kind) => (value) => (kind === "percentile" ? `${Math.round(value)} %` : String(Math.round(value)));

/** Columns for uPlot: move number, then high, low and value of White, then of Black. */
export function columns(curves, names) {
  const moveOf = (point) => Math.ceil(point.ply / 2);
  const last = Math.max(0, ...[curves.white.at(-1), curves.black.at(-1)].filter(Boolean).map(moveOf));
  const column = (points, read) => {
    const values = new Array(last).fill(null);
    for (const point of points) values[moveOf(point) - 1] = read(point) ?? null;
    return values;
  };
  const moves = Array.from({ length: last }, (_, at) => at + 1);
  const reads = [(point) => point[names.high], (point) => point[names.low], (point) => valueOf(point, names)];
  const of = (points) => reads.map((read) => column(points, read));
  return [moves, ...of(curves.white), ...of(curves.black)];
}

/**
 * Lowest and highest to show. Of percentiles all there are; of Elo all values and the newest
 * intervals, not the early wide ones.
 */
export function span(data, kind) {
  if (kind === "percentile") return [0, 100];
  const values = [...data[3], ...data[6]];
  for (const band of [data[1], data[2], data[4], data[5]]) {
    values.push(band.findLast((value) => value !== null) ?? null);
  }
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return [0, MIN_SPAN];
  const low = Math.min(...known);
  const high = Math.max(...known);
  const missing = Math.max(0, MIN_SPAN - (high - low)) / 2;
  return [low - missing - 20, high + missing + 20];
}

/** How many moves of one side were played since the last that its figure rests on. */
export function unratedMoves(game, color) {
  const rated = game.curves[color].at(-1)?.ply ?? 0;
  return game.plies.slice(rated).filter((_, at) => moverOf(rated + at + 1, game.start_fen) === color).length;
}

/** Of both sides together. */
export const unratedOf = (game) => unratedMoves(game, "white") + unratedMoves(game, "black");
