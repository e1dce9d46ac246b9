/** How many players would play a move, no finer than a network of human moves can say, and the one line that overlays say of it. Pure. */

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

/** A position is worth a word where so many would lose a pawn. */
const HARD = 0.15;

/**
 * What players of this rating would do, `{mark, text}`: how few find the move played, else how many
 * lose a pawn in the position that came of it; null where neither is known.
 */
export function humanLine(game, words) {
  const ply = game.plies.at(-1) ?? null;
  const mark = ply?.mark ?? null;
  const played = ply?.played_share ?? null;
  const chance = ply?.difficulty?.error_chance ?? null;
  const of = (elo) => (elo === null ? "" : ` (${words.elo} ${elo})`);
  const named = mark === null ? "" : `${words[mark]}: `;
  if (chance !== null && (mark === "trap" || (mark === null && chance >= HARD))) {
    const share = shareWords(chance, words);
    return { mark, text: `${named}${fill(words.loseAPawn, share)}${of(ply.difficulty.elo)}` };
  }
  if (played === null) return null;
  return { mark, text: `${named}${fill(words.playIt, shareWords(played, words))}${of(ply.played_elo)}` };
}
