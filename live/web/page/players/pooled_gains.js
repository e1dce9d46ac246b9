/**
 * One player's gains over all games, beside the engine's. The service counts them, also of games
 * that it has let go; a static page, or a service of before, has those of the games that are held.
 */

import { brokerOf } from "../../client/open_connection.js";
import { bearer } from "../page_address.js";
import { countAtOne, gainsOf, measuredGains } from "../board/gain_chart.js";
import { playerKey } from "../followed_players.js";

/** The service is asked at most so often. */
const ASK_MS = 5_000;

/** The gains of a player in these games. Pure. */
export function heldGains(games, key) {
  return games.flatMap((game) =>
    ["white", "black"].filter((color) => playerKey(game[color]) === key).flatMap((color) => gainsOf(game, color)),
  );
}

export class PooledGains {
  /** `changed()` follows every answer of the service. */
  constructor(changed) {
    this._changed = changed;
    this._asked = { id: null, moves: null, at: -Infinity };
    this._answer = null;
    this._subject = null;
    this._rests = [];
  }

  /** What the chart of gains draws; null without a move. The same object while nothing is new. */
  of(player, games, key, kind, everything) {
    this._ask(player);
    const answer = this._answer?.player === player?.id ? this._answer : null;
    const rests = [key, answer, player?.moves, kind];
    if (this._subject !== null && rests.every((part, at) => part === this._rests[at])) return this._subject;
    this._rests = rests;
    const counts = answer?.counts ?? countAtOne(heldGains(games, key));
    const engine = answer?.engine ?? countAtOne(measuredGains(kind, everything) ?? [0]);
    const up = { name: "Player", color: "--accent", counts };
    const down = { name: "Engine", color: "--edge", counts: engine };
    if (engine.every(([gain]) => gain === 0)) down.said = "Engine: all at 0";
    this._subject = counts.length ? { up, down, engine: null, both: kind === "successive" } : null;
    return this._subject;
  }

  async _ask(player) {
    if (player === null || brokerOf(document) !== null) return;
    const { id, moves, at } = this._asked;
    const now = performance.now();
    if (id === player.id && (moves === player.moves || now - at < ASK_MS)) return;
    this._asked = { id: player.id, moves: player.moves, at: now };
    try {
      const url = new URL(`api/v1/players/${encodeURIComponent(player.id)}/gains`, new URL(".", location.href));
      const answer = await fetch(url, bearer());
      if (!answer.ok) return;
      this._answer = await answer.json();
      this._changed();
    } catch {
      // What is held is shown as long as the service does not answer.
    }
  }
}
