/** Both figures of a game as curves with their bands, and `layout=curves`, which shows only these. */

import { axisStyle, curveData, curveOptions, Plot } from "../../drawing/curves.js";
import { element, setText } from "../../drawing/elements.js";
import { COLORS } from "../../client/games.js";
import { OneGame } from "../panels.js";
import { localMove } from "../language/words.js";

/** The curves, as large as their box, with letters that scale with the page. */
export class Curves {
  /** `letters` are the piece letters of the reader's language. */
  constructor(letters) {
    const sizeOf = ({ clientWidth: width, clientHeight: height }) => ({ width, height });
    this._plot = new Plot("curves", () => this._options(), sizeOf);
    this.node = this._plot.node;
    this._letters = letters;
    this._game = this._above = null;
    this._skippedPlies = [];
  }

  /** Draw a game's curves, if it has any. Moves at `skippedPlies` are shown elsewhere and so not named at the curves. */
  draw(game, above, skippedPlies = []) {
    if (this._game === game && this._above === above && String(this._skippedPlies) === String(skippedPlies)) return;
    Object.assign(this, { _game: game, _above: above, _skippedPlies: skippedPlies });
    const data = curveData(game, above);
    this._plot.show(data);
    // A benchmark reads this mark to measure how soon an overlay is visible.
    if (data !== null) performance.mark("curve");
  }

  resized() {
    this._plot.remake();
  }

  _options() {
    const style = getComputedStyle(this.node);
    const color = (name) => style.getPropertyValue(name).trim();
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
    const small = Math.max(7, Math.round(rem));
    const axis = axisStyle(color, `400 ${small}px ${style.fontFamily}`);
    const { marked, ...options } = curveOptions({
      color,
      family: style.fontFamily,
      letters: 1.1 * rem,
      names: small,
      axes: [{ ...axis, size: 1.7 * small, gap: 0.3 * small }, { ...axis, size: 3.4 * small, gap: 0.4 * small }],
      thin: Math.max(1, 0.06 * rem),
      thick: Math.max(1.5, 0.17 * rem),
      game: () => this._game,
      above: () => this._above,
      skippedPlies: () => this._skippedPlies,
      written: (san) => localMove(san, this._letters),
    });
    const padding = [0.8 * rem, 4.9 * rem, 0, 0];
    return { padding, cursor: { show: false }, ...options, hooks: { draw: [marked] } };
  }
}

export class CurvesLayout extends OneGame {
  size = { width: 52, height: 29.25 };
  tall = { width: 24, height: 36 };

  constructor(context) {
    super(context);
    this._which = element("p", "which");
    this._plot = new Curves(context.words.letters);
    const header = element("header", "", "", this.place, this._which);
    const players = element("div", "players", "", this.sides.white.node, this.sides.black.node);
    this.node = element("article", "layout-curves panel", "", header, players, this._plot.node);
  }

  resized() {
    this._plot.resized();
  }

  drawGame(game) {
    const { words, withheld } = this.context;
    const above = this.context.above();
    const bands = COLORS.some((color) => game[color].elo) ? words.bands : "";
    // If figures are withheld, each player's panel says so.
    setText(this._which, withheld() ? "" : above === null ? bands : `${words.algorithm4} \u00b7 95\u00a0%`);
    for (const side of Object.values(this.sides)) side.draw(game);
    this._plot.draw(game, above);
  }
}
