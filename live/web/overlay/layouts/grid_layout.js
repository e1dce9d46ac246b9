/** `layout=grid`: several boards at once, for screens in the hall; more of them page by page. */

import { Diagram } from "../../drawing/diagram.js";
import { element, setText } from "../../drawing/elements.js";
import { Children, Pager } from "../../drawing/reused_children.js";
import { PlayerPanel } from "../player_lines.js";
import { ScorePanel } from "../score.js";
import { fill } from "../language/words.js";

/** A board's own size in rem, with its diagram and without. */
const WITH_DIAGRAM = { width: 33, height: 13.2 };
const PLAIN = { width: 25, height: 10.9 };
const GAP = 0.6;
/** So many small boards are too many to be made out. */
const MOST_DIAGRAMS = 24;

export default class GridLayout {
  constructor(context) {
    this._context = context;
    this._pager = new Pager(context.options.page * 1000);
    this.node = element("div", "layout-grid");
    const { options } = context;
    this._diagrams = !options.hide.includes("diagram") && options.boards <= MOST_DIAGRAMS;
    this.node.classList.toggle("plain", !this._diagrams);
    this._cells = new Children(this.node, () => new GridBoard(context, this._diagrams));
    this._shown = options.boards;
    this._room = { width: 0, height: 0 };
  }

  /** As many columns as make the boards largest. */
  fit(width, height) {
    const cell = this._diagrams ? WITH_DIAGRAM : PLAIN;
    let best = { rem: 0, columns: 1 };
    for (let columns = 1; columns <= this._shown; columns += 1) {
      const rows = Math.ceil(this._shown / columns);
      const rem = Math.min(
        width / (columns * (cell.width + GAP) + GAP),
        height / (rows * (cell.height + GAP) + GAP),
      );
      if (rem > best.rem) best = { rem, columns };
    }
    this.node.style.setProperty("--columns", best.columns);
    return best.rem;
  }

  draw({ games, now, swingOf }) {
    const { items } = this._pager.page(games, this._context.options.boards, now);
    // The last page may hold fewer: the boards stay as large as on the others.
    const shown = Math.max(1, Math.min(games.length, this._context.options.boards));
    if (shown !== this._shown) {
      this._shown = shown;
      dispatchEvent(new Event("resize"));
    }
    const cells = this._cells.show(items);
    cells.forEach((cell, at) => cell.draw(items[at], swingOf(items[at])));
    // A new diagram measures its place; were all else not drawn by then, bars would slide in.
    cells.forEach((cell, at) => cell.drawDiagram(items[at]));
  }
}

/** One board of the grid. */
class GridBoard {
  constructor(context, withDiagram) {
    this._context = context;
    this._place = element("span", "place");
    this._score = new ScorePanel(context, true);
    this._sides = { black: new PlayerPanel("black", context), white: new PlayerPanel("white", context) };
    this._board = withDiagram ? element("div", "diagram") : null;
    this._diagram = null;
    const { bar, move, number, alert } = this._score;
    const words = element(
      "div",
      "words",
      "",
      this._sides.black.node,
      element("div", "state", "", move, number, alert, this._place),
      bar.node,
      this._sides.white.node,
    );
    this.node = element("article", "cell panel", "", ...[this._board, words].filter(Boolean));
  }

  draw(game, swing) {
    // All are of one round; there is room for one of the two.
    const { board } = game;
    setText(this._place, board === null ? "" : fill(this._context.words.board, board));
    this._sides.white.draw(game);
    this._sides.black.draw(game);
    this._score.draw(game, swing);
    this.node.classList.toggle("over", game.result !== "*");
  }

  drawDiagram(game) {
    if (this._board === null) return;
    this._diagram ??= new Diagram(this._board);
    this._diagram.draw(game);
  }

  destroy() {
    this._diagram?.destroy();
  }
}
