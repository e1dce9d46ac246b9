/** Which figure leads on the page, and how one side of a game is shown, everywhere the same. Pure. */

import { scoreText, whiteShare } from "../drawing/number_format.js";
import { isFinal, pointAt, unratedMoves } from "../client/figures.js";
import { counted } from "../overlay/language/words.js";
import english from "../overlay/language/en.js";
import { figureWords, lastMove as moveOf, leapText, oddsWords, withoutFigure as whyNone } from "../overlay/shown_figures.js";

/** The scale that small intervals are drawn on, Elo; beyond it they are cut off. */
export const SCALE = [1000, 3000];

/** What each figure is called. */
export const FIGURE_NAMES = { perceived: english.playingLike, algorithm4: english.algorithm4 };

const PERCEIVED = { choice: "perceived", engineRating: null };

/** The figure of a side at a point of its curve, as it is read; null without one. */
export const sideFigure = (game, color, point, basis) => figureWords(game, color, point, { ...PERCEIVED, ...basis }, english);

/** Shows of a side that its figure is none yet, or too early to say anything. */
export function markSide(node, read) {
  node.classList.toggle("unknown", read === null);
  node.classList.toggle("early", Boolean(read?.early));
  node.dataset.beyond = read?.beyond ?? "";
}

/** What stands where no figure leads yet, or where none may be seen. */
export const withoutFigure = (point, { withheld = false } = {}) => whyNone(point, english, withheld);

export const countedMoves = (count) => counted(english.moves, count);

/** What a side's figure rests on: `33 moves`, or `31 of 33 moves` while some are not rated yet. */
export function basisText(game, color, { counted }) {
  const missing = unratedMoves(game, color);
  return missing === 0 ? countedMoves(counted) : `${counted} of ${countedMoves(counted + missing)}`;
}

/** Which of its last moves moved a side's perceived rating far, up to a ply; else empty, as once the game is over and rated. */
export function leapNews(game, color, { choice = "perceived", withheld = false }, ply = Infinity) {
  if (isFinal(game, color, pointAt(game.curves[color], ply))) return "";
  return choice === "perceived" && !withheld ? leapText(game, color, english, null, ply) : "";
}

/** How likely each result is, as a sentence. */
export const oddsText = (odds) => oddsWords(odds, english);

/** Draws a score bar: White's share by the score that stands beside it. */
export function drawBar(node, score) {
  node.style.setProperty("--white", `${(100 * whiteShare(score.cp ?? 0)).toFixed(1)}%`);
  node.classList.toggle("unknown", score.cp === null);
}

/** Draws how likely White's win, a draw and Black's win are, as a bar of three parts. */
export function drawOdds(node, { win, draw }) {
  node.style.setProperty("--white", `${(100 * win).toFixed(1)}%`);
  node.style.setProperty("--not-lost", `${(100 * (win + draw)).toFixed(1)}%`);
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

/** The score in full, for one board; empty where scores are withheld. */
export function scoreWords({ text, provisional, depth, source }, { withheld = false } = {}) {
  if (!text) return withheld ? "" : "not scored yet";
  const from = [source, depth && (source || !provisional) ? `depth ${depth}` : ""].filter(Boolean).join(", ");
  if (!provisional) return from ? `${text}, ${from}` : text;
  return from ? `${text} (${from}) \u2026 still searching` : `${text} \u2026 still searching`;
}

export const lastMove = (game, plies) => moveOf(game, english, plies);

/** `Board 3 · Round 4`, or what else identifies it. */
export function placeText(game, short = false) {
  const board = game.board === null ? "" : short ? `Bd ${game.board}` : `Board ${game.board}`;
  // Broadcasts write boards into rounds: `4.12` is board 12 of round 4.
  const own = `.${game.board}`;
  const name = game.round.endsWith(own) ? game.round.slice(0, -own.length) : game.round;
  const round = name && name !== "?" ? `${short ? "R" : "Round "}${name}` : "";
  return [board, round].filter(Boolean).join(" \u00b7 ") || game.event || game.id;
}

/** Why a game has not all its figures, for people; empty when nothing is missing. */
export function problemText(game, { withheld = false } = {}) {
  if (game.problem) return game.problem;
  if (game.restored) return "from before the restart; its source has not sent it again yet";
  if (game.dispute) return `its sources contradict each other: ${game.dispute}`;
  const waiting = game.plies_played - game.plies_scored;
  return waiting > 1 && !withheld ? `${waiting} moves not scored yet` : "";
}

/** What a screen reader says of a side. */
export function sideText(game, color, basis = {}) {
  const point = game.curves[color].at(-1) ?? null;
  const read = sideFigure(game, color, point, basis);
  const name = game[color].name || "unknown";
  if (read === null) return `${name}: ${withoutFigure(point, basis)}`;
  const said = [`${read.label} ${read.text}`, read.usual, read.better, read.early || `from ${basisText(game, color, read.figure)}`];
  return `${name}: ${said.filter(Boolean).join(", ")}`;
}

/** Which figure leads: as somebody chose here, else as the service is set. */
export function leadingIn(held, { figure }) {
  return figure || (held.hello?.figure ?? "perceived");
}

/** Whether nobody here may see scores and ratings. */
export const withheldIn = ({ engine }) => engine?.rating_source === "withheld";

/** Everybody who plays, so that two of one family are told apart; made anew when games come or go. */
const everybody = new WeakMap();

export function everybodyIn({ games }) {
  const known = everybody.get(games);
  if (known?.games === games.size) return known.names;
  const names = [...new Set([...games.values()].flatMap(({ white, black }) => [white.name, black.name]))];
  everybody.set(games, { games: games.size, names });
  return names;
}

/**
 * How figures are shown: which leads, what Algorithm 4 adds to, whether they are withheld here; and
 * who else plays, for names.
 */
export function basisIn(held, place) {
  return {
    choice: leadingIn(held, place),
    engineRating: held.engine?.rating ?? null,
    withheld: withheldIn(held),
    everybody: everybodyIn(held),
  };
}
