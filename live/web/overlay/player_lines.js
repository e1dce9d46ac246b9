/** One player of a game: who, clock, the figure with what is usual, and its place in words. */

import { element, setText } from "../drawing/elements.js";
import { clockOf, figureWords, leapText, unratedPart, pointsOf, turnOf, withoutFigure } from "./shown_figures.js";
import { isFinal } from "../client/figures.js";
import { notation } from "./score.js";
import { Name } from "../drawing/player_names.js";

/** Who plays: federation, title, name, and what else belongs beside it. */
export class Who {
  /** `before` stands first, `beside` after the name; `className` besides `who`. */
  constructor(flagOf, before, beside, className = "") {
    this._flagOf = flagOf;
    this._flag = element("span", "flag");
    this._title = element("span", "title");
    this._name = new Name();
    this.node = element("div", `who ${className}`.trim(), "", ...before, this._flag, this._title, this._name.node, ...beside);
  }

  /** `beside`: what of the line changes its room, as text. */
  draw({ name, title, federation }, everybody, beside = "") {
    setText(this._flag, this._flagOf(federation));
    setText(this._title, title ?? "");
    this._name.draw(name || "?", everybody, `${title} ${beside}`);
  }
}

export class PlayerPanel {
  constructor(color, { options, words, elapsedS, basisOf: basis, everybody, flagOf }) {
    this._basisOf = basis;
    this._everybody = everybody;
    this._color = color;
    this._elapsedS = elapsedS;
    this._options = options;
    this._words = words;
    this._eloValue = element("span", "value");
    this._elo = element("p", "elo", "", element("span", "label", words.elo), this._eloValue);
    this._points = element("strong", "points");
    this._material = element("span", "material");
    this._clock = element("span", "clock");
    this._who = new Who(flagOf, [element("i", "piece")], [this._material, this._points, this._clock]);
    this._rating = new OverlayRating();
    this.node = element(
      "section", `player ${color}`, "", this._who.node, element("div", "ratings", "", this._rating.node, this._elo),
    );
  }

  /** `material`: what this side has more of, where that is shown. */
  draw(game, material = "") {
    const { _words: words, _options: options, _color: color } = this;
    const player = game[color];
    const point = game.curves[color].at(-1) ?? null;
    setText(this._eloValue, player.elo ? String(player.elo) : "");
    this._elo.hidden = !player.elo;
    setText(this._points, pointsOf(game.result, color));
    const clock = clockOf(game, color, this._elapsedS(game));
    setText(this._clock, clock.text);
    this._clock.classList.toggle("low", clock.low);
    setText(this._material, material);
    this._who.draw(player, this._everybody(), `${material} ${this._points.textContent} ${clock.text.length}`);
    this.node.classList.toggle("turn", turnOf(game) === color && game.plies.length > 0);
    const basis = this._basisOf(game);
    const { withheld, choice } = basis;
    const brief = ["bar", "grid", "curves"].includes(options.layout);
    const read = withheld ? null : figureWords(game, color, point, basis, words, brief);
    const open = withheld ? null : unratedPart(game, color, words, read?.figure, brief);
    // Where there is room for one of both, a final figure has its percentile.
    const passed = brief && isFinal(game, color, point);
    const leap = read === null || choice !== "perceived" || open || passed ? "" : leapText(game, color, words, brief ? null : notation.sanOf);
    this._rating.draw(read, open, withoutFigure(point, words, withheld), leap, brief);
  }
}

/** The figure: what it is called, the number, what is usual, and its place in words. */
class OverlayRating {
  constructor() {
    this._label = element("span", "label");
    this._value = element("span", "value");
    this._usual = element("span", "interval");
    this._better = element("span", "better");
    this._leap = element("span", "leap");
    const about = element("span", "about", "", this._usual, this._better, this._leap);
    this.node = element("p", "rating main", "", element("span", "read", "", this._label, this._value), about);
  }

  /** `open`: what of the moves it does not rest on; `none`: why there is no figure; `leap`: what moved it far. */
  draw(read, open, none, leap, brief) {
    this.node.classList.toggle("none", read === null);
    this.node.classList.toggle("early", Boolean(read?.early));
    this.node.classList.toggle("open", read !== null && open !== null);
    this.node.dataset.beyond = read === null || open !== null ? "" : read.beyond;
    setText(this._label, read?.label ?? "");
    setText(this._value, read === null ? "\u2013" : read.text + (open ? "\u2026" : ""));
    setText(this._usual, read === null ? none : read.usual);
    setText(this._better, read === null ? "" : read.early || open?.text || [(brief && leap) || read.better, read.moves.replaceAll(" ", "\u00a0")].filter(Boolean).join(" \u00b7 "));
    setText(this._leap, brief ? "" : leap);
  }
}
