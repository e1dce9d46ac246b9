/** Layouts of one or a few lines, which need no library: `bar`, `player`, `duel` and `ticker`. */

import { element, headCell, Children, Pager, setLine, setParts, setText } from "../../drawing/elements.js";
import { bandText, percentText } from "../../client/figures.js";
import { bothSides, COLORS } from "../../client/games.js";
import { isAsked } from "../on_air.js";
import { OneGame, SmallGame, Who } from "../panels.js";
import { isolated, shortName } from "../../drawing/player_names.js";
import { eventPoints, fallText, figureWords, oddsOf, oddsWords, placeOf, pointsOf, unratedPart } from "../shown_figures.js";
import { fill } from "../language/words.js";

/** Width of the bar, rem. The bar always fills the page's width. */
const BAR_WIDTH = 78;
const NARROW_BAR_WIDTH = 44;

/** `layout=bar`: a slim lower third with both players. */
export class BarLayout extends OneGame {
  constructor(context) {
    super(context, true);
    const { bar, move, number, alert } = this.score;
    const state = element("div", "state", "", move, number, alert);
    const middle = element("div", "middle", "", this.place, state, bar);
    const panel = element("div", "panel", "", this.sides.white.node, middle, this.sides.black.node);
    this.node = element("article", "layout-bar", "", panel);
  }

  fit(width, height) {
    const narrow = width < 700 && height >= width / 4;
    this.node.classList.toggle("narrow", narrow);
    return Math.min(width / (narrow ? NARROW_BAR_WIDTH : BAR_WIDTH), height / (narrow ? 14 : 8.3));
  }

  drawGame(game, { swingOf }) {
    for (const side of Object.values(this.sides)) side.draw(game);
    this.score.draw(game, swingOf(game));
  }
}

/** `layout=player`: a lower third for one player, with the opponent and the state of the game. */
export class PlayerLayout extends OneGame {
  size = { width: 46, height: 12 };

  constructor(context) {
    super(context, true);
    this._against = element("span", "against");
    const { bar, move, number, alert } = this.score;
    const state = element("div", "state", "", this._against, this.place, move, number, alert);
    const panel = element("div", "panel", "", this.sides.white.node, this.sides.black.node, state, bar);
    this.node = element("article", "layout-player", "", panel);
  }

  drawGame(game, { swingOf }) {
    const { words, options, everybody } = this.context;
    // Show the player whom the address names or, without one, White.
    const [color, opponentColor] = isAsked(game.black, options.player) ? ["black", "white"] : COLORS;
    this.sides[color].node.hidden = false;
    this.sides[opponentColor].node.hidden = true;
    const swing = swingOf(game);
    this.sides[color].draw(game, { isTold: swing !== null });
    setText(this._against, fill(words.against, isolated(shortName(game[opponentColor].name || "?", everybody()))));
    this.score.draw(game, swing);
  }
}

/** `layout=duel`: two players, compared figure by figure. */
export class DuelLayout extends OneGame {
  size = { width: 46, height: 25 };
  tall = { width: 20, height: 32 };

  constructor(context) {
    super(context, true);
    this._points = bothSides(() => element("strong", "points"));
    this._heads = bothSides((color) => new Who([element("i", "piece")], [this._points[color]]));
    for (const color of COLORS) this._heads[color].node.classList.add("player", color);
    this._body = element("tbody");
    this._rows = new Map();
    this._odds = element("p", "odds");
    const { bar, move, number, alert } = this.score;
    const heads = element("div", "heads", "", this._heads.white.node, this._heads.black.node);
    const state = element("div", "state", "", move, number, alert);
    this.node = element("article", "layout-duel panel", "", this.place, heads, element("table", "", "", this._body), state, this._odds, bar);
  }

  drawGame(game, { held, swingOf, notice }) {
    const { options, words, everybody } = this.context;
    const [withheld, above] = [this.context.withheld(), this.context.above()];
    const open = (color) => (unratedPart(game, color, words) ? "\u2026" : "");
    if (withheld && !notice) setParts(this.place, [placeOf(game, words), words.withheld].filter(Boolean).join(" \u00b7 "));
    for (const color of COLORS) {
      setText(this._points[color], pointsOf(game.result, color));
      this._heads[color].draw(game[color], everybody(), this._points[color].textContent);
    }
    const players = [...held.players.values()];
    this._row(words.elo, (color) => String(game[color].elo ?? "\u2013"));
    const read = bothSides((color) => (withheld ? null : figureWords(game, color, game.curves[color].at(-1) ?? null, words, { above })));
    const like = COLORS.every((color) => read[color]?.label === words.playedLike) ? words.playedLike : words.playingLike;
    this._row("figure", (color) => {
      const figure = read[color];
      return figure === null ? "\u2013" : [figure.text + open(color), figure.early || bandText(figure.figure)];
    }, above === null ? `${like} (${words.usualNote})` : `${words.algorithm4} (95\u00a0%)`);
    for (const color of COLORS) this._rows.get("figure")[color].classList.toggle("early", Boolean(read[color]?.early));
    this._row(fill(words.betterThanSuch, "\u2026"), (color) => {
      const percentile = read[color]?.figure.percentile ?? null;
      return percentile === null || open(color) ? "\u2013" : [`${percentText(percentile)}\u00a0%`, read[color].moves];
    });
    const swing = swingOf(game);
    // A costly move only explains why the figure above changed, so it is written in small letters.
    const canFall = (color) => swing === null && above === null && read[color] !== null && !open(color);
    this._row(words.swing, (color) => ["", canFall(color) ? fallText(game, color, words) : ""]);
    this._row(words.points, (color) => eventPoints(players, game[color]) ?? "\u2013");
    const odds = options.hide.includes("score") ? null : oddsOf(game, game.plies, options.provisional);
    setLine(this._odds, oddsWords(odds, words));
    this.score.draw(game, swing);
  }

  /** Write a row: White's figure, the figure's name, Black's figure. A figure is a text, or a pair of text and range. */
  _row(name, valueOf, label = name) {
    let row = this._rows.get(name);
    if (row === undefined) {
      row = bothSides((color) => element("td", `${color} figure`));
      row.head = Object.assign(headCell("", "row"), { className: "label" });
      this._body.append(element("tr", "", "", row.white, row.head, row.black));
      this._rows.set(name, row);
    }
    setText(row.head, label);
    const values = COLORS.map((color) => [valueOf(color)].flat());
    // A row is hidden if neither player has a value.
    row.white.parentNode.hidden = values.every(([text, range]) => !range && ["", "\u2013"].includes(text));
    for (const [at, color] of COLORS.entries()) {
      const [text, range = ""] = values[at];
      const key = `${text}\n${range}`;
      if (row[color].dataset.key === key) continue;
      row[color].dataset.key = key;
      const parts = [element("span", "value", text), element("span", "interval", range)];
      row[color].replaceChildren(...(color === "white" ? parts : parts.reverse()));
    }
  }
}

const TICKER_WIDTH = 78;
const TICKER_HEIGHT = 4.6;
/** Width of one board in the ticker, rem. */
const TICKER_ITEM = 38;
const TURN_MS = 450;

/** `layout=ticker`: a slim line that shows the boards in turn. */
export class TickerLayout {
  constructor(context) {
    this._context = context;
    this._pager = new Pager(context.options.page * 1000);
    this._list = element("div", "items");
    this.node = element("article", "layout-ticker panel", "", this._list);
    this._items = new Children(this._list, () => new TickerItem(context));
    this._fitting = 2;
    this._page = null;
  }

  fit(width, height) {
    // A narrow page shows one board at a time, so that its letters stay readable.
    const boardCount = width < 900 ? 1 : 2;
    this._fitting = boardCount;
    this.node.style.setProperty("--items", boardCount);
    return Math.min(width / (boardCount === 1 ? TICKER_ITEM + 2 : TICKER_WIDTH), height / TICKER_HEIGHT);
  }

  draw({ games, now, swingOf }) {
    this.node.hidden = games.length === 0;
    const { items, page } = this._pager.page(games, this._fitting, now);
    this._items.show(items).forEach((item, at) => item.draw(items[at], swingOf(items[at])));
    const turned = this._page !== null && this._page !== page;
    this._page = page;
    if (!turned || !this._context.moves()) return;
    const from = { transform: "translateY(100%)", opacity: 0 };
    this._list.animate([from, { transform: "none", opacity: 1 }], { duration: TURN_MS, easing: "ease-out" });
  }
}

/** A board of the ticker. */
class TickerItem extends SmallGame {
  constructor(context) {
    // The line itself is animated, so its contents are not.
    super({ ...context, moves: () => false });
    const { bar, move, number, alert } = this.score;
    const middle = element("div", "middle", "", element("div", "state", "", move, number, alert), bar);
    this.node = element("div", "item", "", this.place, this.sides.white.node, middle, this.sides.black.node);
  }

  draw(game, swing) {
    super.draw(game, swing);
    this.node.classList.toggle("swinging", swing !== null);
  }
}
