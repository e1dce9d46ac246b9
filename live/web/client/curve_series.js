/** What curves draw: columns of figures, and the axis that fits them. Pure. */

import { moverOf } from "./event_state.js";
import { figureOf } from "./figures.js";

/** The axis shows at least so many Elo, so that noise does not look like drama. */
const MIN_SPAN = 400;

/** Whether a game has a figure that a curve of this kind can show. */
export function hasRating({ curves }, kind, engineRating) {
  return [...curves.white, ...curves.black].some((point) => figureOf(point, kind, engineRating) !== null);
}

/**
 * Columns for uPlot: move number, then high, low and value of White, then of Black. The band is what
 * is usual for the own rating, or Algorithm 4's interval.
 */
export function columns(curves, kind, engineRating) {
  const moveOf = (point) => Math.ceil(point.ply / 2);
  const last = Math.max(0, ...[curves.white.at(-1), curves.black.at(-1)].filter(Boolean).map(moveOf));
  const of = (points) => {
    const found = ["high", "low", "value"].map(() => new Array(last).fill(null));
    for (const point of points) {
      const figure = figureOf(point, kind, engineRating);
      if (figure === null) continue;
      ["high", "low", "value"].forEach((name, at) => (found[at][moveOf(point) - 1] = figure[name]));
    }
    return found;
  };
  return [Array.from({ length: last }, (_, at) => at + 1), ...of(curves.white), ...of(curves.black)];
}

/** Lowest and highest to show: all values, the own ratings, and the bands of the later half, since few moves make them wide. */
export function span(data, elos = []) {
  const values = [...data[3], ...data[6], ...elos];
  for (const band of [data[1], data[2], data[4], data[5]]) values.push(...band.slice(band.length >> 1));
  const known = values.filter((value) => (value ?? null) !== null);
  if (known.length === 0) return [0, MIN_SPAN];
  const low = Math.min(...known);
  const high = Math.max(...known);
  const missing = Math.max(0, MIN_SPAN - (high - low)) / 2;
  return [low - missing - 20, high + missing + 20];
}

/** The last point of a curve at or before a ply, or null. Pure. */
export function pointAt(curve, ply) {
  for (let at = curve.length - 1; at >= 0; at -= 1) if (curve[at].ply <= ply) return curve[at];
  return null;
}

/** How many moves of one side were played since the last that its figure rests on. */
export function unratedMoves(game, color) {
  const rated = game.curves[color].at(-1)?.ply ?? 0;
  return game.plies.slice(rated).filter((_, at) => moverOf(rated + at + 1, game.start_fen) === color).length;
}

/** Whether a figure at this point is that of the whole game: over, and every move rated. */
export const isFinal = (game, color, point) =>
  game.result !== "*" && point === (game.curves[color].at(-1) ?? null) && unratedMoves(game, color) === 0;

/** Of both sides together. */
export const unratedOf = (game) => unratedMoves(game, "white") + unratedMoves(game, "black");
