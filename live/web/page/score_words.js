/** How one side of a game is shown, everywhere the same: name, clock, rating with interval. Pure. */

import { clockText, moveText, ratingFigure, scoreText } from "../drawing/number_format.js";
import { leftS } from "../client/running_clocks.js";

/** The scale that small intervals are drawn on, Elo; beyond it they are cut off. */
export const SCALE = [1000, 3000];

/** The ratings to show of a curve point: the large one, and Algorithm 4's where it is another. */
export function ratings(point) {
  if (point === null) return { main: null, other: null };
  const plain = {
    kind: "a4",
    label: "Algorithm 4",
    value: point.rating,
    low: point.low,
    high: point.high,
    ...ratingFigure(point.rating, point.low, point.high),
  };
  if (point.calibrated === null) return { main: plain, other: null };
  const { calibrated: value, calibrated_low: low, calibrated_high: high } = point;
  const main = { kind: "calibrated", label: "plays like", value, low, high, ...ratingFigure(value, low, high) };
  return { main, other: plain };
}

/** Who makes ply `ply`. */
export function moverOf(ply, startFen) {
  const blackFirst = startFen.split(" ")[1] === "b";
  return (ply % 2 === 1) !== blackFirst ? "white" : "black";
}

/**
 * The clock of a colour after `plies`, as text; empty where the source tells none. It has run for
 * `elapsedS` since if it is the one that runs.
 */
export function clockAfter(game, plies, color, elapsedS = 0) {
  for (let at = plies.length - 1; at >= 0; at -= 1) {
    if (moverOf(plies[at].ply, game.start_fen) !== color) continue;
    return clockText(leftS(plies[at].clock_s, clockRuns(game, plies, color) ? elapsedS : 0));
  }
  return "";
}

/** Whether it is this colour's clock that runs, as far as is known. */
export function clockRuns(game, plies, color) {
  return game.result === "*" && plies === game.plies && toMove(game, plies.length) === color;
}

/** Who is to move after `plies` plies. */
export function toMove(game, plies) {
  return moverOf(plies + 1, game.start_fen);
}

/**
 * The score after so many plies: `{cp, mate, text, provisional, depth, source}`. While the newest
 * position has none, that of the last one that has, marked as provisional. `source` is empty where
 * the engine of the event found it.
 */
export function scoreAfter(game, plies) {
  let at = plies.length - 1;
  while (at >= 0 && plies[at].score_cp === null) at -= 1;
  if (at < 0) {
    const cp = game.start_score_cp;
    return { cp, mate: null, text: scoreText(cp, null), provisional: cp !== null && plies.length > 0, depth: null, source: "" };
  }
  const ply = plies[at];
  return {
    cp: ply.score_cp,
    mate: ply.mate,
    text: scoreText(ply.score_cp, ply.mate),
    provisional: !ply.final || at < plies.length - 1,
    depth: ply.depth,
    source: ply.score_source ?? "",
  };
}

/** What is said beside a provisional score: whose it is, if it is not the engine's of the event. */
export function provisionalWords(source) {
  return source ? `provisional, ${source}` : "provisional";
}

/** The score in full, for one board. */
export function scoreWords({ text, provisional, depth, source }) {
  if (!text) return "not scored yet";
  const from = [source, depth && (source || !provisional) ? `depth ${depth}` : ""].filter(Boolean).join(", ");
  if (!provisional) return from ? `${text}, ${from}` : text;
  return from ? `${text} (${from}) \u2026 still searching` : `${text} \u2026 still searching`;
}

export function lastMove(game, plies) {
  const last = plies.at(-1);
  return last ? moveText(last.ply, last.san, game.start_fen) : "not started";
}

/** `Board 3 · Round 4`, or what else tells it apart. */
export function placeText(game, short = false) {
  const board = game.board === null ? "" : short ? `Bd ${game.board}` : `Board ${game.board}`;
  const round = game.round && game.round !== "?" ? `${short ? "R" : "Round "}${game.round}` : "";
  return [board, round].filter(Boolean).join(" \u00b7 ") || game.event || game.id;
}

/** Why a game has not all its figures, for people; empty when nothing is missing. */
export function problemText(game) {
  if (game.problem) return game.problem;
  if (game.restored) return "from before the restart; its source has not told it again yet";
  const waiting = game.plies_played - game.plies_scored;
  return waiting > 1 ? `${waiting} moves not scored yet` : "";
}

/** What a screen reader says of a side. */
export function sideText(game, color) {
  const { main } = ratings(game.curves[color].at(-1) ?? null);
  const name = game[color].name || "unknown";
  if (main === null) return `${name}: no move rated yet`;
  const bounded = main.value !== null;
  return `${name}: ${main.label} ${bounded ? `${main.text}, 95 % interval ${main.interval}` : main.interval}`;
}
