/** Positions after moves, material balance and move notation. Pure. Moves are not checked, since the service did that. */

const FILES = "abcdefgh";

/** Return the first field of the FEN after `moves` (UCI) from `startFen`. */
export function placementAfter(startFen, moves) {
  const board = parsePlacement(startFen.split(" ")[0]);
  for (const move of moves) play(board, move);
  return print(board);
}

/** Return 64 piece letters or nulls, a1 first, from the first field of a FEN. */
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
    // Castling is written as the king taking its own rook, as in Chess960, or moving two squares.
    const rank = from - (from % 8);
    const short = files > 0;
    board[takesOwnRook ? to : rank + (short ? 7 : 0)] = null;
    board[rank + (short ? 6 : 2)] = piece;
    board[rank + (short ? 5 : 3)] = piece === "K" ? "R" : "r";
    return;
  }
  // A pawn that moves sideways to an empty square captures en passant: the captured pawn is beside its start square.
  if (kind === "p" && files !== 0 && captured === null) board[from + files] = null;
  const promoted = move[4];
  board[to] = promoted ? (piece === "P" ? promoted.toUpperCase() : promoted) : piece;
}

/** Return the number of a square, 0 for `a1`. */
export const square = (name) => FILES.indexOf(name[0]) + 8 * (Number(name[1]) - 1);

const WORTH = { q: 9, r: 5, b: 3, n: 3, p: 1 };
const SIGNS = { q: "\u265b", r: "\u265c", b: "\u265d", n: "\u265e", p: "\u265f" };

/** Return each side's surplus pieces and lead in pawns, `{white: "\u265f\u265f +2", black: ""}`, for a FEN's first field. */
export function materialText(placement) {
  const texts = { white: "", black: "" };
  let ahead = 0;
  const pieces = parsePlacement(placement).filter(Boolean);
  for (const [kind, worth] of Object.entries(WORTH)) {
    const count = (letter) => pieces.filter((piece) => piece === letter).length;
    const surplus = count(kind.toUpperCase()) - count(kind);
    ahead += surplus * worth;
    texts[surplus > 0 ? "white" : "black"] += SIGNS[kind].repeat(Math.abs(surplus));
  }
  if (ahead !== 0) texts[ahead > 0 ? "white" : "black"] += ` +${Math.abs(ahead)}`;
  return texts;
}

const KNIGHT = [[1, 2], [2, 1], [2, -1], [1, -2], [-1, -2], [-2, -1], [-2, 1], [-1, 2]];
const STRAIGHT = [[1, 0], [0, 1], [-1, 0], [0, -1]];
const DIAGONAL = [[1, 1], [1, -1], [-1, -1], [-1, 1]];
const STEPS = { n: KNIGHT, r: STRAIGHT, b: DIAGONAL, q: [...STRAIGHT, ...DIAGONAL] };

/** Return a move in short notation, `Nbd7` for `b8d7`, after `moves` (UCI) from `startFen`; without signs of check. */
export function sanOf(startFen, moves, uci) {
  const board = parsePlacement(placementAfter(startFen, moves));
  const [from, to] = [square(uci.slice(0, 2)), square(uci.slice(2, 4))];
  const piece = board[from] ?? "P";
  const kind = piece.toLowerCase();
  const target = uci.slice(2, 4);
  const files = (to % 8) - (from % 8);
  const captured = board[to];
  if (kind === "k" && (Math.abs(files) > 1 || captured === (piece === "K" ? "R" : "r"))) {
    return files > 0 ? "O-O" : "O-O-O";
  }
  if (kind === "p") {
    const promoted = uci[4] ? `=${uci[4].toUpperCase()}` : "";
    return (files === 0 ? target : `${uci[0]}x${target}`) + promoted;
  }
  const takes = captured === null ? "" : "x";
  if (kind === "k") return `K${takes}${target}`;
  // Other pieces of this kind that reach the square. Pins are ignored, so a move can get a letter of its start square
  // that it does not need.
  const rivals = reaching(board, to, piece, STEPS[kind], kind === "n").filter((origin) => origin !== from);
  let originText = "";
  if (rivals.length > 0) {
    if (rivals.every((origin) => origin % 8 !== from % 8)) originText = uci[0];
    else if (rivals.every((origin) => origin >> 3 !== from >> 3)) originText = uci[1];
    else originText = uci.slice(0, 2);
  }
  return `${piece.toUpperCase()}${originText}${takes}${target}`;
}

/** Return the squares with this piece from which it reaches `to`. With `once` it goes only one step in each direction. */
function reaching(board, to, piece, steps, once) {
  const origins = [];
  for (const [files, ranks] of steps) {
    let [file, rank] = [to % 8, to >> 3];
    do {
      file += files;
      rank += ranks;
      if (file < 0 || file > 7 || rank < 0 || rank > 7) break;
      const at = 8 * rank + file;
      if (board[at] === piece) origins.push(at);
      if (board[at] !== null) break;
    } while (!once);
  }
  return origins;
}

/** Sizes of an arrow as shares of a square: half the shaft's width, half the head's width, the head's length. */
const [SHAFT, HEAD, POINT] = [0.09, 0.24, 0.36];

/** Return the corners of an arrow for a move (UCI) as SVG points, in squares from the top left corner. */
export function arrowCorners(uci, side) {
  const [x0, y0] = middle(uci.slice(0, 2), side);
  const [x1, y1] = middle(uci.slice(2, 4), side);
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (length === 0) return "";
  const [along, across] = [(x1 - x0) / length, (y1 - y0) / length];
  const at = (far, aside) => `${(x0 + along * far - across * aside).toFixed(3)},${(y0 + across * far + along * aside).toFixed(3)}`;
  const neck = length - POINT;
  return [
    at(0, SHAFT), at(neck, SHAFT), at(neck, HEAD), at(length, 0), at(neck, -HEAD), at(neck, -SHAFT), at(0, -SHAFT),
  ].join(" ");
}

function middle(name, side) {
  const [file, rank] = [square(name) % 8, square(name) >> 3];
  return side === "black" ? [7.5 - file, rank + 0.5] : [file + 0.5, 7.5 - rank];
}
