/**
 * What tells two curves apart where their bands overlap: each band has lines of its own direction
 * and an outline, each line a label at its end. For uPlot, on pages and overlays.
 */

/** Between two lines of a band, CSS pixels. */
const GAP = 10;

/**
 * What fills a band: lines, `/` for White's, `\` for Black's, over a thin wash. Where both lie,
 * the lines cross.
 */
export function bandFill(color, wash, side) {
  const size = Math.round(GAP * devicePixelRatio);
  const tile = document.createElement("canvas");
  tile.width = tile.height = size;
  const context = tile.getContext("2d");
  context.fillStyle = wash;
  context.fillRect(0, 0, size, size);
  context.strokeStyle = color;
  context.globalAlpha = 0.42;
  context.lineWidth = Math.max(1, 0.8 * devicePixelRatio);
  context.beginPath();
  // Thrice, so that the tiles meet without a gap in their corners.
  for (const by of [-size, 0, size]) {
    context.moveTo(by, side === "white" ? size : 0);
    context.lineTo(by + size, side === "white" ? 0 : size);
  }
  context.stroke();
  return context.createPattern(tile, "repeat");
}

/** Where the columns of a plot hold a side's values. */
export const VALUES = { white: 3, black: 6 };
const SIDES = Object.keys(VALUES);

/**
 * Where names stand beside curves: `[x, y]` of the middle of each, or null where there is no room. Pure.
 * `names` are `{x, y, width, up}` of the point that is named, `lines` the curves as lists of `[x, y]`,
 * `area` is `{left, right, top, bottom, height, gap}`: no name lies on another or on a curve.
 */
export function namePlaces(names, lines, { left, right, top, bottom, height, gap }) {
  const taken = [];
  const crossed = (box) => lines.some((points) => points.slice(1).some(([x2, y2], at) => {
    const [x1, y1] = points[at];
    const [from, to] = [Math.max(x1, box.left), Math.min(x2, box.right)];
    if (from > to) return false;
    const ys = [from, to].map((x) => y1 + ((y2 - y1) * (x - x1)) / (x2 - x1 || 1));
    return Math.min(...ys) < box.bottom && Math.max(...ys) > box.top;
  }));
  return names.map(({ x, y, width, up }) => {
    for (let step = 0; step < 2 * NAME_STEPS; step += 1) {
      const away = (step % NAME_STEPS) * (height / 2) + gap + height / 2;
      const side = up === step < NAME_STEPS ? -1 : 1;
      const [cx, cy] = [Math.min(Math.max(x, left + width / 2), right - width / 2), y + side * away];
      const box = { left: cx - width / 2, right: cx + width / 2, top: cy - height / 2, bottom: cy + height / 2 };
      const meets = (other) => box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom;
      if (box.top < top || box.bottom > bottom || taken.some(meets) || crossed(box)) continue;
      taken.push(box);
      return [cx, cy];
    }
    return null;
  });
}

/** How far from its point a name is looked a place for, in halves of its height. */
const NAME_STEPS = 8;

/**
 * The newest value at the end of each line: a ring for White, a dot for Black, and the number.
 * `size` is that of its letters, CSS pixels; two numbers that would lie on each other make room.
 * Those of sides that are `early` are grey: they say nothing yet.
 */
export function markEnds(plot, { color, family, size, written, early = () => false }) {
  const { ctx } = plot;
  const { left, width } = plot.bbox;
  const ratio = devicePixelRatio;
  const ends = SIDES.map((side) => {
    const values = plot.data[VALUES[side]];
    const at = values.findLastIndex((value) => value !== null);
    if (at < 0) return null;
    const y = plot.valToPos(values[at], "y", true);
    return { side, x: plot.valToPos(plot.data[0][at], "x", true), y, label: y, text: written(values[at]) };
  }).filter(Boolean);
  const room = 1.1 * size * ratio;
  if (ends.length === 2 && Math.abs(ends[0].y - ends[1].y) < room) {
    const [high, low] = ends[0].y <= ends[1].y ? ends : [ends[1], ends[0]];
    const middle = (high.y + low.y) / 2;
    high.label = middle - room / 2;
    low.label = middle + room / 2;
  }
  ctx.save();
  // The plot's own letters are multiplied by the density of the screen; so are these.
  ctx.font = `700 ${Math.round(size * ratio)}px ${family}`;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.lineWidth = 0.14 * size * ratio;
  for (const { side, x, y, label, text } of ends) {
    ctx.fillStyle = ctx.strokeStyle = color(`--${side}-line`);
    ctx.beginPath();
    ctx.arc(x, y, 0.27 * size * ratio, 0, 2 * Math.PI);
    if (side === "black") ctx.fill();
    else ctx.stroke();
    if (early(side)) ctx.fillStyle = color("--quiet");
    ctx.fillText(text, left + width + 0.55 * size * ratio, label);
  }
  ctx.restore();
}
