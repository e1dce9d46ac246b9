/** `layout=standings`: players by the perceived rating, each with its usual band drawn to scale. */

import { element, headCell, setText } from "../../drawing/elements.js";
import { Children } from "../reused_children.js";
import { Name } from "../../drawing/player_names.js";
import { unratedOf } from "../../client/curve_series.js";
import { counted } from "../language/words.js";
import { Pager } from "../pages_by_time.js";
import { ranking, scaleOf } from "../tables/standings_order.js";

const WIDTH = 52;
/** On an upright page, without the drawing of the intervals. */
const TALL_WIDTH = 40;
const ROW = 2.57;
const HEAD = 8.1;

export default class StandingsLayout {
  constructor(context) {
    this._context = context;
    const { options, words } = context;
    this._pager = new Pager(options.page * 1000);
    this._body = element("tbody");
    const head = (text, className = "") => Object.assign(headCell(text), { className });
    this._label = element("span");
    this._note = element("span", "note");
    const figure = head("", "figure");
    figure.append(this._label, this._note);
    const row = element(
      "tr",
      "",
      "",
      head("", "rank"),
      head(words.player),
      head(words.elo, "elo"),
      figure,
      element("td", "range"),
    );
    this._open = element("p", "open");
    const table = element("table", "", "", element("thead", "", "", row), this._body);
    this.node = element("article", "layout-standings panel", "", element("header", "", "", element("h1", "", words.standings), this._open), table);
    this._rows = new Children(this._body, () => new StandingsRow(context));
    this._shown = options.rows;
    this.node.hidden = true;
  }

  fit(width, height) {
    const tall = width < height;
    this.node.classList.toggle("tall", tall);
    return Math.min(width / (tall ? TALL_WIDTH : WIDTH), height / (HEAD + ROW * this._shown));
  }

  resized() {}

  draw({ held, games, now }) {
    const { options, words, basisOf } = this._context;
    const { choice, engineRating } = basisOf();
    const ranked = ranking(this._wanted(held, games), choice, engineRating, words);
    this.node.hidden = ranked.length === 0;
    const shown = Math.max(1, Math.min(ranked.length, options.rows));
    if (shown !== this._shown) {
      this._shown = shown;
      dispatchEvent(new Event("resize"));
    }
    setText(this._label, choice === "algorithm4" ? words.algorithm4 : words.playingLike);
    setText(this._note, choice === "algorithm4" ? words.of100 : words.usualNote);
    const missing = [...held.games.values()].reduce((sum, game) => sum + unratedOf(game), 0);
    setText(this._open, missing > 0 ? counted(words.toBeRated, missing) : "");
    const { items } = this._pager.page(ranked, options.rows, now);
    const scale = scaleOf(items);
    const people = peopleOf(held.games.values());
    this._rows.show(items).forEach((row, at) => row.draw(items[at], scale, people));
  }

  /** With a filter, the players of the games selected; else everybody. */
  _wanted(held, games) {
    const players = [...held.players.values()].filter((player) => player.moves > 0);
    if (this._context.options.board.length === 0) return players;
    const names = new Set(games.flatMap((game) => [game.white.name, game.black.name]));
    return players.filter((player) => names.has(player.name));
  }
}

/** Who plays, by name: titles and federations come with games. */
function peopleOf(games) {
  const people = new Map();
  for (const { white, black } of games) people.set(white.name, white).set(black.name, black);
  return people;
}

class StandingsRow {
  constructor({ words, flagOf }) {
    this._flagOf = flagOf;
    this._words = words;
    this._rank = element("td", "rank");
    this._flag = element("span", "flag");
    this._title = element("span", "title");
    this._name = new Name();
    this._basis = element("span", "basis");
    this._elo = element("td", "elo");
    this._value = element("span", "value");
    this._interval = element("span", "interval");
    this._range = element("div", "range", "", element("i", "line"), element("i", "dot"));
    const who = element("th", "", "", element("div", "who", "", this._flag, this._title, this._name.node, this._basis));
    who.scope = "row";
    this.node = element(
      "tr",
      "",
      "",
      this._rank,
      who,
      this._elo,
      element("td", "figure", "", this._value, this._interval),
      element("td", "range", "", this._range),
    );
  }

  draw({ rank, player, rating }, { low, high }, people) {
    setText(this._rank, rank);
    setText(this._flag, this._flagOf(people.get(player.name)?.federation));
    setText(this._title, people.get(player.name)?.title ?? "");
    setText(this._basis, counted(this._words.moves, rating?.counted ?? player.counted));
    // What stands beside a name takes its room.
    const beside = `${this._title.textContent} ${this._basis.textContent.length}`;
    this._name.draw(player.name || "?", [...people.keys()], beside);
    setText(this._elo, player.elo ? String(player.elo) : "\u2013");
    setText(this._value, rating?.text ?? "\u2013");
    setText(this._interval, rating?.interval ?? "");
    this._range.classList.toggle("none", !rating);
    if (!rating) return;
    const share = (elo) => ((elo - low) / (high - low)).toFixed(4);
    const { style } = this._range;
    style.setProperty("--low", share(rating.low ?? rating.value));
    style.setProperty("--high", share(rating.high ?? rating.value));
    style.setProperty("--value", share(rating.value));
  }
}
