/**
 * The figures of players, and the columns that charts draw. The figure is the perceived rating or, if `above` (the
 * engine's rating) is given, that rating plus the difference of Algorithm 4. Pure. Limits are those of live/catalogue.py.
 */

import { moverOf } from "./games.js";

/** Return whether scores, and all figures derived from them, are withheld from this page. */
export const isWithheld = ({ engine }) => engine?.rating_source === "withheld";

/** Minimum number of counted moves for a figure that is shown large or with a percentile. */
export const EARLY_MOVES = 10;
/** Number of counted moves below which known theory is a large part of them. */
export const THEORY_MOVES = 15;
const LEAST_SHOWN_ELO = 800;
const MOST_SHOWN_ELO = 3200;

/**
 * Return the figure of a curve point or a player, `{value, low, high, counted, percentile, index}`; null without one.
 * `low` and `high` are the ends of the usual range for the player's Elo, null without Elo. For Algorithm 4, `index` is
 * true, and `low` and `high` are the ends of the 95 % interval.
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

/** Return whether a perceived rating has too few moves to be shown large; false for Algorithm 4, whose interval shows it. */
export const isEarly = (figure) => figure !== null && !figure.index && figure.counted < EARLY_MOVES;

/** Return the figure of a point or a player if it has enough moves; otherwise null. */
export function settledFigure(view, above = null) {
  const figure = figureOf(view, above);
  return isEarly(figure) ? null : figure;
}

/** Return a figure in whole Elo; a perceived rating at a limit of the scale is written `3200+` or `≤800`. */
export function eloText({ value, index }) {
  if (index) return String(Math.round(value));
  if (value >= MOST_SHOWN_ELO) return `${MOST_SHOWN_ELO}+`;
  return value <= LEAST_SHOWN_ELO ? `\u2264${LEAST_SHOWN_ELO}` : String(Math.round(value));
}

/** Return the usual range, `1950\u20132550`; empty if there is none or one end is open. */
export const bandText = ({ low, high }) => (low === null || high === null ? "" : `${Math.round(low)}\u2013${Math.round(high)}`);

/** Share of the strip's length for the usual range; the rest is for figures outside it. */
const BAND_SHARE = 0.6;

/**
 * Return where a figure lies in its player's usual range, `{is, at, distance}`, or null without a range. `is` is above,
 * within or below. `at` is the place of the dot on the strip, 0 to 1. `distance` is the difference from the player's Elo,
 * such as `\u25b2120` or `\u25bc120`, and is empty within the range. It is the sign alone if the difference has the
 * opposite direction. Pure.
 */
export function compareWithUsual(figure, elo) {
  const { value, low = null, high = null, index } = figure ?? {};
  if (index || low === null || high === null || !elo) return null;
  const share = (1 - BAND_SHARE) / 2 + (BAND_SHARE * (value - low)) / Math.max(1, high - low);
  const is = value > high ? "above" : value < low ? "below" : "within";
  const difference = Math.round(value - elo);
  const distance = { above: `\u25b2${difference > 0 ? difference : ""}`, within: "", below: `\u25bc${difference < 0 ? -difference : ""}` }[is];
  return { is, distance, at: Math.max(0, Math.min(1, share)) };
}

/** Return a percentile in whole points, 1 to 99, since 0 and 100 would claim certainty. */
export const percentText = (value) => String(Math.min(Math.max(Math.round(value), 1), 99));

/** Compare players by name, and players with the same name by id. */
export const byName = (a, b) => a.name.localeCompare(b.name) || (a.id < b.id ? -1 : 1);

/** Return the number by which a player is ranked, rounded as it is shown: the percentile or Algorithm 4; null without one. */
export function rankedBy(player, above = null) {
  const figure = figureOf(player, above);
  const number = figure && (figure.index ? figure.value : figure.percentile);
  return number && Math.round(number);
}

/** Return players by a number, highest first, `[{player, place, tied}]`. Players without a number come last and have no place. */
export function rankByNumber(players, numberOf) {
  const rows = players.map((player) => ({ player, number: numberOf(player) }));
  rows.sort((a, b) => (b.number ?? -Infinity) - (a.number ?? -Infinity) || byName(a.player, b.player));
  return rows.map(({ player, number }) => {
    if (number === null) return { player, place: null, tied: false };
    const level = rows.filter((row) => row.number === number);
    return { player, place: 1 + rows.indexOf(level[0]), tied: level.length > 1 };
  });
}

/** Return a place as text: `3`, `3=` for a tie, or empty. */
export const placeText = ({ place, tied }) => (place === null ? "" : `${place}${tied ? "=" : ""}`);

/** Smallest range of the axis, Elo, so that noise does not look like drama. */
const MIN_SPAN = 400;

/** Return columns for uPlot: move number, then upper end of the band, lower end and figure, for White and then for Black. */
export function columns(curves, above = null) {
  const moveOf = (point) => Math.ceil(point.ply / 2);
  const last = Math.max(0, ...[curves.white.at(-1), curves.black.at(-1)].filter(Boolean).map(moveOf));
  const of = (points) => {
    const series = ["high", "low", "value"].map(() => new Array(last).fill(null));
    for (const point of points) {
      const figure = figureOf(point, above);
      if (figure === null) continue;
      ["high", "low", "value"].forEach((name, at) => (series[at][moveOf(point) - 1] = figure[name]));
    }
    return series;
  };
  return [Array.from({ length: last }, (_, at) => at + 1), ...of(curves.white), ...of(curves.black)];
}

/** Return both ends of the axis, Elo, for figures, players' Elo and the later half of each band, since early bands are wide. */
export function span(data, elos = []) {
  const values = [...data[3], ...data[6], ...elos];
  for (const band of [data[1], data[2], data[4], data[5]]) values.push(...band.slice(band.length >> 1));
  const shownValues = values.filter((value) => (value ?? null) !== null);
  if (shownValues.length === 0) return [0, MIN_SPAN];
  const low = Math.min(...shownValues);
  const high = Math.max(...shownValues);
  const missing = Math.max(0, MIN_SPAN - (high - low)) / 2;
  return [low - missing - 20, high + missing + 20];
}

/** Return the last point of a curve at or before a ply, or null. Pure. */
export function pointAt(curve, ply) {
  for (let at = curve.length - 1; at >= 0; at -= 1) if (curve[at].ply <= ply) return curve[at];
  return null;
}

/** Return the number of one side's moves that its figure does not contain yet, at the end of its curve or before. */
export function unratedMoves(game, color) {
  const rated = game.curves[color].at(-1)?.ply ?? 0;
  // The gain of an engine's first choice is known before the next position has its score.
  const open = (ply, at) => at >= rated || (at < rated - 1 && !ply.final);
  return game.plies.filter((ply, at) => moverOf(at + 1, game.start_fen) === color && open(ply, at)).length;
}

/** Return whether a point has the figure of the whole game: the game has ended, and every move is rated. */
export const isFinal = (game, color, point) =>
  game.result !== "*" && point === (game.curves[color].at(-1) ?? null) && unratedMoves(game, color) === 0;

/** Return the number of unrated moves of both sides. */
export const unratedOf = (game) => unratedMoves(game, "white") + unratedMoves(game, "black");
