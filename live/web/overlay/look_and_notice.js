/** How an overlay looks, and the one line that it says about itself; nothing while all is well. */

import { age, fill } from "./language/words.js";

const OWN = {
  text: "--text",
  ground: "--ground",
  white: "--white-line",
  black: "--black-line",
  key: "--key",
};

export function applyLook(root, options) {
  root.lang = options.lang;
  root.dataset.theme = options.theme;
  root.dataset.layout = options.layout;
  root.dataset.at = options.at;
  root.dataset.hide = options.hide.join(" ");
  root.classList.toggle("still", !options.motion);
  for (const [name, property] of Object.entries(OWN)) {
    if (options[name] !== null) root.style.setProperty(property, `#${options[name]}`);
  }
  // Text without a ground of its own must be read on anything.
  root.classList.toggle("bare", options.ground !== null && alphaOf(options.ground) < 0.4);
  if (options.font !== null) root.style.setProperty("--font", `"${options.font}"`);
}

/** How opaque a colour is, 0 to 1. */
function alphaOf(digits) {
  if (digits.length === 4) return parseInt(digits[3], 16) / 15;
  return digits.length === 8 ? parseInt(digits.slice(6), 16) / 255 : 1;
}

/** A short break heals unseen. */
const UNSEEN_MS = 5_000;
/** A source that is asked again heals unseen for longer. */
const SOURCE_UNSEEN_MS = 60_000;
/** A source that is only silent is none of it: players think for longer than anybody waits. */
const FAILING = new Set(["retrying", "failed"]);

/** Since when sources fail, as `now` counts; one for each overlay. */
export class Failures {
  constructor() {
    this._since = new Map();
  }

  /** Takes note of how sources do; answers since when a source of these games fails, or null. */
  since(feeds, games, now) {
    const failing = new Set(feeds.filter(({ state }) => FAILING.has(state)).map(({ feed }) => feed));
    for (const feed of this._since.keys()) if (!failing.has(feed)) this._since.delete(feed);
    for (const feed of failing) if (!this._since.has(feed)) this._since.set(feed, now);
    const shown = new Set(games.filter((game) => game.result === "*").map((game) => game.feed));
    const times = [...this._since].filter(([feed]) => shown.has(feed)).map(([, at]) => at);
    return times.length > 0 ? Math.min(...times) : null;
  }
}

/** Since when what is shown is not what is: `now` of the last news; null while all is well. */
export function lostSince({ connection, failingSince, now }) {
  if (connection.heardAt === null) return null;
  if (connection.status !== "live" && now - connection.heardAt > UNSEEN_MS) return connection.heardAt;
  return failingSince !== null && now - failingSince > SOURCE_UNSEEN_MS ? failingSince : null;
}

/** `asked`: the games, boards, players and events that the address names. */
export function statusText({ asked = [], trouble = "", connection, held, games, now, layout, lost, since }, words) {
  const token = { missing: words.tokenMissing, wrong: words.tokenWrong }[trouble];
  if (connection.heardAt === null && token !== undefined) return token;
  if (connection.status === "refused") return fill(words.refused, connection.reason);
  if (connection.heardAt === null) return words.connecting;
  if (since !== null) return lost === "notice" ? fill(words.asOf, age(words, (now - since) / 1000)) : "";
  if (layout === "standings" && held.players.size > 0) return "";
  if (layout === "standings" && games.length > 0) {
    return held.engine?.rating_source === "withheld" ? words.withheld : words.waiting;
  }
  if (games.length > 0) return "";
  return asked.length > 0 ? fill(words.notThere, asked.join(", ")) : words.waiting;
}
