/**
 * What names a player in addresses, and the players that whoever looks follows: starred in this browser,
 * where the list stays. They come first in every view.
 */

import { button } from "../drawing/elements.js";
import { gameOrder } from "../client/event_state.js";

const STORED = "live-rate-followed";
/** More than so many are no longer few to look after. */
const MOST = 200;

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
    try {
      const held = JSON.parse(this._storage.read(STORED) ?? "[]");
      return Array.isArray(held) ? held.filter((key) => typeof key === "string").slice(0, MOST) : [];
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
    const label = `Follow ${player.name || "?"}`;
    if (this.node.getAttribute("aria-label") !== label) this.node.setAttribute("aria-label", label);
    this.node.setAttribute("aria-pressed", String(on));
    this.node.textContent = on ? "\u2605" : "\u2606";
    this.node.title = on ? "Followed: first in every view. Press to stop. Share has a link to all." : "Follow: first in every view";
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

/** What an address means by a player, `{player, side, games}`: null and empty where unknown. */
export function playerOf(players, games, key) {
  const player = players.find((each) => playerKey(each) === key) ?? null;
  const own = games.filter(({ white, black }) => [white, black].some((side) => playerKey(side) === key));
  own.sort((a, b) => gameOrder(b, a));
  const [newest] = own;
  const side = newest === undefined ? null : playerKey(newest.white) === key ? newest.white : newest.black;
  return { player, side, games: own };
}
