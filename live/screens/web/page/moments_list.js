/** The list of moments above the boards. */

import { anchor, element, setText } from "../drawing/elements.js";
import { unbroken } from "../drawing/number_format.js";
import { locale, momentText, say, words } from "./language.js";
import { writePlace } from "./page_address.js";

/** Maximum number of moments above the boards. */
const MOST = 12;

/** Return the newest moments, the newest first. Moments without a time come last, by weight. Pure. */
export function newestMoments(moments, limit = MOST) {
  const order = (a, b) => (b.at_s ?? 0) - (a.at_s ?? 0) || b.weight - a.weight || (a.id < b.id ? -1 : 1);
  return [...moments].sort(order).slice(0, limit);
}

/** The list of moments above the boards; each links to its position. */
export class MomentsList {
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
  // The names are isolated, so the sentence reads from left to right even if a right-to-left name is first.
  const sentence = anchor("sentence", unbroken(momentText(moment)), momentAddress(moment));
  return element("li", "", "", time, " ", element("strong", "", words[moment.kind] ?? moment.kind), " ", sentence);
}

/** Return the address of a moment's position. */
export const momentAddress = ({ game, ply }) => writePlace({ view: "board", game, ply });
