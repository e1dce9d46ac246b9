/** Headings of a table that sort it: by mouse and by keyboard, announced to screen readers. */

import { button, element, headCell } from "../../drawing/elements.js";
import { explainButton } from "../explanations.js";

export class SortedHeader {
  /** `go` is given `{sort, down}`; columns have `id`, `label`, and `explain` where there is more to say. */
  constructor(columns, go) {
    this._go = go;
    this.node = element("tr");
    this.columns(columns);
  }

  columns(columns) {
    this._cells = columns.map(({ id, label, explain }) => {
      const sort = () => this._go({ sort: id, down: cell.hasAttribute("aria-sort") ? !this._down : false });
      const cell = headCell("", "col", button(label, sort, { className: "sort" }));
      if (explain) cell.append(explainButton(explain));
      return { id, cell };
    });
    this.node.replaceChildren(...this._cells.map(({ cell }) => cell));
  }

  draw(sort, down) {
    this._down = down;
    for (const { id, cell } of this._cells) {
      if (id === sort) cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    }
  }
}
