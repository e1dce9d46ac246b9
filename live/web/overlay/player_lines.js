/** One player of a game: who, clock, the leading figure and the one beneath, with their intervals. */

import { element, setText } from "../drawing/elements.js";
import { fill } from "./language/words.js";
import { SETTLED_MOVES, isEarly } from "../client/leading_figure.js";
import { basisOf, clockOf, figuresOf, unratedPart, pointsOf, turnOf, usualWords, withoutFigure } from "./shown_figures.js";
import { Name } from "../drawing/player_names.js";

export class PlayerPanel {
  constructor(color, { options, words, elapsedS, basisOf: basis, everybody, flagOf }) {
    this._flagOf = flagOf;
    this._basisOf = basis;
    this._everybody = everybody;
    this._color = color;
    this._elapsedS = elapsedS;
    this._options = options;
    this._words = words;
    this._flag = element("span", "flag");
    this._title = element("span", "title");
    this._name = new Name();
    this._eloValue = element("span", "value");
    this._elo = element("p", "elo", "", element("span", "label", words.elo), this._eloValue);
    this._points = element("strong", "points");
    this._material = element("span", "material");
    this._clock = element("span", "clock");
    this._main = new OverlayRating("main", words);
    this._second = new OverlayRating("second", words);
    this.node = element(
      "section",
      `player ${color}`,
      "",
      element(
        "div",
        "who",
        "",
        element("i", "piece"),
        this._flag,
        this._title,
        this._name.node,
        this._material,
        this._points,
        this._clock,
      ),
      element("div", "ratings", "", this._main.node, this._second.node, this._elo),
    );
  }

  /** `material`: what this side has more of, where that is shown. */
  draw(game, material = "") {
    const { _words: words, _options: options, _color: color } = this;
    const player = game[color];
    const point = game.curves[color].at(-1) ?? null;
    setText(this._flag, this._flagOf(player.federation));
    setText(this._title, player.title ?? "");
    setText(this._eloValue, player.elo ? String(player.elo) : "");
    this._elo.hidden = !player.elo;
    setText(this._points, pointsOf(game.result, color));
    const clock = clockOf(game, color, this._elapsedS(game));
    setText(this._clock, clock.text);
    this._clock.classList.toggle("low", clock.low);
    setText(this._material, material);
    const beside = `${player.title} ${material} ${this._points.textContent} ${clock.text.length}`;
    this._name.draw(player.name || "?", this._everybody(), beside);
    this.node.classList.toggle("turn", turnOf(game) === color && game.plies.length > 0);
    const { withheld } = this._basisOf(game);
    const narrow = ["bar", "grid"].includes(options.layout);
    const besideElo = ["board", "curves"].includes(options.layout) && !options.hide.includes("elo");
    const brief = besideElo || options.layout === "bar";
    const [main, second] = figuresOf(point, player.elo, options.rating, words, brief);
    const open = withheld ? null : unratedPart(game, color, words, narrow);
    const none = () => (main ? this._restsOn(main, point, narrow) : [withoutFigure(point, words, withheld)]);
    this._main.draw(main, open !== null, ...(open?.text ? [open.text] : none()));
    this._main.node.classList.toggle("early", isEarly(main, point?.n));
    this._second.draw(second, open !== null);
  }

  /** What a figure rests on, and of a percentile how far it is from what is usual; `brief` that alone. */
  _restsOn(figure, point, brief) {
    const moves = basisOf(point, this._words);
    if (figure.kind !== "percentile") return [moves];
    const said = usualWords(figure, point.n, this._words);
    if (!brief) return [moves, said];
    return ["", point.n >= SETTLED_MOVES ? said : `${said} \u00b7 ${moves}`];
  }
}

/** One rating: what is read before it, the figure, its name, the figure, the interval. */
class OverlayRating {
  constructor(kind, words) {
    this._words = words;
    this._label = element("span", "label");
    this._before = element("span", "before");
    this._value = element("span", "value");
    this._interval = element("span", "interval");
    this.node = element(
      "p",
      `rating ${kind}`,
      "",
      element("span", "read", "", this._before, this._value),
      element("span", "about", "", this._label, this._interval),
    );
  }

  /**
   * `open`: it does not rest on all moves played, and says so as the score of an earlier move.
   * `basis`: what it rests on. `sure`: how sure that is, where no interval says so.
   */
  draw(rating, open, basis = "", sure = "") {
    this.node.classList.toggle("none", rating === null);
    this.node.classList.toggle("open", rating !== null && open);
    setText(this._before, rating?.before ?? "");
    setText(this._value, rating ? rating.text + (open ? "\u2026" : "") : basis ? "\u2013" : "");
    // What has no interval has its place for how sure it is, or for what it rests on.
    const ranged = rating === null || rating.interval !== "" || sure !== "";
    // `2450 or more` is read in one go.
    const bounded = rating?.bound ? rating.interval : "";
    setText(this._label, [bounded, rating?.label, ranged ? basis : ""].filter(Boolean).join(" \u00b7 "));
    const range = rating && !bounded ? fill(this._words.of100, rating.interval) : "";
    setText(this._interval, sure || (ranged ? range : basis));
    this.node.dataset.bound = rating?.bound ?? "";
  }
}
