/**
 * Both players' curves, drawn by uPlot for pages and overlays. Each line has a label at its end, and a white or black
 * core if the styles define one (`--white-core`, `--black-core`).
 */

import { columns, eloText, figureOf, isEarly, span } from "../client/figures.js";
import { namedMoves } from "./costly_moves.js";
import { element } from "./elements.js";
import { COLORS } from "../client/games.js";
import { moveText } from "./number_format.js";

/** uPlot's smallest build is a plain script that defines a global name. Tests of pure functions have no page for it. */
if (globalThis.document) {
  const script = document.createElement("script");
  script.src = new URL("../vendor/uplot/uPlot.iife.min.js", import.meta.url).href;
  await new Promise((done, failed) => {
    script.onload = done;
    script.onerror = () => failed(new Error(`${script.src} does not load`));
    document.head.append(script);
  });
  script.remove();
}

const { uPlot } = globalThis;

/** A uPlot drawing as large as its box. It is drawn again when the size of the box or the styles change. */
export class Plot {
  /** `options()` returns uPlot's options; `sizeOf(box)` returns `{width, height}`. */
  constructor(className, options, sizeOf) {
    this.node = element("div", className);
    this._options = options;
    this._sizeOf = sizeOf;
    this._data = this._plot = null;
    new ResizeObserver(() => this._fit()).observe(this.node);
  }

  /** Draw these columns; draw nothing if they are null. */
  show(data) {
    this._data = data;
    if (data !== null && this._plot !== null) this._plot.setData(data);
    else this.remake();
  }

  remake() {
    this._plot?.destroy();
    this._plot = null;
    const size = this._sizeOf(this.node);
    if (this._data === null || size.width === 0 || size.height === 0) return;
    this._plot = new uPlot({ ...size, legend: { show: false }, ...this._options() }, this._data, this.node);
  }

  /** Draw the same columns again. */
  redraw() {
    this._plot?.redraw(false, false);
  }

  _fit() {
    const { width, height } = this._sizeOf(this.node);
    if (width !== this._plot?.width || height !== this._plot.height) this.remake();
  }
}

/** Return uPlot's style of an axis. */
export function axisStyle(color, font) {
  return { stroke: color("--quiet"), font, grid: { stroke: color("--rule"), width: 1 }, ticks: { show: false } };
}

/**
 * Return the columns of both curves with their bands and each player's Elo; null if there is no figure. For Algorithm 4
 * the Elo is left out, since the scale differs. Pure.
 */
export function curveData({ curves, white, black }, above = null) {
  const data = columns(curves, above);
  if ([...data[3], ...data[6]].every((value) => value === null)) return null;
  return [...data, ...[white, black].map(({ elo }) => new Array(data[0].length).fill((above === null && elo) || null))];
}

/**
 * Return uPlot's options for these columns, and a function `marked` that draws over the curves.
 *
 * In `shape`, `game()` and `above()` return what is drawn, and `moves()` the length of the axis in moves. `axes` are
 * uPlot's options of both axes. `thin` and `thick` are line widths, `letters` and `names` the font sizes of labels and of
 * move names. Moves at `skippedPlies` are not named. `written` writes a move in the reader's language, and `usual` is the
 * word for the band.
 */
export function curveOptions(shape) {
  const { color, family, letters, names, axes, thin = 1, thick = 2, game, above, skippedPlies = () => [], written } = shape;
  const { usual = "", moves = null } = shape;
  const hidden = { points: { show: false } };
  const few = (plot, at) => plot.data[at].filter((value) => value !== null).length < 4;
  const edge = (side) => ({ stroke: color(`--${side}-edge`), width: thin, ...hidden });
  // Few values are drawn as points, since one makes no line. Without `pxAlign` the core is in the middle of its line.
  const line = (side) => ({ stroke: color(`--${side}-line`), width: thick, pxAlign: 0, points: { show: few, size: 3 * thick, fill: color(`--${side}-line`) } });
  const eloLine = (side) => ({ stroke: color(`--${side}-line`), width: thin, dash: [4 * thin, 4 * thin], ...hidden });
  const fill = (side) => color(`--${side}-band`);
  return {
    scales: {
      x: { time: false, range: moves === null ? (plot, min, max) => [min, Math.max(max, min + 1)] : () => [0, moves()] },
      y: { range: (plot) => span(plot.data, [plot.data[7].at(-1), plot.data[8].at(-1)]) },
    },
    axes: [
      { ...axes[0], incrs: [1, 2, 5, 10, 20, 50, 100] },
      // Ratings have no thousands separator.
      { ...axes[1], incrs: [25, 50, 100, 200, 500, 1000], values: (plot, splits) => splits.map((elo) => String(Math.round(elo))) },
    ],
    series: [{}, ...COLORS.flatMap((side) => [edge(side), edge(side), line(side)]), ...COLORS.map(eloLine)],
    bands: COLORS.map((side, at) => ({ series: [1 + 3 * at, 2 + 3 * at], fill: fill(side) })),
    marked(plot) {
      for (const side of COLORS) drawCore(plot, side, color(`--${side}-core`), thick / 2);
      const bandBox = above() === null ? nameBand(plot, usual, { color: color("--quiet"), family, size: names }) : [];
      markEnds(plot, game(), { color, family, size: letters, above: above() });
      if (above() === null) markCostlyMoves(plot, game(), { color, family, size: names, skippedPlies: skippedPlies(), written, takenBoxes: bandBox });
    },
  };
}

/** Index of the column with each side's figure. */
const VALUES = { white: 3, black: 6 };

/** Draw the core of a side's line, half as wide as the line, if the styles define its colour. */
function drawCore(plot, side, core, width) {
  if (!core) return;
  const { ctx } = plot;
  ctx.save();
  Object.assign(ctx, { strokeStyle: core, lineWidth: width * devicePixelRatio, lineJoin: "round" });
  ctx.setLineDash([]);
  ctx.beginPath();
  plot.data[VALUES[side]].forEach((elo, at) => {
    if (elo !== null) ctx.lineTo(plot.valToPos(plot.data[0][at], "x", true), plot.valToPos(elo, "y", true));
  });
  ctx.stroke();
  ctx.restore();
}

/** Write the name of the band just above its lower edge, at its newest point; return its box in a list, empty without a name. */
function nameBand(plot, text, { color, family, size }) {
  const lows = [plot.data[2], plot.data[5]].find((low) => low.some((elo) => elo !== null));
  if (!text || lows === undefined) return [];
  const at = lows.findLastIndex((elo) => elo !== null);
  const ratio = devicePixelRatio;
  const { ctx } = plot;
  ctx.save();
  Object.assign(ctx, { fillStyle: color, font: `${Math.round(size * ratio)}px ${family}`, textAlign: "right", textBaseline: "bottom" });
  const [right, bottom] = [plot.valToPos(plot.data[0][at], "x", true) - 6 * ratio, plot.valToPos(lows[at], "y", true) - 3 * ratio];
  ctx.fillText(text, right, bottom);
  const { width } = ctx.measureText(text);
  ctx.restore();
  return [{ left: right - width, right, top: bottom - size * ratio, bottom }];
}

/**
 * Return where to write the names of points beside curves: `[x, y]` of the middle of each name, null without room. Pure.
 *
 * `names` are `{x, y, width, up, change}` of the named points; the one with the largest `change` is placed first. `lines` are
 * the curves as lists of `[x, y]`, and `area` is `{left, right, top, bottom, height, gap}`. No name covers another name, a
 * curve or one of `boxes`.
 */
export function namePlaces(names, lines, { left, right, top, bottom, height, gap }, boxes = []) {
  const takenBoxes = [...boxes];
  const meets = (box) => ([x1, y1], [x2, y2]) => {
    const [from, to] = [Math.max(Math.min(x1, x2), box.left), Math.min(Math.max(x1, x2), box.right)];
    if (from > to) return false;
    const ys = x1 === x2 ? [y1, y2] : [from, to].map((x) => y1 + ((y2 - y1) * (x - x1)) / (x2 - x1));
    return Math.min(...ys) < box.bottom && Math.max(...ys) > box.top;
  };
  const overlaps = (box) => (takenBox) => box.left < takenBox.right && takenBox.left < box.right && box.top < takenBox.bottom && takenBox.top < box.bottom;
  const isInside = (box) => box.top >= top && box.bottom <= bottom && box.left >= left && box.right <= right;
  const isFree = (box) => isInside(box) && !takenBoxes.some(overlaps(box)) && !lines.some((points) => points.slice(1).some((next, at) => meets(box)(points[at], next)));
  const places = new Map(names.toSorted((a, b) => (b.change ?? 0) - (a.change ?? 0)).map((name) => [name, place(name)]));
  return names.map((name) => places.get(name));

  function place({ x, y, width, up }) {
    const side = up ? -1 : 1;
    const ownBoxes = NAME_STEPS.flatMap((step) => {
      const away = (step * height) / 2;
      const [far, beside] = [side * (away + gap + height / 2), width / 2 + 2 * gap];
      const middle = Math.min(Math.max(x, left + width / 2), right - width / 2) - x;
      const ways = [[middle, far], [beside, side * away], [-beside, side * away], [beside, -side * away], [-beside, -side * away], [middle, -far]];
      return ways.map(([dx, dy]) => ({
        left: x + dx - width / 2, right: x + dx + width / 2, top: y + dy - height / 2, bottom: y + dy + height / 2,
      }));
    });
    const freeBox = ownBoxes.find(isFree) ?? null;
    if (freeBox === null) return null;
    takenBoxes.push(freeBox);
    return [(freeBox.left + freeBox.right) / 2, (freeBox.top + freeBox.bottom) / 2];
  }
}

/** Distances from its point at which a name is tried, in halves of its height; with more the point would be unclear. */
const NAME_STEPS = [0, 1, 2];

/** Return the colour for text about a side, which can differ from the curve's colour to be readable. */
const chooseInk = (color, side) => color(`--${side}-text`) || color(`--${side}-line`);

/** Number of moves of each side that are named at its curve. */
const NAMED = 3;

/** Mark each costly move at its player's curve, and write it with `written` in letters of `size` CSS pixels. */
function markCostlyMoves(plot, game, { color, family, size, skippedPlies, takenBoxes, written = (san) => san }) {
  const { ctx } = plot;
  const ratio = devicePixelRatio;
  const { left, top, width, height } = plot.bbox;
  ctx.save();
  ctx.font = `600 ${Math.round(size * ratio)}px ${family}`;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  const place = (move, elo) => [plot.valToPos(move, "x", true), plot.valToPos(elo, "y", true)];
  const names = COLORS.flatMap((side) => namedMoves(game, side, NAMED).filter(({ ply }) => !skippedPlies.includes(ply)).map(({ ply, from, to }) => {
    const text = moveText(ply, written(game.plies[ply - 1]?.san ?? ""), game.start_fen);
    const [x, y] = place(Math.ceil(ply / 2), to);
    return { side, text, x, y, width: ctx.measureText(text).width + 4 * ratio, up: to > from, change: Math.abs(to - from) };
  }));
  const lines = COLORS.map((side) => plot.data[0].flatMap((move, at) => {
    const elo = plot.data[VALUES[side]][at] ?? null;
    return elo === null ? [] : [place(move, elo)];
  }));
  const area = { left, right: left + width, top, bottom: top + height, height: 1.2 * size * ratio, gap: 0.4 * size * ratio };
  const places = namePlaces(names, lines, area, takenBoxes);
  ctx.lineWidth = ratio;
  ctx.setLineDash([]);
  names.forEach(({ side, text, x, y }, at) => {
    ctx.fillStyle = ctx.strokeStyle = color(`--${side}-line`);
    ctx.beginPath();
    ctx.arc(x, y, 0.3 * size * ratio, 0, 2 * Math.PI);
    ctx.fill();
    if (places[at] === null) return;
    const [cx, cy] = places[at];
    ctx.fillStyle = chooseInk(color, side);
    ctx.fillText(text, cx, cy);
  });
  ctx.restore();
}

/**
 * Mark the newest value at the end of each line: a ring for White, a dot for Black, and the number, grey while it is
 * early. `size` is the size of the letters, CSS pixels. Two numbers that would overlap are moved apart.
 */
function markEnds(plot, { curves }, { color, family, size, above }) {
  const { ctx } = plot;
  const { left, width } = plot.bbox;
  const ratio = devicePixelRatio;
  const ends = COLORS.map((side) => {
    const values = plot.data[VALUES[side]];
    const at = values.findLastIndex((value) => value !== null);
    if (at < 0) return null;
    const y = plot.valToPos(values[at], "y", true);
    return { side, x: plot.valToPos(plot.data[0][at], "x", true), y, label: y, text: eloText({ value: values[at], index: above !== null }) };
  }).filter(Boolean);
  const room = 1.1 * size * ratio;
  if (ends.length === 2 && Math.abs(ends[0].y - ends[1].y) < room) {
    const [high, low] = ends[0].y <= ends[1].y ? ends : [ends[1], ends[0]];
    const middle = (high.y + low.y) / 2;
    high.label = Math.max(plot.bbox.top, middle - room / 2);
    low.label = high.label + room;
  }
  ctx.save();
  // The canvas counts device pixels, so the font size is multiplied by the screen's pixel density.
  ctx.font = `700 ${Math.round(size * ratio)}px ${family}`;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.lineWidth = 0.14 * size * ratio;
  // Undo the dashes that uPlot has set for the lines of the players' Elo.
  ctx.setLineDash([]);
  for (const { side, x, y, label, text } of ends) {
    ctx.fillStyle = ctx.strokeStyle = color(`--${side}-line`);
    ctx.beginPath();
    ctx.arc(x, y, 0.27 * size * ratio, 0, 2 * Math.PI);
    const core = color(`--${side}-core`);
    if (core) Object.assign(ctx, { fillStyle: core });
    if (core || side === "black") ctx.fill();
    if (core || side === "white") ctx.stroke();
    ctx.fillStyle = isEarly(figureOf(curves[side].at(-1), above)) ? color("--quiet") : chooseInk(color, side);
    ctx.fillText(text, left + width + 0.55 * size * ratio, label);
  }
  ctx.restore();
}
