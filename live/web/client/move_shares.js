/** How many players would play a move, no finer than a network of human moves can say. Pure. */

import { fill } from "../overlay/language/words.js";

const STEPS = [4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50, 70, 100, 150, 200];
const LEAST = 1 / 200;

/** A share, 0 to 1, as `[form, number]`: `oneIn` 12, `tenths` 4, `half`, `most` (nearly all), `fewer`. */
export function shareForm(share) {
  if (share < LEAST) return ["fewer", 200];
  if (share < 0.275) {
    const far = (step) => Math.abs(Math.log(1 / share / step));
    return ["oneIn", STEPS.reduce((best, step) => (far(step) < far(best) ? step : best))];
  }
  if (share >= 0.95) return ["most", 1];
  const tenths = Math.min(Math.max(Math.round(share * 10), 3), 9);
  return tenths === 5 ? ["half", 5] : ["tenths", tenths];
}

const WORDS = { oneIn: "shareOneIn", tenths: "shareTenths", half: "shareHalf", most: "shareMost", fewer: "shareFewer" };

/** The same in the words of a language: `about 1 in 12`, `about 4 in 10`, `about half`, `nearly all`, `fewer than 1 in 200`. */
export function shareWords(share, words) {
  const [form, number] = shareForm(share);
  return fill(words[WORDS[form]], number);
}
