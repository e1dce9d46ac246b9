/**
 * What the page shows, as the part of its address after `#`; what names a player there, and whom this browser follows.
 *
 * The fragment never reaches a server, and leaves the query (which event, whose token) alone.
 */

import { button, named } from "../drawing/elements.js";
import { gameOrder } from "../client/games.js";
import { PROTOCOL } from "../client/usual.js";
import { say } from "./language.js";

/** What each part of a place may be; the first is what holds when the address says nothing. */
const CHOICES = {
  view: ["boards", "board", "players", "player", "wall", "health", "arbiter"],
  layout: ["auto", "cards", "table"],
  state: ["all", "running", "over"],
};

const TEXTS = { game: "", player: "", event: "", round: "", q: "", sort: "", follow: "" };
const MAX_TEXT = 300;
/** Of the players that a link has followed, by their keys with commas between. */
const MAX_FOLLOWED = 6000;

export const HOME = Object.freeze({
  game: "",
  ...Object.fromEntries(Object.entries(CHOICES).map(([name, [first]]) => [name, first])),
  ...TEXTS,
  /** The ply that is looked at; null follows the game. */
  ply: null,
  /** Players sorted the other way round. */
  down: false,
  /** Seen from Black's side. */
  flip: false,
});

/** The view that a game or a player asks for without saying so. */
function implied({ game, player }) {
  return game ? "board" : player ? "player" : HOME.view;
}

/** The place that a fragment names; what is unknown or odd counts as not said. */
export function readPlace(fragment) {
  const said = new URLSearchParams(fragment.replace(/^#/, ""));
  const place = { ...HOME };
  for (const [name, allowed] of Object.entries(CHOICES)) {
    if (allowed.includes(said.get(name))) place[name] = said.get(name);
  }
  for (const name of Object.keys(TEXTS)) place[name] = (said.get(name) ?? "").slice(0, name === "follow" ? MAX_FOLLOWED : MAX_TEXT);
  if (/^\d{1,4}$/.test(said.get("ply") ?? "")) place.ply = Number(said.get("ply"));
  for (const name of ["down", "flip"]) place[name] = said.get(name) === "1";
  // A game or a player is enough to say what is meant.
  if (!said.has("view")) place.view = implied(place);
  if (place.view === "board" && !place.game) place.view = "boards";
  if (place.view === "player" && !place.player) place.view = "players";
  return place;
}

/** The fragment that names a place, with its `#`; empty for the place where everybody begins. */
export function writePlace(place) {
  const said = new URLSearchParams();
  for (const [name, usual] of Object.entries(HOME)) {
    const value = place[name];
    if (name === "view" ? value === implied(place) : value === usual || value === "") continue;
    if (value === undefined) continue;
    said.set(name, typeof value === "boolean" ? "1" : String(value));
  }
  const text = said.toString();
  return text ? `#${text}` : "";
}

/** What the service beside the page answers, with the token that the page itself was opened with; throws where it refuses. */
export async function ask(path, query = {}) {
  const url = new URL(`api/v${PROTOCOL}/${path}?${new URLSearchParams(query)}`, new URL(".", location.href));
  const token = new URLSearchParams(location.search).get("token");
  const answer = await fetch(url, token ? { headers: { Authorization: `Bearer ${token}` } } : {});
  if (!answer.ok) throw new Error(say("the service answered {}", answer.status));
  return answer;
}

/**
 * An address to give to others: of this very place, without the token of who gives it. Of a board as
 * it is now, where the service itself serves the page (`served`), one that chats can show a picture of.
 */
export function shareAddress(href, place, served = false) {
  const url = new URL(href);
  url.searchParams.delete("token");
  if (served && place.view === "board" && place.ply === null && !url.search) {
    return new URL(`share?${new URLSearchParams({ game: place.game })}`, url).href;
  }
  url.hash = writePlace(place);
  return url.href;
}

// --- players ----------------------------------------------------------------------------------------

const STORED = "live-rate-followed";
/** More than so many are no longer few to look after. */
const MOST = 200;

/** Players that whoever looks follows: starred in this browser, where the list stays. They come first in every view. */
export class FollowedPlayers {
  /** `storage` keeps text by name, as `kept` of drawing/elements.js; `changed()` follows every choice. */
  constructor(storage, changed = () => {}) {
    this._storage = storage;
    this._changed = changed;
    this._keys = new Set(this._read());
  }

  get size() {
    return this._keys.size;
  }

  /** What names them in addresses. */
  get keys() {
    return [...this._keys];
  }

  has(player) {
    return this._keys.size > 0 && this._keys.has(playerKey(player));
  }

  /** Whether either player of a game is followed. */
  plays({ white, black }) {
    return this.has(white) || this.has(black);
  }

  /** Those that `is` holds of first, else in the order given. */
  first(all, is) {
    if (this._keys.size === 0) return all;
    return [...all.filter(is), ...all.filter((each) => !is(each))];
  }

  toggle(player) {
    const key = playerKey(player);
    if (!key) return;
    if (!this._keys.delete(key) && this._keys.size < MOST) this._keys.add(key);
    this._keep();
  }

  /** Follows those of these keys, too; answers how many are new. */
  add(keys) {
    const before = this._keys.size;
    for (const key of keys) if (key && this._keys.size < MOST) this._keys.add(key);
    const added = this._keys.size - before;
    if (added > 0) this._keep();
    return added;
  }

  _keep() {
    // Where nothing is kept they are followed until the page is closed.
    this._storage.write(STORED, JSON.stringify([...this._keys]));
    this._changed();
  }

  /** Another tab chose. */
  reread() {
    this._keys = new Set(this._read());
    this._changed();
  }

  _read() {
    // What is kept is not trusted.
    try {
      return JSON.parse(this._storage.read(STORED) ?? "[]").filter((key) => typeof key === "string").slice(0, MOST);
    } catch {
      return [];
    }
  }
}

/** A star that is pressed while its player is followed. */
export class FollowStar {
  constructor(followed) {
    this._followed = followed;
    this._player = null;
    this.node = button("", () => this._followed.toggle(this._player), { className: "star" });
  }

  draw(player) {
    this._player = player;
    const on = this._followed.has(player);
    this.node.hidden = !playerKey(player);
    named(this.node, say("Follow {}", player.name || "?"));
    this.node.setAttribute("aria-pressed", String(on));
    this.node.textContent = on ? "\u2605" : "\u2606";
  }
}

/**
 * The key of a player, in a game or in the standings: the FIDE id where there is one, else the words
 * of the name, in any order and without accents; empty for who has neither.
 */
export function playerKey({ id = "", fide_id: number = null, name }) {
  if (number) return `fide-${number}`;
  if (id.startsWith("fide-")) return id;
  const plain = name.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  return plain.split(/[^\p{L}\p{N}]+/u).filter(Boolean).sort().join("-");
}

/** What an address means by a player, by key or name, `{player, side, games}`: null and empty where unknown. */
export function playerOf(players, games, asked) {
  const wanted = playerKey({ name: asked });
  const named = players.find((each) => playerKey(each) === asked) ?? players.find(({ name }) => playerKey({ name }) === wanted);
  const key = named ? playerKey(named) : asked;
  const player = named ?? null;
  const own = games.filter(({ white, black }) => [white, black].some((side) => playerKey(side) === key));
  own.sort((a, b) => gameOrder(b, a));
  const [newest] = own;
  const side = newest === undefined ? null : playerKey(newest.white) === key ? newest.white : newest.black;
  return { player, side, games: own };
}
