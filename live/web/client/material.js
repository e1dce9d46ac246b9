/** Which pieces one side has more of than the other. Pure. */

import { parsePlacement } from "./board_position.js";

const WORTH = { q: 9, r: 5, b: 3, n: 3, p: 1 };
const SIGNS = { q: "\u265b", r: "\u265c", b: "\u265d", n: "\u265e", p: "\u265f" };

/**
 * `{white: "\u265f\u265f +2", black: "\u265d"}` from the first field of a FEN: what each side has more of,
 * and by how many pawns it is ahead in all.
 */
export function materialText(placement) {
  const more = { white: "", black: "" };
  let ahead = 0;
  const pieces = parsePlacement(placement).filter(Boolean);
  for (const [kind, worth] of Object.entries(WORTH)) {
    const count = (letter) => pieces.filter((piece) => piece === letter).length;
    const surplus = count(kind.toUpperCase()) - count(kind);
    ahead += surplus * worth;
    more[surplus > 0 ? "white" : "black"] += SIGNS[kind].repeat(Math.abs(surplus));
  }
  if (ahead !== 0) more[ahead > 0 ? "white" : "black"] += ` +${Math.abs(ahead)}`;
  return more;
}
