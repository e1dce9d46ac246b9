/** Where the pieces stand after some moves, and which one side has more of. Pure; it trusts the moves, which the service checked. */

const FILES = "abcdefgh";

/** The first field of a FEN after `moves` (UCI) from `startFen`. */
export function placementAfter(startFen, moves) {
  const board = parsePlacement(startFen.split(" ")[0]);
  for (const move of moves) play(board, move);
  return print(board);
}

/** 64 letters or null, a1 first, from the first field of a FEN. */
export function parsePlacement(placement) {
  const board = new Array(64).fill(null);
  placement.split("/").forEach((row, fromTop) => {
    let file = 0;
    for (const letter of row) {
      if (letter >= "1" && letter <= "8") file += Number(letter);
      else board[8 * (7 - fromTop) + file++] = letter;
    }
  });
  return board;
}

function print(board) {
  const rows = [];
  for (let rank = 7; rank >= 0; rank -= 1) {
    const row = board.slice(8 * rank, 8 * rank + 8).map((piece) => piece ?? "1").join("");
    rows.push(row.replace(/1+/g, (gap) => gap.length));
  }
  return rows.join("/");
}

function play(board, move) {
  const from = square(move.slice(0, 2));
  const to = square(move.slice(2, 4));
  const piece = board[from];
  const captured = board[to];
  const kind = piece?.toLowerCase();
  const files = (to % 8) - (from % 8);
  const takesOwnRook = kind === "k" && captured === (piece === "K" ? "R" : "r");
  board[from] = null;
  if (takesOwnRook || (kind === "k" && Math.abs(files) === 2)) {
    // Castling: onto the rook as in Chess960, or two steps from the e-file.
    const rank = from - (from % 8);
    const short = files > 0;
    board[takesOwnRook ? to : rank + (short ? 7 : 0)] = null;
    board[rank + (short ? 6 : 2)] = piece;
    board[rank + (short ? 5 : 3)] = piece === "K" ? "R" : "r";
    return;
  }
  // A pawn that goes sideways onto an empty square takes en passant, beside where it stood.
  if (kind === "p" && files !== 0 && captured === null) board[from + files] = null;
  const promoted = move[4];
  board[to] = promoted ? (piece === "P" ? promoted.toUpperCase() : promoted) : piece;
}

function square(name) {
  return FILES.indexOf(name[0]) + 8 * (Number(name[1]) - 1);
}

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
