/** `layout=board`: one game with its diagram and all data, beside the diagram or, on an upright page, around it. */

import { materialText, placementAfter } from "../../client/board_position.js";
import { COLORS } from "../../client/games.js";
import { BoardFrame, Diagram } from "../../drawing/diagram.js";
import { element, setLine } from "../../drawing/elements.js";
import { OneGame } from "../panels.js";
import { betterMove, humanLine, lastMove, newestFall, oddsOf, oddsWords, openingText } from "../shown_figures.js";
import { Curves } from "./curves.js";

export class BoardLayout extends OneGame {
  size = { width: 60, height: 33.75 };
  tall = { width: 33, height: 58.6 };

  constructor(context) {
    super(context);
    const { show } = context.options;
    this.place.classList.add("panel");
    this._human = element("p", "human");
    this._board = element("div", "diagram");
    this._plot = new Curves(context.words.letters);
    this._diagram = null;
    this._odds = element("p", "odds");
    this._opening = element("p", "opening");
    this._frame = show.includes("arrow") || show.includes("coordinates") ? new BoardFrame(this._board) : null;
    this._frame?.node.classList.toggle("named", show.includes("coordinates"));
    const { bar, move, number, alert } = this.score;
    const state = element("div", "state", "", move, number, alert);
    const { black, white } = this.sides;
    this.node = element(
      "article", "layout-board", "",
      element("div", "board-with-bar", "", bar, this._frame?.node ?? this._board), this.place,
      element("div", "panel story", "", black.node, state, this._odds, this._opening, this._human, this._plot.node, white.node),
    );
  }

  resized() {
    this._plot.resized();
  }

  drawGame(game, { swingOf }) {
    const { options, words } = this.context;
    const { show, hide } = options;
    setLine(this._opening, show.includes("opening") ? openingText(game) : "");
    setLine(this._odds, hide.includes("score") ? "" : oddsWords(oddsOf(game, game.plies, options.provisional), words));
    const placement = placementAfter(game.start_fen, game.plies.map(({ uci }) => uci));
    const material = show.includes("material") ? materialText(placement) : {};
    const swing = swingOf(game);
    const isTold = swing !== null;
    for (const [color, side] of Object.entries(this.sides)) side.draw(game, { material: material[color], isTold });
    this._frame?.draw("white", show.includes("arrow") ? betterMove(game) : "");
    this.score.draw(game, swing);
    const human = options.human ? humanLine(game, words) : null;
    this._human.dataset.mark = human?.mark ?? "";
    setLine(this._human, human?.text ?? "");
    if (!hide.includes("diagram")) {
      this._diagram ??= new Diagram(this._board);
      this._diagram.draw(game, lastMove(game, words));
    }
    if (hide.includes("curves")) return;
    // A move that the panels name in words is not named at the curve as well.
    const skippedPlies = isTold ? [swing.ply] : COLORS.map((color) => newestFall(game, color));
    this._plot.draw(game, this.context.above(), skippedPlies);
  }
}
