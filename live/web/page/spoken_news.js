/** What is worth a sentence to somebody who does not look. Pure. */

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
