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

/** Which figure leads: as somebody chose here, else as the service is set. */
export function leadingIn(held, { figure }) {
  return figure === "auto" ? (held.hello?.figure ?? "auto") : figure;
}

/** How figures of a game are shown: which leads, and whether the calibration is transferred. */
export function basisIn(held, place, game = null) {
  return { choice: leadingIn(held, place), transferred: isTransferred(held.engine, game?.calibration_note) };
}
