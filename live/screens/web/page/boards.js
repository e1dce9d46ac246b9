/** The view of all boards, filtered and sorted; above them the round, its headline and its newest moments. */

import { worstByBoard } from "./alerts_panel.js";
import { Card } from "./board_card.js";
import { arrangeBoards, ORDERS } from "./board_order.js";
import { brokerOf } from "../client/connection.js";
import { anchor, Children, childrenOf, element, named, nameNode, searchField, setText } from "../drawing/elements.js";
import { writeHeadline } from "./headline.js";
import { feedText, say, words } from "./language.js";
import { isWithheld } from "../client/figures.js";
import { inRound, roundsOf } from "../client/games.js";
import { lateText, sourceText } from "./health_view.js";
import { MatchList } from "./match_list.js";
import { momentAddress, MomentsList } from "./moments_list.js";
import { slide } from "../drawing/motion.js";
import { unbroken } from "../drawing/number_format.js";
import { fill } from "../overlay/language/words.js";
import { isPartOfRounds, namedIn } from "./page_address.js";
import { RoundPicker } from "./round_picker.js";
import { basisIn } from "./score_words.js";
import { roundAddress } from "./service_addresses.js";

/** Maximum number of boards that are shown with diagram and curves. */
const MANY = 24;
/** Shortest time between two changes of the boards' order, since nobody can read boards that keep moving. */
export const REARRANGE_MS = 3_000;

export class Overview {
  /** `elapsedS` returns how long a game's clock has been running, seconds; `share` is the menu for this view. */
  constructor(go, elapsedS, followed, share) {
    this._go = go;
    this._followed = followed;
    this._isPart = isPartOfRounds(location.href, brokerOf() !== null);
    this._rounds = new RoundPicker(go, this._isPart);
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
    const [roundLine, sentence, moment] = this.headline(held, shownGames);
    setText(this._round, roundLine);
    setText(this._sentence, unbroken(sentence));
    if (moment === null) this._sentence.removeAttribute("href");
    else this._sentence.href = momentAddress(moment);
    this._moments.draw(held, sentence);
    this._legend.hidden = isWithheld(held);
    this._headline.hidden = all.length === 0;
    const summary = roundAddress(location.href, held.hello?.sight, shownGames);
    this._summary.hidden = summary === null || this._isPart || brokerOf() !== null;
    this._summary.href = summary ?? "";
    this._matches.draw(this._isPart ? [] : shownGames);
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

  /** Return the headline of these games, as {@link writeHeadline} does. */
  headline({ moments, feeds }, games) {
    return writeHeadline(games, [...moments.values()], feeds, this._isPart);
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
    const states = { all: say("all boards"), running: say("running"), over: say("over") };
    this._state = makeChoice(say("Show"), states, (state) => this._go({ state }));
    const labels = Object.fromEntries(Object.entries(ORDERS).map(([name, { label }]) => [name, label]));
    this._sort = makeChoice(say("Sorted by"), labels, (sort) => this._go({ sort: sort === "board" ? "" : sort }));
    const layouts = { auto: say("fits best"), cards: say("boards"), table: say("lines") };
    this._layout = makeChoice(say("As"), layouts, (layout) => this._go({ layout }));
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

function makeChoice(name, labels, chosen) {
  const select = named(element("select"), name);
  select.append(...Object.entries(labels).map(([value, text]) => new Option(text, value)));
  select.addEventListener("change", () => chosen(select.value));
  return { select, label: element("label", "", "", element("span", "", name), select) };
}

/** The text that replaces the boards while there are no games: sources with their state, and what to do. */
class EmptyState {
  constructor() {
    this._title = element("h2");
    const { named, rest } = namedIn(location.href, brokerOf() !== null);
    this._asked = named.join(", ");
    this._all = anchor("", this._asked && say("All boards"), rest);
    this._feeds = element("ul");
    const hint = element("p", "", say("Games appear here by themselves as soon as a source sends them."));
    const followed = element("p", "", say("What is followed:"));
    this._followed = element("div", "", "", followed, this._feeds);
    this.node = element("section", "empty-state", "", this._title, this._followed, hint, anchor("", say("Health"), "#view=health"), " ", this._all);
  }

  draw(held) {
    const late = held.hello?.sight === "arbiter" ? "" : lateText(held.hello?.public_delay);
    const missing = this._asked ? fill(words.notThere, this._asked) : say("No game yet");
    setText(this._title, `${missing}${late && `: ${late}`}`);
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
