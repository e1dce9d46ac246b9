/** The players of the event: a row each, best first, with a column for every method. */

import { element, nameNode, setText } from "../../drawing/elements.js";
import { PLAYER_COLUMNS, USUAL, chosenColumns, pluginColumns, rankedPlayers } from "./columns.js";
import { rankedBy } from "../../client/leading_figure.js";
import { leadingIn } from "../figure_choice.js";
import { FIGURE_NAMES } from "../score_words.js";
import { pointsText, teamMatches } from "../../client/team_matches.js";
import { words, fold } from "../boards/boards_order.js";
import { writePlace } from "../page_address.js";
import { SortedHeader } from "../boards/sorted_header.js";

export class PlayersPage {
  constructor(go) {
    this._go = go;
    this._ids = "";
    this._columns = [];
    this._header = new SortedHeader([], (change) => go(change));
    this._body = element("tbody");
    this._rows = new Map();
    this._note = element("p", "note");
    this._matches = element("ul", "matches");
    this._matches.setAttribute("aria-label", "Team matches");
    const table = element(
      "table", "", "", element("caption", "hidden", "Players and their figures by every method"),
      element("thead", "", "", this._header.node), this._body,
    );
    table.id = "players";
    this._filter = element("input");
    this._filter.type = "search";
    this._filter.placeholder = "Filter players";
    this._filter.setAttribute("aria-label", "Filter players");
    this._filter.addEventListener("input", () => go({ q: this._filter.value }));
    const bar = element("div", "toolbar", "", this._filter, this._chooser());
    bar.setAttribute("role", "search");
    this.node = element("section", "players-view", "", bar, element("div", "scroll", "", table), this._note, this._matches);
    this.node.setAttribute("aria-label", "Players");
  }

  /** The players that a place asks for, in its order. */
  shown(held, place) {
    const { q, sort, down } = place;
    const wanted = words(q);
    // Places count in the whole field, whoever is shown.
    return rankedPlayers([...held.players.values()], sort, down, leadingIn(held, place)).filter(({ player }) => {
      const text = fold(player.name);
      return wanted.every((word) => text.includes(word));
    });
  }

  draw(held, place) {
    this._useColumns(place.cols, pluginColumns([...held.players.values()]));
    if (document.activeElement !== this._filter && this._filter.value !== place.q) this._filter.value = place.q;
    this._header.draw(place.sort || "place", place.down);
    const players = this.shown(held, place);
    const shown = new Set(players.map(({ player }) => player.id));
    for (const [id, row] of this._rows) {
      if (shown.has(id)) continue;
      row.node.remove();
      this._rows.delete(id);
    }
    players.forEach(({ player, place: rank }, at) => {
      let row = this._rows.get(player.id);
      if (row === undefined) this._rows.set(player.id, (row = new PlayerTableRow(this._columns)));
      row.draw(player, rank);
      if (this._body.rows[at] !== row.node) this._body.insertBefore(row.node, this._body.rows[at] ?? null);
    });
    const by = FIGURE_NAMES[rankedBy([...held.players.values()], leadingIn(held, place))];
    const ties = `Players by ${by}; = are ties: their 95 % intervals overlap. Under five counted moves nobody has a place.`;
    setText(this._note, players.length ? (place.sort ? "" : ties) : held.players.size ? "No player fits the filter." : "No player yet.");
    this._note.hidden = !this._note.textContent;
    this._drawMatches(teamMatches([...held.games.values()]));
  }

  _drawMatches(matches) {
    const said = matches.map(({ round, teams, points, running }) => {
      const score = `${pointsText(points[0])} \u2013 ${pointsText(points[1])}`;
      return `Round ${round}: ${teams[0]} ${score} ${teams[1]}${running ? `, ${running} running` : ""}`;
    });
    const key = said.join("\n");
    if (key === this._said) return;
    this._said = key;
    this._matches.replaceChildren(...said.map((text) => element("li", "", text)));
    this._matches.hidden = said.length === 0;
  }

  _useColumns(text, added) {
    const columns = [...chosenColumns(text), ...added];
    const ids = columns.map(({ id }) => id).join(",");
    if (ids === this._ids) return;
    this._ids = ids;
    this._columns = columns;
    this._header.columns([{ id: "place", label: "#", explain: "places" }, { id: "name", label: "Player" }, ...columns]);
    this._rows.clear();
    this._body.replaceChildren();
    for (const box of this._boxes) box.checked = columns.some(({ id }) => id === box.value);
  }

  _chooser() {
    this._boxes = PLAYER_COLUMNS.map(({ id }) => {
      const box = element("input");
      box.type = "checkbox";
      box.value = id;
      box.addEventListener("change", () => this._choose());
      return box;
    });
    const labels = PLAYER_COLUMNS.map(({ label }, at) => element("label", "", "", this._boxes[at], element("span", "", label)));
    const all = element("button", "plain", "All");
    const usual = element("button", "plain", "Usual");
    for (const [button, ids] of [[all, PLAYER_COLUMNS.map(({ id }) => id)], [usual, USUAL]]) {
      button.type = "button";
      button.addEventListener("click", () => this._chosen(ids));
    }
    return element(
      "details", "chooser", "", element("summary", "", "Columns"), element("div", "", "", ...labels, all, usual),
    );
  }

  _choose() {
    this._chosen(this._boxes.filter((box) => box.checked).map((box) => box.value));
  }

  _chosen(ids) {
    const usual = ids.length === USUAL.length && USUAL.every((id) => ids.includes(id));
    this._go({ cols: usual ? "" : ids.join(",") });
  }
}

class PlayerTableRow {
  constructor(columns) {
    this._player = null;
    this._columns = columns;
    this._link = element("a", "", "", nameNode("name"));
    const head = element("th", "", "", this._link);
    head.scope = "row";
    this._place = element("td", "place");
    this._cells = columns.map(() => element("td", "", "", element("span", "value"), element("span", "interval")));
    this.node = element("tr", "", "", this._place, head, ...this._cells);
  }

  draw(player, place) {
    setText(this._place, place);
    if (player === this._player) return;
    this._player = player;
    setText(this._link.firstChild, player.name || "?");
    this._link.href = writePlace({ view: "boards", q: player.name });
    this._columns.forEach((column, at) => {
      const cell = this._cells[at];
      const { text, interval, missing, provisional } = column.show(player);
      setText(cell.firstChild, text);
      setText(cell.lastChild, interval);
      if (cell.title !== missing) cell.title = missing;
      cell.classList.toggle("provisional", Boolean(provisional));
      cell.classList.toggle("none", text === "\u2013");
    });
  }
}
