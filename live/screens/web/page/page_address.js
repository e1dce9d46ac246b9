/**
 * Places: what the page shows, as written after `#` in its address. Also keys of players in the address, and the players
 * that this browser follows.
 *
 * The fragment is never sent to a server and leaves the query (event, token) unchanged.
 */

import { button, named } from "../drawing/elements.js";
import { gameOrder } from "../client/games.js";
import { PROTOCOL } from "../client/usual.js";
import { say } from "./language.js";
import { fold } from "./search.js";

/** Allowed values of each part of a place; the first is the default. */
const CHOICES = {
  view: ["boards", "board", "players", "player", "wall", "health", "arbiter"],
  layout: ["auto", "cards", "table"],
  state: ["all", "running", "over"],
};

const TEXTS = { game: "", player: "", event: "", round: "", q: "", sort: "", follow: "" };
const MAX_TEXT = 300;
/** Maximum length in characters of the list of players in a link to follow them. */
const MAX_FOLLOWED = 6000;

export const HOME = Object.freeze({
  game: "",
  ...Object.fromEntries(Object.entries(CHOICES).map(([name, [first]]) => [name, first])),
  ...TEXTS,
  /** Number of plies on the board; null shows the newest position. */
  ply: null,
  /** Whether players are sorted in reverse order. */
  down: false,
  /** Whether the board is seen from Black's side. */
  flip: false,
});

/** Return the view for an address that names a game or a player but no view. */
const implied = ({ game, player }) => (game ? "board" : player ? "player" : HOME.view);

/** Return the place that a fragment names; unknown or invalid parts get their defaults. */
export function readPlace(fragment) {
  const parameters = new URLSearchParams(fragment.replace(/^#/, ""));
  const place = { ...HOME };
  for (const [name, allowed] of Object.entries(CHOICES)) {
    if (allowed.includes(parameters.get(name))) place[name] = parameters.get(name);
  }
  for (const name of Object.keys(TEXTS)) place[name] = (parameters.get(name) ?? "").slice(0, name === "follow" ? MAX_FOLLOWED : MAX_TEXT);
  if (/^\d{1,4}$/.test(parameters.get("ply") ?? "")) place.ply = Number(parameters.get("ply"));
  for (const name of ["down", "flip"]) place[name] = parameters.get(name) === "1";
  // A game or a player implies its view.
  if (!parameters.has("view")) place.view = implied(place);
  if (place.view === "board" && !place.game) place.view = "boards";
  if (place.view === "player" && !place.player) place.view = "players";
  return place;
}

/** Return the fragment that names a place, with its `#`; empty for the default place. */
export function writePlace(place) {
  const parameters = new URLSearchParams();
  for (const [name, usual] of Object.entries(HOME)) {
    const value = place[name];
    if (name === "view" ? value === implied(place) : value === usual || value === "") continue;
    if (value === undefined) continue;
    parameters.set(name, typeof value === "boolean" ? "1" : String(value));
  }
  const text = parameters.toString();
  return text ? `#${text}` : "";
}

/** Return the games, boards and players that filter a page, `{named, rest}`; `rest` is its address without them. A static page (`isStatic`) ignores filters. */
export function namedIn(page, isStatic) {
  const url = new URL(page);
  url.hash = "";
  const filters = isStatic ? [] : ["game", "board", "player"];
  const named = filters.flatMap((name) => url.searchParams.getAll(name));
  for (const name of filters) url.searchParams.delete(name);
  return { named, rest: url.href };
}

/** Return whether the address of a page filters the games of its rounds. */
export const isPartOfRounds = (page, isStatic) => namedIn(page, isStatic).named.length > 0;

/** Return the service's answer to a request with the page's token; throw if it refuses. */
export async function ask(path, query = {}) {
  const url = new URL(`api/v${PROTOCOL}/${path}?${new URLSearchParams(query)}`, new URL(".", location.href));
  const token = new URLSearchParams(location.search).get("token");
  const answer = await fetch(url, token ? { headers: { Authorization: `Bearer ${token}` } } : {});
  if (!answer.ok) throw new Error(say("the service answered {}", answer.status));
  return answer;
}

/**
 * Return an address of this place to share, without the token. If the service serves the page (`served`), a board in its
 * current state gets an address for which chat programs show a picture.
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
/** Maximum number of followed players. */
const MOST = 200;

/** The players that the reader follows by a star. They are stored in this browser and come first in every view. */
export class FollowedPlayers {
  /** `storage` stores texts by name, as `kept` of drawing/elements.js; `changed()` is called after every change. */
  constructor(storage, changed = () => {}) {
    this._storage = storage;
    this._changed = changed;
    this._keys = new Set(this._read());
  }

  get size() {
    return this._keys.size;
  }

  /** The keys of the followed players, for addresses. */
  get keys() {
    return [...this._keys];
  }

  has(player) {
    return this._keys.size > 0 && this._keys.has(playerKey(player));
  }

  /** Return whether a player of the game is followed. */
  plays({ white, black }) {
    return this.has(white) || this.has(black);
  }

  /** Return the items in their order, but those for which `is` is true come first. */
  first(all, is) {
    if (this._keys.size === 0) return all;
    return [...all.filter(is), ...all.filter((item) => !is(item))];
  }

  toggle(player) {
    const key = playerKey(player);
    if (!key) return;
    if (!this._keys.delete(key) && this._keys.size < MOST) this._keys.add(key);
    this._keep();
  }

  /** Follow the players with these keys as well; return how many were not followed before. */
  add(keys) {
    const before = this._keys.size;
    for (const key of keys) if (key && this._keys.size < MOST) this._keys.add(key);
    const added = this._keys.size - before;
    if (added > 0) this._keep();
    return added;
  }

  _keep() {
    // If the browser stores nothing, the players are followed until the page is closed.
    this._storage.write(STORED, JSON.stringify([...this._keys]));
    this._changed();
  }

  /** Read the list again after a change in another tab. */
  reread() {
    this._keys = new Set(this._read());
    this._changed();
  }

  _read() {
    // The stored text can be damaged.
    try {
      return JSON.parse(this._storage.read(STORED) ?? "[]").filter((key) => typeof key === "string").slice(0, MOST);
    } catch {
      return [];
    }
  }
}

/** A star button that is pressed while its player is followed. */
export class FollowStar {
  constructor(followed) {
    this._followed = followed;
    this._player = null;
    this.node = button("", () => this._followed.toggle(this._player), { className: "star" });
  }

  draw(player) {
    this._player = player;
    const isFollowed = this._followed.has(player);
    this.node.hidden = !playerKey(player);
    named(this.node, say("Follow {}", player.name || "?"));
    this.node.setAttribute("aria-pressed", String(isFollowed));
    this.node.textContent = isFollowed ? "\u2605" : "\u2606";
  }
}

/** Return a player's key: the FIDE id or, without one, the sorted words of the name without accents; empty without a name. */
export function playerKey({ id = "", fide_id: number = null, name }) {
  if (number) return `fide-${number}`;
  if (id.startsWith("fide-")) return id;
  return fold(name).split(/[^\p{L}\p{N}]+/u).filter(Boolean).sort().join("-");
}

/** Return `{player, side, games}` of the player that an address names by key or name; null and empty if there is none. */
export function playerOf(players, games, keyOrName) {
  const nameKey = playerKey({ name: keyOrName });
  const standing = players.find((candidate) => playerKey(candidate) === keyOrName) ?? players.find(({ name }) => playerKey({ name }) === nameKey);
  const key = standing ? playerKey(standing) : keyOrName;
  const player = standing ?? null;
  const ownGames = games.filter(({ white, black }) => [white, black].some((side) => playerKey(side) === key));
  ownGames.sort((a, b) => gameOrder(b, a));
  const [newest] = ownGames;
  const side = newest === undefined ? null : playerKey(newest.white) === key ? newest.white : newest.black;
  return { player, side, games: ownGames };
}
