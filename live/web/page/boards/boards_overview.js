/** All boards at a glance: as cards or as a table, filtered, sorted, walked through by keyboard. */

import { element, named, searchField, setText } from "../../drawing/elements.js";
import { Children } from "../../drawing/reused_children.js";
import { BoardsTable } from "./boards_table.js";
import { Card } from "./board_card.js";
import { explainButton } from "../explanations.js";
import { basisIn, FIGURE_NAMES, leadingIn } from "../score_words.js";
import { delayText } from "../health_view.js";
import { MomentsList } from "./moments_list.js";
import { arranged, ORDERS } from "./boards_order.js";
import { alertingGames } from "../alerts/alerts_panel.js";
import { ALL_ROUNDS, dateText, roundName, roundsOf } from "../../client/event_rounds.js";

/** More boards than this are shown as a table unless somebody chooses cards. */
const MANY = 24;
/** Boards change their places at most so often: nobody can read what jumps about. */
export const REARRANGE_MS = 3_000;

/** A card with the gap beside it, in rem, and how much larger than that it may become. */
const CARD = { width: 27.3, height: 17.2 };
const LARGEST = 3;

/** How much larger cards are drawn, so that few of them fill a large screen; sizes in rem. Pure. */
export function cardScale(boards, width, height) {
  for (let scale = LARGEST; scale > 1; scale -= 0.05) {
    const columns = Math.floor(width / scale / CARD.width);
    if (columns > 0 && Math.ceil(boards / columns) * CARD.height * scale <= height) return Number(scale.toFixed(2));
  }
  return 1;
}

/** Why nothing is shown. */
function noGameYet(held) {
  const behind = delayText(held.hello?.public_delay);
  return behind ? `No game yet: this page is ${behind}.` : "No game yet.";
}

export class Overview {
  /** `elapsedS` says of a game how long its clock has run; `share` is the menu for what is seen. */
  constructor(go, elapsedS, followed, share) {
    this._go = go;
    this._followed = followed;
    this._rounds = new RoundPicker((change) => go(change));
    this._arrangedAt = -Infinity;
    this._key = "";
    this._narrow = matchMedia("(max-width: 48rem)");
    this._large = matchMedia("(min-width: 150rem)");
    this._games = [];
    this._grid = element("div", "boards");
    this._grid.id = "boards";
    this._cards = new Children(this._grid, () => new Card(elapsedS, this._sight));
    this._table = new BoardsTable((change) => go(change), elapsedS);
    this._count = element("span", "count");
    this._empty = element("p", "note empty");
    this._sight = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) {
          if (entry.target.card) entry.target.card.visible = entry.isIntersecting;
        }
      },
      { rootMargin: "300px" },
    );
    this._moments = new MomentsList();
    this.node = element("section", "overview", "", this._moments.node, this._toolbar(share), this._empty, this._grid, this._table.node);
    named(this.node, "Boards");
    this.node.addEventListener("keydown", (event) => this._walk(event));
    new ResizeObserver(() => this._scale()).observe(this.node);
    addEventListener("resize", () => this._scale());
  }

  /** On a screen for a whole room few cards are drawn larger. */
  _scale() {
    if (this.node.hidden || this._grid.hidden) return;
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
    const { top, width } = this.node.getBoundingClientRect();
    const above = this._grid.getBoundingClientRect().top - top;
    const height = innerHeight - (top + scrollY) - above;
    const scale = this._large.matches ? cardScale(this._cards.views.length, width / rem, height / rem) : 1;
    if (this._grid.style.zoom !== String(scale)) this._grid.style.zoom = scale;
  }

  /** Draws what `place` asks for; `now` says when, for boards that change their places. */
  draw(held, place, now) {
    this._moments.draw(held);
    const all = [...held.games.values()];
    const layout = place.layout === "auto" ? this._fitting(all.length) : place.layout;
    this._leading = leadingIn(held, place);
    this._show(place, layout);
    this._rounds.draw(all, place);
    const alerting = alertingGames([...(held.alerts?.values() ?? [])]);
    this._alertsOrder.hidden = held.hello?.sight !== "arbiter";
    const named = all.map(({ id, event, round, board }) => [id, event, round, board]);
    const { q, state, sort, down, event, round } = place;
    const key = JSON.stringify([q, state, sort, down, event, round, layout, named, this._followed.size]);
    if (key !== this._key || now - this._arrangedAt > REARRANGE_MS) {
      this._key = key;
      this._arrangedAt = now;
      const chosen = arranged(all, place, alerting);
      this._games = this._followed.first(chosen, (game) => this._followed.plays(game)).map((game) => game.id);
    }
    const games = this._games.map((id) => held.games.get(id)).filter((game) => game !== undefined);
    const asCards = layout === "cards";
    const basis = basisIn(held, place);
    this._grid.hidden = !asCards;
    this._table.node.hidden = asCards;
    if (asCards) {
      this._table.clear();
      this._drawCards(games, basis);
    } else {
      this._cards.show([]);
      this._table.draw(games, place, basis);
    }
    for (const { id } of games) {
      const node = this._cards.of(id)?.node ?? this._table.row(id);
      node?.classList.toggle("alerting", alerting.has(id));
      node?.classList.toggle("followed", this._followed.size > 0 && this._followed.plays(held.games.get(id)));
    }
    const hidden = all.length - games.length;
    setText(this._count, all.length ? `${games.length} of ${all.length} boards` : "");
    setText(this._empty, all.length === 0 ? noGameYet(held) : hidden && !games.length ? "No board fits the filter." : "");
    this._empty.hidden = !this._empty.textContent;
  }

  /** A table is too wide for a phone, and cards are too many for a hall. */
  _fitting(boards) {
    return boards > MANY && !this._narrow.matches ? "table" : "cards";
  }

  /** Time has passed. Cards or rows: the others are not there. */
  tick() {
    for (const card of this._cards.views) card.tick();
    this._table.tick();
  }

  restyle() {
    for (const card of this._cards.views) card.restyle();
  }

  _drawCards(games, basis) {
    const before = this._cards.views.length;
    const focused = document.activeElement;
    this._cards.show(games).forEach((card, at) => card.draw(games[at], basis));
    if (before !== games.length) this._scale();
    // A card that was moved has lost the keyboard.
    if (focused !== document.activeElement && this._grid.contains(focused)) focused.focus({ preventScroll: true });
  }

  _toolbar(share) {
    this._filter = searchField("Filter boards", "Filter: player, team, event, round", (q) => this._go({ q }));
    this._state = choice("Show", { all: "all boards", running: "running", over: "over" }, (state) => this._go({ state }));
    const labels = Object.fromEntries(Object.entries(ORDERS).map(([name, { label }]) => [name, label]));
    this._sort = choice("Sorted by", labels, (sort) => this._go({ sort: sort === "board" ? "" : sort, down: false }));
    this._alertsOrder = this._sort.select.querySelector("[value=alerts]");
    this._layout = choice("As", { auto: "fits best", cards: "boards", table: "table" }, (layout) => this._go({ layout }));
    this._figure = choice("Large figure", FIGURE_NAMES, (figure) => this._go({ figure }));
    const figure = element("div", "figure-choice", "", this._figure.label, explainButton("perceived"));
    const more = element(
      "details", "chooser", "", element("summary", "", "View"),
      element("div", "", "", this._state.label, this._sort.label, this._layout.label, figure),
    );
    return named(element("div", "toolbar", "", this._rounds.node, this._filter, more, share, this._count), "Boards", "search");
  }

  _show(place, layout) {
    if (document.activeElement !== this._filter && this._filter.value !== place.q) this._filter.value = place.q;
    this._state.select.value = place.state;
    this._sort.select.value = place.sort || "board";
    this._layout.select.value = place.layout;
    this._figure.select.value = place.figure || this._leading;
    this.node.dataset.layout = layout;
  }

  /** Arrows lead from board to board. */
  _walk(event) {
    const steps = { ArrowDown: "down", ArrowUp: "up", ArrowRight: "next", ArrowLeft: "back", j: "next", k: "back" };
    const step = steps[event.key];
    if (step === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    const links = this._grid.hidden
      ? this._table.links()
      : [...this._grid.children].map((node) => node.card.link);
    const at = links.indexOf(document.activeElement);
    if (at < 0) return;
    const perRow = this._grid.hidden ? 1 : columnsOf(this._grid);
    const by = { down: perRow, up: -perRow, next: 1, back: -1 }[step];
    const next = links[Math.max(0, Math.min(links.length - 1, at + by))];
    event.preventDefault();
    next.focus();
    next.closest("article, tr").scrollIntoView({ block: "nearest" });
  }
}

function columnsOf(grid) {
  return getComputedStyle(grid).gridTemplateColumns.split(" ").length;
}

function choice(name, labels, chosen) {
  const select = named(element("select"), name);
  for (const [value, text] of Object.entries(labels)) {
    const option = element("option", "", text);
    option.value = value;
    select.append(option);
  }
  select.addEventListener("change", () => chosen(select.value));
  return { select, label: element("label", "", "", element("span", "", name), select) };
}

const NOW = JSON.stringify(["", ""]);
const ALL = JSON.stringify(["", ALL_ROUNDS]);

/** `Round 4 · 2 May 2026 · live`, of a round as {@link roundsOf} lists it. Pure. */
export function roundWords({ round, date, games, running, over }) {
  const state = running ? "live" : over === games ? "over" : over ? `${over} of ${games} over` : "not begun";
  return [roundName(round) || "Round not named", dateText(date), state].filter(Boolean).join(" \u00b7 ");
}

/** The round that is played now, else the last, of those of one event. */
const newestOf = (rounds) => rounds.find(({ running }) => running > 0) ?? rounds[0];

export class RoundPicker {
  /** `go` is given `{event, round}`. */
  constructor(go) {
    this._key = "";
    this.node = element("select", "round-picker");
    this.node.setAttribute("aria-label", "Round");
    this.node.addEventListener("change", () => {
      const [event, round] = JSON.parse(this.node.value);
      go({ event, round });
    });
  }

  draw(games, { event, round }) {
    const rounds = roundsOf(games);
    const key = JSON.stringify(rounds);
    if (key !== this._key) {
      this._key = key;
      this._fill(rounds);
    }
    // Of a link that names no event any event's round is meant.
    const wanted = rounds.find((each) => each.round === round && (event === "" || each.event === event));
    const value = round === "" ? NOW : round === ALL_ROUNDS ? ALL : JSON.stringify([wanted?.event ?? event, round]);
    if (this.node.value !== value) this.node.value = value;
    // One round is no choice.
    this.node.hidden = rounds.length < 2 && round === "";
  }

  _fill(rounds) {
    const option = (value, text) => {
      const node = element("option", "", text);
      node.value = value;
      return node;
    };
    const events = [...new Set(rounds.map(({ event }) => event))];
    const groups = events.map((event) => {
      const own = rounds.filter((each) => each.event === event);
      const options = own.map((each) => option(JSON.stringify([event, each.round]), roundWords(each)));
      if (events.length === 1) return options;
      const group = element("optgroup", "", "", ...options);
      group.label = event || "Other games";
      return group;
    });
    // Of several events each has its own.
    const newest = events.length === 1 ? `Newest: ${roundWords(newestOf(rounds))}` : "Newest rounds";
    this.node.replaceChildren(option(NOW, newest), ...groups.flat(), option(ALL, "All rounds"));
  }
}
