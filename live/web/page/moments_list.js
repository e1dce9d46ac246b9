/** What is worth telling of the games, above the boards: each leads to its position. */

import { element, nameNode, setText } from "../drawing/elements.js";
import { moveText } from "../drawing/number_format.js";
import { writePlace } from "./page_address.js";

/** More than so many nobody reads above the boards. */
const MOST = 12;

export const KINDS = {
  find: "Find",
  trap: "Trap",
  turn: "Turning point",
  missed: "Missed chance",
  scramble: "Time trouble",
  comeback: "Comeback",
  "upset-coming": "Upset in the making",
  upset: "Upset",
  above: "Beyond the rating",
  "best-played": "Best-played game",
  wildest: "Wildest game",
};

/** The newest first; those of unknown time by how much they matter. Pure. */
export function newestMoments(moments, most = MOST) {
  const order = (a, b) => (b.at_s ?? 0) - (a.at_s ?? 0) || b.weight - a.weight || (a.id < b.id ? -1 : 1);
  return [...moments].sort(order).slice(0, most);
}

export class MomentsList {
  constructor() {
    this._key = "";
    this._list = element("ol");
    this._count = element("span", "count");
    const rss = element("a", "plain", "RSS");
    const feed = new URL("api/v1/moments.rss", location.href);
    feed.hash = "";
    rss.href = feed.href;
    this.node = element("details", "moments", "", element("summary", "", "Moments ", this._count), this._list, rss);
    this.node.hidden = true;
  }

  draw(held) {
    const moments = newestMoments(held.moments.values());
    const key = JSON.stringify(moments.map(({ id, text }) => [id, text.en]));
    if (key === this._key) return;
    this._key = key;
    this.node.hidden = moments.length === 0;
    setText(this._count, String(held.moments.size));
    this._list.replaceChildren(...moments.map((moment) => entry(moment, held.games.get(moment.game))));
  }
}

function entry(moment, game) {
  const at = moment.at_s === null ? null : new Date(1000 * moment.at_s);
  const time = element("time", "", at === null ? "" : at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }));
  if (at !== null) time.dateTime = at.toISOString();
  const sentence = nameNode("sentence");
  sentence.textContent = moment.text.en;
  const played = game?.plies[moment.ply - 1];
  const link = element("a", "", played ? moveText(moment.ply, played.san, game.start_fen) : "open");
  link.href = writePlace({ view: "board", game: moment.game, ply: moment.ply });
  link.setAttribute("aria-label", `${KINDS[moment.kind] ?? moment.kind}: open the position`);
  const overlay = element("a", "plain", "overlay");
  const address = new URL("overlay", location.href);
  address.search = new URLSearchParams({ game: moment.game, ply: moment.ply });
  address.hash = "";
  overlay.href = address.href;
  overlay.setAttribute("aria-label", "open the overlay at this position");
  return element("li", "", "", time, " ", element("strong", "", KINDS[moment.kind] ?? moment.kind), " ", sentence, " ", link, " ", overlay);
}
