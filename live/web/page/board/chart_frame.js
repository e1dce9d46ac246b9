/** One chart: a title, an explanation, the drawing, and the very figures as a table behind it. */

import { element, named, scrollBox, setText, tableOf } from "../../drawing/elements.js";
import uPlot from "../../drawing/uplot_loader.js";
import { explainButton } from "../explanations.js";

const AXIS_FONT = "11px system-ui, sans-serif";

/** A figure of the page under its title, with what explains it. */
export function figureBox(className, title, explain, ...children) {
  const caption = element("figcaption", "", "", element("span", "", title), ...(explain ? [explainButton(explain)] : []));
  return element("figure", `chart ${className}`, "", caption, ...children);
}

/**
 * `kind` says what is drawn:
 * - `series(game)` answers `{data, notes}`: columns for uPlot (x first), null when nothing is there;
 * - `options(color)` the rest of uPlot's options, for colours by name; `marked` draws over it;
 * - `table(game)` answers `{head, rows}`;
 * - `focus(side)` and `nearest(plot, top)`, where one side can be shown alone;
 * - `empty` what stands there instead of an empty drawing.
 */
export class Chart {
  /** `picked` is given the x that is clicked, `pointed` the one pointed at, or null. */
  constructor(kind, picked, pointed = () => {}) {
    this._kind = kind;
    this._picked = picked;
    this._pointed = pointed;
    this._plot = null;
    this._game = null;
    this._at = null;
    /** Whose band is shown alone, for now and until further notice; null: both. */
    this._focused = null;
    this._pinned = null;
    this._box = element("div", "plot");
    this._note = element("p", "chart-note");
    this._body = scrollBox();
    this._table = element("details", "behind", "", element("summary", "", "As a table"), this._body);
    this._table.addEventListener("toggle", () => this._fillTable());
    this.node = figureBox(kind.name, kind.title, kind.explain, this._box, this._note, this._table);
    this._observer = new ResizeObserver(() => this._fit());
    this._observer.observe(this._box);
  }

  /** `at` is the x of what is looked at, or null. */
  draw(game, at) {
    this._at = at;
    if (game === this._game) {
      this._plot?.redraw(false, false);
      return;
    }
    this._game = game;
    const { data, note } = this._kind.series(game);
    setText(this._note, data === null ? this._kind.empty : note ?? "");
    this._note.hidden = !this._note.textContent;
    this._box.hidden = data === null;
    this._table.hidden = data === null;
    if (data === null) this._drop();
    else if (this._plot === null) this._plot = this._make(data);
    else this._plot.setData(data);
    if (data !== null) named(this._box, this._kind.says(game), "img");
    this._fillTable();
  }

  restyle() {
    const data = this._plot?.data;
    if (!data) return;
    this._drop();
    this._plot = this._make(data);
  }

  destroy() {
    this._observer.disconnect();
    this._drop();
  }

  _drop() {
    this._plot?.destroy();
    this._plot = null;
  }

  _make(data) {
    // What a name stands for in the end, as a canvas understands it: forced colours are words.
    const color = (name) => {
      this._box.style.color = `var(${name})`;
      return getComputedStyle(this._box).color;
    };
    const { axes, series, marked = () => {}, ...rest } = this._kind.options(color, () => this._game);
    const mark = color("--mark");
    const axis = {
      stroke: color("--quiet"),
      font: AXIS_FONT,
      grid: { stroke: color("--rule"), width: 1 },
      ticks: { show: false },
    };
    const plot = new uPlot(
      {
        width: this._box.clientWidth || 400,
        height: this._kind.height,
        padding: [8, 10, 0, 0],
        legend: { show: false },
        // A click is a click: without a drag to compare with, the library would swallow it.
        cursor: { drag: { x: false, y: false, click: () => {} }, points: { show: false }, y: false },
        ...rest,
        axes: axes.map((each) => ({ ...axis, ...each })),
        series,
        hooks: { draw: [(drawn) => this._mark(drawn, mark), marked] },
      },
      data,
      this._box,
    );
    plot.over.addEventListener("click", ({ offsetX }) => {
      const x = plot.data[0][plot.posToIdx(offsetX)];
      if (x !== undefined) this._picked?.(x);
    });
    plot.over.addEventListener("mousemove", ({ offsetX }) => this._pointed(plot.data[0][plot.posToIdx(offsetX)] ?? null));
    plot.over.addEventListener("mouseleave", () => this._pointed(null));
    if (this._kind.nearest) {
      plot.over.addEventListener("mousemove", ({ offsetY }) => this.hover(this._kind.nearest(plot, offsetY)));
      plot.over.addEventListener("mouseleave", () => this.hover(null));
    }
    return plot;
  }

  /** One side's band alone while it is pointed at; null: as it was. */
  hover(side) {
    this._focus(side ?? this._pinned);
  }

  /** One side's band alone until further notice; null: both. */
  pin(side) {
    this._pinned = side;
    this._focus(side);
  }

  _focus(side) {
    if (side === this._focused) return;
    this._focused = side;
    this._kind.focus?.(side);
    this._plot?.redraw(false, false);
  }

  /** A line where the board stands now. */
  _mark(plot, color) {
    if (this._at === null || plot.data[0].length === 0) return;
    const x = plot.valToPos(this._at, "x", true);
    const { left, top, width, height } = plot.bbox;
    if (x < left || x > left + width) return;
    const { ctx } = plot;
    ctx.save();
    ctx.strokeStyle = color;
    ctx.lineWidth = devicePixelRatio;
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(x, top + height);
    ctx.stroke();
    ctx.restore();
  }

  _fit() {
    const width = this._box.clientWidth;
    if (this._plot && width && width !== this._plot.width) {
      this._plot.setSize({ width, height: this._kind.height });
    }
  }

  /** The table is made only while somebody looks at it. */
  _fillTable() {
    if (!this._table.open || this._game === null) return;
    const { head, rows } = this._kind.table(this._game);
    const shown = (text) => (text === null || text === undefined ? "\u2013" : String(text));
    const body = rows.map((row) => element("tr", "", "", ...row.map((text) => element("td", "", shown(text)))));
    this._body.replaceChildren(tableOf(this._kind.title, head, element("tbody", "", "", ...body)));
  }
}
