/** All boards at a glance: as cards or as a table, filtered, sorted, walked through by keyboard; above them what is worth telling. */

import { alertingGames } from "./alerts_panel.js";
import { Card, ClockText, SmallGame } from "./board_card.js";
import { brokerOf } from "../client/connection.js";
import { anchor, button, Children, element, headCell, named, nameNode, searchField, setLine, setText } from "../drawing/elements.js";
import english from "../overlay/language/en.js";
import { explainButton } from "./explanations.js";
import { bandText, percentText, settledFigure } from "../client/figures.js";
import { ALL_ROUNDS, COLORS, dateText, gameOrder, inRound, roundName, roundsOf } from "../client/games.js";
import { delayText } from "./health_view.js";
import { moveText } from "../drawing/number_format.js";
import { writePlace } from "./page_address.js";
import { nameWithin } from "../drawing/player_names.js";
import {
  basisIn, basisText, FIGURE_NAMES, leapNews, markSide, scoreAfter, sideFigure, swing, withoutFigure,
} from "./score_words.js";

/** More boards than this are shown as a table unless somebody chooses cards. */
const MANY = 24;
/** Boards change their places at most so often: nobody can read what jumps about. */
export const REARRANGE_MS = 3_000;

/** A card with the gap beside it, in rem, and how much larger than that it may become. */
const CARD = { width: 27.3, height: 17.2 };
const LARGEST = 3;

/** How much larger cards are drawn, so that few of them fill a large screen; sizes in rem. Pure. */
function cardScale(boards, width, height) {
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
    this._rounds = new RoundPicker(go);
    this._arrangedAt = -Infinity;
    this._key = "";
    this._narrow = matchMedia("(max-width: 48rem)");
    this._large = matchMedia("(min-width: 150rem)");
    this._games = [];
    this._grid = element("div", "boards");
    this._grid.id = "boards";
    this._cards = new Children(this._grid, () => new Card(elapsedS, this._sight));
    this._table = new BoardsTable(go, elapsedS);
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
    const basis = basisIn(held, place);
    this._show(place, layout, basis.choice);
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
    this._grid.hidden = !asCards;
    this._table.node.hidden = asCards;
    if (asCards) {
      this._table.rows.show([]);
      this._drawCards(games, basis);
    } else {
      this._cards.show([]);
      this._table.draw(games, place, basis);
    }
    for (const { id } of games) {
      const node = (this._cards.of(id) ?? this._table.rows.of(id))?.node;
      node?.classList.toggle("alerting", alerting.has(id));
      node?.classList.toggle("followed", this._followed.size > 0 && this._followed.plays(held.games.get(id)));
    }
    const hidden = all.length - games.length;
    setText(this._count, all.length ? `${games.length} of ${all.length} boards` : "");
    setLine(this._empty, all.length === 0 ? noGameYet(held) : hidden && !games.length ? "No board fits the filter." : "");
  }

  /** A table is too wide for a phone, and cards are too many for a hall. */
  _fitting(boards) {
    return boards > MANY && !this._narrow.matches ? "table" : "cards";
  }

  /** Time has passed. Cards or rows: the others are not there. */
  tick() {
    for (const card of this._cards.views) card.tick();
    for (const row of this._table.rows.views) row.tick();
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

  _show(place, layout, leading) {
    if (document.activeElement !== this._filter && this._filter.value !== place.q) this._filter.value = place.q;
    this._state.select.value = place.state;
    this._sort.select.value = place.sort || "board";
    this._layout.select.value = place.layout;
    this._figure.select.value = leading;
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
  select.append(...Object.entries(labels).map(([value, text]) => new Option(text, value)));
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

class RoundPicker {
  /** `go` is given `{event, round}`. */
  constructor(go) {
    this._key = "";
    this.node = named(element("select", "round-picker"), "Round");
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
    const events = [...new Set(rounds.map(({ event }) => event))];
    const groups = events.map((event) => {
      const own = rounds.filter((each) => each.event === event);
      const options = own.map((each) => new Option(roundWords(each), JSON.stringify([event, each.round])));
      if (events.length === 1) return options;
      const group = element("optgroup", "", "", ...options);
      group.label = event || "Other games";
      return group;
    });
    // Of several events each has its own.
    const newest = events.length === 1 ? `Newest: ${roundWords(newestOf(rounds))}` : "Newest rounds";
    this.node.replaceChildren(new Option(newest, NOW), ...groups.flat(), new Option("All rounds", ALL));
  }
}

/** More than so many nobody reads above the boards. */
const MOST = 12;

/** The newest first; those of unknown time by how much they matter. Pure. */
export function newestMoments(moments, most = MOST) {
  const order = (a, b) => (b.at_s ?? 0) - (a.at_s ?? 0) || b.weight - a.weight || (a.id < b.id ? -1 : 1);
  return [...moments].sort(order).slice(0, most);
}

/**
 * Where the overlay of a moment is, for a page at this address that sees so much, with the token that lets the
 * page in; an arbiter's stays here: with it an overlay would show on air what is delayed or hidden. Pure.
 */
export function overlayAddress(page, sight, isStatic, { game, ply }) {
  const address = new URL(isStatic ? "overlay.html" : "overlay", page);
  const token = sight === "arbiter" ? null : new URL(page).searchParams.get("token");
  address.search = new URLSearchParams({ game, ply, ...(token === null ? {} : { token }) });
  return address.href;
}

/** What is worth telling of the games, above the boards: each leads to its position. */
class MomentsList {
  constructor() {
    this._key = "";
    this._list = element("ol");
    this._count = element("span", "count");
    this._isStatic = brokerOf() !== null;
    this.node = element("details", "moments", "", element("summary", "", "Moments ", this._count), this._list);
    this.node.hidden = true;
  }

  draw(held) {
    const moments = newestMoments(held.moments.values());
    const sight = held.hello?.sight;
    const key = JSON.stringify([sight, moments.map(({ id, text }) => [id, text.en])]);
    if (key === this._key) return;
    this._key = key;
    this.node.hidden = moments.length === 0;
    setText(this._count, String(held.moments.size));
    this._list.replaceChildren(...moments.map((moment) => entry(moment, held.games.get(moment.game), sight, this._isStatic)));
  }
}

function entry(moment, game, sight, isStatic) {
  const at = moment.at_s === null ? null : new Date(1000 * moment.at_s);
  const time = element("time", "", at === null ? "" : at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }));
  if (at !== null) time.dateTime = at.toISOString();
  // Its names are isolated; as a whole it reads from left to right, whatever name comes first.
  const sentence = element("span", "sentence", moment.text.en);
  const played = game?.plies[moment.ply - 1];
  const text = played ? moveText(moment.ply, played.san, game.start_fen) : "open";
  const link = anchor("", text, writePlace({ view: "board", game: moment.game, ply: moment.ply }));
  const opens = `${english[moment.kind] ?? moment.kind}: open the position`;
  named(link, played ? `${text}, ${opens}` : opens);
  const overlay = anchor("plain", "overlay", overlayAddress(location.href, sight, isStatic, moment));
  named(overlay, "open the overlay at this position");
  return element("li", "", "", time, " ", element("strong", "", english[moment.kind] ?? moment.kind), " ", sentence, " ", link, " ", overlay);
}

export const COLUMNS = [
  { id: "board", label: "Bd" },
  { id: "white", label: "White" },
  { id: "whiteRating", label: "Plays like", explain: "perceived" },
  { id: "score", label: "Score", explain: "score" },
  { id: "blackRating", label: "Plays like", explain: "perceived" },
  { id: "black", label: "Black" },
  { id: "moves", label: "Last move" },
  { id: "clock", label: "Clocks" },
  { id: "result", label: "Result" },
];

/** So many letters of a name fit a cell. */
const NAME_LETTERS = 24;

/** All boards as one table, a row each: the densest view, and what a screen reader reads best. */
class BoardsTable {
  constructor(go, elapsedS) {
    this._header = new SortedHeader(COLUMNS, go);
    this._body = element("tbody");
    this.rows = new Children(this._body, () => new BoardTableRow(elapsedS));
    const caption = element("caption", "hidden", "All boards");
    const table = element("table", "boards-table", "", caption, element("thead", "", "", this._header.node), this._body);
    this.node = element("div", "scroll", "", table);
  }

  draw(games, place, basis) {
    this._header.draw(place.sort || "board", place.down);
    this.rows.show(games).forEach((row, at) => row.draw(games[at], basis));
  }

  links() {
    return [...this._body.rows].map((row) => row.querySelector("a"));
  }
}

class BoardTableRow extends SmallGame {
  constructor(elapsedS) {
    super((color) => new TableSide(color, elapsedS));
    const cell = (className, ...children) => element("td", className, "", ...children);
    const { white, black } = this.sides;
    this._link = element("a", "open-row");
    this.bar.classList.add("flat");
    this.node = element(
      "tr", "", "", headCell("", "row", this._link), white.who, white.node, cell("scored", this.score, this.bar), black.node, black.who,
      cell("", this.move), cell("clocks", white.clock.node, " ", black.clock.node), cell("", this.result),
    );
  }

  draw(game, basis) {
    if (this.show(game, basis) === null) return;
    setText(this._link, game.board === null ? game.round || "\u2013" : String(game.board));
    this._link.href = writePlace({ view: "board", game: game.id });
    named(this._link, `Open board ${game.board ?? ""}: ${game.white.name} against ${game.black.name}`);
  }
}

/** One player of a row: the cell that names who, and `node`, that of the figure. */
class TableSide {
  constructor(color, elapsedS) {
    this._color = color;
    this._title = element("span", "title");
    this._name = nameNode("name");
    this._elo = element("span", "elo");
    this._rating = element("strong", "rating");
    this._interval = element("span", "interval");
    this._other = element("span", "other");
    this.clock = new ClockText(color, elapsedS);
    this.who = element("td", "player", "", element("i", `piece ${color}`), " ", this._title, this._name, this._elo);
    this.node = element("td", `side ${color}`, "", this._rating, this._interval, this._other);
  }

  draw(game, basis) {
    const { _color: color } = this;
    const player = game[color];
    setText(this._title, player.title ?? "");
    setText(this._name, nameWithin(player.name || "?", basis.everybody, NAME_LETTERS));
    this._name.title = player.name;
    setText(this._elo, player.elo ? String(player.elo) : "");
    const point = game.curves[color].at(-1) ?? null;
    const read = sideFigure(game, color, point, basis);
    setText(this._rating, read?.text ?? "\u2013");
    setText(this._interval, read ? bandText(read.figure) : withoutFigure(point, basis));
    const place = read?.figure.percentile ?? null;
    const better = place === null ? "" : `better than ${percentText(place)}\u00a0% of such games`;
    const about = read === null ? [] : read.early ? [read.early] : [leapNews(game, color, basis) || better, basisText(game, color, read.figure)];
    setText(this._other, about.filter(Boolean).join(" \u00b7 "));
    markSide(this.node, read);
    this.clock.draw(game, game.plies);
  }
}

export class SortedHeader {
  /** `go` is given `{sort, down}`; columns have `id`, `label`, and `explain` where there is more to say. */
  constructor(columns, go) {
    this._go = go;
    this.node = element("tr");
    this.columns(columns);
  }

  columns(columns) {
    this._cells = columns.map(({ id, label, explain }) => {
      const sort = () => this._go({ sort: id, down: cell.hasAttribute("aria-sort") ? !this._down : false });
      const cell = headCell("", "col", button(label, sort, { className: "sort" }));
      if (explain) cell.append(explainButton(explain));
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

// --- which boards are shown, in which order -------------------------------------------------------

/** The lower of both clocks, seconds; null where the source sends none. */
function lowClock(game) {
  const clocks = game.plies.slice(-2).map((ply) => ply.clock_s).filter((each) => each !== null);
  return clocks.length ? Math.min(...clocks) : null;
}

/** The perceived rating of a side, once it rests on moves enough; else null. */
const strength = (game, color) => settledFigure(game.curves[color].at(-1))?.value ?? null;

function best(game) {
  const known = COLORS.map((color) => strength(game, color)).filter((value) => value !== null);
  return known.length ? Math.max(...known) : null;
}

/** The newest score that is known, White's side, centipawns; null without one. */
const scoreOf = (game) => scoreAfter(game, game.plies).cp;

/**
 * What boards can be sorted by: a label, and a key of which the smallest comes first; null always
 * comes last.
 */
export const ORDERS = {
  board: { label: "Board", key: null },
  alerts: { label: "Open alerts", key: (game, alerting) => (alerting.has(game.id) ? 0 : null) },
  close: { label: "Closest score", key: (game) => absolute(scoreOf(game)) },
  swing: { label: "Largest swing", key: (game) => negative(swing(game)) },
  rating: { label: "Playing best", key: (game) => negative(best(game)) },
  clock: { label: "Least time left", key: (game) => (game.result === "*" ? lowClock(game) : null) },
  moves: { label: "Most moves", key: (game) => negative(game.plies_played) },
  white: { label: "White", key: (game) => fold(game.white.name) },
  black: { label: "Black", key: (game) => fold(game.black.name) },
  whiteRating: { label: "White's figure", key: (game) => negative(strength(game, "white")) },
  blackRating: { label: "Black's figure", key: (game) => negative(strength(game, "black")) },
  score: { label: "Score", key: (game) => negative(scoreOf(game)) },
  result: { label: "Result", key: (game) => game.result },
};

const absolute = (value) => (value === null ? null : Math.abs(value));
const negative = (value) => (value === null ? null : -value);

/** The boards that a place asks for, in its order; `alerting` are the ids of those with alerts. */
export function arranged(games, { q, state, sort, down, ...round }, alerting = []) {
  const about = new Set(alerting);
  const wanted = words(q);
  const chosen = inRound(games, round).filter((game) => takes(game, wanted, state));
  const key = ORDERS[sort]?.key ?? null;
  if (key === null) {
    chosen.sort(gameOrder);
    return down ? chosen.reverse() : chosen;
  }
  const keys = new Map(chosen.map((game) => [game.id, key(game, about)]));
  const sign = down ? -1 : 1;
  return chosen.sort((a, b) => {
    const [left, right] = [keys.get(a.id), keys.get(b.id)];
    if (left === null || right === null) {
      return (left === null) - (right === null) || gameOrder(a, b);
    }
    return left === right ? gameOrder(a, b) : sign * (left < right ? -1 : 1);
  });
}

function takes(game, wanted, state) {
  if (state !== "all" && (game.result === "*") !== (state === "running")) return false;
  if (wanted.length === 0) return true;
  const { white, black } = game;
  const people = [white, black].flatMap(({ name, title, team, federation }) => [name, title, team, federation]);
  const said = [game.event, game.board === null ? "" : `board ${game.board}`, game.round, game.result, ...people];
  const text = fold(said.filter(Boolean).join("\n"));
  return wanted.every((word) => text.includes(word));
}

/** What somebody typed, as words to look for: all must be there, in any order. */
export function words(text) {
  return fold(text).split(/\s+/).filter(Boolean);
}

/** Letters without case and accents, so that `muller` finds Müller. */
export function fold(text) {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}
