/** One player's gains over all games that are held, beside the engine's. */

import { countAtOne } from "../board/gain_chart.js";
import { gainsOf, measuredGains } from "../board/gain_classes.js";
import { playerKey } from "../player_key.js";

/** The gains of a player in these games. Pure. */
export function heldGains(games, key) {
  return games.flatMap((game) =>
    ["white", "black"].filter((color) => playerKey(game[color]) === key).flatMap((color) => gainsOf(game, color)),
  );
}

export class PooledGains {
  constructor() {
    this._subject = null;
    this._rests = [];
  }

  /** What the chart of gains draws; null without a move. The same object while nothing is new. */
  of(player, games, key, kind, everything) {
    const rests = [key, player?.moves, kind];
    if (this._subject !== null && rests.every((part, at) => part === this._rests[at])) return this._subject;
    this._rests = rests;
    const counts = countAtOne(heldGains(games, key));
    const measured = measuredGains(kind, everything);
    const up = { name: "Player", color: "--accent", counts };
    const down = { name: "Engine", color: "--edge", counts: countAtOne(measured ?? [0]) };
    if (measured === null) down.said = "Engine: 0 by construction";
    this._subject = counts.length ? { up, down, engine: null, both: kind === "successive" } : null;
    return this._subject;
  }
}
