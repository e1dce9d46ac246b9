/** Small diagrams, drawn on canvases since there can be hundreds. A diagram is drawn only once the pieces are loaded. */

import { parsePlacement, placementAfter, square } from "../client/board_position.js";
import { element, silent } from "./elements.js";

const SPRITE = new URL("../vendor/cm-chessboard/assets/pieces/standard.svg", import.meta.url).href;
const SQUARES = ["--light-square", "--dark-square", "--last-move"];

/** Picture of each piece, by FEN letter; null until they are loaded. */
let pictures = null;
let loading = null;
/** Colours of the squares, read once for all boards, since reading styles at every move would force a new page layout. */
let colors = null;
const waiting = new Set();
// Tests of pure functions have no page, so nothing has a size.
const sizes = globalThis.document && new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) target.mini?.resize(contentRect.width);
});

/** Load the pictures of the pieces; after a failure the next call tries again. */
export const loadPieces = () => (loading ??= load().catch(() => (loading = null)));

/** Cut the pieces' pictures from the sprite of the big board, where each is 40 units wide. */
async function load() {
  const answer = await fetch(SPRITE);
  const sprite = new DOMParser().parseFromString(await answer.text(), "image/svg+xml");
  const images = new Map();
  for (const letter of "KQRBNPkqrbnp") {
    const markup = new XMLSerializer().serializeToString(sprite.getElementById((letter < "a" ? "w" : "b") + letter.toLowerCase()));
    const image = new Image();
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="120" height="120" viewBox="0 0 40 40">${markup}</svg>`;
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
    await image.decode();
    images.set(letter, image);
  }
  pictures = images;
  for (const board of waiting) board.paint();
  waiting.clear();
}

/** A small diagram on a canvas. */
export class MiniBoard {
  constructor(className = "mini") {
    this.node = silent(element("canvas", className));
    this.node.mini = this;
    sizes.observe(this.node);
    this._plies = null;
    this._shown = "";
    this._side = 0;
  }

  /** Draw the current position of a game, with the squares of the last move marked. */
  draw({ plies, start_fen: startFen }) {
    if (plies === this._plies) return;
    this._plies = plies;
    const last = plies.at(-1)?.uci ?? "";
    const placement = placementAfter(startFen, plies.map(({ uci }) => uci));
    if (`${placement} ${last}` === this._shown) return;
    this._shown = `${placement} ${last}`;
    this.paint();
  }

  resize(width) {
    this._side = Math.round(width * devicePixelRatio);
    this.paint();
  }

  restyle() {
    colors = null;
    this.paint();
  }

  paint() {
    if (!this._side || !this._shown) return;
    if (pictures === null) {
      waiting.add(this);
      loadPieces();
      return;
    }
    const [placement, last] = this._shown.split(" ");
    const canvas = this.node;
    if (canvas.width !== this._side) canvas.width = canvas.height = this._side;
    const context = canvas.getContext("2d");
    const style = getComputedStyle(canvas);
    colors ??= SQUARES.map((name) => style.getPropertyValue(name).trim());
    const side = this._side / 8;
    const marked = last ? [square(last.slice(0, 2)), square(last.slice(2, 4))] : [];
    parsePlacement(placement).forEach((piece, at) => {
      const [file, rank] = [at % 8, Math.floor(at / 8)];
      const box = [Math.floor(file * side), Math.floor((7 - rank) * side), Math.ceil(side), Math.ceil(side)];
      context.fillStyle = colors[(file + rank) % 2 === 1 ? 0 : 1];
      context.fillRect(...box);
      if (marked.includes(at)) {
        context.globalAlpha = 0.55;
        context.fillStyle = colors[2];
        context.fillRect(...box);
        context.globalAlpha = 1;
      }
      if (piece !== null) context.drawImage(pictures.get(piece), file * side, (7 - rank) * side, side, side);
    });
  }

  destroy() {
    waiting.delete(this);
    sizes.unobserve(this.node);
    this.node.mini = null;
  }
}
