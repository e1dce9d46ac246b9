/** How both players' gains are spread, beside the engine's: a table that is its own chart. */

import { element, scrollBox, setText } from "../../drawing/elements.js";
import { explainButton } from "../explanations.js";
import { countGains, engineGains, gainClasses, gainsOf } from "./gain_classes.js";

export class Histogram {
  constructor() {
    this._kind = null;
    this._key = [];
    this._note = element("p", "chart-note");
    this._heads = ["White", "Gain, cp", "Black", "Engine"].map((text) => {
      const cell = element("th", "", text);
      cell.scope = "col";
      return cell;
    });
    this._body = element("tbody");
    const table = element(
      "table", "histogram", "", element("caption", "hidden", "Shares of moves by gain"),
      element("thead", "", "", element("tr", "", "", ...this._heads)), this._body,
    );
    const title = element("figcaption", "", "", element("span", "", "Gains of the moves"), explainButton("histogram"));
    this.node = element("figure", "chart gains-chart", "", title, scrollBox(table), this._note);
  }

  /** The gains as they stand after the plies looked at. */
  draw(game, kind, games) {
    const key = [game.curves.white, game.curves.black, kind];
    if (key.every((part, at) => part === this._key[at])) return;
    this._key = key;
    const classes = gainClasses(kind);
    if (kind !== this._kind) this._rows(classes);
    this._kind = kind;
    const engine = engineGains(classes, kind, games);
    const [white, black] = ["white", "black"].map((color) => {
      const gains = gainsOf(game, color);
      return { counts: countGains(classes, gains), n: gains.length };
    });
    setText(this._heads[0], `White (${white.n})`);
    setText(this._heads[2], `Black (${black.n})`);
    classes.forEach((_, at) => {
      const [left, , right, last] = this._body.rows[at].cells;
      bar(left, white.n ? white.counts[at] / white.n : null, white.counts[at]);
      bar(right, black.n ? black.counts[at] / black.n : null, black.counts[at]);
      bar(last, engine.shares?.[at] ?? null, null);
    });
    setText(this._note, engine.note);
  }

  _rows(classes) {
    const rows = classes.map(({ name }) => {
      const head = element("th", "", name);
      head.scope = "row";
      const cell = (who) => element("td", `part ${who}`, "", element("span", "amount"), element("i", "fill"));
      return element("tr", "", "", cell("white"), head, cell("black"), cell("engine"));
    });
    this._body.replaceChildren(...rows);
  }
}

function bar(cell, share, count) {
  const text = share === null ? "\u2013" : share === 0 ? "" : `${Math.round(100 * share)} %`;
  setText(cell.firstChild, text);
  cell.title = count === null || share === null ? "" : `${count} moves`;
  cell.lastChild.style.setProperty("width", `${(100 * (share ?? 0)).toFixed(1)}%`);
}
