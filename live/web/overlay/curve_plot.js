/** Both perceived ratings of a game as curves with their bands, as large as their box. */

import { columns, drawn, figureLabel, span } from "../client/curve_series.js";
import uPlot from "../drawing/uplot_loader.js";

const COLORS = ["white", "black"];

/** Which figures the curves of a game show, as asked for or as there are. */
export function curveNames(game, { rating }) {
  return drawn(game.curves, rating);
}

/** Where the columns hold a side's values. */
const VALUES = { white: 3, black: 6 };

export class Plot {
  constructor(box) {
    this._box = box;
    this._plot = null;
    this._elos = {};
    this._game = null;
  }

  /** Draws a game's curves; `names` says which figures they are. */
  draw(game, names) {
    if (this._game === game && this._names === names.value) return;
    this._game = game;
    this._names = names.value;
    this._kind = names.kind;
    this._elos = { white: game.white.elo, black: game.black.elo };
    const data = columns(game.curves, names);
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
      font: font(Math.round(1.1 * rem), 700),
      dashes: () => (this._kind === "percentile" ? { white: 50 } : this._elos),
      label: (value) => figureLabel(this._kind)(value),
    };
    return {
      width,
      height,
      padding: [0.6 * rem, 4.1 * rem, 0, 0],
      legend: { show: false },
      cursor: { show: false },
      scales: { x: { time: false }, y: { range: (plot) => span(plot.data, this._kind) } },
      axes: [
        { ...axis, size: 1.7 * small, gap: 0.3 * small, incrs: [1, 2, 5, 10, 20, 50, 100] },
        {
          ...axis,
          size: 3.4 * small,
          gap: 0.4 * small,
          incrs: [25, 50, 100, 200, 500, 1000],
          // Ratings have no thousands separator anywhere else.
          values: (plot, splits) => splits.map(figureLabel(this._kind)),
        },
      ],
      series: [{}, ...COLORS.flatMap((side) => [edge(side), edge(side), line(side)])],
      bands: [
        { series: [1, 2], fill: color("--white-band") },
        { series: [4, 5], fill: color("--black-band") },
      ],
      hooks: { draw: [(plot) => mark(plot, marks)] },
    };
  }
}

/** The newest value at the end of each line; dashes at the players' own Elo, or the middle rank. */
function mark(plot, { color, rem, font, dashes, label: written }) {
  const { ctx } = plot;
  const { left, top, width, height } = plot.bbox;
  const ratio = devicePixelRatio;
  ctx.save();
  const ends = COLORS.map((side) => {
    const values = plot.data[VALUES[side]];
    const at = values.findLastIndex((value) => value !== null);
    if (at < 0) return null;
    const y = plot.valToPos(values[at], "y", true);
    return { side, x: plot.valToPos(plot.data[0][at], "x", true), y, label: y, text: written(values[at]) };
  }).filter(Boolean);
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
  ctx.globalAlpha = 1;
  ctx.setLineDash([]);
  const room = 1.2 * rem * ratio;
  if (ends.length === 2 && Math.abs(ends[0].y - ends[1].y) < room) {
    const [high, low] = ends[0].y <= ends[1].y ? ends : [ends[1], ends[0]];
    const middle = (high.y + low.y) / 2;
    high.label = middle - room / 2;
    low.label = middle + room / 2;
  }
  // The plot's own font sizes are multiplied by the density of the screen; so are these.
  ctx.font = font.replace(/([\d.]+)px/, (_, px) => `${px * ratio}px`);
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  for (const { side, x, y, label, text } of ends) {
    ctx.fillStyle = color(`--${side}-line`);
    ctx.beginPath();
    ctx.arc(x, y, 0.32 * rem * ratio, 0, 2 * Math.PI);
    ctx.fill();
    ctx.fillText(text, left + width + 0.6 * rem * ratio, label);
  }
  ctx.restore();
}
