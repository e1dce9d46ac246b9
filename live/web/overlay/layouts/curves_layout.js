/** `layout=curves`: both players' perceived ratings move by move, and nothing else. */

import { element, setParts, setText } from "../../drawing/elements.js";
import { placeOf } from "../shown_figures.js";
import { hasRating } from "../../client/figures.js";
import { PlayerPanel } from "../player_lines.js";
import { Plot } from "../curve_plot.js";
import { localMove } from "../language/words.js";

export default class CurvesLayout {
  /** In rem; it is made as large as the page. */
  size = { width: 52, height: 29.25 };

  constructor(context) {
    this._context = context;
    this._place = element("p", "place");
    this._which = element("p", "which");
    this._box = element("div", "curves");
    this._plot = new Plot(this._box, (san) => localMove(san, context.words.letters));
    this._sides = { white: new PlayerPanel("white", context), black: new PlayerPanel("black", context) };
    this.node = element(
      "article",
      "layout-curves panel",
      "",
      element("header", "", "", this._place, this._which),
      element("div", "players", "", this._sides.white.node, this._sides.black.node),
      this._box,
    );
    this.node.hidden = true;
  }

  resized() {
    this._plot.resized();
  }

  draw({ games: [game = null] }) {
    this.node.hidden = game === null;
    if (game === null) return;
    const { words, basisOf } = this._context;
    setParts(this._place, placeOf(game, words));
    const { withheld, choice, engineRating } = basisOf(game);
    const what = choice === "algorithm4" ? `${words.algorithm4} \u00b7 ${words.of100}` : words.bandIsUsual;
    // Each player's panel says that they are withheld.
    setText(this._which, withheld ? "" : what);
    this._sides.white.draw(game);
    this._sides.black.draw(game);
    if (hasRating(game, choice, engineRating)) this._plot.draw(game, choice, engineRating);
    else this._plot.clear();
  }
}
