/** What is worth telling of the games, above the boards: each leads to its position. */

import { brokerOf } from "../../client/open_connection.js";
import { element, setText } from "../../drawing/elements.js";
import { moveText } from "../../drawing/number_format.js";
import english from "../../overlay/language/en.js";
import { writePlace } from "../page_address.js";

/** More than so many nobody reads above the boards. */
const MOST = 12;

/** The newest first; those of unknown time by how much they matter. Pure. */
export function newestMoments(moments, most = MOST) {
  const order = (a, b) => (b.at_s ?? 0) - (a.at_s ?? 0) || b.weight - a.weight || (a.id < b.id ? -1 : 1);
  return [...moments].sort(order).slice(0, most);
}

/**
 * An address beside this page's, with the token that lets the page in; an arbiter's stays here: with
 * it an overlay would show on air what is delayed or hidden.
 */
function beside(page, sight, path, query) {
  const address = new URL(path, page);
  const token = sight === "arbiter" ? null : new URL(page).searchParams.get("token");
  address.search = new URLSearchParams({ ...query, ...(token === null ? {} : { token }) });
  return address.href;
}

/** Where the overlay of a moment is, for a page at this address that sees so much. Pure. */
export function overlayAddress(page, sight, isStatic, { game, ply }) {
  return beside(page, sight, isStatic ? "overlay.html" : "overlay", { game, ply });
}

export class MomentsList {
  constructor() {
    this._key = "";
    this._list = element("ol");
    this._count = element("span", "count");
    this._isStatic = brokerOf(document) !== null;
    const head = element("summary", "", "Moments ", this._count);
    this.node = element("details", "moments", "", head, this._list);
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
  const link = element("a", "", played ? moveText(moment.ply, played.san, game.start_fen) : "open");
  link.href = writePlace({ view: "board", game: moment.game, ply: moment.ply });
  const opens = `${english[moment.kind] ?? moment.kind}: open the position`;
  link.setAttribute("aria-label", played ? `${link.textContent}, ${opens}` : opens);
  const overlay = element("a", "plain", "overlay");
  overlay.href = overlayAddress(location.href, sight, isStatic, moment);
  overlay.setAttribute("aria-label", "open the overlay at this position");
  return element("li", "", "", time, " ", element("strong", "", english[moment.kind] ?? moment.kind), " ", sentence, " ", link, " ", overlay);
}
