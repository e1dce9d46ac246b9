/** Costly moves, which cost their player at least 10 points of expected score and explain changes of a figure. Pure. */

import { figureOf } from "../client/figures.js";
import { moverOf } from "../client/games.js";
import { whiteShare } from "./number_format.js";

/** Smallest loss of a costly move, in points of expected score (100 for a win). Smaller losses do not explain a change. */
export const COSTLY_POINTS = 10;
/** Number of moves of its side for which a costly move stays news. */
const NEWS_MOVES = 3;

/** Return the expected score that the move at `ply` lost for its player, points; 0 while a score is missing. */
export function lostPoints(game, ply) {
  const scoreAt = (at) => (at === 0 ? game.start_score_cp : game.plies[at - 1]?.score_cp) ?? null;
  const [before, after] = [scoreAt(ply - 1), scoreAt(ply)];
  if (before === null || after === null) return 0;
  const gained = 100 * (whiteShare(after) - whiteShare(before));
  return Math.max(0, moverOf(ply, game.start_fen) === "white" ? -gained : gained);
}

/**
 * Return the costly moves after which a side's figure changed, the oldest first: `[{ply, own, from, to}]`, where `from`
 * and `to` are the figure before and after. `own` tells the side's own moves from the opponent's.
 */
function costlyMoves(game, color, upTo = Infinity) {
  const curve = game.curves[color].filter(({ ply }) => ply <= upTo);
  const moves = [];
  for (let at = 1; at < curve.length; at += 1) {
    const [before, after] = [figureOf(curve[at - 1]), figureOf(curve[at])];
    const { ply } = curve[at];
    const costly = [ply, ply - 1].find((candidate) => lostPoints(game, candidate) >= COSTLY_POINTS);
    if (before === null || after === null || costly === undefined || before.value === after.value) continue;
    moves.push({ ply: costly, own: costly === ply, from: before.value, to: after.value });
  }
  return moves;
}

/** Return the newest costly move up to `ply` while it is news; otherwise null. */
export function newestCostly(game, color, ply = Infinity) {
  const newest = costlyMoves(game, color, ply).at(-1) ?? null;
  const since = game.curves[color].filter((point) => point.ply <= ply && point.ply > newest?.ply).length;
  return newest !== null && since - (newest.own ? 0 : 1) < NEWS_MOVES ? newest : null;
}

/** Return a side's own costly moves to name at its curve, at most `limit`: the newest, then those that changed the figure most. */
export function namedMoves(game, color, limit) {
  const ownMoves = costlyMoves(game, color).filter((move) => move.own);
  const newest = ownMoves.slice(-1);
  const change = ({ from, to }) => Math.abs(to - from);
  const olderMoves = ownMoves.slice(0, -1).sort((a, b) => change(b) - change(a));
  return [...newest, ...olderMoves].slice(0, limit);
}
