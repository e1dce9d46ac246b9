/** What an overlay says about one game. Pure. */

import {
  bandText, eloText, figureOf, isEarly, isFinal, percentText, unratedMoves,
} from "../client/figures.js";
import { sanOf } from "../client/board_position.js";
import { eventOf, isLow, known, leftS, moverOf, pointsText, RESULT_POINTS, roundOf, startClockS } from "../client/games.js";
import { newestCostly } from "../drawing/costly_moves.js";
import { clockText, moveText, RESULT_SHARES, resultText, scoreText, unbroken, whiteShare } from "../drawing/number_format.js";
import { counted, fill, localMove } from "./language/words.js";

/**
 * The score after so many plies, `{cp, mate, share, text, state}`: `final`, `provisional` (the engine still searches), `pending`
 * (it is that of an earlier move), or `unknown`. At the end of a game its result is the text and White's share, and the
 * state `result`: what a finished position was worth is no news beside it. Without `provisional` only final scores count.
 */
export function scoreOf(game, { plies = game.plies, provisional = true } = {}) {
  const start = { score_cp: game.start_score_cp, mate: null, final: true };
  const scored = plies.findLast((ply) => ply.score_cp !== null && (provisional || ply.final)) ?? start;
  const { score_cp: cp, mate } = scored;
  const share = cp === null ? null : whiteShare(cp);
  const result = plies.length === game.plies.length ? resultText(game.result) : "";
  if (result) return { cp, mate, share: RESULT_SHARES[game.result] ?? share, text: result, state: "result" };
  const late = scored !== (plies.at(-1) ?? start);
  const state = cp === null ? "unknown" : late ? "pending" : scored.final ? "final" : "provisional";
  return { cp, mate, share, text: mate === 0 ? "#" : scoreText(cp, mate), state };
}

/**
 * A side's figure at a point of its curve, as it is read: `{figure, label, text, usual, band, better, moves, early}`,
 * or null without one. `usual` is the band with whose it is, `band` without, `better` the percentile as a sentence, `early` says
 * that it rests on few moves; each empty where it does not apply. `moves` is what it rests on. `brief`
 * leaves out of the percentile whose games they are, and the opponent. With `above` it is Algorithm 4 with its interval.
 */
export function figureWords(game, color, point, words, { brief = false, above = null } = {}) {
  const figure = figureOf(point, above);
  if (figure === null) return null;
  const { elo } = game[color];
  const moves = counted(words, "moves", figure.counted);
  // Within a sentence no line may break between its ends.
  const [text, ends] = [eloText(figure), bandText(figure).replace("\u2013", "\u2060\u2013\u2060")];
  const band = ends && (figure.index ? `95\u00a0%: ${ends}` : `${words.usualNote} ${ends}`);
  if (figure.index) return { figure, label: words.algorithm4, text, usual: band, band, better: moves, moves, early: "" };
  const { elo: other } = game[color === "white" ? "black" : "white"];
  // What is usual is that of this pairing where the two are far apart.
  const far = elo && other && Math.abs(elo - other) > 400 ? other : null;
  const whose = far === null ? elo : fill(words.pairing, elo, far);
  const usual = !band || !elo ? "" : brief && far !== null ? band : fill(words.usualFor, whose, ends);
  const percent = figure.percentile !== null && elo ? percentText(figure.percentile) : "";
  const better = percent && (brief ? fill(words.betterThanSuch, `${percent}\u00a0%`) : fill(words.betterThan, percent, elo));
  const early = isEarly(figure) ? `${words.early} \u00b7 ${moves}` : "";
  const label = isFinal(game, color, point) ? words.playedLike : words.playingLike;
  return { figure, label, text, usual, band: usual && band, better, moves, early };
}

/** Which costly move up to a ply a side's figure answered, by how much, and on demand what was `best`; empty without one. */
export function costlyText(game, color, words, { best = false, ply = Infinity } = {}) {
  const costly = newestCostly(game, color, ply);
  if (costly === null) return "";
  const by = costly.to - costly.from;
  const played = game.plies[costly.ply - 1];
  const move = moveText(costly.ply, localMove(played.san, words.letters), game.start_fen);
  const better = best && costly.own ? bestInstead(game, costly.ply, words) : null;
  return [fill(by < 0 ? words.fell : words.rose, Math.abs(by), move), better && fill(words.best, better)].filter(Boolean).join("\u00a0\u00b7 ");
}

/** The ply by which a side's own figure fell, while it is news; null without one. Its opponent's says nothing of it. */
export function newestFall(game, color) {
  const costly = newestCostly(game, color);
  return costly !== null && costly.own && costly.to < costly.from ? costly.ply : null;
}

/** What that move cost the figure, and what was best; empty without one. */
export function fallText(game, color, words) {
  return newestFall(game, color) === null ? "" : costlyText(game, color, words, { best: true });
}

/** Why no figure leads. */
export function withoutFigure(point, words, withheld = false) {
  if (withheld) return words.withheld;
  return point === null || point.reason === "early" ? words.tooFew : words.unread;
}

/** How likely each result is after so many plies, `{win, draw, loss}`, by final scores alone where `provisional` is not; or null. */
export function oddsOf(game, plies = game.plies, provisional = true) {
  if (plies === game.plies && game.result !== "*") return null;
  const wanted = (ply) => (ply.win ?? null) !== null && (ply.draw ?? null) !== null && (provisional || ply.final);
  const known = plies.slice(-2).findLast(wanted);
  return known ? { win: known.win, draw: known.draw, loss: 1 - known.win - known.draw } : null;
}

/** What these two players make of the position, in words; empty while unknown. They add up to 100. */
export function oddsWords(odds, words) {
  if (odds === null) return "";
  const [win, notLost] = [odds.win, odds.win + odds.draw].map((share) => Math.round(100 * share));
  // A share stays with whose it is.
  return fill(words.odds.replaceAll(" {}", "\u00a0{}"), win, notLost - win, 100 - notLost);
}

/** The last move with its number in the language's letters, or that there is none. */
export function lastMove(game, words, plies = game.plies) {
  const last = plies.at(-1) ?? null;
  if (last === null) return words.notStarted;
  return moveText(last.ply, localMove(last.san, words.letters), game.start_fen);
}

/** The clock of one side after so many plies, `{text, low}`: nothing where the source sends none. */
export function clockOf(game, color, elapsedS = 0, plies = game.plies) {
  const left = leftS(game, plies, color, elapsedS);
  return { text: clockText(left), low: isLow(game, left, startClockS(game)) };
}

/** Whose turn it is; null when the game is over. */
export function turnOf(game) {
  return game.result === "*" ? moverOf(game.plies.length + 1, game.start_fen) : null;
}

/** Round, board and event, as far as they are known; the board on demand. */
export function placeOf(game, words, hasBoard = true) {
  const name = known(roundOf(game));
  const round = name ? fill(words.round, name) : "";
  const board = !hasBoard || game.board === null ? "" : fill(words.board, game.board);
  return [round, board, known(eventOf(game))].filter(Boolean).join(" \u00b7 ");
}

/**
 * What of a side's moves its `figure` does not rest on, `{missing, text}`; null while it rests on all.
 * A figure is never shown as that of a whole game before it is. `brief` where there is little room.
 */
export function unratedPart(game, color, words, figure, brief = false) {
  const missing = unratedMoves(game, color);
  if (missing === 0) return null;
  const rated = figure?.counted ?? 0;
  const of = rated === 0 ? "" : fill(words.movesOf, rated, rated + missing);
  const coming = game.result === "*" ? "" : words.lastScores;
  const said = brief && coming ? [coming] : [of, coming];
  return { missing, text: said.filter(Boolean).join(" \u00b7 ") };
}

/** The engine's first choice instead of the move at `ply`, in the language's letters; or null. */
export function bestInstead(game, ply, words) {
  const { best = null, uci = "" } = game.plies[ply - 1] ?? {};
  if (best === null || best === uci) return null;
  const before = game.plies.slice(0, ply - 1).map((each) => each.uci);
  return unbroken(localMove(sanOf(game.start_fen, before, best), words.letters));
}

/** Points of one side at the end of a game: `1`, `½`, `0`; empty while it runs. */
export function pointsOf(result, color) {
  const points = RESULT_POINTS[result]?.[color === "white" ? 0 : 1];
  return points === undefined ? "" : pointsText(points);
}

/** The engine's first choice where the last move lost against it (UCI); else empty. Pure. */
export function betterMove({ plies, curves, start_fen: startFen }) {
  const last = plies.at(-1) ?? null;
  if (last === null || !last.final || last.best === null || last.best === last.uci) return "";
  const point = curves[moverOf(last.ply, startFen)].at(-1) ?? null;
  return point !== null && point.ply === last.ply && point.gain_cp < 0 ? last.best : "";
}

/** ECO and name, as far as the source names it. Pure. */
export const openingText = ({ eco, opening }) => [eco, opening].filter(Boolean).join(" ");

/** A player wherever it plays: by FIDE id, else by name. */
export const keyOf = ({ fide_id, name }) => (fide_id ? String(fide_id) : name);

/**
 * `2½ / 4` of one side of a game, or null where that is not known. `players` are those of the
 * service: theirs are over the whole event, while a stream holds only the games that were asked for.
 */
export function eventPoints(players, side) {
  const player = players.find(({ id, name }) => id === keyOf(side) || name === side.name);
  return (player?.points ?? null) === null ? null : `${pointsText(player.points)} / ${player.finished}`;
}

/** Shares are said no finer than a network of human moves can say: one in so many. */
const STEPS = [4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50, 70, 100, 150, 200];
const LEAST = 1 / 200;

/** How many players would play a move: `about 1 in 12`, `about 4 in 10`, `about half`, `nearly all`, `fewer than 1 in 200`. */
export function shareWords(share, words) {
  if (share < LEAST) return words.shareFewer;
  if (share < 0.275) {
    const far = (step) => Math.abs(Math.log(1 / share / step));
    return fill(words.shareOneIn, STEPS.reduce((best, step) => (far(step) < far(best) ? step : best)));
  }
  if (share >= 0.95) return words.shareMost;
  const tenths = Math.min(Math.max(Math.round(share * 10), 3), 9);
  return tenths === 5 ? words.shareHalf : fill(words.shareTenths, tenths);
}

/** A position is worth a word where so many would lose a pawn. */
const HARD = 0.15;

/**
 * What players of this rating would do, `{mark, text}`: how few find the move played, else how many
 * lose a pawn in the position that came of it, unless the game ended there; null where neither is known.
 */
export function humanLine(game, words) {
  const ply = game.plies.at(-1) ?? null;
  const mark = ply?.mark ?? null;
  const played = ply?.played_share ?? null;
  const chance = game.result === "*" ? (ply?.difficulty?.error_chance ?? null) : null;
  const of = (elo) => (elo === null ? "" : ` (${words.elo} ${elo})`);
  const named = mark === null ? "" : `${words[mark]}: `;
  if (chance !== null && (mark === "trap" || (mark === null && chance >= HARD))) {
    const share = shareWords(chance, words);
    return { mark, text: `${named}${fill(words.loseAPawn, share)}${of(ply.difficulty.elo)}` };
  }
  if (played === null) return null;
  return { mark, text: `${named}${fill(words.playIt, shareWords(played, words))}${of(ply.played_elo)}` };
}
