/** `layout=table`: standings by points, with the perceived rating beside them. */

import { element, headCell, setText } from "../../drawing/elements.js";
import { Name } from "../../drawing/player_names.js";
import { bandText, eloText, figureOf, isEarly } from "../../client/figures.js";
import { unratedOf } from "../../client/curve_series.js";
import { Children } from "../reused_children.js";
import { Pager } from "../pages_by_time.js";
import { eventOf } from "../shown_figures.js";
import { counted } from "../language/words.js";
import { pointsText } from "../../client/team_matches.js";
import { roundTable } from "../tables/round_table.js";

const WIDTH = 46;
const TALL_WIDTH = 40;
/** What each tie-break adds. */
const TIE = 5.4;
const ROW = 2.57;
const HEAD = 7.5;

export default class TableLayout {
  constructor(context) {
    this._context = context;
    const { options, words } = context;
    this._pager = new Pager(options.page * 1000);
    this._body = element("tbody");
    this._open = element("p", "open");
    this._event = element("p", "place");
    const head = (text, className = "") => Object.assign(headCell(text), { className });
    const figure = head(words.playingLike, "figure");
    figure.append(element("span", "note", words.usualNote));
    const ties = options.ties.map((name) => head(words[`tie-${name}`], "tie"));
    const row = element(
      "tr", "", "", head("", "rank"), head(words.player), head(words.gamesHead, "games"), head(words.points, "points-cell"),
      ...ties, figure,
    );
    const table = element("table", "", "", element("thead", "", "", row), this._body);
    const header = element("header", "", "", element("h1", "", words.table), this._event, this._open);
    this.node = element("article", "layout-standings layout-table panel", "", header, table);
    this._rows = new Children(this._body, () => new TableRow(context));
    this._shown = options.rows;
    this.node.hidden = true;
  }

  fit(width, height) {
    const wide = (width < height ? TALL_WIDTH : WIDTH) + TIE * this._context.options.ties.length;
    this.node.style.width = `${wide - 1.2}rem`;
    return Math.min(width / wide, height / (HEAD + ROW * this._shown));
  }

  resized() {}

  draw({ held, games, now }) {
    const { options, words, basisOf } = this._context;
    const { withheld } = basisOf();
    // All rounds of the event on air.
    const event = games.length > 0 ? eventOf(games[0]) : null;
    const all = [...held.games.values()].filter((game) => event !== null && eventOf(game) === event);
    const table = roundTable(all, options);
    this.node.hidden = table.length === 0;
    setText(this._event, event ?? "");
    const missing = all.reduce((sum, game) => sum + unratedOf(game), 0);
    const open = missing > 0 ? counted(words.toBeRated, missing) : "";
    setText(this._open, withheld ? words.withheld : open);
    const shown = Math.max(1, Math.min(table.length, options.rows));
    if (shown !== this._shown) {
      this._shown = shown;
      dispatchEvent(new Event("resize"));
    }
    const players = new Map([...held.players.values()].flatMap((each) => [[each.id, each], [each.name, each]]));
    // A column of dashes takes the room of names.
    this.node.classList.toggle("unrated", withheld || table.every((row) => shownFigure(playerOf(players, row)) === null));
    const { items } = this._pager.page(table, options.rows, now);
    const names = table.map(({ player }) => player.name);
    this._rows.show(items).forEach((row, at) => row.draw(items[at], players, names));
  }
}

/** What is known of who stands in a row; or null. */
const playerOf = (players, { id, player }) => players.get(id) ?? players.get(player.name) ?? null;

/** The perceived rating of somebody over the event, once it rests on moves enough; or null. */
function shownFigure(player) {
  const figure = figureOf(player, "perceived");
  return figure === null || isEarly(figure) ? null : figure;
}

class TableRow {
  constructor({ options, words, flagOf }) {
    this._flagOf = flagOf;
    this._words = words;
    this._rank = element("td", "rank");
    this._flag = element("span", "flag");
    this._title = element("span", "title");
    this._name = new Name();
    this._live = element("i", "playing");
    this._basis = element("span", "basis");
    this._games = element("td", "games");
    this._points = element("td", "points-cell");
    this._ties = options.ties.map(() => element("td", "tie"));
    this._value = element("span", "value");
    this._interval = element("span", "interval");
    const who = element("th", "", "", element("div", "who", "", this._flag, this._title, this._name.node, this._live, this._basis));
    who.scope = "row";
    const figure = element("td", "figure", "", this._value, this._interval);
    this.node = element("tr", "", "", this._rank, who, this._games, this._points, ...this._ties, figure);
  }

  draw({ place, tied, player, points, games, playing, ties, id }, players, names) {
    setText(this._rank, `${place}${tied ? "=" : ""}`);
    setText(this._flag, this._flagOf(player.federation));
    setText(this._title, player.title ?? "");
    this._live.hidden = !playing;
    setText(this._games, String(games));
    setText(this._points, pointsText(points));
    ties.forEach((value, at) => setText(this._ties[at], pointsText(value)));
    const figure = shownFigure(playerOf(players, { id, player }));
    setText(this._basis, figure ? counted(this._words.moves, figure.counted) : "");
    this._name.draw(player.name || "?", names, `${player.title} ${this._basis.textContent.length}`);
    setText(this._value, figure ? eloText(figure, this._words) : "\u2013");
    setText(this._interval, figure ? bandText(figure) : "");
  }
}
