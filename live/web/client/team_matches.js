/** Team events: who leads which match, from results alone. Pure. */

import { eventOf } from "./event_state.js";

/** Points of White and Black for each result, as RESULT_POINTS in live/events. */
export const RESULT_POINTS = {
  "1-0": [1, 0], "0-1": [0, 1], "1/2-1/2": [0.5, 0.5], "0-0": [0, 0], "1/2-0": [0.5, 0], "0-1/2": [0, 0.5],
};

/** Every match, `{event, round, teams, points, running}`, running ones first; none without teams. */
export function teamMatches(games) {
  const matches = new Map();
  for (const game of games) {
    const { white, black, round, result } = game;
    if (!white.team || !black.team || white.team === black.team) continue;
    const teams = [white.team, black.team].sort();
    const event = eventOf(game);
    const main = round.split(".")[0];
    const key = JSON.stringify([event, main, teams]);
    const match = matches.get(key) ?? { event, round: main, teams, points: [0, 0], running: 0 };
    matches.set(key, match);
    const points = RESULT_POINTS[result];
    if (!points) match.running += 1;
    else teams.forEach((team, at) => (match.points[at] += points[team === white.team ? 0 : 1]));
  }
  const order = (match) => [match.running ? 0 : 1, match.event, match.round, ...match.teams].join("\n");
  return [...matches.values()].sort((a, b) => order(a).localeCompare(order(b), undefined, { numeric: true }));
}

/** `7½`, `½`, `0` as tables write points; `7.25` of a tie-break. */
export function pointsText(points) {
  const whole = Math.floor(points);
  return points - whole === 0.5 ? `${whole || ""}\u00bd` : String(Number(points.toFixed(2)));
}
