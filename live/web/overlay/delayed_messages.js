/**
 * Holds messages back, so that an overlay fits a delayed picture or gives nobody in the hall the
 * score of now. Pure: the time comes in.
 *
 * It stands between the connection and what is held, and looks like the latter. What is resumed
 * from is the last message received; what is seen is the last one due.
 */

import { OutOfSequence } from "../client/event_state.js";

export class Delayed {
  constructor(shown, delayMs, now) {
    this.hello = null;
    this.seq = null;
    this._shown = shown;
    this._delayMs = delayMs;
    this._now = now;
    this._waiting = [];
  }

  receive(message) {
    const { type, seq } = message;
    if (type === "hello") {
      if (message.resumed && this.seq !== seq) throw new OutOfSequence(`resumed after ${seq}`);
      // Not what is played: which figure leads here.
      this.hello = this._shown.hello = message;
      return {};
    }
    if (type === "heartbeat") {
      if (seq !== this.seq) throw new OutOfSequence(`heartbeat at ${seq}, but held is ${this.seq}`);
      return {};
    }
    if (type !== "snapshot" && (this.seq === null || seq !== this.seq + 1)) {
      throw new OutOfSequence(`${type} ${seq} does not follow ${this.seq}`);
    }
    this.seq = seq;
    const first = type === "snapshot" && this._shown.seq === null;
    const at = this._now() + this._delayMs;
    this._waiting.push({ at, message: first ? withOldMoments(message) : message });
    // Until the first is due people see who plays, and nothing of how.
    return first ? this._shown.receive(withoutPlay(message)) : {};
  }

  /** Applies what is due; answers what each message touched. */
  release() {
    const touched = [];
    const now = this._now();
    while (this._waiting.length > 0 && this._waiting[0].at <= now) {
      const { message } = this._waiting.shift();
      touched.push(this._shown.receive(message));
    }
    return touched;
  }
}

/** A snapshot as before the first move. */
function withoutPlay(snapshot) {
  const games = snapshot.games.map((game) => ({
    ...game,
    result: "*",
    plies: [],
    curves: { white: [], black: [] },
    plies_played: 0,
    plies_scored: 0,
    start_score_cp: null,
    problem: null,
    eco: "",
    opening: "",
  }));
  return { ...snapshot, games, players: [], moments: [] };
}

/** A snapshot whose moments are no news when it is due: they were there before the page was. */
function withOldMoments({ moments = [], ...snapshot }) {
  return { ...snapshot, moments: moments.map((moment) => ({ ...moment, at_s: null })) };
}
