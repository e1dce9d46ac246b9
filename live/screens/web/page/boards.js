/** The view of all boards, filtered and sorted; above them the round, its headline and its newest moments. */

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

/** Largest number of boards that are shown with their pictures. */
const MANY = 24;
/** Shortest time between two changes of the boards' order: nobody can read boards that jump about. */
export const REARRANGE_MS = 3_000;

export class Overview {
  /** `elapsedS` returns how long a game's clock has been running, seconds; `share` is the menu for this view. */
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

  /** Draw the boards that `place` asks for; `now` limits how often their order changes. */
  draw(held, place, now) {
    const all = [...held.games.values()];
    const { q, state, sort, event, round } = place;
    const worst = worstByBoard([...(held.alerts?.values() ?? [])]);
    const alerting = [...worst.keys()];
    const shownGames = inRound(all, place, alerting);
    const [roundLine, sentence, moment] = writeHeadline(shownGames, [...held.moments.values()], held.feeds);
    setText(this._round, roundLine);
    setText(this._sentence, unbroken(sentence));
    if (moment === null) this._sentence.removeAttribute("href");
    else this._sentence.href = addressOf(moment);
    this._moments.draw(held, sentence);
    this._legend.hidden = isWithheld(held);
    this._headline.hidden = all.length === 0;
    const summary = roundAddress(location.href, held.hello?.sight, shownGames);
    this._summary.hidden = summary === null || brokerOf() !== null;
    this._summary.href = summary ?? "";
    this._matches.draw(shownGames);
    const pictures = place.layout === "auto" ? shownGames.length <= MANY : place.layout === "cards";
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
    const oneRound = roundsOf(shownGames).length === 1;
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

  /** Update the running clocks. */
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
    // Moving a card removes the keyboard focus from it.
    if (focused !== document.activeElement && this._grid.contains(focused)) focused.focus({ preventScroll: true });
  }

  _toolbar(share) {
    this._filter = searchField(say("Filter: player, team, event, round"), (q) => this._go({ q }));
    this._state = makeChoice("Show", { all: "all boards", running: "running", over: "over" }, (state) => this._go({ state }));
    const labels = Object.fromEntries(Object.entries(ORDERS).map(([name, { label }]) => [name, label]));
    this._sort = makeChoice("Sorted by", labels, (sort) => this._go({ sort: sort === "board" ? "" : sort }));
    this._layout = makeChoice("As", { auto: "fits best", cards: "boards", table: "lines" }, (layout) => this._go({ layout }));
    const menu = element(
      "details", "chooser", "", element("summary", "", say("View")),
      element("div", "", "", this._state.label, this._sort.label, this._layout.label),
    );
    this._legend = element("p", "legend", say("Large figure: plays like this rating. Band: usual for the Elo. Dashed: own Elo."));
    const parts = [this._rounds.node, this._filter, menu, this._legend, share, this._count];
    return named(element("div", "toolbar", "", ...parts), say("Boards"), "search");
  }

  _show(place) {
    if (document.activeElement !== this._filter && this._filter.value !== place.q) this._filter.value = place.q;
    this._state.select.value = place.state;
    this._sort.select.value = ORDERS[place.sort] ? place.sort : "board";
    this._layout.select.value = place.layout;
  }
}

/** Number of newest moments among which the headline is chosen, by weight. */
const NEWEST = 5;

/** Smallest percentile and number of counted moves of a player who can be called the best so far. */
const BEST = { percentile: 80, moves: 15 };
/** Elo difference from which a win of the weaker player is an upset; same as UPSET_ELO in live/watch. */
const UPSET_ELO = 100;

/**
 * Return the headline of the boards, `[round, sentence, moment]`: their leading round and its progress, a sentence, and
 * the moment that it tells, or null. The sentence sums up the round once it is over; before that it tells the
 * weightiest of the newest moments, or else who plays best. Pure.
 */
export function writeHeadline(allGames, moments, feeds) {
  const leading = leadingRound(roundsOf(allGames, feeds));
  const round = leading === null ? "" : roundWords(leading);
  const games = leading === null ? allGames : inRound(allGames, leading);
  const ids = new Set(games.map(({ id }) => id));
  const ownMoments = moments.filter(({ game }) => ids.has(game));
  if (games.length > 0 && games.every(({ result }) => result !== "*")) {
    const highest = ownMoments.find(({ kind }) => kind === "highest") ?? null;
    return [round, [countedResults(games), highest && bestOfRound(games, highest)].filter(Boolean).join(" "), highest];
  }
  const [weightiest = null] = newestMoments(ownMoments, NEWEST).sort((a, b) => b.weight - a.weight);
  if (weightiest !== null) return [round, momentText(weightiest), weightiest];
  return [round, bestSoFar(games) ?? (games.some(hasMoves) ? countedResults(games) : ""), null];
}

const hasMoves = ({ plies }) => plies.length > 0;

/** Return a short sentence about the player with the round's highest percentile, since the moment's own text is longer. */
function bestOfRound(games, { game: id, color, figures }) {
  const [name, elo] = sideOf(games, games.find((game) => game.id === id)[color]);
  const { value } = figures.find((figure) => figure.name === "perceived");
  return say("Best of the round: {}, played like {} (Elo {}).", name, eloText({ value }), elo);
}

/** Return a side's short name, distinct among these games and isolated, and its Elo. */
function sideOf(games, { name, elo }) {
  const names = games.flatMap(({ white, black }) => [white.name, black.name]);
  return [isolated(shortName(name || "?", names)), elo];
}

/** Return the counts of the games' results: `Games: 10, decided: 7. Upsets: 3.` */
function countedResults(games) {
  const decided = games.filter(({ result }) => result === "1-0" || result === "0-1");
  const upsets = decided.filter(({ white, black, result, plies }) => {
    const [winner, loser] = result === "1-0" ? [white, black] : [black, white];
    return plies.length > 1 && winner.elo && loser.elo && loser.elo - winner.elo >= UPSET_ELO;
  });
  const sentences = [say("Games: {}, decided: {}.", games.length, decided.length)];
  if (upsets.length > 0) sentences.push(say("Upsets: {}.", upsets.length));
  return sentences.join(" ");
}

/** Return a sentence about the best player so far, once half of the boards have settled figures; null if nobody stands out. */
function bestSoFar(games) {
  const sides = games.flatMap((game) => COLORS.map((color) => ({ game, side: game[color], figure: settledFigure(game.curves[color].at(-1)) })));
  const settled = sides.filter(({ figure }) => figure !== null && figure.counted >= BEST.moves);
  if (2 * new Set(settled.map(({ game }) => game)).size < games.length) return null;
  const rated = settled.filter(({ side, figure }) => side.elo && (figure.percentile ?? 0) >= BEST.percentile);
  const best = rated.sort((a, b) => b.figure.percentile - a.figure.percentile)[0];
  if (best === undefined) return null;
  const [name, elo] = sideOf(games, best.side);
  return say("Best so far: {}, playing like {}{}.", name, eloText(best.figure), ` (${spoken.elo} ${elo})`);
}

/**
 * Return the address of the round's summary, for a page at the address `page` whose reader may see as much as `sight`
 * says; null while a game runs, for several rounds, and if scores are hidden. An arbiter's token is left out, as for
 * overlays. Pure.
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

/** Return a round of {@link roundsOf} as text: `Round 4 · 2 May 2026 · live`. Pure. */
export function roundWords({ round, date, games, running, live, over }) {
  const begun = over === games ? say("over") : over ? say("{} of {} over", over, games) : say("not begun");
  const state = live ? say("live") : running ? say("not live") : begun;
  return [roundText(round) || say("Round not named"), dateText(date, locale), state].filter(Boolean).join(" \u00b7 ");
}

/** The scores of the team matches; empty if there are no teams. */
export class MatchList {
  constructor() {
    this._shownText = "";
    this.node = named(element("ul", "matches"), say("Team matches"));
    this.node.hidden = true;
  }

  draw(games) {
    const matches = teamMatches(games);
    // The event is named only if there are several, and so is the round.
    const [events, rounds] = ["event", "round"].map((part) => new Set(matches.map((match) => match[part])).size);
    const lines = matches.map(({ event, round, teams, points }) => {
      const where = [events > 1 ? event : "", rounds > 1 ? roundText(round) : ""].filter(Boolean).join(", ");
      return [where && `${where}:`, teams[0], `${pointsText(points[0])} \u2013 ${pointsText(points[1])}`, teams[1]].filter(Boolean).join(" ");
    });
    if (lines.join("\n") === this._shownText) return;
    this._shownText = lines.join("\n");
    this.node.replaceChildren(...lines.map((text) => element("li", "", text)));
    this.node.hidden = lines.length === 0;
  }
}

/** The text in place of boards if there are no games: the sources, their state, and where to look next. */
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
  /** `go` is called with `{event, round}`. */
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
    // A link without an event means the round of any event.
    const chosen = rounds.find((entry) => entry.round === round && (event === "" || entry.event === event));
    const value = round === "" ? NOW : round === ALL_ROUNDS ? ALL : JSON.stringify([chosen?.event ?? event, round]);
    if (this.node.value !== value) this.node.value = value;
    // With a single round there is nothing to choose.
    this.node.hidden = rounds.length < 2 && round === "";
  }

  _fill(rounds) {
    const events = [...new Set(rounds.map(({ event }) => event))];
    const groups = events.map((event) => {
      const eventRounds = rounds.filter((entry) => entry.event === event);
      const options = eventRounds.map((entry) => new Option(roundWords(entry), JSON.stringify([event, entry.round])));
      if (events.length === 1) return options;
      const group = element("optgroup", "", "", ...options);
      group.label = event || say("Other games");
      return group;
    });
    // With several events the newest rounds differ, so none is named.
    const newest = events.length === 1 ? say("Newest: {}", roundText(rounds[0].round) || say("Round not named")) : say("Newest rounds");
    this.node.replaceChildren(new Option(newest, NOW), ...groups.flat(), new Option(say("All rounds"), ALL));
  }
}

/** Largest number of moments above the boards; nobody reads more. */
const MOST = 12;

/** Return the newest moments, newest first; moments without a time by weight. Pure. */
export function newestMoments(moments, limit = MOST) {
  const order = (a, b) => (b.at_s ?? 0) - (a.at_s ?? 0) || b.weight - a.weight || (a.id < b.id ? -1 : 1);
  return [...moments].sort(order).slice(0, limit);
}

/**
 * Return the address of an overlay with these options, for a page at the address `page` whose reader may see as much as
 * `sight` says. The page's token is kept unless it is an arbiter's: that would put delayed or hidden data on air. Pure.
 */
export function overlayAddress(page, sight, isStatic, options) {
  const address = new URL(isStatic ? "overlay.html" : "overlay", page);
  const token = sight === "arbiter" ? null : new URL(page).searchParams.get("token");
  address.search = new URLSearchParams({ ...options, ...(token === null ? {} : { token }) });
  address.hash = "";
  return address.href;
}

/** The list of moments above the boards; each links to its position. */
class MomentsList {
  constructor() {
    this._key = "";
    this._list = element("ol");
    this._count = element("span", "count");
    this.node = element("details", "moments", "", element("summary", "", `${say("Moments")} `, this._count), this._list);
    // On a phone the list is closed, so that the boards come first.
    this.node.open = !matchMedia("(max-width: 48rem)").matches;
    this.node.hidden = true;
  }

  /** Draw all moments except the one in the headline. */
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
  // The names in the sentence are isolated, so it reads from left to right even if a right-to-left name comes first.
  const sentence = anchor("sentence", unbroken(momentText(moment)), addressOf(moment));
  return element("li", "", "", time, " ", element("strong", "", spoken[moment.kind] ?? moment.kind), " ", sentence);
}

/** Return the address of a moment's position. */
const addressOf = ({ game, ply }) => writePlace({ view: "board", game, ply });

// --- choice and order of the boards ---------------------------------------------------------------

/** Return the lower of both clocks, seconds. */
const lowestClock = ({ plies }) => Math.min(...plies.slice(-2).map(({ clock_s: clock }) => clock ?? Infinity));

/** Return the higher figure of both sides, among those with enough moves. */
const highestFigure = ({ curves }) => Math.max(...COLORS.map((color) => settledFigure(curves[color].at(-1))?.value ?? -Infinity));

/** Orders of the boards: a label, and a key whose smallest value comes first and unknown values last. */
const ORDERS = {
  board: { label: "Board", key: () => 0 },
  close: { label: "Closest score", key: (game) => Math.abs(scoreOf(game).cp ?? Infinity) },
  rating: { label: "Playing best", key: (game) => -highestFigure(game) },
  clock: { label: "Least time left", key: (game) => (game.result === "*" ? lowestClock(game) : Infinity) },
};

/** Return the boards that a place asks for, in its order; those in `alerting` (ids) come first, in that order. */
export function arrangeBoards(games, { q, state, sort, ...round }, alerting = []) {
  const searchWords = splitWords(q);
  const chosen = inRound(games, round, alerting).filter((game) => fits(game, searchWords, state)).sort(gameOrder);
  const key = ORDERS[sort]?.key ?? ORDERS.board.key;
  const keys = new Map(chosen.map((game) => [game.id, key(game)]));
  const urgency = new Map(alerting.map((id, at) => [id, at - alerting.length]));
  // Boards with equal keys keep their order; so do two unknown ones, since the difference of their keys is not a number.
  return chosen.sort((a, b) => (urgency.get(a.id) ?? 0) - (urgency.get(b.id) ?? 0) || keys.get(a.id) - keys.get(b.id));
}

function fits(game, searchWords, state) {
  if (state !== "all" && (game.result === "*") !== (state === "running")) return false;
  if (searchWords.length === 0) return true;
  const { white, black } = game;
  const people = [white, black].flatMap(({ name, title, team, federation }) => [name, title, team, federation]);
  const texts = [game.event, game.board === null ? "" : `board ${game.board}`, game.round, game.result, ...people];
  const text = fold(texts.filter(Boolean).join("\n"));
  return searchWords.every((word) => text.includes(word));
}

/** Return the words of a search; all must occur, in any order. */
export function splitWords(text) {
  return fold(text).split(/\s+/).filter(Boolean);
}

/** Return a text without case and accents, so that `muller` finds Müller. */
export function fold(text) {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}
