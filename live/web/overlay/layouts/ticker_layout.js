/** `layout=ticker`: a slim line with the boards one after the other. */

import { element, setText } from "../../drawing/elements.js";
import { Children, Pager } from "../../drawing/reused_children.js";
import { figureWords, lastMove, pointsOf, scoreOf, unratedPart, withoutFigure } from "../shown_figures.js";
import { resultText } from "../../drawing/number_format.js";
import { Who } from "../player_lines.js";
import { notation, ScoreBar, swingText } from "../score.js";
import { fill } from "../language/words.js";

const WIDTH = 90;
const HEIGHT = 5.3;
/** Room that one board takes, rem. */
const ITEM = 43;
const TURN_MS = 450;

export default class TickerLayout {
  constructor(context) {
    this._context = context;
    this._pager = new Pager(context.options.page * 1000);
    this._list = element("div", "items");
    this.node = element("article", "layout-ticker panel", "", this._list);
    this._items = new Children(this._list, () => new Item(context));
    this._fitting = 2;
    this._page = null;
    this.node.hidden = true;
  }

  fit(width, height) {
    // On a narrow page one board at a time, in letters that can be read.
    const shown = width < 900 ? 1 : 2;
    this._fitting = shown;
    this.node.style.setProperty("--items", shown);
    const wide = shown === 1 ? ITEM + 2 : WIDTH;
    return Math.min(width / wide, height / HEIGHT);
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

/** One board of the ticker. */
class Item {
  constructor({ options, words, basisOf, everybody }) {
    this._everybody = everybody;
    this._options = options;
    this._words = words;
    this._basisOf = basisOf;
    this._board = element("span", "place");
    this._bar = new ScoreBar();
    this._score = element("span", "score");
    this._move = element("span", "move");
    this._alert = element("span", "alert");
    this._sides = { white: new TickerSide("white"), black: new TickerSide("black") };
    this.node = element(
      "div",
      "item",
      "",
      this._board,
      this._sides.white.node,
      element("div", "middle", "", element("div", "state", "", this._move, this._score, this._alert), this._bar.node),
      this._sides.black.node,
    );
  }

  draw(game, swing) {
    const { withheld } = this._basisOf(game);
    setText(this._board, game.board === null ? "" : fill(this._words.board, game.board));
    const score = scoreOf(game, this._options.provisional);
    this._bar.draw(score, game.result);
    const result = resultText(game.result);
    setText(this._score, result || (score?.text ?? ""));
    this._score.dataset.state = result ? "result" : (score?.state ?? "");
    setText(this._move, lastMove(game, this._words));
    for (const side of ["white", "black"]) {
      this._sides[side].draw(game, this._words, this._basisOf(game), this._everybody());
    }
    this._alert.hidden = swing === null;
    if (swing !== null) setText(this._alert, swingText(game, swing, this._words, notation.sanOf));
    this.node.classList.toggle("swinging", swing !== null);
  }
}

/** One player of the ticker: name, and the leading figure with its moves and what is usual. */
class TickerSide {
  constructor(color) {
    this._color = color;
    this._points = element("strong", "points");
    this._label = element("span", "label");
    this._value = element("span", "value");
    this._moves = element("span", "label");
    this._interval = element("span", "interval");
    this._who = new Who(() => "", [element("i", "piece")], [this._points]);
    const ratings = element("div", "ratings", "", this._label, this._value, this._moves, this._interval);
    this.node = element("div", `player ${color}`, "", this._who.node, ratings);
  }

  draw(game, words, basis, everybody) {
    const { withheld } = basis;
    const point = game.curves[this._color].at(-1) ?? null;
    setText(this._points, pointsOf(game.result, this._color));
    this._who.draw(game[this._color], everybody, this._points.textContent);
    const read = withheld ? null : figureWords(game, this._color, point, basis, words, true);
    const open = read ? unratedPart(game, this._color, words, read.figure) : null;
    setText(this._label, read?.label ?? "");
    setText(this._value, read ? read.text + (open ? "\u2026" : "") : withoutFigure(point, words, withheld));
    setText(this._moves, read?.moves ?? "");
    setText(this._interval, read?.early || (read?.usual ?? ""));
    this.node.classList.toggle("open", Boolean(read?.early) || open !== null);
  }
}
