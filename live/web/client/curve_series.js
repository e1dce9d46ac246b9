/** What curves draw: columns of figures, and the axis that fits them. Pure. */

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
