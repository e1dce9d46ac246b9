/** Both players' perceived ratings, move by move, each with its 95 % band. */

import { columns, drawn, span } from "../client/curve_series.js";
import uPlot from "./uplot_loader.js";

export { columns, drawn, span } from "../client/curve_series.js";

const HEIGHT = 132;

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
