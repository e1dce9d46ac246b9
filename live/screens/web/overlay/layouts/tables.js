/** Tables of players on air, page by page: `standings` sorted by the figure, and `table` sorted by points. */

import { Children, element, headCell, Pager, setText } from "../../drawing/elements.js";
import { eloText, percentText, placeText, rankByNumber, rankedBy, settledFigure, unratedOf } from "../../client/figures.js";
import { COLORS, eventOf, known, pointsText, RESULT_POINTS } from "../../client/games.js";
import { Who } from "../panels.js";
import { keyOf } from "../shown_figures.js";
import { counted, fill } from "../language/words.js";

/** Height of a row, rem. */
const ROW = 2.57;

/** Width of a table on an upright page, rem. */
const TALL_WIDTH = 20;

/** Make the heading of a column with a class. */
const makeHead = (text, className = "", ...children) => Object.assign(headCell(text, "col", ...children), { className });

/** Make the heading of the figure's column. */
function makeFigureHead({ options, words }) {
  return makeHead("", "figure", element("span", "like", options.rating === "perceived" ? words.playingLike : words.algorithm4));
}

class PlayersTable {
  /** `columns` are the headings after the player's, `makeRow()` makes a {@link PlayerRow}, and `headHeight` is in rem. */
  constructor(context, { title, columns, makeRow, className = "", beside = [], headHeight }) {
    const { options, words } = context;
    this.context = context;
    this._pager = new Pager(options.page * 1000);
    this._rowsPerPage = this._rowCount = options.rows;
    this._headHeight = headHeight;
    this._open = element("p", "open");
    const body = element("tbody");
    const heads = element("tr", "", "", makeHead("", "rank"), makeHead(words.player), ...columns);
    const header = element("header", "", "", element("h1", "", title), ...beside, this._open);
    this._like = heads.querySelector(".like");
    const table = element("table", "", "", element("thead", "", "", heads), body);
    this.node = element("article", `layout-standings ${className} panel`, "", header, table);
    this._rows = new Children(body, makeRow);
  }

  /** Return the size of a rem, pixels, for a table that is `wide` rem wide. An upright page shows only names and numbers. */
  fitting(width, height, wide) {
    const tall = width < height;
    this.node.classList.toggle("tall", tall);
    // If the last page has fewer rows, the panel keeps the height of the other pages.
    this.node.style.minHeight = `${(this._headHeight - 1.2 + ROW * this._rowCount).toFixed(2)}rem`;
    return Math.min(width / (tall ? TALL_WIDTH : wide), height / (this._headHeight + ROW * this._rowCount));
  }

  /** Draw the current page with `draw(row, item, items)`, and above it the number of unrated moves of `games`. */
  show(items, games, now, draw) {
    this.node.hidden = items.length === 0;
    const rowCount = Math.max(1, Math.min(items.length, this._rowsPerPage));
    if (rowCount !== this._rowCount) {
      this._rowCount = rowCount;
      dispatchEvent(new Event("resize"));
    }
    const { words } = this.context;
    const missing = games.reduce((sum, game) => sum + unratedOf(game), 0);
    setText(this._open, missing > 0 ? counted(words, "toBeRated", missing) : "");
    const final = missing === 0 && games.every(({ result }) => result !== "*");
    if (this.context.options.rating === "perceived") setText(this._like, final ? words.playedLike : words.playingLike);
    const { items: up } = this._pager.page(items, this._rowsPerPage, now);
    this._rows.show(up).forEach((row, at) => draw(row, up[at], up));
  }
}

/** The row of a player: place, name, `cells`, and figure. */
class PlayerRow {
  constructor(cells, { beside = [], after = [] } = {}) {
    this._rank = element("td", "rank");
    this._who = new Who([], beside);
    this._value = element("span", "value");
    const figure = element("td", "figure", "", this._value);
    this.node = element("tr", "", "", this._rank, headCell("", "row", this._who.node), ...cells, figure, ...after);
  }

  /** Write the row; `rank` and `value` are texts. */
  fill(rank, player, everybody, value) {
    setText(this._rank, rank);
    this._who.draw(player, everybody);
    setText(this._value, value);
  }
}

const STANDINGS_WIDTH = 52;

/** `layout=standings`: players by percentile, each with the usual range drawn to scale. */
export class StandingsLayout extends PlayersTable {
  constructor(context) {
    const { options, words } = context;
    const share = options.rating === "perceived" ? [makeHead(fill(words.betterThanSuch, "\u2026"), "share")] : [];
    const band = makeHead(share.length > 0 ? words.usualNote : "95\u00a0%", "range");
    super(context, {
      title: words.standings,
      columns: [makeHead(words.elo, "elo"), makeFigureHead(context), ...share, band],
      makeRow: () => new StandingsRow(share.length > 0),
      headHeight: 8.1,
    });
  }

  fit(width, height) {
    return this.fitting(width, height, STANDINGS_WIDTH);
  }

  draw({ held, games, now }) {
    const { words } = this.context;
    const all = [...held.games.values()];
    // Only the games contain titles and federations.
    const people = new Map(all.flatMap(({ white, black }) => [[white.name, white], [black.name, black]]));
    const ranked = rankPlayers(this._wanted(held, games), this.context.above());
    this.show(ranked, all, now, (row, item, items) => row.draw(item, scaleOf(items), people));
  }

  /** Return the players of the selected games if the address selects boards; otherwise all players. */
  _wanted(held, games) {
    const players = [...held.players.values()].filter((player) => player.moves > 0);
    if (this.context.options.board.length === 0) return players;
    const names = new Set(games.flatMap((game) => COLORS.map((color) => game[color].name)));
    return players.filter((player) => names.has(player.name));
  }
}

class StandingsRow extends PlayerRow {
  constructor(hasShare) {
    const elo = element("td", "elo");
    const share = element("td", "share");
    const range = element("div", "range", "", element("i", "line"), element("i", "dot"));
    super([elo], { after: [...(hasShare ? [share] : []), element("td", "range", "", range)] });
    Object.assign(this, { _elo: elo, _share: share, _range: range });
  }

  draw({ rank, player, rating }, { low, high }, people) {
    const namedPlayer = { ...people.get(player.name), name: player.name };
    this.fill(rank, namedPlayer, [...people.keys()], rating?.text ?? "\u2013");
    setText(this._elo, player.elo ? String(player.elo) : "\u2013");
    setText(this._share, (rating?.percentile ?? null) === null ? "\u2013" : `${percentText(rating.percentile)}\u00a0%`);
    this._range.classList.toggle("none", !rating);
    if (!rating) return;
    const ends = { low: rating.low ?? rating.value, high: rating.high ?? rating.value, value: rating.value };
    for (const [name, elo] of Object.entries(ends)) {
      this._range.style.setProperty(`--${name}`, ((elo - low) / (high - low)).toFixed(4));
    }
  }
}

/** Margin at both ends of the scale, Elo. */
const MARGIN = 40;

/**
 * Return players by percentile or by Algorithm 4: `{id, rank, player, rating}`. Without enough counted moves `rank` is
 * empty and `rating` is null; otherwise `rating` is `{text, value, low, high}`.
 */
export function rankPlayers(players, above = null) {
  return rankByNumber(players, (player) => rankedBy(player, above)).map((ranked) => {
    const { player } = ranked;
    const figure = settledFigure(player, above);
    return { id: player.id, rank: placeText(ranked), player, rating: figure && { ...figure, text: eloText(figure) } };
  });
}

/** Return the lowest and highest Elo of the ranges that are drawn together. */
function scaleOf(ranked) {
  const ends = ranked.flatMap(({ rating }) => (rating ? [rating.low, rating.high, rating.value] : []));
  const knownEnds = ends.filter((elo) => elo !== null);
  if (knownEnds.length === 0) return { low: 0, high: 1 };
  return { low: Math.min(...knownEnds) - MARGIN, high: Math.max(...knownEnds) + MARGIN };
}

const TABLE_WIDTH = 46;
/** `layout=table`: standings by points, with each player's figure. */
export class TableLayout extends PlayersTable {
  constructor(context) {
    const { words } = context;
    const event = element("p", "place");
    super(context, {
      title: words.table,
      columns: [makeHead(words.gamesHead, "games"), makeHead(words.points, "points-cell"), makeFigureHead(context)],
      makeRow: () => new TableRow(),
      className: "layout-table",
      beside: [event],
      headHeight: 7.5,
    });
    this._event = event;
  }

  fit(width, height) {
    return this.fitting(width, height, TABLE_WIDTH);
  }

  draw({ held, games, now }) {
    const { words } = this.context;
    const [withheld, above] = [this.context.withheld(), this.context.above()];
    // The table covers all rounds of the event on air.
    const event = games.length > 0 ? eventOf(games[0]) : null;
    const all = [...held.games.values()].filter((game) => event !== null && eventOf(game) === event);
    const players = new Map([...held.players.values()].flatMap((player) => [[player.id, player], [player.name, player]]));
    const table = tabulate(all).map((row) => {
      return { ...row, figure: settledFigure(players.get(row.id) ?? players.get(row.player.name), above) };
    });
    setText(this._event, known(event ?? ""));
    // Hide the column if no player has a figure, since the names need its room.
    this.node.classList.toggle("unrated", withheld || table.every(({ figure }) => figure === null));
    const names = table.map(({ player }) => player.name);
    this.show(table, all, now, (row, item) => row.draw(item, names));
    if (withheld) setText(this._open, words.withheld);
  }
}

class TableRow extends PlayerRow {
  constructor() {
    const [games, points, live] = [element("td", "games"), element("td", "points-cell"), element("i", "playing")];
    super([games, points], { beside: [live] });
    Object.assign(this, { _games: games, _points: points, _live: live });
  }

  draw({ place, tied, player, points, games, playing, figure }, names) {
    this._live.hidden = !playing;
    setText(this._games, String(games));
    setText(this._points, pointsText(points));
    this.fill(placeText({ place, tied }), player, names, figure ? eloText(figure) : "\u2013");
  }
}

/** Return all players, the best first: `{id, player, place, tied, points, games, playing}`. Running games do not count. */
export function tabulate(games) {
  const rows = new Map();
  for (const { white, black, result, plies } of games) {
    if (!white.name || !black.name) continue;
    [white, black].forEach((player, at) => {
      const id = keyOf(player);
      const row = rows.get(id) ?? { id, name: player.name, player, points: 0, games: 0, playing: false };
      rows.set(id, row);
      if (RESULT_POINTS[result]) {
        row.points += RESULT_POINTS[result][at];
        row.games += 1;
      } else if (result === "*" && plies.length > 0) row.playing = true;
    });
  }
  return rankByNumber([...rows.values()], ({ points }) => points).map(({ player: row, place, tied }) => ({ ...row, place, tied }));
}
