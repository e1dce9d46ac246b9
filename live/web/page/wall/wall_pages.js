/** How boards fill a screen on a wall, and which of them it shows now. Pure. */

/** A board is drawn so much wider than high. */
const SHAPE = 36 / 17;
/** More than so many at once nobody reads from five metres. */
export const MOST = 12;
/** How long a page stays. */
export const PAGE_S = 15;

/** Columns and rows that show so many boards largest on a screen, `{columns, rows}`. */
export function wallGrid(boards, width, height) {
  let best = { columns: 1, rows: Math.max(1, boards), size: 0 };
  for (let columns = 1; columns <= Math.max(1, boards); columns += 1) {
    const rows = Math.ceil(Math.max(1, boards) / columns);
    const size = Math.min(width / columns / SHAPE, height / rows);
    if (size > best.size) best = { columns, rows, size };
  }
  return { columns: best.columns, rows: best.rows };
}

/** Boards on pages as even as can be: 13 are 7 and 6. */
export function wallPages(boards, most = MOST) {
  const count = Math.ceil(boards.length / most);
  const size = Math.ceil(boards.length / Math.max(1, count));
  return Array.from({ length: count }, (_, at) => boards.slice(at * size, (at + 1) * size));
}

/** Which page is shown `now` (milliseconds), of so many. */
export function pageAt(now, pages) {
  return pages < 2 ? 0 : Math.floor(now / (1000 * PAGE_S)) % pages;
}
