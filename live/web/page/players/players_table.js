/** The players of the event: a row each, best first, with a column for every method. */

import { button, element, headCell, named, nameNode, searchField, setText } from "../../drawing/elements.js";
import { chosenColumns, PLAYER_COLUMNS, pluginColumns, rankedPlayers, USUAL } from "./columns.js";
import { basisIn, everybodyIn, FIGURE_NAMES, leadingIn, withheldIn } from "../score_words.js";
import { pointsText, roundName, teamMatches } from "../../client/event_rounds.js";
import { nameWithin } from "../../drawing/player_names.js";
import { Children } from "../../drawing/reused_children.js";
import { FollowStar, playerKey } from "../followed_players.js";
import { fold, words } from "../boards/boards_order.js";
import { writePlace } from "../page_address.js";
import { SortedHeader } from "../boards/boards_table.js";

export class PlayersPage {
  constructor(go, followed, share) {
    this._go = go;
    this._followed = followed;
    this._ids = "";
    this._narrow = matchMedia("(max-width: 48rem)");
    this._columns = [];
    this._header = new SortedHeader([], (change) => go(change));
    this._body = element("tbody");
    this._rows = new Children(this._body, () => new PlayerTableRow(this._columns, followed));
    this._note = element("p", "note");
    this._matches = named(element("ul", "matches"), "Team matches");
    const table = element(
      "table", "", "", element("caption", "hidden", "Players and their figures by every method"),
      element("thead", "", "", this._header.node), this._body,
    );
    table.id = "players";
    this._filter = searchField("Filter players", "Filter players", (q) => go({ q }));
    const bar = named(element("div", "toolbar", "", this._filter, this._chooser(), share), "Players", "search");
    this.node = element("section", "players-view", "", bar, element("div", "scroll", "", table), this._note, this._matches);
    named(this.node, "Players");
  }

  /** The players that a place asks for, in its order. */
  shown(held, place) {
    const { q, sort, down } = place;
    const wanted = words(q);
    // Places count in the whole field, whoever is shown.
    const ranked = rankedPlayers([...held.players.values()], sort, down, basisIn(held, place)).filter(({ player }) => {
      const text = fold(player.name);
      return wanted.every((word) => text.includes(word));
    });
    return this._followed.first(ranked, ({ player }) => this._followed.has(player));
  }

  draw(held, place) {
    const everybody = [...held.players.values()];
    const by = leadingIn(held, place);
    this._useColumns(place.cols, by, pluginColumns(everybody));
    if (document.activeElement !== this._filter && this._filter.value !== place.q) this._filter.value = place.q;
    this._header.draw(place.sort || "place", place.down);
    const players = this.shown(held, place);
    const names = everybodyIn(held);
    this._rows.show(players.map(({ player }) => player)).forEach((row, at) => {
      const { player, place: rank } = players[at];
      row.draw(player, rank, held.engine, nameWithin(player.name || "?", names, this._narrow.matches ? 12 : 36));
    });
    const ties = withheldIn(held) ? "" : `Places go by \u201c${FIGURE_NAMES[by]}\u201d, or by any column: click its head. Equal numbers are a tie; under ten counted moves nobody has a place.`;
    setText(this._note, players.length ? (place.sort ? "" : ties) : held.players.size ? "No player fits the filter." : "No player yet.");
    this._note.hidden = !this._note.textContent;
    this._drawMatches(teamMatches([...held.games.values()]));
  }

  _drawMatches(matches) {
    // With one event its name would say nothing.
    const several = new Set(matches.map(({ event }) => event)).size > 1;
    const said = matches.map(({ event, round, teams, points, running }) => {
      const score = `${pointsText(points[0])} \u2013 ${pointsText(points[1])}`;
      const where = [several ? event : "", roundName(round)].filter(Boolean).join(", ");
      return `${where ? `${where}: ` : ""}${teams[0]} ${score} ${teams[1]}${running ? `, ${running} running` : ""}`;
    });
    const key = said.join("\n");
    if (key === this._said) return;
    this._said = key;
    this._matches.replaceChildren(...said.map((text) => element("li", "", text)));
    this._matches.hidden = said.length === 0;
  }

  /** On a phone the figure that ranks stands beside the name, or nobody would see it. */
  _useColumns(text, by, added) {
    const chosen = [...chosenColumns(text), ...added];
    const isLead = ({ id }) => this._narrow.matches && id === by;
    const columns = [...chosen.filter(isLead), ...chosen.filter((column) => !isLead(column))];
    const ids = columns.map(({ id }) => id).join(",");
    if (ids === this._ids) return;
    this._ids = ids;
    this._columns = columns;
    this._header.columns([{ id: "place", label: "#" }, { id: "name", label: "Player" }, ...columns]);
    this._rows.show([]);
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
    const all = button("All", () => this._chosen(PLAYER_COLUMNS.map(({ id }) => id)));
    const usual = button("Usual", () => this._chosen(USUAL));
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
