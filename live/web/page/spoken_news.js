/**
 * What is worth a sentence to somebody who does not look, and how often: one sentence at a time, the
 * newest of each kind, never more than one in `PAUSE_MS`. Pure; the clock comes in as an argument.
 */

import { resultText, scoreText } from "../drawing/number_format.js";
import { lastMove, placeText, scoreAfter } from "./score_words.js";
import { swing } from "./boards/boards_order.js";

/** A change of this size within a few plies is news of a board nobody has open, centipawns. */
const SWING_CP = 200;

/**
 * The sentence that says what happened between two states of a board, or null. Of the board that
 * is open every move is reported; of the others results and large swings.
 */
export function sentence(before, game, isOpen) {
  if (before === undefined || before === game) return null;
  const who = `${placeText(game)}, ${game.white.name || "?"} against ${game.black.name || "?"}`;
  if (before.result !== game.result && game.result !== "*") return `${who}: ${resultText(game.result)}.`;
  if (isOpen && before.plies.length !== game.plies.length) {
    return `${lastMove(game, game.plies)}${scored(game)}.`;
  }
  const large = (each) => (swing(each) ?? 0) >= SWING_CP;
  if (!large(before) && large(game)) return `${who}: the score swings${scored(game)}.`;
  return null;
}

function scored(game) {
  const { cp, mate, provisional } = scoreAfter(game, game.plies);
  return cp === null || provisional ? "" : `, score ${scoreText(cp, mate)}`;
}

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
