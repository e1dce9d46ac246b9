/** Addresses of the service's other pages, for a reader of this one. Pure. */

import { roundsOf } from "../client/games.js";

/**
 * Return the address of the round's summary, for a page at the address `page` whose reader may see as much as `sight`
 * says; null while a game runs, for several rounds, and if scores are hidden.
 */
export function roundAddress(page, sight, games) {
  const rounds = roundsOf(games);
  if (rounds.length !== 1 || rounds[0].over < rounds[0].games || sight === "venue") return null;
  const { event, round } = rounds[0];
  return writeAddress("round", page, sight, { event, round });
}

/** Return the address of an overlay with these options, for a page at the address `page`, as {@link roundAddress} does. */
export function overlayAddress(page, sight, isStatic, options) {
  return writeAddress(isStatic ? "overlay.html" : "overlay", page, sight, options);
}

/** The page's token is kept unless it is an arbiter's: that would show others, even on air, what is delayed or hidden. */
function writeAddress(name, page, sight, parameters) {
  const address = new URL(name, page);
  const token = sight === "arbiter" ? null : new URL(page).searchParams.get("token");
  address.search = new URLSearchParams({ ...parameters, ...(token === null ? {} : { token }) });
  address.hash = "";
  return address.href;
}
