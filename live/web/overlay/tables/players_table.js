/** A table of players on air, a row each, page by page: what the layouts `standings` and `table` share. */

import { element, headCell, setText } from "../../drawing/elements.js";
import { counted } from "../language/words.js";
import { Children, Pager } from "../../drawing/reused_children.js";
import { Who } from "../player_lines.js";

const ROW = 2.57;

/** A heading of a column, of this class. */
export const head = (text, className = "") => Object.assign(headCell(text), { className });

export class PlayersTable {
  /** `columns` are the headings after the player's; `makeRow()` makes a {@link PlayerRow}; `headHeight` in rem. */
  constructor({ options, words }, { title, columns, makeRow, className = "", beside = [], headHeight }) {
    this._pager = new Pager(options.page * 1000);
    this._most = this._shown = options.rows;
    this._headHeight = headHeight;
    this._words = words;
    this._open = element("p", "open");
    const body = element("tbody");
    const heads = element("tr", "", "", head("", "rank"), head(words.player), ...columns);
    const header = element("header", "", "", element("h1", "", title), ...beside, this._open);
    const table = element("table", "", "", element("thead", "", "", heads), body);
    this.node = element("article", `layout-standings ${className} panel`, "", header, table);
    this.node.hidden = true;
    this._rows = new Children(body, makeRow);
  }

  /** How large a rem may be where the table is so many rem wide. */
  fitting(width, height, wide) {
    return Math.min(width / wide, height / (this._headHeight + ROW * this._shown));
  }

  /** Draws the rows of the page that is up by `draw(row, item, items)`; `missing` moves are still to be rated. */
  show(items, missing, now, draw) {
    this.node.hidden = items.length === 0;
    const shown = Math.max(1, Math.min(items.length, this._most));
    if (shown !== this._shown) {
      this._shown = shown;
      dispatchEvent(new Event("resize"));
    }
    setText(this._open, missing > 0 ? counted(this._words.toBeRated, missing) : "");
    const { items: up } = this._pager.page(items, this._most, now);
    this._rows.show(up).forEach((row, at) => draw(row, up[at], up));
  }

  /** What stands in place of the moves to come. */
  say(text) {
    setText(this._open, text);
  }
}

/** One player: place, who, and the figure with what is usual; `cells` stand between. */
export class PlayerRow {
  constructor({ words, flagOf }, cells, { beside = [], after = [] } = {}) {
    this._words = words;
    this._rank = element("td", "rank");
    this._basis = element("span", "basis");
    this._who = new Who(flagOf, [], [...beside, this._basis]);
    this._value = element("span", "value");
    this._interval = element("span", "interval");
    const figure = element("td", "figure", "", this._value, this._interval);
    this.node = element("tr", "", "", this._rank, headCell("", "row", this._who.node), ...cells, figure, ...after);
  }

  /** `moves` that the figure rests on, null where that is not said; `value` and `interval` as text. */
  fill(rank, player, everybody, moves, value, interval) {
    setText(this._rank, rank);
    setText(this._basis, moves === null ? "" : counted(this._words.moves, moves));
    this._who.draw(player, everybody, String(this._basis.textContent.length));
    setText(this._value, value);
    setText(this._interval, interval);
  }
}
