/** The diagram of a position and its overlay: names of files and ranks, and an arrow for the engine's choice. */

import { BORDER_TYPE, Chessboard, COLOR } from "../vendor/cm-chessboard/src/Chessboard.js";
import { Markers } from "../vendor/cm-chessboard/src/extensions/markers/Markers.js";
import { arrowCorners, placementAfter } from "../client/board_position.js";
import { element, named, silent, svgElement } from "./elements.js";

const ASSETS = new URL("../vendor/cm-chessboard/assets/", import.meta.url).href;
const SLIDE_MS = 200;
const LAST_MOVE = { class: "marker-square-last", slice: "markerSquare" };

/** Return whether one list of moves is the other list with at most two moves added. */
function isNear(before, now) {
  const shorter = Math.min(before.length, now.length);
  return Math.max(before.length, now.length) - shorter <= 2 && before.slice(0, shorter).every((move, at) => move === now[at]);
}

export class Diagram {
  constructor(box) {
    this._shown = null;
    this._moves = null;
    this._side = "white";
    this._slideMs = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : SLIDE_MS;
    this._slidUntil = 0;
    this._board = new Chessboard(box, {
      assetsUrl: ASSETS,
      style: {
        cssClass: "live",
        // The library's coordinates need inline styles, which the page's security policy forbids.
        showCoordinates: false,
        borderType: BORDER_TYPE.none,
        pieces: { file: "pieces/standard.svg" },
        animationDuration: this._slideMs,
      },
      extensions: [{ class: Markers, props: { autoMarkers: null } }],
    });
    this._picture = box.querySelector("svg");
  }

  /** Show the board from the side of `white` or `black`. */
  turn(side) {
    if (side === this._side) return;
    this._side = side;
    this._board.setOrientation(side === "black" ? COLOR.black : COLOR.white);
  }

  /** Draw the position of a game; `description` is for screen readers. */
  draw(game, description) {
    const moves = game.plies.map((ply) => ply.uci);
    const placement = placementAfter(game.start_fen, moves);
    const last = moves.at(-1) ?? "";
    const key = `${placement} ${last}`;
    if (key === this._shown) return;
    this._shown = key;
    named(this._picture, description);
    // The library queues animations, so moves in quick succession are not animated.
    const now = performance.now();
    // Pieces slide only between nearby positions of one game. On a new board they do not slide: its squares are drawn
    // again while it finds its size, which would stop the animation.
    const follows = this._moves !== null && isNear(this._moves, moves);
    this._moves = moves;
    const slide = follows && this._slideMs > 0 && now >= this._slidUntil && !document.hidden;
    if (slide) this._slidUntil = now + 2 * this._slideMs;
    this._board.setPosition(placement, slide);
    this._board.removeMarkers(LAST_MOVE);
    if (last) {
      this._board.addMarker(LAST_MOVE, last.slice(0, 2));
      this._board.addMarker(LAST_MOVE, last.slice(2, 4));
    }
  }
}

/** The overlay of a board: names of files and ranks, and an arrow for the engine's choice. */
export class BoardFrame {
  /** `square` is the element that the board fills. */
  constructor(square) {
    const names = (className, letters) => element("div", className, "", ...[...letters].map((letter) => element("span", "", letter)));
    this._arrow = svgElement("polygon");
    const picture = svgElement("svg", { viewBox: "0 0 8 8", class: "best-arrow" }, this._arrow);
    this._over = silent(element("div", "over-board", "", names("files", "abcdefgh"), names("ranks", "87654321"), picture));
    this.node = element("div", "board-frame", "", square, this._over);
  }

  /** Draw the overlay as seen from a side; `best` is the move of the arrow (UCI), or empty. */
  draw(side, best) {
    this._over.classList.toggle("from-black", side === "black");
    this._arrow.setAttribute("points", best ? arrowCorners(best, side) : "");
  }
}
