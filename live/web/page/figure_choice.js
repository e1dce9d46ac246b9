/** Which figure leads on the page: what there is to choose from, and what a view needs to show it. Pure. */

import { isTransferred } from "../client/leading_figure.js";

/** Texts of the choices, as people read them. */
export const FIGURE_CHOICES = {
  auto: "fits best",
  level: "level",
  percentile: "percentile",
  alone: "moves alone",
  algorithm4: "Algorithm 4",
};

/** How figures of a game are shown: which leads, and whether the calibration is transferred. */
export function basisIn(held, place, game = null) {
  return { choice: place.figure, transferred: isTransferred(held.engine, game?.calibration_note) };
}
