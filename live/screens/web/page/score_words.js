/** Texts and marks of one side of a game for all views, and its description for screen readers. Pure. */

import { isFinal, isWithheld, pointAt } from "../client/figures.js";
import { everybodyIn, roundOf } from "../client/games.js";
import { roundText, say, words } from "./language.js";
import { counted } from "../overlay/language/words.js";
import { resultText } from "../drawing/number_format.js";
import { costlyText, figureWords, lastMove, markScore, scoreOf, unratedPart, withoutFigure } from "../overlay/shown_figures.js";

/** Return a side's figure at a point of its curve as {@link figureWords} does; null without one. */
export const sideFigure = (game, color, point, { withheld = false, above = null } = {}) =>
  withheld ? null : figureWords(game, color, point, words, { above });

/** Mark a side that has no figure yet, or one that is too early to mean anything. */
export function markSide(node, read) {
  node.classList.toggle("unknown", read === null);
  node.classList.toggle("early", Boolean(read?.early));
}

/** Return a text about a new costly move that changed a side's figure; empty without one, or if the game is over and rated. */
export function costlyNews(game, color, { withheld = false }, ply = Infinity) {
  return withheld || isFinal(game, color, pointAt(game.curves[color], ply)) ? "" : costlyText(game, color, words, { ply });
}

/** Draw a score bar with White's share, 0 to 1; null is unknown. A bar without any score would look like an equal one. */
export function drawBar(node, { share }, { withheld = false }) {
  node.hidden = withheld;
  node.style.setProperty("--white", `${(100 * (share ?? 0.5)).toFixed(1)}%`);
  node.classList.toggle("unknown", share === null);
}

/** Draw the chances of White's win, a draw and Black's win as a bar of three parts. */
export function drawOdds(node, { win, draw }) {
  node.style.setProperty("--white", `${(100 * win).toFixed(1)}%`);
  node.style.setProperty("--not-lost", `${(100 * (win + draw)).toFixed(1)}%`);
}

/** Return whether a score is final and belongs to the current position. */
export const isSure = ({ state }) => ["final", "result"].includes(state);

/** Return the score in words, for one board; empty if scores are withheld. */
export function scoreWords(score, { withheld = false } = {}) {
  if (!score.text) return withheld ? "" : say("not scored yet");
  return score.state === "provisional" ? say("{} still searching", markScore(score)) : markScore(score);
}

/** Return a text that identifies a game: `Board 3 · Round 4`, or its event or id; without the round if `isRoundKnown`. */
export function placeText(game, isRoundKnown = false) {
  const board = game.board === null ? "" : say("Board {}", game.board);
  const round = isRoundKnown && board ? "" : roundText(roundOf(game));
  return [board, round].filter(Boolean).join(" \u00b7 ") || game.event || game.id;
}

/** Return the reason why a game has no figures or old ones, as text for people; empty without a problem. */
export function problemText(game, { withheld = false } = {}) {
  if (game.problem) return game.problem;
  if (game.restored) return say("from before the restart; its source has not sent it again yet");
  if (game.dispute) return say("its sources contradict each other: {}", game.dispute);
  const waiting = game.plies_played - game.plies_scored;
  return waiting > 1 && !withheld ? counted(words, "toBeRated", waiting) : "";
}

/** Return the description of a side for screen readers. */
export function sideText(game, color, basis = {}) {
  const point = game.curves[color].at(-1) ?? null;
  const read = sideFigure(game, color, point, basis);
  const name = game[color].name || "?";
  if (read === null) return `${name}: ${withoutFigure(point, words, basis.withheld)}`;
  const rests = read.early || unratedPart(game, color, words, read.figure)?.text;
  const parts = [`${read.label} ${read.text}`, read.usual, read.better, rests, read.theory];
  return `${name}: ${parts.filter(Boolean).join(", ")}`;
}

/** Return what all figures need, `{withheld, everybody}`: whether figures are withheld, and all players' names. */
export const basisIn = (held) => ({ withheld: isWithheld(held), everybody: everybodyIn(held) });

/** Return the news of the open board for screen readers: the last move with its score once final, or the result. */
export function boardNews(game) {
  if (game.result !== "*") return `${resultText(game.result)}.`;
  const score = scoreOf(game);
  return `${lastMove(game, words)}${isSure(score) ? `, ${say("Score")} ${score.text}` : ""}.`;
}
