/** Players in the order of their perceived strength, and the scale to draw them on. Pure. */

import { placeText, standings } from "../../client/leading_figure.js";
import { named } from "../shown_figures.js";

/** Elo left free at both ends of the scale. */
const MARGIN = 40;

/**
 * Players by what is known of their strength, ties as ties: `{id, rank, player, rating}`. `rank` is
 * text, empty where too little is known, and `rating` is null there.
 */
export function ranking(players, wanted, words) {
  return standings(players, wanted).map((each) => {
    const rank = placeText(each);
    // A figure of a few moves is none to be seen on air.
    const rating = rank === "" ? null : named(each.figure, words);
    return { id: each.player.id, rank, player: each.player, rating };
  });
}

/** Lowest and highest Elo of what is drawn together. */
export function scaleOf(ranked) {
  const ends = ranked.flatMap(({ rating }) => (rating ? [rating.low, rating.high, rating.value] : []));
  const known = ends.filter((elo) => elo !== null);
  if (known.length === 0) return { low: 0, high: 1 };
  return { low: Math.min(...known) - MARGIN, high: Math.max(...known) + MARGIN };
}
