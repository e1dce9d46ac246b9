/** The incident log on the page: everything arbiters were shown and did, filtered, and to print. */

import { button, element, named, searchField, setText, tableOf } from "../../drawing/elements.js";
import { bearer } from "../page_address.js";

const EVERY_MS = 5_000;

/** Date and time of day on this machine. */
const when = (seconds) => new Date(1000 * seconds).toLocaleString([], { dateStyle: "short", timeStyle: "medium" });

/** All that happened to an incident, one line each. Pure but for the time zone. */
export function incidentLines({ changes }) {
  return changes.map(({ at_s: at, what, text }) => `${when(at)} ${what}${text ? `: ${text}` : ""}`);
}

export class IncidentLog {
  constructor() {
    this._askedAt = -Infinity;
    this._body = element("tbody");
    this._note = element("p", "note");
    this._filter = searchField("Filter the incident log", "Filter: words of the log", () => this.refresh(Infinity));
    const table = tableOf("Incidents", ["No.", "Board", "What happened"], this._body, "incidents");
    const bar = element("div", "toolbar", "", this._filter, button("Print", () => window.print()));
    const parts = [element("h2", "", "Incident log"), bar, this._note, element("div", "scroll", "", table)];
    this.node = named(element("section", "incident-log", "", ...parts), "Incident log");
  }

  /** Asks the service for the log, at most every few seconds. */
  async refresh(now) {
    if (now - this._askedAt < EVERY_MS) return;
    this._askedAt = now === Infinity ? this._askedAt : now;
    const words = this._filter.value;
    const url = new URL("api/v1/incidents", document.baseURI);
    if (words) url.searchParams.set("words", words);
    try {
      const answer = await fetch(url, bearer());
      if (!answer.ok) throw new Error(`the service answered ${answer.status}`);
      const { incidents } = await answer.json();
      if (words === this._filter.value) this._draw(incidents);
    } catch (error) {
      setText(this._note, `The log cannot be read: ${error.message}.`);
      this._note.hidden = false;
    }
  }

  _draw(incidents) {
    setText(this._note, incidents.length ? "" : this._filter.value ? "Nothing in the log has these words." : "Nothing is in the log yet.");
    this._note.hidden = incidents.length > 0;
    const rows = incidents.toReversed().map((each) => {
      const lines = incidentLines(each).map((line) => element("div", "", line));
      const row = element("tr", "", "", element("td", "", String(each.number)), element("td", "", each.board || "\u2013"), element("td", "", "", ...lines));
      row.dataset.open = String(each.over_s === null);
      return row;
    });
    this._body.replaceChildren(...rows);
  }
}
