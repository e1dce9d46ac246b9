/** One player: name, clock, perceived rating with its interval as text and as a line. */

import { element, setText } from "../../drawing/elements.js";
import { Name } from "../../drawing/player_names.js";
import { ClockText } from "../boards/clock_text.js";
import { SCALE, basisText, countedMoves, figureLine, markSide, ratings, withoutFigure } from "../score_words.js";

/** A rating and its interval on a scale that all boards share, so that eyes can compare them. */
export class Whisker {
  constructor() {
    this._range = element("i", "range");
    this._dot = element("i", "dot-at");
    this._own = element("i", "own");
    this.node = element("div", "whisker", "", this._range, this._own, this._dot);
    this.node.setAttribute("aria-hidden", "true");
  }

  draw(figure, elo) {
    const at = (value) => (100 * (value - SCALE[0])) / (SCALE[1] - SCALE[0]);
    const cut = (value, open) => Math.max(0, Math.min(100, value === null ? open : at(value)));
    this.node.classList.toggle("unknown", figure === null);
    place(this._own, "left", elo ? cut(elo, 0) : null);
    if (figure === null) return;
    const [low, high] = [cut(figure.low, 0), cut(figure.high, 100)];
    place(this._range, "left", low);
    place(this._range, "width", Math.max(1, high - low));
    this._range.classList.toggle("no-low", figure.low === null);
    this._range.classList.toggle("no-high", figure.high === null);
    place(this._dot, "left", figure.value === null ? null : cut(figure.value, 0));
  }
}

function place(node, side, percent) {
  node.hidden = percent === null;
  if (percent !== null) node.style.setProperty(side, `${percent.toFixed(1)}%`);
}

/** A player's line of a card: name, title, Elo, clock, and the ratings below. */
export class CardSide {
  constructor(color, elapsedS) {
    this._color = color;
    this._title = element("span", "title");
    this._name = new Name();
    this._elo = element("span", "elo");
    this._ownElo = element("span", "own-elo");
    this.clock = new ClockText(color, elapsedS);
    this._before = element("span", "before");
    this._main = element("strong", "rating");
    this._interval = element("span", "interval");
    this._label = element("span", "figure-name");
    this._other = element("span", "other");
    this._whisker = new Whisker();
    this.node = element(
      "div",
      `side ${color}`,
      "",
      element("div", "who", "", element("i", `piece ${color}`), this._title, this._name.node, this._elo, this.clock.node),
      element("div", "figures", "", this._before, this._main, this._interval, this._label, this._ownElo, this._other),
      this._whisker.node,
    );
  }

  draw(game, plies, point, basis) {
    const player = game[this._color];
    setText(this._title, player.title ?? "");
    const title = [player.name, player.team, player.federation].filter(Boolean).join(" \u00b7 ");
    setText(this._elo, player.elo ? String(player.elo) : "");
    setText(this._ownElo, player.elo ? `Elo ${player.elo}` : "");
    this.clock.draw(game, plies);
    this._name.draw(player.name || "?", basis.everybody, `${player.title} ${player.elo} ${this.clock.room}`);
    this._name.node.title = title;
    const { main, other, early } = ratings(point, player.elo, basis, true);
    setText(this._before, main?.before ?? "");
    setText(this._main, main?.text ?? "\u2013");
    setText(this._interval, main ? main.interval : withoutFigure(point, basis));
    setText(this._label, main ? `${main.label} \u00b7 ${plies === game.plies ? basisText(game, this._color, point) : countedMoves(point.n)}` : "");
    setText(this._other, other ? figureLine(other) : "");
    markSide(this.node, main, early);
    // Percentiles have no place on a scale of Elo.
    this._whisker.draw([main, other].find((each) => each && each.kind !== "percentile") ?? null, player.elo);
  }
}
