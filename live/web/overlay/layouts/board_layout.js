/** `layout=board`: one game with everything, beside or above its board as the room allows. */

import { Diagram } from "../../drawing/diagram.js";
import { element, setParts, setText } from "../../drawing/elements.js";
import { oddsOf, oddsWords, placeOf } from "../shown_figures.js";
import { hasRating } from "../../client/figures.js";
import { PlayerPanel } from "../player_lines.js";
import { Plot } from "../curve_plot.js";
import { localMove } from "../language/words.js";
import { ScorePanel } from "../score.js";

/** The drawing's own size in rem; it is made as large as the page. */
const WIDE = { width: 60, height: 33.75 };
const TALL = { width: 33, height: 58.6 };

export default class BoardLayout {
  constructor(context) {
    this._context = context;
    this._place = element("p", "place panel");
    this._score = new ScorePanel(context);
    this._sides = { black: new PlayerPanel("black", context), white: new PlayerPanel("white", context) };
    this._human = element("p", "human");
    this._board = element("div", "diagram");
    this._box = element("div", "curves");
    this._plot = new Plot(this._box, (san) => localMove(san, context.words.letters));
    this._diagram = null;
    this._humanLine = () => null;
    if (context.options.human) import("../../client/move_shares.js").then(({ humanLine }) => (this._humanLine = humanLine));
    this._odds = element("p", "odds");
    this._opening = element("p", "opening");
    this._extras = null;
    const { bar, move, number, alert } = this._score;
    this.node = element(
      "article",
      "layout-board",
      "",
      element("div", "board-with-bar", "", bar.node, this._board),
      this._place,
      element(
        "div",
        "panel story",
        "",
        this._sides.black.node,
        element("div", "state", "", move, number, alert),
        this._odds,
        this._opening,
        this._human,
        this._box,
        this._sides.white.node,
      ),
    );
    this.node.hidden = true;
    const { show } = context.options;
    if (show.length > 0) {
      import("./board_extras.js").then(({ BoardExtras }) => (this._extras = new BoardExtras(show, this._board)));
    }
  }

  fit(width, height) {
    const tall = width < height;
    this.node.classList.toggle("tall", tall);
    const design = tall ? TALL : WIDE;
    return Math.min(width / design.width, height / design.height);
  }

  resized() {
    this._plot.resized();
  }

  draw({ games: [game = null], swingOf }) {
    this.node.hidden = game === null;
    if (game === null) return;
    const { options, words, basisOf } = this._context;
    setParts(this._place, placeOf(game, words));
    const extras = this._extras?.draw(game);
    setText(this._opening, extras?.opening ?? "");
    const odds = options.hide.includes("score") ? "" : oddsWords(oddsOf(game, game.plies, options.provisional), words);
    setText(this._odds, odds);
    this._odds.hidden = odds === "";
    this._opening.hidden = !this._opening.textContent;
    for (const [color, side] of Object.entries(this._sides)) side.draw(game, extras?.material[color]);
    this._score.draw(game, swingOf(game));
    const said = this._humanLine(game, words);
    this._human.hidden = said === null;
    this._human.dataset.mark = said?.mark ?? "";
    setText(this._human, said?.text ?? "");
    if (!options.hide.includes("diagram")) {
      this._diagram ??= new Diagram(this._board);
      this._diagram.draw(game);
    }
    if (options.hide.includes("curves")) return;
    const { choice, engineRating } = basisOf(game);
    if (hasRating(game, choice, engineRating)) this._plot.draw(game, choice, engineRating);
    else this._plot.clear();
  }
}
