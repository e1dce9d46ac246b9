/** What an overlay shows, and what of it cannot be read: an expression, see two_rounds.py. */
(() => {
  const seen = (node) => node.checkVisibility({checkOpacity: true, checkVisibilityCSS: true});
  const text = (root, query) =>
    [...root.querySelectorAll(query)].filter(seen)[0]?.textContent ?? "";
  const side = (root, color) => {
    const at = root.querySelector(`.player.${color}`);
    return at && {name: text(at, ".name"), points: text(at, ".points"), elo: text(at, ".elo .value"),
      value: text(at, ".ratings .value"), about: text(at, ".ratings")};
  };
  const items = [...document.querySelectorAll(".item, .cell, .layout-bar, .layout-board")].filter(seen)
    .map((root) => ({place: root.querySelector(".place")?.textContent ?? "", move: text(root, ".move"), score: text(root, ".score"), alert: text(root, ".alert"),
      white: side(root, "white"), black: side(root, "black")}));
  const rows = [...document.querySelectorAll(".layout-standings tbody tr")].filter(seen).map((row) => ({
    name: text(row, ".name"), value: text(row, ".figure .value"), basis: text(row, ".basis")}));
  const leaves = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const holder = node.parentElement;
    if (!node.data.trim() || holder.closest("svg, .diagram, script, style, [aria-hidden=true]")) continue;
    if (!seen(holder)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    if (box.width > 1 && box.height > 1) leaves.push({node, holder, box, said: node.data.trim()});
  }
  const cut = [];
  for (const {holder, box, said} of leaves) {
    if (box.left < -1 || box.top < -1 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1) cut.push(said);
    for (let up = holder; up && up !== document.body; up = up.parentElement) {
      const style = getComputedStyle(up);
      if (style.overflowX === "visible" && style.overflowY === "visible") continue;
      const edge = up.getBoundingClientRect();
      if (box.right > edge.right + 1.5 || box.left < edge.left - 1.5) { cut.push(said); break; }
    }
  }
  const overlap = [];
  leaves.forEach((a, at) => leaves.slice(at + 1).forEach((b) => {
    const wide = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
    const high = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
    if (wide > 2 && high > 0.4 * Math.min(a.box.height, b.box.height)) overlap.push(`${a.said} | ${b.said}`);
  }));
  const status = document.getElementById("status");
  return {items, rows, cut, overlap, status: status && seen(status) ? status.textContent : "",
    drawn: document.querySelector("#stage")?.dataset.seq ?? null};
})()
