/** Both perceived ratings of a game as curves with their bands, as large as their box. */

import { figureOf, isEarly } from "../client/figures.js";
import { curveData, curveOptions } from "../drawing/curve_marks.js";
import uPlot from "../drawing/uplot_loader.js";

export class Plot {
  /** `written` writes a move for its reader. */
  constructor(box, written) {
    this._box = box;
    this._written = written;
    this._plot = null;
    this._game = null;
    // Lines of words that come and go above it change its room.
    new ResizeObserver(() => this._fit()).observe(box);
  }

  /** Draws a game's curves of one kind of figure. */
  draw(game, kind, engineRating) {
    if (this._game === game && this._kind === kind && this._engineRating === engineRating) return;
    this._game = game;
    this._kind = kind;
    this._engineRating = engineRating;
    const data = curveData(game, kind, engineRating);
    if (this._plot === null) this.resized(data);
    else this._plot.setData(data);
  }

  /** Shows nothing. */
  clear() {
    this._plot?.destroy();
    this._plot = null;
    this._game = null;
  }

  /** Draws anew, as large as the box is now and in letters of the page's size. */
  resized(data = this._plot?.data) {
    this._plot?.destroy();
    this._plot = null;
    const { clientWidth: width, clientHeight: height } = this._box;
    if (data && width > 0 && height > 0) {
      this._plot = new uPlot(this._options(width, height), data, this._box);
      // Read by the benchmark of how soon an overlay is there.
      if (data[0].length > 0) performance.mark("curve");
    }
  }

  _fit() {
    const { clientWidth: width, clientHeight: height } = this._box;
    if (this._plot !== null && (width !== this._plot.width || height !== this._plot.height)) this.resized();
  }

  _options(width, height) {
    const style = getComputedStyle(this._box);
    const color = (name) => style.getPropertyValue(name).trim();
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
    const small = Math.max(7, Math.round(0.85 * rem));
    const axis = {
      stroke: color("--quiet"),
      font: `400 ${small}px ${style.fontFamily}`,
      grid: { stroke: color("--rule"), width: 1 },
      ticks: { show: false },
    };
    const { marked, ...options } = curveOptions({
      color,
      family: style.fontFamily,
      letters: 1.1 * rem,
      names: small,
      axes: [{ ...axis, size: 1.7 * small, gap: 0.3 * small }, { ...axis, size: 3.4 * small, gap: 0.4 * small }],
      thin: Math.max(1, 0.06 * rem),
      thick: Math.max(1.5, 0.17 * rem),
      game: () => this._game,
      perceived: () => this._kind === "perceived",
      early: (side) => isEarly(figureOf(this._game.curves[side].at(-1), this._kind, this._engineRating)),
      written: this._written,
    });
    const padding = [0.6 * rem, 4.1 * rem, 0, 0];
    return { width, height, padding, legend: { show: false }, cursor: { show: false }, ...options, hooks: { draw: [marked] } };
  }
}
