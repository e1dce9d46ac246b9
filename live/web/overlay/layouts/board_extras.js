/** What `show=` adds to `layout=board`: arrow, coordinates, opening, material. Loaded when asked for. */

import { materialText, placementAfter } from "../../client/board_position.js";
import { BoardFrame } from "../../drawing/board_frame.js";
import { moverOf } from "../../client/event_state.js";

/** The engine's first choice where the last move lost against it (UCI); else empty. Pure. */
export function betterMove({ plies, curves, start_fen: startFen }) {
  const last = plies.at(-1) ?? null;
  if (last === null || !last.final || last.best === null || last.best === last.uci) return "";
  const point = curves[moverOf(last.ply, startFen)].at(-1) ?? null;
  return point !== null && point.ply === last.ply && point.gain_cp < 0 ? last.best : "";
}

/** ECO and name, as far as the source names it. Pure. */
export const openingText = ({ eco, opening }) => [eco, opening].filter(Boolean).join(" ");

export class BoardExtras {
  /** `show` says what is asked for; `square` is the box of the board, in its place already. */
  constructor(show, square) {
    this._show = show;
    this._frame = null;
    if (!show.includes("arrow") && !show.includes("coordinates")) return;
    const { parentNode, nextSibling } = square;
    this._frame = new BoardFrame(square);
    this._frame.node.classList.toggle("named", show.includes("coordinates"));
    parentNode.insertBefore(this._frame.node, nextSibling);
  }

  /** What stands in words: `{opening, material: {white, black}}`. */
  draw(game) {
    this._frame?.draw("white", this._show.includes("arrow") ? betterMove(game) : "");
    const moves = game.plies.map(({ uci }) => uci);
    return {
      opening: this._show.includes("opening") ? openingText(game) : "",
      material: this._show.includes("material")
        ? materialText(placementAfter(game.start_fen, moves))
        : { white: "", black: "" },
    };
  }
}
