/**
 * Clocks that run on between messages. Pure: the time, milliseconds that never go back, comes in.
 *
 * A source sends a clock after its move. From then on the other side's clock runs, and this says
 * for how long, as far as is known: at most since the move was seen here, and only until the source
 * or the connection went silent. A position that was there when the page opened counts from then,
 * so that a clock shows rather too much time than too little.
 */

import { moverOf } from "./event_state.js";

export class Ticking {
  constructor() {
    /** Game id → its last move, and when it was first seen. */
    this._moves = new Map();
    /** Feed → since when it is not live. */
    this._silent = new Map();
  }

  /** To be called for every game that changed. */
  note(game, now) {
    const last = game.plies.at(-1);
    const move = last === undefined ? "" : `${last.ply} ${last.uci}`;
    if (this._moves.get(game.id)?.move !== move) this._moves.set(game.id, { move, at: now });
  }

  forget(id) {
    this._moves.delete(id);
  }

  /** To be called with the feeds whenever that changed. */
  noteFeeds(feeds, now) {
    const before = this._silent;
    this._silent = new Map();
    for (const { feed, state } of feeds) {
      if (state !== "live") this._silent.set(feed, before.get(feed) ?? now);
    }
  }

  /**
   * How long the clock of the side to move has run, seconds; `heardAt` is when the service was last
   * heard if it is no longer, else null. 0 where no clock runs.
   */
  elapsedS(game, now, heardAt = null) {
    const seen = this._moves.get(game.id);
    if (seen === undefined || !runs(game)) return 0;
    const until = Math.min(now, heardAt ?? now, this._silent.get(game.feed) ?? now);
    return Math.max(0, (until - seen.at) / 1000);
  }
}

/** Nothing is known of the clocks of a game that is over, not begun, or not sent any more. */
function runs({ result, plies, problem, restored }) {
  return result === "*" && plies.length > 0 && !problem && !restored;
}

/** Whether it is this colour's clock that runs after `plies`, as far as is known. */
export function clockRuns(game, plies, color) {
  return game.result === "*" && plies === game.plies && moverOf(plies.length + 1, game.start_fen) === color;
}

/**
 * What is left of a colour's clock after `plies`, seconds; null where the source sends none. It has
 * run for `elapsedS` since if it is the one that runs.
 */
export function leftS(game, plies, color, elapsedS = 0) {
  const clockS = plies.findLast(({ ply }) => moverOf(ply, game.start_fen) === color)?.clock_s ?? null;
  return clockS === null ? null : Math.max(0, clockS - (clockRuns(game, plies, color) ? elapsedS : 0));
}

/** Clock at the start, and under which a clock is low, both seconds, as SCRAMBLES in live/story. */
const LOW_S = [[3000, 60], [600, 20], [0, 10]];

/** Whether so many seconds are little, in a running game whose clocks began at `startS`. */
export function isLow({ result }, clockS, startS) {
  // Clocks that begin at 0 nobody set.
  if (result !== "*" || clockS === null || !startS) return false;
  return clockS < LOW_S.find(([from]) => startS >= from)[1];
}

/** What a game's clocks began at, as far as is seen: the most that any has shown; null without. */
export function startClockS({ plies }) {
  let most = null;
  for (const { clock_s: clock } of plies) if (clock !== null && (most === null || clock > most)) most = clock;
  return most;
}
