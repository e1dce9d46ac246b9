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
  return { value, low, high, counted, percentile, index: false };
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

/** Whole Elo; a perceived rating at an end of what is shown means *or beyond*: `3200+`. */
export function eloText({ value, index }) {
  if (index) return String(Math.round(value));
  if (value >= MOST_SHOWN_ELO) return `${MOST_SHOWN_ELO}+`;
  return value <= LEAST_SHOWN_ELO ? `\u2264${LEAST_SHOWN_ELO}` : String(Math.round(value));
}

/** `1950\u20132550`; empty where nothing is usual, or an end is open. */
export function bandText({ low, high }) {
  return low === null || high === null ? "" : `${Math.round(low)}\u2013${Math.round(high)}`;
}

/** How much of the strip that shows a figure is its band: beside it there is room for what is unusual. */
const BAND_SHARE = 0.6;

/**
 * Where a figure lies in what is usual for its player: `is` above, within or below, `at` the place of its dot on the
 * strip, 0 to 1; null where nothing is usual. `distance` is `\u25b2120` or `\u25bc120` outside it, how far from the own
 * Elo; the sign alone where the own Elo lies on the other side. Pure.
 */
export function placeInBand(figure, elo) {
  const { value, low = null, high = null, index } = figure ?? {};
  if (index || low === null || high === null || !elo) return null;
  const share = (1 - BAND_SHARE) / 2 + (BAND_SHARE * (value - low)) / Math.max(1, high - low);
  const is = value > high ? "above" : value < low ? "below" : "within";
  const by = Math.round(value - elo);
  const distance = { above: `\u25b2${by > 0 ? by : ""}`, within: "", below: `\u25bc${by < 0 ? -by : ""}` }[is];
  return { is, distance, at: Math.max(0, Math.min(1, share)) };
}

/** A percentile in whole points: nobody is better than all, or than none. */
export const percentText = (value) => String(Math.min(Math.max(Math.round(value), 1), 99));

/** Players by their names, and those of one name by their ids. */
export const byName = (a, b) => a.name.localeCompare(b.name) || (a.id < b.id ? -1 : 1);

/** What a player is ranked by, as it is read: how far above the usual, by the percentile; of Algorithm 4 by its value; or null. */
export function rankedBy(player, above = null) {
  const figure = figureOf(player, above);
  const number = figure && (figure.index ? figure.value : figure.percentile);
  return number && Math.round(number);
}

/** Players by a number of each, falling, `{player, place, tied}`; those of null come last and have no place. */
export function rankByNumber(players, numberOf) {
  const rows = players.map((player) => ({ player, number: numberOf(player) }));
  rows.sort((a, b) => (b.number ?? -Infinity) - (a.number ?? -Infinity) || byName(a.player, b.player));
  return rows.map(({ player, number }) => {
    if (number === null) return { player, place: null, tied: false };
    const level = rows.filter((other) => other.number === number);
    return { player, place: 1 + rows.indexOf(level[0]), tied: level.length > 1 };
  });
}

/** `3`, `3=` for a tie, or nothing. */
export const placeText = ({ place, tied }) => (place === null ? "" : `${place}${tied ? "=" : ""}`);

/** The axis shows at least so many Elo, so that noise does not look like drama. */
const MIN_SPAN = 400;

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
