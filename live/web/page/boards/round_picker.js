/** Which round is looked at: that which is played now, one of before, or all. */

import { element } from "../../drawing/elements.js";
import { ALL_ROUNDS, dateText, roundName, roundsOf } from "../../client/event_rounds.js";

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
