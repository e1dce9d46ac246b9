/** What names a player in addresses and in the list of those followed. Pure. */

import { gameOrder } from "../client/event_state.js";

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
