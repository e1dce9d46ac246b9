/** How one side of a game is shown, everywhere the same, and what is said of it to those who do not look. Pure. */

import { isFinal, isWithheld, pointAt } from "../client/figures.js";
import { everybodyIn, roundOf } from "../client/games.js";
import { roundText, say, words } from "./language.js";
import { counted } from "../overlay/language/words.js";
import { resultText } from "../drawing/number_format.js";
import { costlyText, figureWords, lastMove, scoreOf, unratedPart, withoutFigure } from "../overlay/shown_figures.js";

/** The figure of a side at a point of its curve, as it is read; null without one. */
export const sideFigure = (game, color, point, { withheld = false, above = null } = {}) =>
  withheld ? null : figureWords(game, color, point, words, { above });

/** Shows of a side that its figure is none yet, or too early to say anything. */
export function markSide(node, read) {
  node.classList.toggle("unknown", read === null);
  node.classList.toggle("early", Boolean(read?.early));
}

/** Which costly move up to a ply a side's perceived rating answered; else empty, as once the game is over and rated. */
export function costlyNews(game, color, { withheld = false }, ply = Infinity) {
  return withheld || isFinal(game, color, pointAt(game.curves[color], ply)) ? "" : costlyText(game, color, words, { ply });
}

/** Draws a score bar: White's share by the score, or the result, that stands beside it. */
export function drawBar(node, { share }) {
  node.style.setProperty("--white", `${(100 * (share ?? 0.5)).toFixed(1)}%`);
  node.classList.toggle("unknown", share === null);
}

/** Draws how likely White's win, a draw and Black's win are, as a bar of three parts. */
export function drawOdds(node, { win, draw }) {
  node.style.setProperty("--white", `${(100 * win).toFixed(1)}%`);
  node.style.setProperty("--not-lost", `${(100 * (win + draw)).toFixed(1)}%`);
}

/** Whether a score is that of its position, and stays. */
export const isSure = ({ state }) => ["final", "result"].includes(state);

/** The score in full, for one board; empty where scores are withheld. */
export function scoreWords(score, { withheld = false } = {}) {
  if (!score.text) return withheld ? "" : say("not scored yet");
  return isSure(score) ? score.text : say("{} \u2026 still searching", score.text);
}

/** `Board 3 · Round 4`, or what else identifies it; without the round where it is said above. */
export function placeText(game, isRoundKnown = false) {
  const board = game.board === null ? "" : say("Board {}", game.board);
  const round = isRoundKnown && board ? "" : roundText(roundOf(game));
  return [board, round].filter(Boolean).join(" \u00b7 ") || game.event || game.id;
}

/** Why a game has not all its figures, for people; empty when nothing is missing. */
export function problemText(game, { withheld = false } = {}) {
  if (game.problem) return game.problem;
  if (game.restored) return say("from before the restart; its source has not sent it again yet");
  if (game.dispute) return say("its sources contradict each other: {}", game.dispute);
  const waiting = game.plies_played - game.plies_scored;
  return waiting > 1 && !withheld ? counted(words, "toBeRated", waiting) : "";
}

/** What a screen reader says of a side. */
export function sideText(game, color, basis = {}) {
  const point = game.curves[color].at(-1) ?? null;
  const read = sideFigure(game, color, point, basis);
  const name = game[color].name || "?";
  if (read === null) return `${name}: ${withoutFigure(point, words, basis.withheld)}`;
  const rests = read.early || unratedPart(game, color, words, read.figure)?.text;
  const said = [`${read.label} ${read.text}`, read.usual, read.better, rests];
  return `${name}: ${said.filter(Boolean).join(", ")}`;
}

/** How figures are shown: whether they are withheld here; and who else plays, for names. */
export const basisIn = (held) => ({ withheld: isWithheld(held), everybody: everybodyIn(held) });

/** What a screen reader says of the board that is open: its last move, or the result, with the score once that is final. */
export function boardNews(game) {
  if (game.result !== "*") return `${resultText(game.result)}.`;
  const score = scoreOf(game);
  return `${lastMove(game, words)}${isSure(score) ? `, ${say("Score")} ${score.text}` : ""}.`;
}
