/**
 * The figures that people look at, and the columns that curves draw of them: the perceived rating, and where
 * `above` is given, the engine's rating, Algorithm 4 as published, which adds its difference to that. Pure; words and limits
 * are those of live/catalogue.py.
 */

import { moverOf } from "./games.js";

/** Whether scores, and all that follows from them, are withheld here. */
export const isWithheld = ({ engine }) => engine?.rating_source === "withheld";

/** Fewer counted moves say too little to be shown large, or with a percentile. */
export const EARLY_MOVES = 10;
/** A change of so many Elo by one move is worth a word. */
const LEAP_ELO = 60;
const LEAST_SHOWN_ELO = 800;
const MOST_SHOWN_ELO = 3200;

/**
 * The figure of a curve point or a player, `{value, low, high, counted, percentile, index}`; null without one.
 * `low` and `high` are what is usual, null without an own rating; of Algorithm 4, an `index`, its 95 % interval.
 */
export function figureOf(view, above = null) {
  if (above !== null) return algorithm4Of(view ?? {}, above);
  const { perceived: value = null, usual_low: low = null, usual_high: high = null, counted = 0, percentile = null } = view ?? {};
  if (value === null) return null;
  return { value, low, high, counted, percentile: counted < EARLY_MOVES ? null : percentile, index: false };
}

function algorithm4Of({ difference = null, difference_low: low = null, difference_high: high = null, n, moves }, rating) {
  if (difference === null) return null;
  const plus = (elo) => (elo === null ? null : rating + elo);
  return { value: plus(difference), low: plus(low), high: plus(high), counted: n ?? moves, percentile: null, index: true };
}

/** Whether a perceived rating rests on too few moves to be shown large; of an index the interval says so. */
export const isEarly = (figure) => figure !== null && !figure.index && figure.counted < EARLY_MOVES;

/** The figure of a point or a player, once it rests on moves enough; else null. */
export function settledFigure(view, above = null) {
  const figure = figureOf(view, above);
  return isEarly(figure) ? null : figure;
}

/** Whole Elo, in no more than what is shown; an index is of a scale of its own. */
const clipped = ({ value, index }) => Math.round(index ? value : Math.min(Math.max(value, LEAST_SHOWN_ELO), MOST_SHOWN_ELO));

/** The same as short as at the end of a curve: `3200+`. */
export function endText({ value, index }) {
  const beyond = index ? "" : value > MOST_SHOWN_ELO ? "+" : value < LEAST_SHOWN_ELO ? "-" : "";
  return `${clipped({ value, index })}${beyond}`;
}

/** Whole Elo; a perceived rating beyond the ends of what is shown reads `3200 or more`. */
export function eloText({ value, index }, words = { orMore: "or more", orLess: "or less" }) {
  if (index) return String(Math.round(value));
  if (value > MOST_SHOWN_ELO) return `${MOST_SHOWN_ELO} ${words.orMore}`;
  return value < LEAST_SHOWN_ELO ? `${LEAST_SHOWN_ELO} ${words.orLess}` : String(Math.round(value));
}

/** `1950\u20132550`; empty where nothing is usual, or an end is open. */
export function bandText({ low, high, index }) {
  if (low === null || high === null) return "";
  return [low, high].map((value) => clipped({ value, index })).join("\u2013");
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
    const [before, after] = [figureOf(curve[at - 1]), figureOf(curve[at])];
    // Between two points with a move left out, nobody knows which of them it was.
    if (before === null || after === null || before.counted < EARLY_MOVES || curve[at].ply - curve[at - 1].ply > 2) continue;
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
 * Players by the figure or by points, falling: `{player, figure, place, tied}`. Equal numbers, as they
 * are read, are a tie; those without, or with too few moves, come last and have no place.
 */
export function standings(players, by = "figure", above = null) {
  const rows = players.map((player) => {
    const settled = settledFigure(player, above);
    const value = by === "points" ? (player.points ?? null) : settled && clipped(settled);
    return { player, figure: figureOf(player, above), value };
  });
  const known = rows.filter(({ value }) => value !== null).sort((a, b) => b.value - a.value || byName(a.player, b.player));
  const unknown = rows.filter(({ value }) => value === null).sort((a, b) => byName(a.player, b.player));
  const placed = known.map(({ player, figure, value }) => {
    const level = known.filter((other) => other.value === value);
    return { player, figure, place: 1 + known.indexOf(level[0]), tied: level.length > 1 };
  });
  return [...placed, ...unknown.map(({ player, figure }) => ({ player, figure, place: null, tied: false }))];
}

/** `3`, `3=` for a tie, or nothing. */
export const placeText = ({ place, tied }) => (place === null ? "" : `${place}${tied ? "=" : ""}`);

/** The axis shows at least so many Elo, so that noise does not look like drama. */
const MIN_SPAN = 400;

/** Whether a game has a figure that a curve can show. */
export const hasRating = ({ curves }, above = null) =>
  [...curves.white, ...curves.black].some((point) => figureOf(point, above) !== null);

/** Columns for uPlot: move number, then the upper and the lower end of the band, and the figure, of White, then of Black. */
export function columns(curves, above = null) {
  const moveOf = (point) => Math.ceil(point.ply / 2);
  const last = Math.max(0, ...[curves.white.at(-1), curves.black.at(-1)].filter(Boolean).map(moveOf));
  const of = (points) => {
    const found = ["high", "low", "value"].map(() => new Array(last).fill(null));
    for (const point of points) {
      const figure = figureOf(point, above);
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

/** How many moves of one side its figure does not rest on yet: those since its last, and those left out before. */
export function unratedMoves(game, color) {
  const rated = game.curves[color].at(-1)?.ply ?? 0;
  // A first choice has its gain before the position after it has its score.
  const open = (ply, at) => at >= rated || (at < rated - 1 && !ply.final);
  return game.plies.filter((ply, at) => moverOf(at + 1, game.start_fen) === color && open(ply, at)).length;
}

/** Whether a figure at this point is that of the whole game: over, and every move rated. */
export const isFinal = (game, color, point) =>
  game.result !== "*" && point === (game.curves[color].at(-1) ?? null) && unratedMoves(game, color) === 0;

/** Of both sides together. */
export const unratedOf = (game) => unratedMoves(game, "white") + unratedMoves(game, "black");
