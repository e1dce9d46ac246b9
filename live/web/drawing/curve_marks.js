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
