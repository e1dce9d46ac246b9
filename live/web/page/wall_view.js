/**
 * All boards as large as the screen: for a hall, read from five metres. Figures first, nothing of
 * engines; more boards than can be read at once come page by page.
 */

import { Side, SmallGame } from "./board_card.js";
import { arranged } from "./boards.js";
import { anchor, button, Children, element, loadStyles, named, nameNode, setLine, setText } from "../drawing/elements.js";
import { bandText } from "../client/figures.js";
import { roundText, say } from "./language.js";
import { dateText, eventOf, leadingRound, roundsOf } from "../client/games.js";
import { basisIn, placeText } from "./score_words.js";

export class WallView {
  constructor(elapsedS, followed) {
    loadStyles(new URL("./wall.css", import.meta.url).href);
    this._followed = followed;
    this._shown = null;
    this._where = nameNode("where");
    this._page = element("span", "page");
    this._state = element("span", "state");
    this._time = element("span", "time");
    const leave = anchor("plain", "Leave (Esc)", "#");
    const whole = button("Full screen", () => document.documentElement.requestFullscreen());
    whole.hidden = !document.fullscreenEnabled;
    const header = element("header", "wall-head", "", this._where, this._state, this._page, this._time, whole, leave);
    this._note = element("p", "wall-note");
    this._grid = element("div", "wall-grid");
    this._cells = new Children(this._grid, () => new WallCell(elapsedS));
    this.node = named(element("section", "wall-view", "", header, this._note, this._grid), "Wall");
    new ResizeObserver(() => this._fit()).observe(this._grid);
  }

  draw(held, place) {
    this._shown = [held, place];
    const all = arranged([...held.games.values()], { ...place, q: "" });
    const games = this._followed.first(all, (game) => this._followed.plays(game));
    const pages = wallPages(games);
    const at = pageAt(Date.now(), pages.length);
    const now = pages[at] ?? [];
    this._drawHead(games, at, pages.length);
    setLine(this._note, games.length ? "" : say("No game yet"));
    const basis = basisIn(held);
    this._cells.show(now).forEach((cell, each) => cell.draw(now[each], basis));
    this._fit();
  }

  /** Time has passed: clocks run, pages turn. */
  tick() {
    if (this._shown !== null) this.draw(...this._shown);
    for (const cell of this._cells.views) cell.tick();
  }

  restyle() {
    for (const cell of this._cells.views) cell.restyle();
  }

  _drawHead(games, at, pages) {
    const events = [...new Set(games.map(eventOf).filter(Boolean))];
    const leading = leadingRound(roundsOf(games));
    const round = leading === null ? [] : [roundText(leading.round), dateText(leading.date)];
    setText(this._where, [events.slice(0, 2).join(", "), ...round].filter(Boolean).join(" \u00b7 "));
    const running = games.filter(({ result }) => result === "*").length;
    setText(this._state, running ? `${running} playing` : games.length ? say("over") : "");
    setText(this._page, pages > 1 ? `page ${at + 1} of ${pages}` : "");
    setText(this._time, new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }));
  }

  /** Letters are as large as the cells allow. */
  _fit() {
    const { clientWidth: width, clientHeight: height } = this._grid;
    const cells = this._cells.views;
    if (width === 0 || cells.length === 0) return;
    const { columns, rows } = wallGrid(cells.length, width, height);
    const key = `${columns} ${rows} ${width} ${height}`;
    if (key === this._fitted) return;
    this._fitted = key;
    const { style } = this._grid;
    style.setProperty("--columns", columns);
    style.setProperty("--rows", rows);
    style.setProperty("--unit", `${Math.min(width / columns / 38, height / rows / 17.5).toFixed(2)}px`);
    for (const cell of cells) cell.measure();
  }
}

class WallCell extends SmallGame {
  constructor(elapsedS) {
    super((color) => new WallSide(color, elapsedS));
    this._stands = element("strong", "score");
    const line = element("p", "wall-line", "", this.where, this.move, this._stands);
    const words = element("div", "words", "", this.sides.black.node, line, this.sides.white.node);
    this.node = element("article", "wall-cell", "", this.bar, this.mini.node, words);
  }

  draw(game, basis) {
    if (this.show(game, basis) === null) return;
    this.mini.draw(game);
    setText(this.where, placeText(game, true).split(" \u00b7 ")[0]);
    setText(this._stands, this.score.textContent);
    this.node.classList.toggle("over", game.result !== "*");
  }

  /** Its letters have another size. */
  measure() {
    for (const side of Object.values(this.sides)) side.name.measure();
  }
}

class WallSide extends Side {
  constructor(color, elapsedS) {
    super(color, elapsedS);
    const who = element("div", "who", "", this.piece, this.name.node, this.clock.node);
    const about = element("span", "about", "", this.label, this.usual, this.elo);
    this.node = element("div", `wall-side side ${color}`, "", who, element("div", "figures", "", this.main, about));
  }

  draw(game, basis) {
    const { read, rests, news } = this.show(game, game.plies, basis);
    const { elo } = game[this.color];
    setText(this.elo, news || (elo ? `Elo ${elo}` : ""));
    const band = read === null ? "" : bandText(read.figure);
    // From five metres few words are read: whose band it is stands below it.
    if (read) setText(this.usual, band && `usual ${band}`);
    this.main.classList.toggle("long", (read?.text.length ?? 0) > 4);
    setText(this.label, read ? [read.label, rests].filter(Boolean).join(" \u00b7 ") : "");
  }
}

/** A board is drawn so much wider than high. */
const SHAPE = 36 / 17;
/** More than so many at once nobody reads from five metres. */
const MOST = 12;
/** How long a page stays. */
const PAGE_S = 15;

/** Columns and rows that show so many boards largest on a screen, `{columns, rows}`. */
export function wallGrid(boards, width, height) {
  let best = { columns: 1, rows: Math.max(1, boards), size: 0 };
  for (let columns = 1; columns <= Math.max(1, boards); columns += 1) {
    const rows = Math.ceil(Math.max(1, boards) / columns);
    const size = Math.min(width / columns / SHAPE, height / rows);
    if (size > best.size) best = { columns, rows, size };
  }
  return { columns: best.columns, rows: best.rows };
}

/** Boards on pages as even as can be: 13 are 7 and 6. */
export function wallPages(boards, most = MOST) {
  const count = Math.ceil(boards.length / most);
  const size = Math.ceil(boards.length / Math.max(1, count));
  return Array.from({ length: count }, (_, at) => boards.slice(at * size, (at + 1) * size));
}

/** Which page is shown `now` (milliseconds), of so many. */
export function pageAt(now, pages) {
  return pages < 2 ? 0 : Math.floor(now / (1000 * PAGE_S)) % pages;
}
