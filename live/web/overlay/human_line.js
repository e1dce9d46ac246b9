/** What players of these ratings would do, in one line. Pure. */

import { shareWords } from "../client/move_shares.js";
import { fill } from "./language/words.js";

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
