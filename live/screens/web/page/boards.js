/** All boards at a glance, filtered and sorted; above them the round, what is worth telling, and the newest of it. */

import { worstByBoard } from "./alerts_panel.js";
import { Card } from "./board_card.js";
import { brokerOf } from "../client/connection.js";
import { anchor, Children, childrenOf, element, named, nameNode, searchField, setText } from "../drawing/elements.js";
import { feedText, locale, momentText, roundText, say, words as spoken } from "./language.js";
import { eloText, isWithheld, settledFigure } from "../client/figures.js";
import { ALL_ROUNDS, COLORS, dateText, gameOrder, inRound, leadingRound, pointsText, roundsOf, teamMatches } from "../client/games.js";
import { lateText, sourceText } from "./health_view.js";
import { slide } from "../drawing/motion.js";
import { unbroken } from "../drawing/number_format.js";
import { writePlace } from "./page_address.js";
import { isolated, shortName } from "../drawing/player_names.js";
import { basisIn } from "./score_words.js";
import { scoreOf } from "../overlay/shown_figures.js";

/** More boards than this are shown without their pictures. */
const MANY = 24;
/** Boards change their places at most so often: nobody can read what jumps about. */
export const REARRANGE_MS = 3_000;

export class Overview {
  /** `elapsedS` says of a game how long its clock has run; `share` is the menu for what is seen. */
  constructor(go, elapsedS, followed, share) {
    this._go = go;
    this._followed = followed;
    this._rounds = new RoundPicker(go);
    this._arrangedAt = -Infinity;
    this._key = "";
    this._games = [];
    this._grid = element("div", "boards");
    this._grid.id = "boards";
    this._cards = new Children(this._grid, () => new Card(elapsedS, this._sight));
    this._count = element("span", "count");
    this._unfit = element("p", "note", say("Nothing matches the filter."));
    this._empty = new EmptyState();
    this._matches = new MatchList();
    this._sight = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) {
          if (entry.target.card) entry.target.card.visible = entry.isIntersecting;
        }
      },
      { rootMargin: "300px" },
    );
    this._round = element("strong");
    this._sentence = element("a", "sentence");
    this._summary = anchor("", say("Round in one picture"), "");
    this._headline = element("p", "headline", "", this._round, " ", this._sentence, " ", this._summary);
    this._moments = new MomentsList();
    this._bar = this._toolbar(share);
    const parts = [this._headline, this._matches.node, this._moments.node, this._bar, this._unfit, this._empty.node, this._grid];
    this.node = named(element("section", "overview", "", ...parts), say("Boards"));
  }

  /** Draws what `place` asks for; `now` says when, for boards that change their places. */
  draw(held, place, now) {
    const all = [...held.games.values()];
    const { q, state, sort, event, round } = place;
    const worst = worstByBoard([...(held.alerts?.values() ?? [])]);
    const alerting = [...worst.keys()];
    const shown = inRound(all, place, alerting);
    const [said, sentence, moment] = writeHeadline(shown, [...held.moments.values()], held.feeds);
    setText(this._round, said);
    setText(this._sentence, unbroken(sentence));
    if (moment === null) this._sentence.removeAttribute("href");
    else this._sentence.href = addressOf(moment);
    this._moments.draw(held, sentence);
    this._legend.hidden = isWithheld(held);
    this._headline.hidden = all.length === 0;
    const summary = roundAddress(location.href, held.hello?.sight, shown);
    this._summary.hidden = summary === null || brokerOf() !== null;
    this._summary.href = summary ?? "";
    this._matches.draw(shown);
    const pictures = place.layout === "auto" ? shown.length <= MANY : place.layout === "cards";
    this._grid.classList.toggle("dense", !pictures);
    this._show(place);
    this._rounds.draw(all, place, held.feeds);
    const named = all.map(({ id, event, round, board }) => [id, event, round, board]);
    const key = JSON.stringify([q, state, sort, event, round, named, this._followed.size]);
    if (key !== this._key || now - this._arrangedAt > REARRANGE_MS) {
      this._key = key;
      this._arrangedAt = now;
      const chosen = arrangeBoards(all, place, alerting);
      this._games = this._followed.first(chosen, (game) => worst.has(game.id) || this._followed.plays(game)).map((game) => game.id);
    }
    const games = this._games.map((id) => held.games.get(id)).filter((game) => game !== undefined);
    const oneRound = roundsOf(shown).length === 1;
    this._drawCards(games, { ...basisIn(held), oneRound }, worst);
    for (const game of games) {
      const { classList } = this._cards.of(game.id).node;
      classList.toggle("followed", this._followed.size > 0 && this._followed.plays(game));
    }
    const hidden = all.length - games.length;
    setText(this._count, hidden ? say("{} of {} boards", games.length, all.length) : "");
    this._unfit.hidden = games.length > 0 || hidden === 0;
    this._bar.hidden = all.length === 0;
    this._empty.node.hidden = all.length > 0;
    if (all.length === 0) this._empty.draw(held);
  }

  /** Time has passed. */
  tick() {
    for (const card of this._cards.views) card.tick();
  }

  restyle() {
    for (const card of this._cards.views) card.restyle();
  }

  _drawCards(games, basis, worst) {
    const focused = document.activeElement;
    const ids = games.map(({ id }) => id).join("\n");
    const show = () => this._cards.show(games);
    if (ids !== this._ids) slide(this._grid, show);
    this._ids = ids;
    show().forEach((card, at) => card.draw(games[at], basis, worst.get(games[at].id)));
    // A card that was moved has lost the keyboard.
    if (focused !== document.activeElement && this._grid.contains(focused)) focused.focus({ preventScroll: true });
  }

  _toolbar(share) {
    this._filter = searchField(say("Filter: player, team, event, round"), (q) => this._go({ q }));
    this._state = makeChoice("Show", { all: "all boards", running: "running", over: "over" }, (state) => this._go({ state }));
    const labels = Object.fromEntries(Object.entries(ORDERS).map(([name, { label }]) => [name, label]));
    this._sort = makeChoice("Sorted by", labels, (sort) => this._go({ sort: sort === "board" ? "" : sort }));
    this._layout = makeChoice("As", { auto: "fits best", cards: "boards", table: "lines" }, (layout) => this._go({ layout }));
    const more = element(
      "details", "chooser", "", element("summary", "", say("View")),
      element("div", "", "", this._state.label, this._sort.label, this._layout.label),
    );
    this._legend = element("p", "legend", say("Large figure: plays like this rating. Band: usual for the Elo. Dashed: own Elo."));
    const parts = [this._rounds.node, this._filter, more, this._legend, share, this._count];
    return named(element("div", "toolbar", "", ...parts), say("Boards"), "search");
  }

  _show(place) {
    if (document.activeElement !== this._filter && this._filter.value !== place.q) this._filter.value = place.q;
    this._state.select.value = place.state;
    this._sort.select.value = ORDERS[place.sort] ? place.sort : "board";
    this._layout.select.value = place.layout;
  }
}

/** The newest moments, of which the weightiest makes the headline. */
const NEWEST = 5;

/** Better than so many games in 100, over so many counted moves: who is below that is not said to play best. */
const BEST = { percentile: 80, moves: 15 };
/** Elo between two players, from which a win of the weaker is an upset, as UPSET_ELO in live/watch. */
const UPSET_ELO = 100;

/**
 * What stands above boards of their leading round, `[round, sentence, moment]`: which it is and how far; once it is over
 * what it came to, before that the weightiest of its newest moments, else who plays best; and the moment told, or null. Pure.
 */
export function writeHeadline(shown, moments, feeds) {
  const leading = leadingRound(roundsOf(shown, feeds));
  const round = leading === null ? "" : roundWords(leading);
  const games = leading === null ? shown : inRound(shown, leading);
  const ids = new Set(games.map(({ id }) => id));
  const own = moments.filter(({ game }) => ids.has(game));
  if (games.length > 0 && games.every(({ result }) => result !== "*")) {
    const highest = own.find(({ kind }) => kind === "highest") ?? null;
    return [round, [countedResults(games), highest && bestOfRound(games, highest)].filter(Boolean).join(" "), highest];
  }
  const [told = null] = newestMoments(own, NEWEST).sort((a, b) => b.weight - a.weight);
  if (told !== null) return [round, momentText(told), told];
  return [round, bestSoFar(games) ?? (games.some(hasMoves) ? countedResults(games) : ""), null];
}

const hasMoves = ({ plies }) => plies.length > 0;

/** Who had the highest percentile of a round, in short: its moment says more. */
function bestOfRound(games, { game: id, color, figures }) {
  const [name, elo] = sideOf(games, games.find((game) => game.id === id)[color]);
  const { value } = figures.find((figure) => figure.name === "perceived");
  return say("Best of the round: {}, played like {} (Elo {}).", name, eloText({ value }), elo);
}

/** The short name of a side among those of these games, isolated; and its Elo. */
function sideOf(games, { name, elo }) {
  const names = games.flatMap(({ white, black }) => [white.name, black.name]);
  return [isolated(shortName(name || "?", names)), elo];
}

/** `Games: 10, decided: 7. Upsets: 3.` */
function countedResults(games) {
  const decided = games.filter(({ result }) => result === "1-0" || result === "0-1");
  const upsets = decided.filter(({ white, black, result, plies }) => {
    const [winner, loser] = result === "1-0" ? [white, black] : [black, white];
    return plies.length > 1 && winner.elo && loser.elo && loser.elo - winner.elo >= UPSET_ELO;
  });
  const said = [say("Games: {}, decided: {}.", games.length, decided.length)];
  if (upsets.length > 0) said.push(say("Upsets: {}.", upsets.length));
  return said.join(" ");
}

/** Who plays best, once half of the boards can be compared; null where nobody stands out. */
function bestSoFar(games) {
  const sides = games.flatMap((game) => COLORS.map((color) => ({ game, side: game[color], figure: settledFigure(game.curves[color].at(-1)) })));
  const settled = sides.filter(({ figure }) => figure !== null && figure.counted >= BEST.moves);
  if (2 * new Set(settled.map(({ game }) => game)).size < games.length) return null;
  const rated = settled.filter(({ side, figure }) => side.elo && (figure.percentile ?? 0) >= BEST.percentile);
  const best = rated.sort((a, b) => b.figure.percentile - a.figure.percentile)[0];
  if (best === undefined) return null;
  const [who, elo] = sideOf(games, best.side);
  return say("Best so far: {}, playing like {}{}.", who, eloText(best.figure), ` (${spoken.elo} ${elo})`);
}

/**
 * Where the round of these games is summed up, for a page at this address that sees so much; null while one of them
 * goes on, of several rounds, and where scores are hidden. As with overlays, an arbiter's token stays here. Pure.
 */
export function roundAddress(page, sight, games) {
  const rounds = roundsOf(games);
  if (rounds.length !== 1 || rounds[0].over < rounds[0].games || sight === "venue") return null;
  const { event, round } = rounds[0];
  const address = new URL("round", page);
  const token = sight === "arbiter" ? null : new URL(page).searchParams.get("token");
  address.search = new URLSearchParams({ event, round, ...(token === null ? {} : { token }) });
  address.hash = "";
  return address.href;
}

function makeChoice(name, labels, chosen) {
  const select = named(element("select"), say(name));
  select.append(...Object.entries(labels).map(([value, text]) => new Option(say(text), value)));
  select.addEventListener("change", () => chosen(select.value));
  return { select, label: element("label", "", "", element("span", "", say(name)), select) };
}

const NOW = JSON.stringify(["", ""]);
const ALL = JSON.stringify(["", ALL_ROUNDS]);

/** `Round 4 · 2 May 2026 · live`, of a round as {@link roundsOf} lists it. Pure. */
export function roundWords({ round, date, games, running, live, over }) {
  const begun = over === games ? say("over") : over ? say("{} of {} over", over, games) : say("not begun");
  const state = live ? say("live") : running ? say("not live") : begun;
  return [roundText(round) || say("Round not named"), dateText(date, locale), state].filter(Boolean).join(" \u00b7 ");
}

/** How the teams stand, match by match; nothing where there are none. */
export class MatchList {
  constructor() {
    this._said = "";
    this.node = named(element("ul", "matches"), say("Team matches"));
    this.node.hidden = true;
  }

  draw(games) {
    const matches = teamMatches(games);
    // With one event its name would say nothing, and with one round its number.
    const [events, rounds] = ["event", "round"].map((part) => new Set(matches.map((match) => match[part])).size);
    const said = matches.map(({ event, round, teams, points }) => {
      const where = [events > 1 ? event : "", rounds > 1 ? roundText(round) : ""].filter(Boolean).join(", ");
      return [where && `${where}:`, teams[0], `${pointsText(points[0])} \u2013 ${pointsText(points[1])}`, teams[1]].filter(Boolean).join(" ");
    });
    if (said.join("\n") === this._said) return;
    this._said = said.join("\n");
    this.node.replaceChildren(...said.map((text) => element("li", "", text)));
    this.node.hidden = said.length === 0;
  }
}

/** What stands where there are no games: what is followed, how it does, and where to look next. */
class EmptyState {
  constructor() {
    this._title = element("h2");
    this._feeds = element("ul");
    const hint = element("p", "", say("Games appear here by themselves as soon as a source sends them."));
    const followed = element("p", "", say("What is followed:"));
    this._followed = element("div", "", "", followed, this._feeds);
    this.node = element("section", "empty-state", "", this._title, this._followed, hint, anchor("", say("Health"), "#view=health"));
  }

  draw(held) {
    const late = held.hello?.sight === "arbiter" ? "" : lateText(held.hello?.public_delay);
    setText(this._title, `${say("No game yet")}${late && `: ${late}`}`);
    this._followed.hidden = held.feeds.length === 0;
    const items = childrenOf(this._feeds, held.feeds.length, () => element("li", "", "", element("i"), nameNode(""), element("span")));
    held.feeds.forEach(({ feed, state, detail }, at) => {
      const [sign, name, about] = items[at].children;
      sign.dataset.state = state;
      setText(name, feedText(feed));
      setText(about, [sourceText(state), detail].filter(Boolean).join(": "));
    });
  }
}

class RoundPicker {
  /** `go` is given `{event, round}`. */
  constructor(go) {
    this._key = "";
    this.node = named(element("select", "round-picker"), say("Round"));
    this.node.addEventListener("change", () => {
      const [event, round] = JSON.parse(this.node.value);
      go({ event, round });
    });
  }

  draw(games, { event, round }, feeds) {
    const rounds = roundsOf(games, feeds);
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
      group.label = event || say("Other games");
      return group;
    });
    // Of several events each has its own; more of the one stands in the headline.
    const newest = events.length === 1 ? say("Newest: {}", roundText(rounds[0].round) || say("Round not named")) : say("Newest rounds");
    this.node.replaceChildren(new Option(newest, NOW), ...groups.flat(), new Option(say("All rounds"), ALL));
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
 * Where an overlay of these options is, for a page at this address that sees so much, with the token that lets the
 * page in; an arbiter's stays here: with it an overlay would show on air what is delayed or hidden. Pure.
 */
export function overlayAddress(page, sight, isStatic, options) {
  const address = new URL(isStatic ? "overlay.html" : "overlay", page);
  const token = sight === "arbiter" ? null : new URL(page).searchParams.get("token");
  address.search = new URLSearchParams({ ...options, ...(token === null ? {} : { token }) });
  address.hash = "";
  return address.href;
}

/** What is worth telling of the games, above the boards: each leads to its position. */
class MomentsList {
  constructor() {
    this._key = "";
    this._list = element("ol");
    this._count = element("span", "count");
    this.node = element("details", "moments", "", element("summary", "", `${say("Moments")} `, this._count), this._list);
    // On a phone the boards come first.
    this.node.open = !matchMedia("(max-width: 48rem)").matches;
    this.node.hidden = true;
  }

  /** All but the one that is the headline. */
  draw(held, headline) {
    const moments = newestMoments(held.moments.values()).filter((moment) => momentText(moment) !== headline);
    const key = JSON.stringify(moments.map(({ id, text }) => [id, momentText({ text })]));
    if (key === this._key) return;
    this._key = key;
    this.node.hidden = moments.length === 0;
    setText(this._count, String(moments.length));
    this._list.replaceChildren(...moments.map(makeEntry));
  }
}

function makeEntry(moment) {
  const at = moment.at_s === null ? null : new Date(1000 * moment.at_s);
  const time = element("time", "", at === null ? "" : at.toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit" }));
  if (at !== null) time.dateTime = at.toISOString();
  // Its names are isolated; as a whole it reads from left to right, whatever name comes first.
  const sentence = anchor("sentence", unbroken(momentText(moment)), addressOf(moment));
  return element("li", "", "", time, " ", element("strong", "", spoken[moment.kind] ?? moment.kind), " ", sentence);
}

/** Where the position of a moment is. */
const addressOf = ({ game, ply }) => writePlace({ view: "board", game, ply });

// --- which boards are shown, in which order -------------------------------------------------------

/** The lower of both clocks, seconds. */
const lowestClock = ({ plies }) => Math.min(...plies.slice(-2).map(({ clock_s: clock }) => clock ?? Infinity));

/** The higher figure of both sides, of those that rest on moves enough. */
const highestFigure = ({ curves }) => Math.max(...COLORS.map((color) => settledFigure(curves[color].at(-1))?.value ?? -Infinity));

/** What boards can be sorted by: a label, and a key of which the smallest comes first; what is not known comes last. */
const ORDERS = {
  board: { label: "Board", key: () => 0 },
  close: { label: "Closest score", key: (game) => Math.abs(scoreOf(game).cp ?? Infinity) },
  rating: { label: "Playing best", key: (game) => -highestFigure(game) },
  clock: { label: "Least time left", key: (game) => (game.result === "*" ? lowestClock(game) : Infinity) },
};

/** The boards that a place asks for, in its order; those of `alerting`, ids, come first, as they come there. */
export function arrangeBoards(games, { q, state, sort, ...round }, alerting = []) {
  const wanted = splitWords(q);
  const chosen = inRound(games, round, alerting).filter((game) => fits(game, wanted, state)).sort(gameOrder);
  const key = ORDERS[sort]?.key ?? ORDERS.board.key;
  const keys = new Map(chosen.map((game) => [game.id, key(game)]));
  const urgency = new Map(alerting.map((id, at) => [id, at - alerting.length]));
  // What sorts alike stays in its order, and so do two of which nothing is known, of which the difference is no number.
  return chosen.sort((a, b) => (urgency.get(a.id) ?? 0) - (urgency.get(b.id) ?? 0) || keys.get(a.id) - keys.get(b.id));
}

function fits(game, wanted, state) {
  if (state !== "all" && (game.result === "*") !== (state === "running")) return false;
  if (wanted.length === 0) return true;
  const { white, black } = game;
  const people = [white, black].flatMap(({ name, title, team, federation }) => [name, title, team, federation]);
  const said = [game.event, game.board === null ? "" : `board ${game.board}`, game.round, game.result, ...people];
  const text = fold(said.filter(Boolean).join("\n"));
  return wanted.every((word) => text.includes(word));
}

/** What somebody typed, as words to look for: all must be there, in any order. */
export function splitWords(text) {
  return fold(text).split(/\s+/).filter(Boolean);
}

/** Letters without case and accents, so that `muller` finds Müller. */
export function fold(text) {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}
