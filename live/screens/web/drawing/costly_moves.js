/** Costly moves: those that cost their player at least 10 % of expected score and so explain changes of a figure. Pure. */

import { figureOf } from "../client/figures.js";
import { moverOf } from "../client/games.js";
import { whiteShare } from "./number_format.js";

/** Smallest loss of a costly move, in hundredths of expected score (a win is 100). */
export const COSTLY_POINTS = 10;
/** Number of the side's later moves for which a costly move stays news. */
const NEWS_MOVES = 3;

/**
 * Return the expected score that the move at `ply` lost for its player, in hundredths; 0 while a score is missing, and 0
 * if the search before the move found no better move, since the scores come from two searches and can differ.
 */
export function lostPoints(game, ply) {
  const { best = null, uci, gain_same_search_cp: gain } = game.plies[ply - 1] ?? {};
  if ((best !== null && best === uci) || (gain ?? -1) >= 0) return 0;
  const scoreAt = (at) => (at === 0 ? game.start_score_cp : game.plies[at - 1]?.score_cp) ?? null;
  const [before, after] = [scoreAt(ply - 1), scoreAt(ply)];
  if (before === null || after === null) return 0;
  const gained = 100 * (whiteShare(after) - whiteShare(before));
  return Math.max(0, moverOf(ply, game.start_fen) === "white" ? -gained : gained);
}

/**
 * Return the costly moves after which a side's figure changed, the oldest first: `[{ply, own, from, to}]`, where `from`
 * and `to` are the figure before and after. `own` is true for a move of the side itself.
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

/** Return the newest costly move up to `ply` that is still news; otherwise null. */
export function newestCostly(game, color, ply = Infinity) {
  const newest = costlyMoves(game, color, ply).at(-1) ?? null;
  const since = game.curves[color].filter((point) => point.ply <= ply && point.ply > newest?.ply).length;
  return newest !== null && since - (newest.own ? 0 : 1) < NEWS_MOVES ? newest : null;
}

/** Return at most `limit` of a side's own costly moves: the newest, and those that changed the figure most. */
export function namedMoves(game, color, limit) {
  const ownMoves = costlyMoves(game, color).filter((move) => move.own);
  const newest = ownMoves.slice(-1);
  const change = ({ from, to }) => Math.abs(to - from);
  const olderMoves = ownMoves.slice(0, -1).sort((a, b) => change(b) - change(a));
  return [...newest, ...olderMoves].slice(0, limit);
}
