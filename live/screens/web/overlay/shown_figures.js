/** Texts of overlays and pages about one game. Pure. */

import { bandText, eloText, figureOf, isEarly, isFinal, percentText, THEORY_MOVES, unratedMoves } from "../client/figures.js";
import { sanOf } from "../client/board_position.js";
import { eventOf, isLow, known, leftS, moverOf, pointsText, RESULT_POINTS, roundOf, startClockS } from "../client/games.js";
import { newestCostly } from "../drawing/costly_moves.js";
import { clockText, moveText, RESULT_SHARES, resultText, scoreText, unbroken, whiteShare } from "../drawing/number_format.js";
import { counted, fill, localMove } from "./language/words.js";

/**
 * Return the score after these plies, `{cp, mate, share, text, state}`. The state is `final`, `provisional` (the engine
 * is still searching), `pending` (the score is that of an earlier move) or `unknown`. After the end of a game the state
 * is `result`, and text and share are those of the result. Without `provisional` only final scores count.
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

/** Return a score as text: with `~` if the engine is still searching, with `…` if it is that of an earlier move. */
export const markScore = ({ text, state }) => (text && { provisional: `~${text}`, pending: `${text}\u2026` }[state]) || text;

/**
 * Return a side's figure at a point of its curve with its texts, `{figure, label, text, usual, band, better, moves,
 * early, theory}`; null without a figure. `usual` is a text with the usual range and the Elo for which it holds, `band` the range
 * alone, `better` the percentile as a sentence, `moves` the number of counted moves, `early` a note if they are few,
 * `theory` a note while known theory is a large part of them.
 * Texts that do not apply are empty. `brief` shortens `usual` and `better`. With `above` the figure is Algorithm 4 with
 * its interval.
 */
export function figureWords(game, color, point, words, { brief = false, above = null } = {}) {
  const figure = figureOf(point, above);
  if (figure === null) return null;
  const { elo } = game[color];
  const moves = counted(words, "moves", figure.counted);
  // A line must not break between the ends of a range.
  const [text, ends] = [eloText(figure), bandText(figure).replace("\u2013", "\u2060\u2013\u2060")];
  const band = ends && (figure.index ? `95\u00a0%: ${ends}` : `${words.usualNote} ${ends}`);
  if (figure.index) return { figure, label: words.algorithm4, text, usual: band, band, better: moves, moves, early: "", theory: "" };
  const { elo: opponentElo } = game[color === "white" ? "black" : "white"];
  // If the players' Elo are far apart, the usual range depends on the opponent, whose Elo is then named.
  const far = elo && opponentElo && Math.abs(elo - opponentElo) > 400 ? opponentElo : null;
  const whose = far === null ? elo : fill(words.pairing, elo, far);
  const final = isFinal(game, color, point);
  const usual = !band || !elo ? "" : brief && far !== null ? band : fill(final ? words.usualWhole : words.usualFor, whose, ends);
  const percent = figure.percentile !== null && elo ? percentText(figure.percentile) : "";
  const better = percent && (brief ? fill(words.betterThanSuch, `${percent}\u00a0%`) : fill(words.betterThan, percent, elo));
  const early = isEarly(figure) ? `${words.early} \u00b7 ${moves}` : "";
  // While the last scores of a finished game are missing, the text about them is enough.
  const theory = figure.counted < THEORY_MOVES && (final || game.result === "*") ? words.theory : "";
  const label = final ? words.playedLike : words.playingLike;
  return { figure, label, text, usual, band: usual && band, better, moves, early, theory };
}

/** Return a text about the newest costly move that changed a side's figure, and with `best` the best move; empty without one. */
export function costlyText(game, color, words, { best = false, ply = Infinity } = {}) {
  const costly = newestCostly(game, color, ply);
  if (costly === null) return "";
  const change = costly.to - costly.from;
  const played = game.plies[costly.ply - 1];
  const move = moveText(costly.ply, localMove(played.san, words.letters), game.start_fen);
  const better = best && costly.own ? bestInstead(game, costly.ply, words) : null;
  return [fill(change < 0 ? words.fell : words.rose, Math.abs(change), move), better && fill(words.best, better)].filter(Boolean).join("\u00a0\u00b7 ");
}

/** Return the ply of a side's own costly move that lowered its figure, while that is news; otherwise null. */
export function newestFall(game, color) {
  const costly = newestCostly(game, color);
  return costly !== null && costly.own && costly.to < costly.from ? costly.ply : null;
}

/** Return a text with the move of {@link newestFall}, the loss of the figure and the best move; empty without one. */
export function fallText(game, color, words) {
  return newestFall(game, color) === null ? "" : costlyText(game, color, words, { best: true });
}

/** Return the reason why there is no figure. */
export function withoutFigure(point, words, withheld = false) {
  if (withheld) return words.withheld;
  return point === null || point.reason === "early" ? words.tooFew : words.unread;
}

/** Return White's chances, `{win, draw, loss}`, 0 to 1, or null. Without `provisional` only final scores count. */
export function oddsOf(game, plies = game.plies, provisional = true) {
  if (plies === game.plies && game.result !== "*") return null;
  const hasOdds = (ply) => (ply.win ?? null) !== null && (ply.draw ?? null) !== null && (provisional || ply.final);
  const ply = plies.slice(-2).findLast(hasOdds);
  return ply ? { win: ply.win, draw: ply.draw, loss: 1 - ply.win - ply.draw } : null;
}

/** Return the chances of these players in words; empty while unknown. The percentages add up to 100. */
export function oddsWords(odds, words) {
  if (odds === null) return "";
  const [win, notLost] = [odds.win, odds.win + odds.draw].map((share) => Math.round(100 * share));
  // A percentage stays on the line of the word before it.
  return fill(words.odds.replaceAll(" {}", "\u00a0{}"), win, notLost - win, 100 - notLost);
}

/** Return the last move with its number and the language's piece letters, or a text for a game without moves. */
export function lastMove(game, words, plies = game.plies) {
  const last = plies.at(-1) ?? null;
  if (last === null) return words.notStarted;
  return moveText(last.ply, localMove(last.san, words.letters), game.start_fen);
}

/** Return the clock of one side after these plies, `{text, low}`; empty text if the source sends none. */
export function clockOf(game, color, elapsedS = 0, plies = game.plies) {
  const secondsLeft = leftS(game, plies, color, elapsedS);
  return { text: clockText(secondsLeft), low: isLow(game, secondsLeft, startClockS(game)) };
}

/** Return the side to move; null after the end of the game. */
export const turnOf = (game) => (game.result === "*" ? moverOf(game.plies.length + 1, game.start_fen) : null);

/** Return round, board and event as text, without unknown ones; the board only with `hasBoard`. */
export function placeOf(game, words, hasBoard = true) {
  const name = known(roundOf(game));
  const round = name ? fill(words.round, name) : "";
  const board = !hasBoard || game.board === null ? "" : fill(words.board, game.board);
  return [round, board, known(eventOf(game))].filter(Boolean).join(" \u00b7 ");
}

/**
 * Return how many of a side's moves its `figure` does not contain yet, `{missing, text}`; null if it contains all. Every
 * view shows this text beside the figure. With `brief` the text is short.
 */
export function unratedPart(game, color, words, figure, brief = false) {
  const missing = unratedMoves(game, color);
  if (missing === 0) return null;
  const rated = figure?.counted ?? 0;
  const of = rated === 0 ? "" : fill(words.movesOf, rated, rated + missing);
  const coming = game.result === "*" ? "" : words.lastScores;
  const parts = brief && coming ? [coming] : [of, coming];
  return { missing, text: parts.filter(Boolean).join(" \u00b7 ") };
}

/** Return the engine's first choice instead of the move at `ply`, with the language's piece letters; null if unknown. */
export function bestInstead(game, ply, words) {
  const { best = null, uci = "" } = game.plies[ply - 1] ?? {};
  if (best === null || best === uci) return null;
  const before = game.plies.slice(0, ply - 1).map((played) => played.uci);
  return unbroken(localMove(sanOf(game.start_fen, before, best), words.letters));
}

/** Return the points of one side: `1`, `½`, `0`; empty while the game runs. */
export function pointsOf(result, color) {
  const points = RESULT_POINTS[result]?.[color === "white" ? 0 : 1];
  return points === undefined ? "" : pointsText(points);
}

/** Return the engine's first choice (UCI) if the last move was worse; otherwise empty. Pure. */
export function betterMove({ plies, curves, start_fen: startFen }) {
  const last = plies.at(-1) ?? null;
  if (last === null || !last.final || last.best === null || last.best === last.uci) return "";
  const point = curves[moverOf(last.ply, startFen)].at(-1) ?? null;
  return point !== null && point.ply === last.ply && point.gain_cp < 0 ? last.best : "";
}

/** Return the opening's ECO code and name, if the source sends them. Pure. */
export const openingText = ({ eco, opening }) => [eco, opening].filter(Boolean).join(" ");

/** Return a key that identifies a player in all games: the FIDE id or, without one, the name. */
export const keyOf = ({ fide_id, name }) => (fide_id ? String(fide_id) : name);

/** Return a player's points and finished games in the whole event, `2½ / 4`, from the standings; null if not known. */
export function eventPoints(players, side) {
  const player = players.find(({ id, name }) => id === keyOf(side) || name === side.name);
  return (player?.points ?? null) === null ? null : `${pointsText(player.points)} / ${player.finished}`;
}

/** Numbers N for the text "1 in N", as coarse as the estimates of the neural network of human moves. */
const STEPS = [4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50, 70, 100, 150, 200];
const LEAST = 1 / 200;

/** Return the share of players in words: `about 1 in 12`, `about 4 in 10`, `about half`, `nearly all`, `fewer than 1 in 200`. */
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

/** A position is called hard if at least this share of players would lose a pawn in it. */
const HARD = 0.15;

/**
 * Return what players of this rating would do, `{mark, text}`: how few would find the played move or, in a running game,
 * how many would lose a pawn in the next position. It is null if neither is known.
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
