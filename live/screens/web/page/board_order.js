/** Choice and order of the boards. Pure. */

import { settledFigure } from "../client/figures.js";
import { COLORS, gameOrder, inRound } from "../client/games.js";
import { scoreOf } from "../overlay/shown_figures.js";
import { say } from "./language.js";
import { buildMatcher } from "./search.js";

/** Return the lower of both clocks, seconds. */
const lowestClock = ({ plies }) => Math.min(...plies.slice(-2).map(({ clock_s: clock }) => clock ?? Infinity));

/** Return the higher figure of both sides, among those with enough moves. */
const highestFigure = ({ curves }) => Math.max(...COLORS.map((color) => settledFigure(curves[color].at(-1))?.value ?? -Infinity));

/** Orders of the boards: a label, and a key whose smallest value comes first and unknown values last. */
export const ORDERS = {
  board: { label: say("Board"), key: () => 0 },
  close: { label: say("Closest score"), key: (game) => Math.abs(scoreOf(game).cp ?? Infinity) },
  rating: { label: say("Playing best"), key: (game) => -highestFigure(game) },
  clock: { label: say("Least time left"), key: (game) => (game.result === "*" ? lowestClock(game) : Infinity) },
};

/** Return the boards that a place asks for, in its order; those in `alerting` (ids) come first, in that order. */
export function arrangeBoards(games, { q, state, sort, ...round }, alerting = []) {
  const matches = buildMatcher(q);
  const isChosen = (game) => isInState(game, state) && matches(searchedText(game));
  const chosen = inRound(games, round, alerting).filter(isChosen).sort(gameOrder);
  const key = ORDERS[sort]?.key ?? ORDERS.board.key;
  const keys = new Map(chosen.map((game) => [game.id, key(game)]));
  const urgency = new Map(alerting.map((id, at) => [id, at - alerting.length]));
  // Boards with equal keys keep their order; so do two unknown ones, since the difference of their keys is not a number.
  return chosen.sort((a, b) => (urgency.get(a.id) ?? 0) - (urgency.get(b.id) ?? 0) || keys.get(a.id) - keys.get(b.id));
}

const isInState = ({ result }, state) => state === "all" || (result === "*") === (state === "running");

/** Return the text in which a search looks for a board. */
function searchedText({ event, board, round, result, white, black }) {
  const people = [white, black].flatMap(({ name, title, team, federation }) => [name, title, team, federation]);
  return [event, board === null ? "" : `board ${board}`, round, result, ...people].filter(Boolean).join("\n");
}
