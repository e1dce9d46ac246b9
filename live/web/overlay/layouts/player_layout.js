/** `layout=player`: a lower third of one player, with whom he plays and how the game stands. */

import { element, setParts, setText } from "../../drawing/elements.js";
import { isolated, shortName } from "../../drawing/player_names.js";
import { fill } from "../language/words.js";
import { isAsked } from "../game_choice.js";
import { PlayerPanel } from "../player_lines.js";
import { ScorePanel } from "../score.js";
import { placeOf } from "../shown_figures.js";

export default class PlayerLayout {
  /** In rem; it is made as large as the page. */
  size = { width: 46, height: 12 };

  constructor(context) {
    this._context = context;
    this._sides = { white: new PlayerPanel("white", context), black: new PlayerPanel("black", context) };
    this._against = element("span", "against");
    this._place = element("span", "place");
    this._score = new ScorePanel(context, true);
    const { bar, move, number, alert } = this._score;
    this.node = element(
      "article",
      "layout-player",
      "",
      element(
        "div",
        "panel",
        "",
        this._sides.white.node,
        this._sides.black.node,
        element("div", "state", "", this._against, this._place, move, number),
        bar.node,
      ),
      alert,
    );
    this.node.hidden = true;
  }

  draw({ games: [game = null], swingOf }) {
    this.node.hidden = game === null;
    if (game === null) return;
    const { words, options, everybody } = this._context;
    const color = this._color(game, options.player);
    const [own, other] = color === "white" ? ["white", "black"] : ["black", "white"];
    this._sides[own].node.hidden = false;
    this._sides[other].node.hidden = true;
    this._sides[own].draw(game);
    setText(this._against, fill(words.against, isolated(shortName(game[other].name || "?", everybody()))));
    setParts(this._place, placeOf(game, words));
    this._score.draw(game, swingOf(game));
  }

  /** Whose lower third it is: who was asked for, else White. */
  _color(game, wanted) {
    return isAsked(game.black, wanted) ? "black" : "white";
  }
}
