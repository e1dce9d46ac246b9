/**
 * All boards as large as the screen: for a hall, read from five metres. Figures first, nothing of
 * engines; more boards than can be read at once come page by page.
 */

import { button, element, loadStyles, named, nameNode, setText } from "../../drawing/elements.js";
import { resultText } from "../../drawing/number_format.js";
import { placementAfter } from "../../client/board_position.js";
import { bandText } from "../../client/figures.js";
import { dateText, roundName, roundsOf } from "../../client/event_rounds.js";
import { eventOf } from "../../client/event_state.js";
import { MiniBoard } from "../board/pieces.js";
import { arranged, pageAt, wallGrid, wallPages } from "../boards/boards_order.js";
import { basisIn, drawBar, lastMove, placeText, scoreAfter } from "../score_words.js";
import { Side } from "../board/side_figures.js";

export class WallView {
  constructor(elapsedS, followed) {
    loadStyles(new URL("./wall.css", import.meta.url).href);
    this._elapsedS = elapsedS;
    this._followed = followed;
    this._cells = [];
    this._shown = null;
    this._where = nameNode("where");
    this._page = element("span", "page");
    this._state = element("span", "state");
    this._time = element("span", "time");
    const leave = element("a", "plain", "Leave (Esc)");
    leave.href = "#";
    const whole = button("Full screen", () => document.documentElement.requestFullscreen());
    whole.hidden = !document.fullscreenEnabled;
    const header = element("header", "wall-head", "", this._where, this._state, this._page, this._time, whole, leave);
    this._note = element("p", "wall-note");
    this._grid = element("div", "wall-grid");
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
    setText(this._note, games.length ? "" : "No game yet.");
    this._note.hidden = games.length > 0;
    while (this._cells.length > now.length) this._cells.pop().destroy();
    while (this._cells.length < now.length) {
      const cell = new WallCell(this._elapsedS);
      this._cells.push(cell);
      this._grid.append(cell.node);
    }
    now.forEach((game, each) => this._cells[each].draw(game, basisIn(held, place)));
    this._fit();
  }

  /** Time has passed: clocks run, pages turn. */
  tick() {
    if (this._shown !== null) this.draw(...this._shown);
    for (const cell of this._cells) cell.tick();
  }

  restyle() {
    for (const cell of this._cells) cell.restyle();
  }

  _drawHead(games, at, pages) {
    const events = [...new Set(games.map(eventOf).filter(Boolean))];
    const rounds = roundsOf(games);
    const [first] = rounds;
    const round = rounds.length === 1 ? [roundName(first.round), dateText(first.date)] : [];
    setText(this._where, [events.slice(0, 2).join(", "), ...round].filter(Boolean).join(" \u00b7 "));
    const running = games.filter(({ result }) => result === "*").length;
    setText(this._state, running ? `${running} playing` : games.length ? "over" : "");
    setText(this._page, pages > 1 ? `page ${at + 1} of ${pages}` : "");
    setText(this._time, new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }));
  }

  /** Letters are as large as the cells allow. */
  _fit() {
    const { clientWidth: width, clientHeight: height } = this._grid;
    if (width === 0 || this._cells.length === 0) return;
    const { columns, rows } = wallGrid(this._cells.length, width, height);
    const key = `${columns} ${rows} ${width} ${height}`;
    if (key === this._fitted) return;
    this._fitted = key;
    const { style } = this._grid;
    style.setProperty("--columns", columns);
    style.setProperty("--rows", rows);
    style.setProperty("--unit", `${Math.min(width / columns / 38, height / rows / 17.5).toFixed(2)}px`);
    for (const cell of this._cells) cell.measure();
  }
}

class WallCell {
  constructor(elapsedS) {
    this._canvas = element("canvas", "mini");
    this._canvas.setAttribute("aria-hidden", "true");
    this._mini = new MiniBoard(this._canvas);
    this._bar = element("div", "bar");
    this._bar.setAttribute("aria-hidden", "true");
    this._place = element("span", "where");
    this._move = element("span", "move");
    this._score = element("strong", "score");
    this._sides = { white: new WallSide("white", elapsedS), black: new WallSide("black", elapsedS) };
    const line = element("p", "wall-line", "", this._place, this._move, this._score);
    this.node = element(
      "article", "wall-cell", "", this._bar, this._canvas,
      element("div", "words", "", this._sides.black.node, line, this._sides.white.node),
    );
  }

  draw(game, basis) {
    if (game === this._game && basis.choice === this._choice) return;
    this._choice = basis.choice;
    if (game.plies !== this._game?.plies || game.start_fen !== this._game.start_fen) {
      this._mini.draw(placementAfter(game.start_fen, game.plies.map(({ uci }) => uci)), game.plies.at(-1)?.uci ?? "");
    }
    this._game = game;
    const score = scoreAfter(game, game.plies);
    setText(this._place, placeText(game, true).split(" \u00b7 ")[0]);
    setText(this._move, lastMove(game, game.plies));
    const result = resultText(game.result);
    setText(this._score, result || (score.provisional && score.text ? `${score.text} \u2026` : score.text));
    drawBar(this._bar, score);
    for (const side of Object.values(this._sides)) side.draw(game, basis);
    this.node.classList.toggle("over", result !== "");
  }

  tick() {
    for (const side of Object.values(this._sides)) side.clock.tick();
  }

  /** Its letters have another size. */
  measure() {
    for (const side of Object.values(this._sides)) side.name.measure();
  }

  restyle() {
    this._mini.restyle();
  }

  destroy() {
    this._mini.destroy();
    this.node.remove();
  }
}

class WallSide extends Side {
  constructor(color, elapsedS) {
    super(color, elapsedS);
    const about = element("span", "about", "", this.label, this.usual, this.elo);
    this.node = element(
      "div", `wall-side side ${color}`, "",
      element("div", "who", "", this.piece, this.name.node, this.clock.node), element("div", "figures", "", this.main, about),
    );
  }

  draw(game, basis) {
    const { read, rests, news } = this.show(game, game.plies, basis);
    const { elo } = game[this.color];
    setText(this.elo, news || (elo ? `Elo ${elo}` : ""));
    const band = read === null ? "" : bandText(read.figure);
    // From five metres few words are read: whose band it is stands below it.
    if (read) setText(this.usual, band && (read.figure.kind === "perceived" ? `usual ${band}` : `95\u00a0% ${band}`));
    this.main.classList.toggle("long", (read?.text.length ?? 0) > 4);
    setText(this.label, read ? `${read.label} \u00b7 ${read.early || rests}` : "");
  }
}
