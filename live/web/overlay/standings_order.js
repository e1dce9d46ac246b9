/** Players in the order of their perceived strength, and the scale to draw them on. Pure. */

import { ratingsOf } from "./shown_figures.js";

/** Elo left free at both ends of the scale. */
const MARGIN = 40;

/**
 * Players by their leading rating, best first: `{id, rank, player, rating}`. Where some are
 * calibrated, those who are not come after them: their figures are on another scale.
 */
export function ranking(players, wanted, words) {
  const rated = players.map((player) => ({
    id: player.id,
    player,
    calibrated: player.calibrated !== null && wanted !== "algorithm4",
    rating: ratingsOf(player, wanted, words)[0],
  }));
  const strength = ({ rating }) => rating.value ?? (rating.bound === "below" ? -Infinity : Infinity);
  rated.sort((a, b) => {
    if (a.calibrated !== b.calibrated) return a.calibrated ? -1 : 1;
    const [left, right] = [strength(a), strength(b)];
    if (left !== right) return left < right ? 1 : -1;
    return a.player.name.localeCompare(b.player.name) || (a.id < b.id ? -1 : 1);
  });
  return rated.map((each, at) => ({ ...each, rank: at + 1 }));
}

/** Lowest and highest Elo of what is drawn together. */
export function scaleOf(ranked) {
  const ends = ranked.flatMap(({ rating }) => [rating.low, rating.high, rating.value]);
  const known = ends.filter((elo) => elo !== null);
  if (known.length === 0) return { low: 0, high: 1 };
  return { low: Math.min(...known) - MARGIN, high: Math.max(...known) + MARGIN };
}
