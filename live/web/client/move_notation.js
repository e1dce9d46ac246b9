/** A move as people write it, from the move as engines write it. Pure; it trusts the moves. */

import { placementAfter, parsePlacement } from "./board_position.js";

const FILES = "abcdefgh";
const KNIGHT = [[1, 2], [2, 1], [2, -1], [1, -2], [-1, -2], [-2, -1], [-2, 1], [-1, 2]];
const STRAIGHT = [[1, 0], [0, 1], [-1, 0], [0, -1]];
const DIAGONAL = [[1, 1], [1, -1], [-1, -1], [-1, 1]];
const STEPS = { n: KNIGHT, r: STRAIGHT, b: DIAGONAL, q: [...STRAIGHT, ...DIAGONAL] };

/** `Nbd7` for `b8d7` after `moves` (UCI) from `startFen`; without signs of check. */
export function sanOf(startFen, moves, uci) {
  const board = parsePlacement(placementAfter(startFen, moves));
  const [from, to] = [square(uci.slice(0, 2)), square(uci.slice(2, 4))];
  const piece = board[from] ?? "P";
  const kind = piece.toLowerCase();
  const target = uci.slice(2, 4);
  const files = (to % 8) - (from % 8);
  const taken = board[to];
  if (kind === "k" && (Math.abs(files) > 1 || taken === (piece === "K" ? "R" : "r"))) {
    return files > 0 ? "O-O" : "O-O-O";
  }
  if (kind === "p") {
    const promoted = uci[4] ? `=${uci[4].toUpperCase()}` : "";
    return (files === 0 ? target : `${uci[0]}x${target}`) + promoted;
  }
  const takes = taken === null ? "" : "x";
  if (kind === "k") return `K${takes}${target}`;
  // Others of its kind that reach the square; a pin is not looked at, so a letter may be too many.
  const rivals = reaching(board, to, piece, STEPS[kind], kind === "n").filter((each) => each !== from);
  let which = "";
  if (rivals.length > 0) {
    if (rivals.every((each) => each % 8 !== from % 8)) which = uci[0];
    else if (rivals.every((each) => each >> 3 !== from >> 3)) which = uci[1];
    else which = uci.slice(0, 2);
  }
  return `${piece.toUpperCase()}${which}${takes}${target}`;
}

/** Squares from which such a piece reaches a square. */
function reaching(board, to, piece, steps, once) {
  const found = [];
  for (const [files, ranks] of steps) {
    let [file, rank] = [to % 8, to >> 3];
    do {
      file += files;
      rank += ranks;
      if (file < 0 || file > 7 || rank < 0 || rank > 7) break;
      const at = 8 * rank + file;
      if (board[at] === piece) found.push(at);
      if (board[at] !== null) break;
    } while (!once);
  }
  return found;
}

function square(name) {
  return FILES.indexOf(name[0]) + 8 * (Number(name[1]) - 1);
}
