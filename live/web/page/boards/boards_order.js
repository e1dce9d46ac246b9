/** Which boards are shown, in which order, and how they fill a wall. Pure. */

import { figureOf, isEarly } from "../../client/figures.js";
import { inRound } from "../../client/event_rounds.js";
import { gameOrder } from "../../client/event_state.js";

/** A mate counts as this (Ferreira 2012, section 3), centipawns. */
const MATE_CP = 3900;
/** The swing of a board is looked for in its last so many plies. */
const SWING_PLIES = 4;

/** The point that says most of a player now, or null. */
export function latest(game, color) {
  return game.curves[color].at(-1) ?? null;
}

/** The perceived rating, once it rests on moves enough; else null. */
export function strength(point) {
  const figure = figureOf(point, "perceived");
  return figure === null || isEarly(figure) ? null : figure.value;
}

/** The newest score that is known, White's side, centipawns; null without one. */
export function scoreOf(game) {
  for (let at = game.plies.length - 1; at >= 0; at -= 1) {
    if (game.plies[at].score_cp !== null) return game.plies[at].score_cp;
  }
  return game.start_score_cp;
}

/** How far the score moved within the last plies, centipawns; null while unknown. */
export function swing(game) {
  const scores = [];
  for (let at = game.plies.length - 1; at >= 0 && scores.length <= SWING_PLIES; at -= 1) {
    const { score_cp: cp } = game.plies[at];
    if (cp !== null) scores.push(Math.max(-MATE_CP, Math.min(MATE_CP, cp)));
  }
  return scores.length < 2 ? null : Math.max(...scores) - Math.min(...scores);
}

/** The lower of both clocks, seconds; null where the source sends none. */
export function lowClock(game) {
  const clocks = game.plies.slice(-2).map((ply) => ply.clock_s).filter((each) => each !== null);
  return clocks.length ? Math.min(...clocks) : null;
}

function best(game, figure) {
  const figures = ["white", "black"].map((color) => figure(latest(game, color)));
  const known = figures.filter((figure) => figure !== null);
  return known.length ? Math.max(...known) : null;
}

/**
 * What boards can be sorted by: a label, and a key of which the smallest comes first; null always
 * comes last.
 */
export const ORDERS = {
  board: { label: "Board", key: null },
  alerts: { label: "Open alerts", key: (game, alerting) => (alerting.has(game.id) ? 0 : null) },
  close: { label: "Closest score", key: (game) => absolute(scoreOf(game)) },
  swing: { label: "Largest swing", key: (game) => negative(swing(game)) },
  rating: { label: "Playing best", key: (game) => negative(best(game, strength)) },
  clock: { label: "Least time left", key: (game) => (game.result === "*" ? lowClock(game) : null) },
  moves: { label: "Most moves", key: (game) => negative(game.plies_played) },
  white: { label: "White", key: (game) => fold(game.white.name) },
  black: { label: "Black", key: (game) => fold(game.black.name) },
  whiteRating: { label: "White's figure", key: (game) => negative(strength(latest(game, "white"))) },
  blackRating: { label: "Black's figure", key: (game) => negative(strength(latest(game, "black"))) },
  score: { label: "Score", key: (game) => negative(scoreOf(game)) },
  result: { label: "Result", key: (game) => game.result },
};

const absolute = (value) => (value === null ? null : Math.abs(value));
const negative = (value) => (value === null ? null : -value);

/** The boards that a place asks for, in its order; `alerting` are the ids of those with alerts. */
export function arranged(games, { q, state, sort, down, ...round }, alerting = []) {
  const about = new Set(alerting);
  const wanted = words(q);
  const chosen = inRound(games, round).filter((game) => takes(game, wanted, state));
  const key = ORDERS[sort]?.key ?? null;
  if (key === null) {
    chosen.sort(gameOrder);
    return down ? chosen.reverse() : chosen;
  }
  const keys = new Map(chosen.map((game) => [game.id, key(game, about)]));
  const sign = down ? -1 : 1;
  return chosen.sort((a, b) => {
    const [left, right] = [keys.get(a.id), keys.get(b.id)];
    if (left === null || right === null) {
      return (left === null) - (right === null) || gameOrder(a, b);
    }
    return left === right ? gameOrder(a, b) : sign * (left < right ? -1 : 1);
  });
}

function takes(game, wanted, state) {
  if (state !== "all" && (game.result === "*") !== (state === "running")) return false;
  if (wanted.length === 0) return true;
  const { white, black } = game;
  const said = [
    game.event, game.board === null ? "" : `board ${game.board}`, game.round, game.result,
    white.name, white.title, white.team, white.federation,
    black.name, black.title, black.team, black.federation,
  ];
  const text = fold(said.filter(Boolean).join("\n"));
  return wanted.every((word) => text.includes(word));
}

/** What somebody typed, as words to look for: all must be there, in any order. */
export function words(text) {
  return fold(text).split(/\s+/).filter(Boolean);
}

/** Letters without case and accents, so that `muller` finds Müller. */
export function fold(text) {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

/** A board is drawn so much wider than high. */
const SHAPE = 36 / 17;
/** More than so many at once nobody reads from five metres. */
export const MOST = 12;
/** How long a page stays. */
export const PAGE_S = 15;

/** Columns and rows that show so many boards largest on a screen, `{columns, rows}`. */
export function wallGrid(boards, width, height) {
  let best = { columns: 1, rows: Math.max(1, boards), size: 0 };
  for (let columns = 1; columns <= Math.max(1, boards); columns += 1) {
    const rows = Math.ceil(Math.max(1, boards) / columns);
    const size = Math.min(width / columns / SHAPE, height / rows);
    if (size > best.size) best = { columns, rows, size };
  }
  return { columns: best.columns, rows: best.rows };
}

/** Boards on pages as even as can be: 13 are 7 and 6. */
export function wallPages(boards, most = MOST) {
  const count = Math.ceil(boards.length / most);
  const size = Math.ceil(boards.length / Math.max(1, count));
  return Array.from({ length: count }, (_, at) => boards.slice(at * size, (at + 1) * size));
}

/** Which page is shown `now` (milliseconds), of so many. */
export function pageAt(now, pages) {
  return pages < 2 ? 0 : Math.floor(now / (1000 * PAGE_S)) % pages;
}
