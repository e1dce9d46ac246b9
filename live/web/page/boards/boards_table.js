/** All boards as one table, a row each: the densest view, and what a screen reader reads best. */

import { button, element, headCell, nameNode, setText } from "../../drawing/elements.js";
import { bandText, percentText } from "../../client/figures.js";
import { resultText } from "../../drawing/number_format.js";
import {
  basisText, drawBar, lastMove, leapNews, markSide, provisionalWords, scoreAfter, sideFigure, withoutFigure,
} from "../score_words.js";
import { writePlace } from "../page_address.js";
import { nameWithin } from "../../drawing/player_names.js";
import { Children } from "../../drawing/reused_children.js";
import { ClockText } from "../board/side_figures.js";
import { explainButton } from "../explanations.js";

export const COLUMNS = [
  { id: "board", label: "Bd" },
  { id: "white", label: "White" },
  { id: "whiteRating", label: "Plays like", explain: "perceived" },
  { id: "score", label: "Score", explain: "score" },
  { id: "blackRating", label: "Plays like", explain: "perceived" },
  { id: "black", label: "Black" },
  { id: "moves", label: "Last move" },
  { id: "clock", label: "Clocks" },
  { id: "result", label: "Result" },
];

/** So many letters of a name fit a cell. */
const NAME_LETTERS = 24;

export class BoardsTable {
  constructor(go, elapsedS) {
    this._header = new SortedHeader(COLUMNS, go);
    this._body = element("tbody");
    this._rows = new Children(this._body, () => new BoardTableRow(elapsedS));
    const caption = element("caption", "hidden", "All boards");
    const table = element("table", "boards-table", "", caption, element("thead", "", "", this._header.node), this._body);
    this.node = element("div", "scroll", "", table);
  }

  draw(games, place, basis) {
    this._header.draw(place.sort || "board", place.down);
    this._rows.show(games).forEach((row, at) => row.draw(games[at], basis));
  }

  /** Time has passed. */
  tick() {
    for (const row of this._rows.views) row.tick();
  }

  links() {
    return [...this._body.rows].map((row) => row.querySelector("a"));
  }

  /** The row of a board. */
  row(id) {
    return this._rows.of(id)?.node;
  }

  clear() {
    this._rows.show([]);
  }
}

class BoardTableRow {
  constructor(elapsedS) {
    this._game = null;
    const cell = (className, ...children) => element("td", className, "", ...children);
    this._link = element("a", "open-row");
    this._names = { white: nameNode("name"), black: nameNode("name") };
    this._titles = { white: element("span", "title"), black: element("span", "title") };
    this._elos = { white: element("span", "elo"), black: element("span", "elo") };
    this._ratings = { white: element("strong", "rating"), black: element("strong", "rating") };
    this._intervals = { white: element("span", "interval"), black: element("span", "interval") };
    this._others = { white: element("span", "other"), black: element("span", "other") };
    this._score = element("span", "score");
    this._bar = element("div", "bar flat");
    this._bar.setAttribute("aria-hidden", "true");
    this._move = element("span", "move");
    this._clocks = ["white", "black"].map((color) => new ClockText(color, elapsedS));
    this._result = element("strong", "result");
    const who = (color) =>
      cell("player", element("i", `piece ${color}`), " ", this._titles[color], this._names[color], this._elos[color]);
    const rating = (color) => cell(`side ${color}`, this._ratings[color], this._intervals[color], this._others[color]);
    const head = headCell("", "row", this._link);
    this.node = element(
      "tr", "", "", head, who("white"), rating("white"), cell("scored", this._score, this._bar),
      rating("black"), who("black"), cell("", this._move), cell("clocks", this._clocks[0].node, " ", this._clocks[1].node), cell("", this._result),
    );
  }

  draw(game, basis) {
    if (game === this._game && basis.choice === this._basis?.choice && basis.engineRating === this._basis?.engineRating) return;
    this._game = game;
    this._basis = basis;
    setText(this._link, game.board === null ? game.round || "\u2013" : String(game.board));
    this._link.href = writePlace({ view: "board", game: game.id });
    this._link.setAttribute("aria-label", `Open board ${game.board ?? ""}: ${game.white.name} against ${game.black.name}`);
    for (const color of ["white", "black"]) {
      const player = game[color];
      setText(this._titles[color], player.title ?? "");
      setText(this._names[color], nameWithin(player.name || "?", basis.everybody, NAME_LETTERS));
      this._names[color].title = player.name;
      setText(this._elos[color], player.elo ? String(player.elo) : "");
      const point = game.curves[color].at(-1) ?? null;
      const read = sideFigure(game, color, point, basis);
      setText(this._ratings[color], read?.text ?? "\u2013");
      setText(this._intervals[color], read ? bandText(read.figure) : withoutFigure(point, basis));
      const place = read?.figure.percentile ?? null;
      const better = place === null ? "" : `better than ${percentText(place)}\u00a0% of such games`;
      const about = read === null ? [] : read.early ? [read.early] : [leapNews(game, color, basis) || better, basisText(game, color, read.figure)];
      setText(this._others[color], about.filter(Boolean).join(" \u00b7 "));
      markSide(this._ratings[color].parentNode, read);
    }
    const score = scoreAfter(game, game.plies);
    setText(this._score, score.provisional && score.text ? `${score.text} \u2026` : score.text);
    this._score.classList.toggle("provisional", score.provisional);
    this._score.title = score.source ? provisionalWords(score.source) : "";
    drawBar(this._bar, score);
    setText(this._move, lastMove(game, game.plies));
    for (const clock of this._clocks) clock.draw(game, game.plies);
    setText(this._result, resultText(game.result));
  }

  tick() {
    for (const clock of this._clocks) clock.tick();
  }
}

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
