/** One player: name, clock, the figure with what is usual as text and as a line. */

import { element, setText } from "../../drawing/elements.js";
import { Name } from "../../drawing/player_names.js";
import { ClockText } from "../boards/clock_text.js";
import { percentText } from "../../client/figures.js";
import { SCALE, basisText, countedMoves, leapNews, markSide, sideFigure, withoutFigure } from "../score_words.js";

/** A rating and its band on a scale that all boards share, so that eyes can compare them. */
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
    const cut = (value) => Math.max(0, Math.min(100, at(value)));
    this.node.classList.toggle("unknown", figure === null);
    place(this._own, "left", elo ? cut(elo) : null);
    if (figure === null) return;
    const banded = figure.low !== null && figure.high !== null;
    place(this._range, "left", banded ? cut(figure.low) : null);
    if (banded) place(this._range, "width", Math.max(1, cut(figure.high) - cut(figure.low)));
    place(this._dot, "left", cut(figure.value));
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
    this.clock = new ClockText(color, elapsedS);
    this._label = element("span", "figure-name");
    this._main = element("strong", "rating");
    this._usual = element("span", "interval");
    this._better = element("span", "other");
    this._whisker = new Whisker();
    this.node = element(
      "div",
      `side ${color}`,
      "",
      element("div", "who", "", element("i", `piece ${color}`), this._title, this._name.node, this._elo, this.clock.node),
      element("div", "figures", "", this._label, this._main, this._usual, this._better),
      this._whisker.node,
    );
  }

  draw(game, plies, point, basis) {
    const player = game[this._color];
    setText(this._title, player.title ?? "");
    const title = [player.name, player.team, player.federation].filter(Boolean).join(" \u00b7 ");
    setText(this._elo, player.elo ? String(player.elo) : "");
    this.clock.draw(game, plies);
    this._name.draw(player.name || "?", basis.everybody, `${player.title} ${player.elo} ${this.clock.room}`);
    this._name.node.title = title;
    const read = sideFigure(game, this._color, point, basis);
    setText(this._label, read?.label ?? "");
    setText(this._main, read?.text ?? "\u2013");
    setText(this._usual, read ? read.usual : withoutFigure(point, basis));
    const rests = read === null ? "" : plies === game.plies ? basisText(game, this._color, read.figure) : countedMoves(read.figure.counted);
    // Whose games they are stands in the line before.
    const better = read?.better ? `better than ${percentText(read.figure.percentile)}\u00a0% of such games` : "";
    const news = leapNews(game, this._color, basis);
    setText(this._better, read === null ? "" : read.early || [news || better, rests.replaceAll(" ", "\u00a0")].filter(Boolean).join(" \u00b7 "));
    this._better.classList.toggle("news", news !== "");
    markSide(this.node, read);
    // Algorithm 4's index has no place on a scale of Elo.
    this._whisker.draw(read?.figure.kind === "perceived" ? read.figure : null, player.elo);
  }
}
