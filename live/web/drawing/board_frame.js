/** What lies over the big board: names of files and ranks, and an arrow for the engine's choice. */

import { element } from "./elements.js";

const NS = "http://www.w3.org/2000/svg";
const FILES = "abcdefgh";
/** Of a square's side: half the shaft's width, half the head's width, the head's length. */
const [SHAFT, HEAD, POINT] = [0.09, 0.24, 0.36];

/** Corners of an arrow from square to square (UCI), in squares from the top left corner. */
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

function middle(square, side) {
  const [file, rank] = [FILES.indexOf(square[0]), Number(square[1]) - 1];
  return side === "black" ? [7.5 - file, rank + 0.5] : [file + 0.5, 7.5 - rank];
}

export class BoardFrame {
  /** `square` is the box that the board fills. */
  constructor(square) {
    const names = (className, letters) =>
      element("div", className, "", ...[...letters].map((letter) => element("span", "", letter)));
    this._arrow = document.createElementNS(NS, "polygon");
    const picture = document.createElementNS(NS, "svg");
    picture.setAttribute("viewBox", "0 0 8 8");
    picture.setAttribute("class", "best-arrow");
    picture.append(this._arrow);
    this._over = element("div", "over-board", "", names("files", FILES), names("ranks", "87654321"), picture);
    this._over.setAttribute("aria-hidden", "true");
    this.node = element("div", "board-frame", "", square, this._over);
  }

  /** Seen from a side; `best` is the move that the arrow shows (UCI), or empty. */
  draw(side, best) {
    this._over.classList.toggle("from-black", side === "black");
    this._arrow.setAttribute("points", best ? arrowCorners(best, side) : "");
  }
}
