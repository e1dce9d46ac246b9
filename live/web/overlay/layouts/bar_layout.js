/** `layout=bar`: a slim lower third. */

import { element, setParts } from "../../drawing/elements.js";
import { placeOf } from "../shown_figures.js";
import { PlayerPanel } from "../player_lines.js";
import { ScorePanel } from "../score.js";

/** The bar's own width in rem: as wide as the page, whatever its height. */
const WIDTH = 88;
const NARROW_WIDTH = 44;

export default class BarLayout {
  constructor(context) {
    this._context = context;
    this._score = new ScorePanel(context);
    this._place = element("p", "place");
    this._sides = { white: new PlayerPanel("white", context), black: new PlayerPanel("black", context) };
    const { bar, move, number, alert } = this._score;
    this.node = element(
      "article",
      "layout-bar",
      "",
      element(
        "div",
        "panel",
        "",
        this._sides.white.node,
        element(
          "div",
          "middle",
          "",
          this._place,
          element("div", "state", "", move, number),
          bar.node,
        ),
        this._sides.black.node,
      ),
      alert,
    );
    this.node.hidden = true;
  }

  fit(width, height) {
    const narrow = width < 700 && height >= width / 4;
    this.node.classList.toggle("narrow", narrow);
    this._score.briefly = narrow;
    return Math.min(width / (narrow ? NARROW_WIDTH : WIDTH), height / (narrow ? 14 : 7.5));
  }

  draw({ games: [game = null], swingOf }) {
    this.node.hidden = game === null;
    if (game === null) return;
    const { words } = this._context;
    setParts(this._place, placeOf(game, words));
    this._sides.white.draw(game);
    this._sides.black.draw(game);
    this._score.draw(game, swingOf(game));
  }
}
