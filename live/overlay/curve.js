/** Both players' perceived ratings, move by move, each with its 95 % band. */

import uPlot from "./vendor/uplot/uPlot.esm.js";

const HEIGHT = 132;
/** The axis shows at least so many Elo, so that noise does not look like drama. */
const MIN_SPAN = 300;

/** Which figures of a curve are drawn: calibrated where there are any, else Algorithm 4's. */
export function drawn(curves) {
  const calibrated = [...curves.white, ...curves.black].some((point) => point.calibrated !== null);
  return calibrated
    ? { label: "calibrated", value: "calibrated", low: "calibrated_low", high: "calibrated_high" }
    : { label: "Algorithm 4", value: "rating", low: "low", high: "high" };
}

/** Columns for uPlot: move number, then high, low and value of White, then of Black. */
export function columns(curves, names) {
  const moveOf = (point) => Math.ceil(point.ply / 2);
  const last = Math.max(0, ...[curves.white.at(-1), curves.black.at(-1)].filter(Boolean).map(moveOf));
  const column = (points, name) => {
    const values = new Array(last).fill(null);
    for (const point of points) values[moveOf(point) - 1] = point[name];
    return values;
  };
  const moves = Array.from({ length: last }, (_, at) => at + 1);
  const of = (points) => [names.high, names.low, names.value].map((name) => column(points, name));
  return [moves, ...of(curves.white), ...of(curves.black)];
}

/** Lowest and highest Elo to show: all values and the newest intervals, not the early wide ones. */
export function span(data) {
  const values = [...data[3], ...data[6]];
  for (const band of [data[1], data[2], data[4], data[5]]) {
    values.push(band.findLast((value) => value !== null) ?? null);
  }
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return [0, MIN_SPAN];
  const low = Math.min(...known);
  const high = Math.max(...known);
  const missing = Math.max(0, MIN_SPAN - (high - low)) / 2;
  return [low - missing - 20, high + missing + 20];
}

function count(values) {
  return values.filter((value) => value !== null).length;
}

export class Curve {
  constructor(box) {
    this._box = box;
    this._plot = null;
    this._observer = new ResizeObserver(() => this._fit());
    this._observer.observe(box);
  }

  draw(curves) {
    const data = columns(curves, drawn(curves));
    if (this._plot === null) this._plot = new uPlot(this._options(), data, this._box);
    else this._plot.setData(data);
  }

  /** Draws with the colours that hold now. */
  restyle() {
    const data = this._plot?.data;
    this._plot?.destroy();
    this._plot = data ? new uPlot(this._options(), data, this._box) : null;
  }

  destroy() {
    this._observer.disconnect();
    this._plot?.destroy();
  }

  _fit() {
    const width = this._box.clientWidth;
    if (this._plot && width && width !== this._plot.width) this._plot.setSize({ width, height: HEIGHT });
  }

  _options() {
    const style = getComputedStyle(this._box);
    const color = (name) => style.getPropertyValue(name).trim();
    const line = (name) => ({
      stroke: color(name),
      width: 2,
      // One value alone has no line to be seen by.
      points: { show: (plot, at) => count(plot.data[at]) < 4, size: 6, fill: color(name) },
    });
    const edge = { stroke: "transparent", width: 0, points: { show: false } };
    const axis = {
      stroke: color("--quiet"),
      font: "11px system-ui, sans-serif",
      grid: { stroke: color("--rule"), width: 1 },
      ticks: { show: false },
    };
    return {
      width: this._box.clientWidth || 300,
      height: HEIGHT,
      padding: [8, 8, 0, 0],
      legend: { show: false },
      cursor: { show: false },
      scales: { x: { time: false }, y: { range: (plot) => span(plot.data) } },
      axes: [
        { ...axis, size: 22, incrs: [1, 2, 5, 10, 20, 50, 100] },
        {
          ...axis,
          size: 38,
          incrs: [20, 50, 100, 200, 500, 1000],
          // Ratings have no thousands separator anywhere else.
          values: (plot, splits) => splits.map(String),
        },
      ],
      series: [{}, edge, edge, line("--white-line"), edge, edge, line("--black-line")],
      bands: [
        { series: [1, 2], fill: color("--white-band") },
        { series: [4, 5], fill: color("--black-band") },
      ],
    };
  }
}
