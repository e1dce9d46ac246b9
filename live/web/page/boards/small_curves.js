/** Both curves with their bands, small: two lines and two areas that stretch with their box. */

import { columns, hasRating, span } from "../../client/figures.js";

const NS = "http://www.w3.org/2000/svg";
const [WIDTH, HEIGHT] = [100, 40];

/** What the four paths are, from curves: `{white: {band, line}, black: …}`; null without a value. */
export function sparkPaths(curves, { choice = "perceived", engineRating = null } = {}) {
  if (!hasRating({ curves }, choice, engineRating)) return null;
  const data = columns(curves, choice, engineRating);
  const [low, high] = span(data);
  const moves = data[0].length;
  const x = (at) => (moves < 2 ? WIDTH / 2 : (WIDTH * at) / (moves - 1)).toFixed(1);
  const y = (value) => (HEIGHT * (1 - (Math.max(low, Math.min(high, value)) - low) / (high - low))).toFixed(1);
  const side = (top, bottom, values) => ({ band: band(top, bottom, x, y, low, high), line: line(values, x, y) });
  return { white: side(data[1], data[2], data[3]), black: side(data[4], data[5], data[6]) };
}

function line(values, x, y) {
  let path = "";
  let pen = "M";
  values.forEach((value, at) => {
    if (value === null) return;
    path += `${pen}${x(at)} ${y(value)}`;
    pen = "L";
  });
  // One value alone is a short dash.
  return path.includes("L") ? path : path && `${path}h2`;
}

function band(top, bottom, x, y, low, high) {
  const known = top.map((_, at) => at).filter((at) => top[at] !== null || bottom[at] !== null);
  if (known.length < 2) return "";
  const over = known.map((at) => `${x(at)} ${y(top[at] ?? high)}`);
  const under = known.reverse().map((at) => `${x(at)} ${y(bottom[at] ?? low)}`);
  return `M${[...over, ...under].join("L")}Z`;
}

export class Spark {
  constructor() {
    this.node = document.createElementNS(NS, "svg");
    this.node.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    this.node.setAttribute("preserveAspectRatio", "none");
    this.node.setAttribute("class", "spark");
    this.node.setAttribute("aria-hidden", "true");
    this._paths = {};
    for (const kind of ["band", "line"]) {
      for (const color of ["white", "black"]) {
        const path = document.createElementNS(NS, "path");
        path.setAttribute("class", `${kind} ${color}`);
        this._paths[`${color} ${kind}`] = path;
        this.node.append(path);
      }
    }
    this._drawn = null;
  }

  draw(curves, basis) {
    if (curves === this._drawn && basis.choice === this._basis?.choice && basis.engineRating === this._basis?.engineRating) return;
    this._drawn = curves;
    this._basis = basis;
    const paths = sparkPaths(curves, basis);
    this.node.classList.toggle("empty", paths === null);
    for (const [name, path] of Object.entries(this._paths)) {
      const [color, kind] = name.split(" ");
      path.setAttribute("d", paths?.[color][kind] ?? "");
    }
  }
}
