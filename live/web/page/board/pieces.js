/** Small boards: drawn on a canvas, since there may be hundreds. */

import { parsePlacement } from "../../client/board_position.js";

const SPRITE = new URL("../../vendor/cm-chessboard/assets/pieces/standard.svg", import.meta.url).href;
/** A piece of the sprite stands in a square of this side. */
const TILE = 40;

const COLORS = ["--light-square", "--dark-square", "--light-marked", "--dark-marked"];

let pictures = null;
/** Read once for all boards: asking for them, or for sizes, at every move would lay out the page. */
let colors = null;
// Where there is no page (tests of what is pure beside it) nothing has a size.
const sizes = globalThis.document && new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) target.mini?.resize(contentRect.width);
});
const waiting = new Set();

/** The drawing of each piece as SVG, by FEN letter, from the sprite that the big board uses. */
export const pieceMarkup = once(async () => {
  const answer = await fetch(SPRITE);
  const sprite = new DOMParser().parseFromString(await answer.text(), "image/svg+xml");
  const markup = new Map();
  for (const letter of "KQRBNPkqrbnp") {
    const id = (letter < "a" ? "w" : "b") + letter.toLowerCase();
    markup.set(letter, new XMLSerializer().serializeToString(sprite.getElementById(id)));
  }
  return markup;
});

const load = once(async () => {
  const found = new Map();
  for (const [letter, markup] of await pieceMarkup()) {
    const image = new Image();
    image.src = svgAddress(
      `<svg xmlns="http://www.w3.org/2000/svg" width="120" height="120" viewBox="0 0 ${TILE} ${TILE}">${markup}</svg>`,
    );
    await image.decode();
    found.set(letter, image);
  }
  pictures = found;
  for (const board of waiting) board.paint();
  waiting.clear();
});

/** An address that holds a whole picture. */
export function svgAddress(svg) {
  return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
}

function once(make) {
  let made = null;
  return () => (made ??= make());
}

export class MiniBoard {
  constructor(canvas) {
    this._canvas = canvas;
    canvas.mini = this;
    sizes.observe(canvas);
    this._shown = "";
    this._placement = "";
    this._last = "";
    this._side = 0;
  }

  /** The position by its placement (FEN), with the squares of the last move (UCI) marked. */
  draw(placement, last) {
    const wanted = `${placement} ${last}`;
    if (wanted === this._shown) return;
    this._shown = wanted;
    [this._placement, this._last] = [placement, last];
    if (this._side) this.paint();
  }

  resize(width) {
    this._side = Math.round(width * devicePixelRatio);
    if (this._side && this._shown) this.paint();
  }

  paint() {
    const canvas = this._canvas;
    if (canvas.width !== this._side) canvas.width = canvas.height = this._side;
    const context = canvas.getContext("2d");
    const style = getComputedStyle(canvas);
    colors ??= COLORS.map((name) => style.getPropertyValue(name).trim());
    const square = this._side / 8;
    const marked = new Set([squareAt(this._last.slice(0, 2)), squareAt(this._last.slice(2, 4))]);
    const [light, dark, markLight, markDark] = colors;
    for (let at = 0; at < 64; at += 1) {
      const [file, rank] = [at % 8, Math.floor(at / 8)];
      const isLight = (file + rank) % 2 === 1;
      context.fillStyle = marked.has(at) ? (isLight ? markLight : markDark) : isLight ? light : dark;
      context.fillRect(Math.floor(file * square), Math.floor((7 - rank) * square), Math.ceil(square), Math.ceil(square));
    }
    if (pictures === null) {
      waiting.add(this);
      load();
      return;
    }
    parsePlacement(this._placement).forEach((piece, at) => {
      if (piece === null) return;
      context.drawImage(pictures.get(piece), (at % 8) * square, (7 - Math.floor(at / 8)) * square, square, square);
    });
  }

  restyle() {
    colors = null;
    if (this._side && this._shown) this.paint();
  }

  destroy() {
    waiting.delete(this);
    sizes.unobserve(this._canvas);
    this._canvas.mini = null;
  }
}

function squareAt(name) {
  return name ? "abcdefgh".indexOf(name[0]) + 8 * (Number(name[1]) - 1) : -1;
}
