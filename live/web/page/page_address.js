/**
 * What the page shows, as the part of its address after `#`. Pure.
 *
 * The fragment never reaches a server, and leaves the query (which event, whose token) alone.
 */

import { CHOICES as FIGURES } from "../client/figures.js";

/** What each part of a place may be; the first is what holds when the address says nothing. */
const CHOICES = {
  view: ["boards", "board", "players", "player", "wall", "health", "arbiter"],
  layout: ["auto", "cards", "table"],
  state: ["all", "running", "over"],
  // Empty: as the service is set. What earlier versions offered besides means the same.
  figure: ["", ...FIGURES],
};

const TEXTS = { game: "", player: "", event: "", round: "", q: "", sort: "", cols: "", follow: "" };
const MAX_TEXT = 300;
/** Of the players that a link has followed, by their keys with commas between. */
const MAX_FOLLOWED = 6000;

export const HOME = Object.freeze({
  game: "",
  ...Object.fromEntries(Object.entries(CHOICES).map(([name, [first]]) => [name, first])),
  ...TEXTS,
  /** The ply that is looked at; null follows the game. */
  ply: null,
  /** Sorted the other way round. */
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
    const value = name === "figure" && said.get(name) === "a4" ? "algorithm4" : said.get(name);
    if (allowed.includes(value)) place[name] = value;
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

/** What lets a request of the page in: the token that the page itself was opened with. */
export function bearer() {
  const token = new URLSearchParams(location.search).get("token");
  return token ? { headers: { Authorization: `Bearer ${token}` } } : {};
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
