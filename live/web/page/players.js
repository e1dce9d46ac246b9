/** The players of the event: a row each, best first; for experts with a column for every figure, from the catalogue. */

import { fold, MatchList, words } from "./boards.js";
import { say } from "./language.js";
import catalogue from "../client/catalogue.js";
import { button, Children, element, headCell, named, nameNode, searchField, setLine, setText } from "../drawing/elements.js";
import { explainButton } from "./explanations.js";
import { bandText, byName, eloText, figureOf, isEarly, isWithheld, percentText, placeText, standings } from "../client/figures.js";
import { everybodyIn, pointsText } from "../client/games.js";
import { FollowStar, playerKey, writePlace } from "./page_address.js";
import { nameWithin } from "../drawing/player_names.js";

export class PlayersPage {
  constructor(go, followed, share) {
    this._go = go;
    this._followed = followed;
    this._ids = "";
    this._narrow = matchMedia("(max-width: 48rem)");
    this._columns = [];
    this._header = new SortedHeader(go);
    this._body = element("tbody");
    this._rows = new Children(this._body, () => new PlayerTableRow(this._columns, followed));
    this._note = element("p", "note");
    this._matches = new MatchList();
    const table = element(
      "table", "", "", element("caption", "hidden", "Players and their figures"),
      element("thead", "", "", this._header.node), this._body,
    );
    table.id = "players";
    this._filter = searchField("Filter players", say("Filter players"), (q) => go({ q }));
    this._experts = button(say("For experts"), () => go(({ experts }) => ({ experts: !experts })));
    const bar = named(element("div", "toolbar", "", this._filter, this._experts, share), "Players", "search");
    this.node = element("section", "players-view", "", bar, element("div", "scroll", "", table), this._note, this._matches.node);
    named(this.node, "Players");
  }

  /** The players that a place asks for, in its order. */
  shown(held, place) {
    const { q, sort, down } = place;
    const wanted = words(q);
    // Places count in the whole field, whoever is shown.
    const ranked = rankedPlayers([...held.players.values()], sort, down, held.engine?.rating ?? null).filter(({ player }) => {
      const text = fold(player.name);
      return wanted.every((word) => text.includes(word));
    });
    return this._followed.first(ranked, ({ player }) => this._followed.has(player));
  }

  draw(held, place) {
    const names = everybodyIn(held);
    this._useColumns(chosenColumns(place.experts));
    this._experts.setAttribute("aria-pressed", String(place.experts));
    if (document.activeElement !== this._filter && this._filter.value !== place.q) this._filter.value = place.q;
    this._header.draw(place.sort || "place", place.down);
    const players = this.shown(held, place);
    this._rows.show(players.map(({ player }) => player)).forEach((row, at) => {
      const { player, place: rank } = players[at];
      row.draw(player, rank, held.engine, nameWithin(player.name || "?", names, this._narrow.matches ? 12 : 36));
    });
    const ties = isWithheld(held) ? "" : "Places go by \u201cplaying like\u201d, or by any column: click its head. Equal numbers are a tie; under ten counted moves nobody has a place.";
    setLine(this._note, players.length ? (place.sort ? "" : ties) : held.players.size ? say("No player fits the filter.") : say("No player yet."));
    this._matches.draw([...held.games.values()]);
  }

  _useColumns(columns) {
    const ids = columns.map(({ id }) => id).join(",");
    if (ids === this._ids) return;
    this._ids = ids;
    this._columns = columns;
    this._header.columns([{ id: "place", label: "#" }, { id: "name", label: say("Player") }, ...columns]);
    this._rows.show([]);
  }
}

class SortedHeader {
  /** `go` is given `{sort, down}`; columns have `id`, `label`, and `explain` where there is more to say. */
  constructor(go) {
    this._go = go;
    this._cells = [];
    this.node = element("tr");
  }

  columns(columns) {
    this._cells = columns.map(({ id, label, explain }) => {
      const sort = () => this._go({ sort: id, down: cell.hasAttribute("aria-sort") ? !this._down : false });
      const cell = headCell("", "col", button(label, sort, { className: "sort" }), ...(explain ? [explainButton(explain)] : []));
      return { id, cell };
    });
    this.node.replaceChildren(...this._cells.map(({ cell }) => cell));
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
  constructor(columns, followed) {
    this._player = null;
    this._columns = columns;
    this._followed = followed;
    this._star = new FollowStar(followed);
    this._link = element("a", "", "", nameNode("name"));
    const head = headCell("", "row", this._star.node, " ", this._link);
    this._place = element("td", "place");
    this._cells = columns.map(() => element("td", "", "", element("span", "value"), element("span", "interval")));
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
    this._columns.forEach((column, at) => {
      const cell = this._cells[at];
      const { text, interval, missing, early } = column.show(player, engine ?? undefined);
      setText(cell.firstChild, text);
      setText(cell.lastChild, interval);
      if (cell.title !== missing) cell.title = missing;
      cell.classList.toggle("early", Boolean(early));
      cell.classList.toggle("none", text === "\u2013");
    });
  }
}

// --- the columns -----------------------------------------------------------------------------------

const MINUS = "\u2212";
const DASH = "\u2013";

/** A figure as it is shown: `text`, `interval` and, where there is none, `missing` saying why. */
const shown = (text, interval = "", missing = "") => ({ text, interval, missing });
const none = (missing) => shown(DASH, "", missing);

/** Figures that each point of a curve has, too. */
const OF_A_CURVE = ["perceived", "percentile", "counted", "algorithm4", "score"];

/** A column of the catalogue's row. */
function column(row) {
  const { id, low, high, kind, digits, unit, missing } = row;
  // Games count as points do: once they are over.
  const value = id === "games" ? "finished" : row.value;
  const read = (view, path, { rating = null } = {}) => {
    const found = path ? (view[path] ?? null) : null;
    if (found === null || !row.above_engine) return found;
    return rating === null ? null : rating + found;
  };
  const write = (number) => {
    if (kind === "points") return pointsText(number);
    if (kind !== "number") return String(Math.round(number));
    if (id === "percentile") return `${percentText(number)}\u00a0%`;
    return `${number.toFixed(digits).replace("-", MINUS)}${unit === "%" ? "\u00a0%" : ""}`;
  };
  return {
    id,
    label: unit === "cp" ? `${row.name}, cp` : say(row.name),
    explain: id,
    curve: OF_A_CURVE.includes(id),
    value: (view, engine) => read(view, value, engine),
    show(view, engine) {
      if (id === "perceived" || id === "percentile") return showPerceived(view, id, missing);
      const found = read(view, value, engine);
      if (found === null) return none(missing);
      const ends = [read(view, low, engine), read(view, high, engine)];
      return shown(write(found), ends.includes(null) ? "" : ends.map(write).join(DASH));
    },
  };
}

function showPerceived(view, id, missing) {
  const figure = figureOf(view);
  if (figure === null || (id === "percentile" && figure.percentile === null)) return none(missing);
  if (id === "percentile") return shown(`${percentText(figure.percentile)}\u00a0%`);
  const band = bandText(figure);
  return { ...shown(eloText(figure), band && `usual ${band}`), early: isEarly(figure) };
}

/** Every column of the table of players, in its order. */
export const PLAYER_COLUMNS = catalogue.figures.map(column);

/** What is shown to whoever is no expert, what matters most first: of a phone the right end is out of sight. */
const USUAL = ["perceived", "points", "elo", "percentile", "games"];

/** The columns for everybody, or for experts all there are. */
export const chosenColumns = (experts) => (experts ? PLAYER_COLUMNS : USUAL.map((id) => PLAYER_COLUMNS.find((each) => each.id === id)));

/**
 * Players as a place wants them, `[{player, place}]`: by the figure or by a column, best first, those
 * without it last. `place` is text: `3`, `3=` for a tie, empty where too little is known.
 */
export function rankedPlayers(players, sort, down, engineRating = null) {
  const rows = orderedBy(players, sort, engineRating);
  if (!down) return rows;
  return [...rows.filter(({ place }) => place).reverse(), ...rows.filter(({ place }) => !place)];
}

function orderedBy(players, sort, engineRating) {
  if (["", "perceived", "points"].includes(sort)) {
    return standings(players, sort || "perceived").map((each) => ({ player: each.player, place: placeText(each) }));
  }
  const wanted = PLAYER_COLUMNS.find((each) => each.id === sort);
  if (!wanted) return [...players].sort(byName).map((player, at) => ({ player, place: String(at + 1) }));
  const engine = { rating: engineRating };
  const value = (player) => wanted.value(player, engine);
  const known = players.filter((player) => value(player) !== null);
  known.sort((a, b) => (value(a) === value(b) ? byName(a, b) : (value(a) < value(b) ? 1 : -1)));
  // What reads the same is a tie.
  const texts = known.map((player) => wanted.show(player, engine).text);
  const placed = known.map((player, at) => {
    const place = texts.indexOf(texts[at]) + 1;
    return { player, place: `${place}${texts.lastIndexOf(texts[at]) + 1 > place ? "=" : ""}` };
  });
  const unknown = players.filter((player) => value(player) === null).sort(byName);
  return [...placed, ...unknown.map((player) => ({ player, place: "" }))];
}
