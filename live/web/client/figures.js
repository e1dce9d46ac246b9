/**
 * The figures that people look at, and the columns that curves draw of them: the perceived rating and, for
 * those who choose it, Algorithm 4 as published. Pure; words and limits are those of live/catalogue.py.
 */

import { moverOf } from "./games.js";

export const CHOICES = ["perceived", "algorithm4"];

/** How figures are shown: which leads, as somebody chose or the service is set, what Algorithm 4 adds to, whether they are withheld here. */
export const basisOf = ({ hello, engine }, chosen) => ({
  choice: chosen || (hello?.figure ?? "perceived"),
  engineRating: engine?.rating ?? null,
  withheld: engine?.rating_source === "withheld",
});

/** Fewer counted moves say too little to be shown large, or with a percentile. */
export const EARLY_MOVES = 10;
/** A change of so many Elo by one move is worth a word. */
const LEAP_ELO = 60;
export const LEAST_SHOWN_ELO = 800;
export const MOST_SHOWN_ELO = 3200;

/**
 * A figure of a curve point or a player, `{kind, value, low, high, counted, percentile}`; null
 * without one. `low` and `high` are the usual band of the perceived rating, and the 95 % interval of
 * Algorithm 4, which needs the engine's rating; null for an open end or without an own rating.
 */
export function figureOf(view, kind, engineRating = null) {
  if (view === null || view === undefined) return null;
  if (kind === "perceived") {
    const { perceived = null, usual_low: low = null, usual_high: high = null, counted = 0, percentile = null } = view;
    if (perceived === null) return null;
    return { kind, value: perceived, low, high, counted, percentile: counted < EARLY_MOVES ? null : percentile };
  }
  const { difference = null, difference_low: low = null, difference_high: high = null } = view;
  if (difference === null || engineRating === null) return null;
  const plus = (elo) => (elo === null ? null : engineRating + elo);
  return { kind, value: plus(difference), low: plus(low), high: plus(high), counted: view.n ?? view.moves, percentile: null };
}

/** Whether a perceived rating rests on too few moves to be shown large. */
export const isEarly = (figure) => figure?.kind === "perceived" && figure.counted < EARLY_MOVES;

/** The perceived rating of a point or a player, once it rests on moves enough; else null. */
export function settledFigure(view) {
  const figure = figureOf(view, "perceived");
  return figure === null || isEarly(figure) ? null : figure;
}

/** Whole Elo; a perceived rating beyond the ends of what is shown reads `3200 or more`. */
export function eloText({ kind, value }, words = { orMore: "or more", orLess: "or less" }) {
  if (kind === "perceived" && value > MOST_SHOWN_ELO) return `${MOST_SHOWN_ELO} ${words.orMore}`;
  if (kind === "perceived" && value < LEAST_SHOWN_ELO) return `${LEAST_SHOWN_ELO} ${words.orLess}`;
  return String(Math.round(value));
}

/** `1950\u20132550`; empty where an end is open or nothing is usual. */
export function bandText({ kind, low, high }) {
  if (low === null || high === null) return "";
  const clip = (elo) => (kind === "perceived" ? Math.min(Math.max(elo, LEAST_SHOWN_ELO), MOST_SHOWN_ELO) : elo);
  return [low, high].map((elo) => Math.round(clip(elo))).join("\u2013");
}

/** Where a perceived rating lies: `above` or `below` what is usual, or empty within it. */
export function beyondUsual(figure) {
  if (figure?.kind !== "perceived" || figure.low === null || isEarly(figure)) return "";
  return figure.value > figure.high ? "above" : figure.value < figure.low ? "below" : "";
}

/** A percentile in whole points: nobody is better than all, or than none. */
export const percentText = (value) => String(Math.min(Math.max(Math.round(value), 1), 99));

/** So many of its side's moves a leap is news. */
const NEWS_MOVES = 3;

/**
 * The moves that moved a player's figure by 60 Elo or more, the largest first:
 * `[{ply, from, to}]`; while it is early none counts. Pure.
 */
export function leaps(curve, ply = Infinity) {
  const found = [];
  for (let at = 1; at < curve.length && curve[at].ply <= ply; at += 1) {
    const [before, after] = [figureOf(curve[at - 1], "perceived"), figureOf(curve[at], "perceived")];
    if (before === null || after === null || before.counted < EARLY_MOVES) continue;
    if (Math.abs(after.value - before.value) >= LEAP_ELO) found.push({ ply: curve[at].ply, from: before.value, to: after.value });
  }
  return found.sort((a, b) => Math.abs(b.to - b.from) - Math.abs(a.to - a.from));
}

/** The newest leap of a side, `{ply, from, to}`; null without one, and with `news` after some moves more. Pure. */
export function newestLeap(curve, { ply = Infinity, news = false } = {}) {
  const newest = leaps(curve, ply).reduce((a, b) => (a === null || b.ply > a.ply ? b : a), null);
  const since = curve.filter((point) => point.ply <= ply && point.ply > newest?.ply).length;
  return news && since >= NEWS_MOVES ? null : newest;
}

/** The leaps to name at a curve, `most` at most: the newest, which words beside it speak of, and the largest. Pure. */
export function namedLeaps(curve, most) {
  const newest = newestLeap(curve);
  if (newest === null) return [];
  return [newest, ...leaps(curve).filter(({ ply }) => ply !== newest.ply)].slice(0, most);
}

/** Players by their names, and those of one name by their ids. */
export const byName = (a, b) => a.name.localeCompare(b.name) || (a.id < b.id ? -1 : 1);

/**
 * Players by a figure or by points, falling: `{player, figure, place, tied}`. Equal numbers, as they
 * are read, are a tie; those without, or with too few moves, come last and have no place.
 */
export function standings(players, { by = "perceived", engineRating = null } = {}) {
  const rows = players.map((player) => {
    const figure = figureOf(player, by === "points" ? "perceived" : by, engineRating);
    const value = by === "points" ? (player.points ?? null) : figure === null || isEarly(figure) ? null : Math.round(figure.value);
    return { player, figure, value };
  });
  const known = rows.filter(({ value }) => value !== null).sort((a, b) => b.value - a.value || byName(a.player, b.player));
  const unknown = rows.filter(({ value }) => value === null).sort((a, b) => byName(a.player, b.player));
  const place = (value) => 1 + known.findIndex((other) => other.value === value);
  const placed = known.map(({ player, figure, value }) => {
    const tied = known.filter((other) => other.value === value).length > 1;
    return { player, figure, place: place(value), tied };
  });
  return [...placed, ...unknown.map(({ player, figure }) => ({ player, figure, place: null, tied: false }))];
}

/** `3`, `3=` for a tie, or nothing. */
export const placeText = ({ place, tied }) => (place === null ? "" : `${place}${tied ? "=" : ""}`);

/** The axis shows at least so many Elo, so that noise does not look like drama. */
const MIN_SPAN = 400;

/** Whether a game has a figure that a curve of this kind can show. */
export function hasRating({ curves }, kind, engineRating) {
  return [...curves.white, ...curves.black].some((point) => figureOf(point, kind, engineRating) !== null);
}

/**
 * Columns for uPlot: move number, then high, low and value of White, then of Black. The band is what
 * is usual for the own rating, or Algorithm 4's interval.
 */
export function columns(curves, kind, engineRating) {
  const moveOf = (point) => Math.ceil(point.ply / 2);
  const last = Math.max(0, ...[curves.white.at(-1), curves.black.at(-1)].filter(Boolean).map(moveOf));
  const of = (points) => {
    const found = ["high", "low", "value"].map(() => new Array(last).fill(null));
    for (const point of points) {
      const figure = figureOf(point, kind, engineRating);
      if (figure === null) continue;
      ["high", "low", "value"].forEach((name, at) => (found[at][moveOf(point) - 1] = figure[name]));
    }
    return found;
  };
  return [Array.from({ length: last }, (_, at) => at + 1), ...of(curves.white), ...of(curves.black)];
}

/** Lowest and highest to show: all values, the own ratings, and the bands of the later half, since few moves make them wide. */
export function span(data, elos = []) {
  const values = [...data[3], ...data[6], ...elos];
  for (const band of [data[1], data[2], data[4], data[5]]) values.push(...band.slice(band.length >> 1));
  const known = values.filter((value) => (value ?? null) !== null);
  if (known.length === 0) return [0, MIN_SPAN];
  const low = Math.min(...known);
  const high = Math.max(...known);
  const missing = Math.max(0, MIN_SPAN - (high - low)) / 2;
  return [low - missing - 20, high + missing + 20];
}

/** The last point of a curve at or before a ply, or null. Pure. */
export function pointAt(curve, ply) {
  for (let at = curve.length - 1; at >= 0; at -= 1) if (curve[at].ply <= ply) return curve[at];
  return null;
}

/** How many moves of one side were played since the last that its figure rests on. */
export function unratedMoves(game, color) {
  const rated = game.curves[color].at(-1)?.ply ?? 0;
  return game.plies.slice(rated).filter((_, at) => moverOf(rated + at + 1, game.start_fen) === color).length;
}

/** Whether a figure at this point is that of the whole game: over, and every move rated. */
export const isFinal = (game, color, point) =>
  game.result !== "*" && point === (game.curves[color].at(-1) ?? null) && unratedMoves(game, color) === 0;

/** Of both sides together. */
export const unratedOf = (game) => unratedMoves(game, "white") + unratedMoves(game, "black");
