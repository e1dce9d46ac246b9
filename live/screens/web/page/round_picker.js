/** The menu of rounds, and a round as text. */

import { ALL_ROUNDS, dateText, roundsOf } from "../client/games.js";
import { element, named } from "../drawing/elements.js";
import { locale, roundText, say } from "./language.js";

/** Return a round of {@link roundsOf} as text: `Round 4 · 2 May 2026 · live`; no state if `isPart` of a round. */
export function roundWords({ round, date, games, running, live, over }, isPart = false) {
  const begun = over === games ? say("over") : over ? say("{} of {} over", over, games) : say("not begun");
  const state = live ? say("live") : running ? say("not live") : begun;
  return [roundText(round) || say("Round not named"), dateText(date, locale), isPart ? "" : state].filter(Boolean).join(" \u00b7 ");
}

const NOW = JSON.stringify(["", ""]);
const ALL = JSON.stringify(["", ALL_ROUNDS]);

/** A menu of all rounds; hidden if there is nothing to choose. */
export class RoundPicker {
  /** `go` is called with `{event, round}`; `isPart` as for {@link roundWords}. */
  constructor(go, isPart) {
    this._isPart = isPart;
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
    // A place without an event means the round in any event.
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
      const options = eventRounds.map((entry) => new Option(roundWords(entry, this._isPart), JSON.stringify([event, entry.round])));
      if (events.length === 1) return options;
      const group = element("optgroup", "", "", ...options);
      group.label = event || say("Other games");
      return group;
    });
    // Several events have different newest rounds, so none is named.
    const newest = events.length === 1 ? say("Newest: {}", roundText(rounds[0].round) || say("Round not named")) : say("Newest rounds");
    this.node.replaceChildren(new Option(newest, NOW), ...groups.flat(), new Option(say("All rounds"), ALL));
  }
}
