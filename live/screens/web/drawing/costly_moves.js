/** The moves that events are told of: those that cost their player 10 points of expected score or more. Pure. */

import { figureOf } from "../client/figures.js";
import { moverOf } from "../client/games.js";
import { whiteShare } from "./number_format.js";

/** Points of expected score, where 100 are a win. A change of the figure without such a move is no event. */
export const COSTLY_POINTS = 10;
/** So many of its side's moves an event is news. */
const NEWS_MOVES = 3;

/** What the move at `ply` lost of its player's expected score, points; 0 while a score is missing. */
export function lostPoints(game, ply) {
  const scoreAt = (at) => (at === 0 ? game.start_score_cp : game.plies[at - 1]?.score_cp) ?? null;
  const [before, after] = [scoreAt(ply - 1), scoreAt(ply)];
  if (before === null || after === null) return 0;
  const gained = 100 * (whiteShare(after) - whiteShare(before));
  return Math.max(0, moverOf(ply, game.start_fen) === "white" ? -gained : gained);
}

/**
 * The costly moves that a side's figure answers, the oldest first: `[{ply, own, from, to}]`, where the figure came
 * `from` one value `to` another. `own` tells the side's own moves from the opponent's.
 */
export function costlyMoves(game, color, upTo = Infinity) {
  const curve = game.curves[color].filter(({ ply }) => ply <= upTo);
  const found = [];
  for (let at = 1; at < curve.length; at += 1) {
    const [before, after] = [figureOf(curve[at - 1]), figureOf(curve[at])];
    const { ply } = curve[at];
    const costly = [ply, ply - 1].find((each) => lostPoints(game, each) >= COSTLY_POINTS);
    if (before === null || after === null || costly === undefined || before.value === after.value) continue;
    found.push({ ply: costly, own: costly === ply, from: before.value, to: after.value });
  }
  return found;
}

/** The newest costly move up to `ply`, while it is news; null without one. */
export function newestCostly(game, color, ply = Infinity) {
  const newest = costlyMoves(game, color, ply).at(-1) ?? null;
  const since = game.curves[color].filter((point) => point.ply <= ply && point.ply > newest?.ply).length;
  return newest !== null && since - (newest.own ? 0 : 1) < NEWS_MOVES ? newest : null;
}

/** The own costly moves to name at a curve, `most` at most: the newest, and those that the figure answered most. */
export function namedMoves(game, color, most) {
  const own = costlyMoves(game, color).filter((each) => each.own);
  const newest = own.slice(-1);
  const change = ({ from, to }) => Math.abs(to - from);
  const others = own.slice(0, -1).sort((a, b) => change(b) - change(a));
  return [...newest, ...others].slice(0, most);
}
