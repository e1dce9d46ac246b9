/** The view of all players, the best first. The columns are rows of the catalogue (live/catalogue.py). */

import { brokerOf } from "../client/connection.js";
import { say, words as spoken } from "./language.js";
import { MatchList } from "./match_list.js";
import { buildMatcher } from "./search.js";
import { fill } from "../overlay/language/words.js";
import catalogue from "../client/catalogue.js";
import { button, Children, element, headCell, named, nameNode, searchField, setLine, setText } from "../drawing/elements.js";
import { bandText, byName, eloText, figureOf, isEarly, isWithheld, percentText, placeText, rankByNumber, rankedBy } from "../client/figures.js";
import { everybodyIn, pointsText } from "../client/games.js";
import { FollowStar, isPartOfRounds, playerKey, writePlace } from "./page_address.js";
import { nameWithin } from "../drawing/player_names.js";

export class PlayersPage {
  constructor(go, followed, share) {
    this._followed = followed;
    this._isPart = isPartOfRounds(location.href, brokerOf() !== null);
    this._narrow = matchMedia("(max-width: 48rem)");
    this._header = new SortedHeader(go);
    this._body = element("tbody");
    this._rows = new Children(this._body, () => new PlayerTableRow(followed));
    this._note = element("p", "note");
    this._matches = new MatchList();
    const table = element(
      "table", "", "", element("caption", "hidden", say("Players")),
      element("thead", "", "", this._header.node), this._body,
    );
    table.id = "players";
    this._table = table;
    this._filter = searchField(say("Filter players"), (q) => go({ q }));
    const bar = named(element("div", "toolbar", "", this._filter, share), say("Players"), "search");
    this.node = element("section", "players-view", "", bar, element("div", "scroll", "", table), this._note, this._matches.node);
    named(this.node, say("Players"));
  }

  /** Return the players that a place selects, in its order. */
  shown(held, place) {
    const { q, sort, down } = place;
    const matches = buildMatcher(q);
    // Rank all players before a filter hides some.
    const ranked = rankPlayers([...held.players.values()], sort, down, held.engine?.rating ?? null).filter(({ player }) => matches(player.name));
    return this._followed.first(ranked, ({ player }) => this._followed.has(player));
  }

  draw(held, place) {
    const names = everybodyIn(held);
    if (document.activeElement !== this._filter && this._filter.value !== place.q) this._filter.value = place.q;
    this._header.draw(place.sort || "place", place.down);
    const players = this.shown(held, place);
    this._rows.show(players.map(({ player }) => player)).forEach((row, at) => {
      const { player, place: rank } = players[at];
      row.draw(player, rank, held.engine, nameWithin(player.name || "?", names, this._narrow.matches ? 11 : 36));
    });
    const ties = isWithheld(held) ? "" : say("Players with under ten counted moves have no place.");
    this._table.hidden = held.players.size === 0;
    const reason = isWithheld(held) ? spoken.withheld : say("Nothing here yet.");
    setLine(this._note, players.length ? (place.sort ? "" : ties) : held.players.size ? say("Nothing matches the filter.") : reason);
    this._matches.draw(this._isPart ? [] : [...held.games.values()]);
  }
}

class SortedHeader {
  /** `go` is called with `{sort, down}`. */
  constructor(go) {
    const columns = [{ id: "place", label: "#" }, { id: "name", label: spoken.player }, ...TABLE_COLUMNS];
    this._cells = columns.map(({ id, label }) => {
      const sort = () => go({ sort: id, down: cell.hasAttribute("aria-sort") ? !this._down : false });
      const cell = headCell("", "col", button(label, sort, { className: "sort" }));
      return { id, cell };
    });
    this.node = element("tr", "", "", ...this._cells.map(({ cell }) => cell));
  }

  draw(sort, down) {
    this._down = down;
    for (const { id, cell } of this._cells) {
      if (id === sort) cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    }
  }
}

class PlayerTableRow {
  constructor(followed) {
    this._player = null;
    this._followed = followed;
    this._star = new FollowStar(followed);
    this._link = element("a", "", "", nameNode("name"));
    const head = headCell("", "row", this._star.node, " ", this._link);
    this._place = element("td", "place");
    this._cells = TABLE_COLUMNS.map(() => element("td", "", "", element("span", "value"), element("span", "interval")));
    this.node = element("tr", "", "", this._place, head, ...this._cells);
  }

  draw(player, place, engine, name) {
    setText(this._place, place);
    this._star.draw(player);
    this.node.classList.toggle("followed", this._followed.has(player));
    setText(this._link.firstChild, name);
    if (player === this._player && engine?.rating === this._rating) return;
    this._player = player;
    this._rating = engine?.rating;
    this._link.title = player.name;
    this._link.href = writePlace({ player: playerKey(player) });
    TABLE_COLUMNS.forEach((column, at) => {
      const cell = this._cells[at];
      const { text, interval, missing, early } = column.show(player, engine ?? undefined);
      setText(cell.firstChild, text);
      setText(cell.lastChild, interval);
      const reason = missing && say(missing);
      if (cell.title !== reason) cell.title = reason;
      cell.classList.toggle("early", Boolean(early));
      cell.classList.toggle("none", text === "\u2013");
    });
  }
}

// --- the columns -----------------------------------------------------------------------------------

const MINUS = "\u2212";
const DASH = "\u2013";

/** Return a figure as it is shown: `text`, `interval` and, without a figure, the reason `missing`. */
const shown = (text, interval = "", missing = "") => ({ text, interval, missing });

/** Return the column for a row of the catalogue; a percentile has a label in words. */
function makeColumn({ id, name, value, low, high, interval, kind, digits, missing, above_engine: isAbove }) {
  // Only finished games count, as for points.
  const path = id === "games" ? "finished" : value;
  const read = (view, from, { rating = null } = {}) => {
    const number = view[from] ?? null;
    if (number === null || !isAbove) return number;
    return rating === null ? null : rating + number;
  };
  const write = (number) => {
    if (kind === "points") return pointsText(number);
    return kind === "number" ? number.toFixed(digits).replace("-", MINUS) : String(Math.round(number));
  };
  return {
    id,
    label: id === "percentile" ? fill(spoken.betterThanSuch, "\u2026") : say(name),
    /** Return a player's number, rounded as it is shown, so that players with equal shown numbers are tied. */
    number(view, engine) {
      if (id === "perceived" || id === "percentile") return rankedBy(view);
      const number = read(view, path, engine);
      if (number === null || kind === "points") return number;
      return kind === "number" ? Number(number.toFixed(digits)) : Math.round(number);
    },
    show(view, engine) {
      if (id === "perceived" || id === "percentile") return showPerceived(view, id, missing);
      const number = read(view, path, engine);
      if (number === null) return shown(DASH, "", missing);
      const ends = [read(view, low, engine), read(view, high, engine)];
      return shown(write(number), ends.includes(null) ? "" : `${interval}: ${ends.map(write).join(DASH)}`);
    },
  };
}

function showPerceived(view, id, missing) {
  const figure = figureOf(view);
  if (figure === null || (id === "percentile" && figure.percentile === null)) return shown(DASH, "", missing);
  if (id === "percentile") return shown(`${percentText(figure.percentile)}\u00a0%`);
  const band = bandText(figure);
  return { ...shown(eloText(figure), band && `${say("usual")} ${band}`), early: isEarly(figure) };
}

/** Columns of the table, the most important first, since phones hide the right end. */
const IN_TABLE = ["perceived", "points", "elo", "percentile", "games"];
/** Further figures on the page of a player. */
const OF_A_PLAYER = ["fide_performance", "rating_change", "algorithm4"];
const columnsOf = (ids) => ids.map((id) => makeColumn(catalogue.figures.find((row) => row.id === id)));

const TABLE_COLUMNS = columnsOf(IN_TABLE);
export const PLAYER_COLUMNS = [...TABLE_COLUMNS, ...columnsOf(OF_A_PLAYER)];

/**
 * Return players by a column, `[{player, place}]`: the best first, or last with `down`; always last without a number.
 * `place` is a text: `3`, `3=` for a tie, or empty without a number.
 */
export function rankPlayers(players, sort, down, engineRating = null) {
  const column = PLAYER_COLUMNS.find(({ id }) => id === (sort || "perceived"));
  const rows = column
    ? rankByNumber(players, (player) => column.number(player, { rating: engineRating }))
    : players.toSorted(byName).map((player, at) => ({ player, place: at + 1 }));
  const ordered = down ? [...rows.filter(({ place }) => place).reverse(), ...rows.filter(({ place }) => !place)] : rows;
  return ordered.map(({ player, place, tied }) => ({ player, place: placeText({ place, tied }) }));
}
