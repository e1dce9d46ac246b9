/** The selection and the order of boards. Pure. */

import { settledFigure } from "../client/figures.js";
import { COLORS, gameOrder, inRound } from "../client/games.js";
import { scoreOf } from "../overlay/shown_figures.js";
import { say } from "./language.js";
import { buildMatcher } from "./search.js";

/** Return the lower of both clocks, seconds. */
const lowestClock = ({ plies }) => Math.min(...plies.slice(-2).map(({ clock_s: clock }) => clock ?? Infinity));

/** Return the higher of both sides' figures that have enough moves. */
const highestFigure = ({ curves }) => Math.max(...COLORS.map((color) => settledFigure(curves[color].at(-1))?.value ?? -Infinity));

/** Orders of the boards, each with a label and a sort key. The smallest key comes first, unknown keys last. */
export const ORDERS = {
  board: { label: say("Board"), key: () => 0 },
  close: { label: say("Closest score"), key: (game) => Math.abs(scoreOf(game).cp ?? Infinity) },
  rating: { label: say("Playing best"), key: (game) => -highestFigure(game) },
  clock: { label: say("Least time left"), key: (game) => (game.result === "*" ? lowestClock(game) : Infinity) },
};

/** Return the boards that a place selects, in its order; boards with ids in `alerting` come first, in the order of that list. */
export function arrangeBoards(games, { q, state, sort, ...round }, alerting = []) {
  const matches = buildMatcher(q);
  const isInState = ({ result }) => state === "all" || (result === "*") === (state === "running");
  const isChosen = (game) => isInState(game) && matches(searchedText(game));
  const chosen = inRound(games, round, alerting).filter(isChosen).sort(gameOrder);
  const key = ORDERS[sort]?.key ?? ORDERS.board.key;
  const keys = new Map(chosen.map((game) => [game.id, key(game)]));
  const urgency = new Map(alerting.map((id, at) => [id, at - alerting.length]));
  // The sort is stable, so boards with equal keys stay in order. So do two with unknown keys, whose difference is NaN.
  return chosen.sort((a, b) => (urgency.get(a.id) ?? 0) - (urgency.get(b.id) ?? 0) || keys.get(a.id) - keys.get(b.id));
}

/** Return the text of a board in which a search looks for words. */
function searchedText({ event, board, round, result, white, black }) {
  const people = [white, black].flatMap(({ name, title, team, federation }) => [name, title, team, federation]);
  return [event, board === null ? "" : `board ${board}`, round, result, ...people].filter(Boolean).join("\n");
}
