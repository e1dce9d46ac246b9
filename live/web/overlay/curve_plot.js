/** Both perceived ratings of a game as curves with their bands, as large as their box. */

import { columns, span } from "../client/curve_series.js";
import { figureOf, isEarly } from "../client/figures.js";
import { bandFill, markEnds, markLeaps } from "../drawing/curve_marks.js";
import uPlot from "../drawing/uplot_loader.js";

const COLORS = ["white", "black"];

export class Plot {
  /** `written` writes a move for its reader. */
  constructor(box, written) {
    this._box = box;
    this._written = written;
    this._plot = null;
    this._elos = {};
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
    this._elos = { white: game.white.elo, black: game.black.elo };
    const data = columns(game.curves, kind, engineRating);
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
    const font = (px, weight = 400) => `${weight} ${px}px ${style.fontFamily}`;
    const edge = (side) => ({
      stroke: color(`--${side}-edge`),
      width: Math.max(1, 0.06 * rem),
      points: { show: false },
    });
    const line = (side) => ({
      stroke: color(`--${side}-line`),
      width: Math.max(1.5, 0.17 * rem),
      points: { show: false },
    });
    const axis = {
      stroke: color("--quiet"),
      font: font(small),
      grid: { stroke: color("--rule"), width: 1 },
      ticks: { show: false },
    };
    const marks = {
      color,
      rem,
      family: style.fontFamily,
      dashes: () => (this._kind === "perceived" ? this._elos : {}),
      label: (value) => String(Math.round(value)),
      early: (side) => isEarly(figureOf(this._game.curves[side].at(-1), this._kind, this._engineRating)),
    };
    return {
      width,
      height,
      padding: [0.6 * rem, 4.1 * rem, 0, 0],
      legend: { show: false },
      cursor: { show: false },
      scales: { x: { time: false }, y: { range: (plot) => span(plot.data, Object.values(marks.dashes())) } },
      axes: [
        { ...axis, size: 1.7 * small, gap: 0.3 * small, incrs: [1, 2, 5, 10, 20, 50, 100] },
        {
          ...axis,
          size: 3.4 * small,
          gap: 0.4 * small,
          incrs: [25, 50, 100, 200, 500, 1000],
          // Ratings have no thousands separator anywhere else.
          values: (plot, splits) => splits.map((elo) => String(Math.round(elo))),
        },
      ],
      series: [{}, ...COLORS.flatMap((side) => [edge(side), edge(side), line(side)])],
      bands: COLORS.map((side, at) => ({
        series: [1 + 3 * at, 2 + 3 * at],
        fill: bandFill(color(`--${side}-line`), color(`--${side}-band`), side),
      })),
      hooks: {
        draw: [
          (plot) => mark(plot, marks),
          (plot) => this._kind === "perceived" && markLeaps(plot, this._game, { color, family: style.fontFamily, size: small, written: this._written }),
        ],
      },
    };
  }
}

/** Dashes at the players' own Elo; the newest value at the end of each line. */
function mark(plot, { color, rem, family, dashes, label, early }) {
  const { ctx } = plot;
  const { left, top, width, height } = plot.bbox;
  const ratio = devicePixelRatio;
  ctx.save();
  for (const side of COLORS) {
    const at = dashes()[side];
    if (!at) continue;
    const y = plot.valToPos(at, "y", true);
    if (y < top || y > top + height) continue;
    ctx.strokeStyle = color(`--${side}-line`);
    ctx.globalAlpha = 0.55;
    ctx.lineWidth = ratio;
    ctx.setLineDash([0.25 * rem * ratio, 0.4 * rem * ratio]);
    ctx.beginPath();
    ctx.moveTo(left, y);
    ctx.lineTo(left + width, y);
    ctx.stroke();
  }
  ctx.restore();
  markEnds(plot, { color, family, size: 1.1 * rem, written: label, early });
}
