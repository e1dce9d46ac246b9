/**
 * What a screen reader says, and how often: one sentence at a time, the newest of each kind,
 * never more than one in `PAUSE_MS`. Pure; the clock comes in as an argument.
 */

export const PAUSE_MS = 8_000;
/** Kinds that wait; a board that changes again while it waits takes no second place. */
const MAX_WAITING = 20;
/** So many sentences are read at once; more are counted. */
const AT_ONCE = 3;

export class Announcer {
  constructor() {
    this._waiting = new Map();
    this._lost = 0;
    this._saidAt = -Infinity;
  }

  /** Something to say; what was waiting under the same name is out of date. */
  add(name, sentence) {
    this._waiting.delete(name);
    this._waiting.set(name, sentence);
    if (this._waiting.size > MAX_WAITING) {
      this._waiting.delete(this._waiting.keys().next().value);
      this._lost += 1;
    }
  }

  /** What to say now, or null: nothing to say, or said something just before. */
  take(now) {
    if (this._waiting.size === 0 || now - this._saidAt < PAUSE_MS) return null;
    const sentences = [...this._waiting.values()];
    const more = this._lost + Math.max(0, sentences.length - AT_ONCE);
    const said = sentences.slice(-AT_ONCE);
    if (more > 0) said.push(`And ${more} more.`);
    this.clear();
    this._saidAt = now;
    return said.join(" ");
  }

  clear() {
    this._waiting.clear();
    this._lost = 0;
  }
}
