/** Players in falling order of the figure that is shown, and the scale to draw them on. Pure. */

import { bandText, eloText, isEarly, placeText, standings } from "../../client/figures.js";

/** Elo left free at both ends of the scale. */
const MARGIN = 40;

/**
 * Players by the figure, or by points: `{id, rank, player, rating}`. `rank` is empty where too little
 * is known, and `rating`, `{text, interval, value, low, high}`, is null there.
 */
export function ranking(players, by, engineRating, words) {
  return standings(players, { by, engineRating }).map((each) => {
    const { figure, player } = each;
    const known = figure !== null && !isEarly(figure);
    const rating = known ? { ...figure, text: eloText(figure, words), interval: bandText(figure) } : null;
    return { id: player.id, rank: placeText(each), player, rating };
  });
}

/** Lowest and highest Elo of what is drawn together. */
export function scaleOf(ranked) {
  const ends = ranked.flatMap(({ rating }) => (rating ? [rating.low, rating.high, rating.value] : []));
  const known = ends.filter((elo) => elo !== null);
  if (known.length === 0) return { low: 0, high: 1 };
  return { low: Math.min(...known) - MARGIN, high: Math.max(...known) + MARGIN };
}
