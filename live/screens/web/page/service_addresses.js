/** Addresses of the service's other pages for links from this page. Pure. */

import { roundsOf } from "../client/games.js";

/**
 * Return the address of the round's summary; null while a game runs, for several rounds, and if scores are hidden. `page`
 * is the address of this page, and `sight` tells what its reader may see.
 */
export function roundAddress(page, sight, games) {
  const rounds = roundsOf(games);
  if (rounds.length !== 1 || rounds[0].over < rounds[0].games || sight === "venue") return null;
  const { event, round } = rounds[0];
  return writeAddress("round", page, sight, { event, round });
}

/** Return the address of an overlay with these options; `page` and `sight` as for {@link roundAddress}. */
export function overlayAddress(page, sight, isStatic, options) {
  return writeAddress(isStatic ? "overlay.html" : "overlay", page, sight, options);
}

/** Return an address with the page's token, but without an arbiter's, which would show delayed or hidden data to others. */
function writeAddress(name, page, sight, parameters) {
  const address = new URL(name, page);
  const token = sight === "arbiter" ? null : new URL(page).searchParams.get("token");
  address.search = new URLSearchParams({ ...parameters, ...(token === null ? {} : { token }) });
  address.hash = "";
  return address.href;
}
