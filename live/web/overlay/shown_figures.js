/** What an overlay says about one game. Pure. */

import { figureOf, isElo, leading, LEAST_MOVES, marked, percentText } from "../client/leading_figure.js";
import { clockText, moveText, ratingFigure, scoreText, whiteShare } from "../drawing/number_format.js";
import { unratedMoves } from "../client/curve_series.js";
import { moverOf } from "../client/event_state.js";
import { isLow, leftS, startClockS } from "../client/running_clocks.js";
import { counted, fill, localMove } from "./language/words.js";

/**
 * The score to show, `{cp, mate, share, text, state}`: `final`, `provisional` (the engine still
 * searches) or `pending` (it is that of an earlier move); null while none is known.
 */
export function scoreOf(game, provisional) {
  const wanted = (ply) => ply.score_cp !== null && (provisional || ply.final);
  const scored = game.plies.findLast(wanted) ?? null;
  const cp = scored ? scored.score_cp : game.start_score_cp;
  if (cp === null) return null;
  const last = game.plies.at(-1) ?? null;
  const state = scored !== last ? "pending" : scored && !scored.final ? "provisional" : "final";
  const mate = scored?.mate ?? null;
  const text = mate === 0 ? "#" : scoreText(cp, mate);
  return { cp, mate, share: whiteShare(cp), state, text: MARKS[state](text) };
}

const MARKS = {
  final: (text) => text,
  provisional: (text) => `~${text}`,
  pending: (text) => `${text}\u2026`,
};

/**
 * A figure with its name in the overlay's language: `{kind, label, short, text, interval, bound,
 * value, low, high, before}`; null stays null. `brief` where there is little room. `before` is what
 * is read before the figure: better than 74 %.
 */
export function named(figure, words, brief = false) {
  if (figure === null) return null;
  const { kind, value, low, high } = figure;
  const plain = { ...figure, label: words[kind], short: words[kind], before: "", interval: "", bound: null };
  if (kind === "percentile") {
    const before = words.percentileShort;
    const label = brief ? words.percentileBrief : words.percentile;
    return { ...plain, label, short: before, before, text: `${percentText(value)}\u00a0%` };
  }
  // One game says nothing beyond it.
  if (isElo(figure)) return { ...plain, label: `${words[kind]} = ${words.elo}`, text: String(Math.round(value)) };
  return { ...plain, ...ratingFigure(value, low, high, words) };
}

/** How sure it is that a player plays better or worse than usual, in words, by a percentile. */
export function usualWords(figure, moves, words) {
  return marked(figure, moves, words.usual) || words.early;
}

/** The figures of a curve point, `[large, beneath]`, each as {@link named} says or null. */
export function figuresOf(point, elo, wanted, words, brief = false) {
  const [large, beneath] = leading(point, elo, wanted);
  // The Elo stands beside it already, and viewers would take it for what this game says.
  const second = beneath !== null && isElo(beneath) ? null : beneath;
  return [named(large, words, brief), named(second, words, brief)];
}

/** Why no figure leads. */
export function withoutFigure(point, words, withheld = false) {
  if (withheld) return words.withheld;
  if (point === null) return words.noMoves;
  const basis = basisOf(point, words);
  if ((point.n ?? point.moves) < LEAST_MOVES) return `${basis} \u00b7 ${words.tooFew}`;
  // Another figure may be known than the one that is wanted.
  const calibrated = ["level", "percentile", "alone"].some((kind) => figureOf(point, kind) !== null);
  return calibrated ? basis : `${basis} \u00b7 ${words.uncalibrated}`;
}

/** How likely White is to win, and not to lose: `{win, notLost}`, by scores as {@link scoreOf} takes them; or null. */
export function oddsOf(game, provisional) {
  if (game.result !== "*") return null;
  const wanted = (ply) => (ply.win ?? null) !== null && (ply.draw ?? null) !== null && (provisional || ply.final);
  const known = game.plies.slice(-2).findLast(wanted);
  return known ? { win: known.win, notLost: known.win + known.draw } : null;
}

/** What these two players make of the position, in words; empty while unknown. They add up to 100. */
export function oddsWords(game, provisional, words) {
  const odds = oddsOf(game, provisional);
  if (odds === null) return "";
  const [win, notLost] = [odds.win, odds.notLost].map((share) => Math.round(100 * share));
  return fill(words.odds, win, notLost - win, 100 - notLost);
}

/** The last move with its number in the language's letters, or that there is none. */
export function lastMove(game, words) {
  const last = game.plies.at(-1) ?? null;
  if (last === null) return words.notStarted;
  return moveText(last.ply, localMove(last.san, words.letters), game.start_fen);
}

/** The clock of one side, `{text, low}`: nothing where the source sends none, or the game is over. */
export function clockOf(game, color, elapsedS = 0) {
  const left = game.result === "*" ? leftS(game, game.plies, color, elapsedS) : null;
  return { text: clockText(left), low: isLow(game, left, startClockS(game)) };
}

/** Whose turn it is; null when the game is over. */
export function turnOf(game) {
  return game.result === "*" ? moverOf(game.plies.length + 1, game.start_fen) : null;
}

/** The event; empty when it is unknown, or only the pairing, as lichess names chapters. */
export function eventOf({ event, white, black }) {
  const paired = [white.name, black.name].some((name) => name && event.includes(name));
  return paired || event === "?" || event === "-" ? "" : event;
}

/** Round, board and event, as far as they are known. */
export function placeOf(game, words) {
  const known = (text) => (["?", "-"].includes(text) ? "" : text);
  // Broadcasts write boards into rounds: `4.12` is board 12 of round 4.
  const name = known(game.round).replace(game.board === null ? "" : `.${game.board}`, "");
  const round = name ? fill(words.round, name) : "";
  const board = game.board === null ? "" : fill(words.board, game.board);
  return [round, board, eventOf(game)].filter(Boolean).join(" \u00b7 ");
}

/**
 * What of a side's moves its figure does not rest on, `{missing, text}`; null while it rests on all.
 * A figure is never shown as that of a whole game before it is. `brief` where there is little room.
 */
export function unratedPart(game, color, words, brief = false) {
  const missing = unratedMoves(game, color);
  if (missing === 0) return null;
  const rated = game.curves[color].at(-1)?.n ?? 0;
  const of = rated === 0 ? "" : fill(words.movesOf, rated, rated + missing);
  const coming = game.result === "*" ? "" : words.lastScores;
  const said = brief && coming ? [coming] : [of, coming];
  return { missing, text: said.filter(Boolean).join(" \u00b7 ") };
}

/**
 * The engine's first choice instead of the move at `ply`, in the language's letters; or null.
 * `sanOf` is that of client/move_notation.js, or null while it is loaded.
 */
export function bestInstead(game, ply, words, sanOf) {
  const { best = null, uci = "" } = game.plies[ply - 1] ?? {};
  if (best === null || best === uci || sanOf === null) return null;
  const before = game.plies.slice(0, ply - 1).map((each) => each.uci);
  return localMove(sanOf(game.start_fen, before, best), words.letters);
}

/** What a rating rests on. */
export function basisOf(point, words) {
  return point === null ? words.noMoves : counted(words.moves, point.n ?? point.moves);
}

/** Points of one side at the end of a game: `1`, `½`, `0`; empty while it runs. */
export function pointsOf(result, color) {
  if (result === "*") return "";
  const points = result.split("-")[color === "white" ? 0 : 1] ?? "";
  return points.replace("1/2", "\u00bd");
}
