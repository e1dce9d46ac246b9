/** The rounds of the events that are held, and their matches of teams: which there are, which is played now. Pure. */

import { eventOf, gameOrder, mainRound } from "./event_state.js";

/** What asks for every round. */
export const ALL_ROUNDS = "all";

const unknown = (text) => ["", "?", "-"].includes(text);

/** Round 2 before round 10, as games are ordered. */
function roundOrder(a, b) {
  const alone = (round) => ({ event: "", round, board: null, id: "", white: {}, black: {} });
  return gameOrder(alone(a), alone(b));
}

const running = (game) => game.result === "*" && game.plies.length > 0;

/** The games of each event's current round: that of games under way, else the last one. */
export function currentRound(games, nameOf = eventOf) {
  const events = Map.groupBy(games, nameOf);
  return [...events.values()].flatMap((all) => {
    const live = all.filter(running);
    const rounds = new Set((live.length ? live : all).map(({ round }) => mainRound(round)));
    const last = [...rounds].sort(roundOrder).at(-1);
    return all.filter(({ round }) => mainRound(round) === last);
  });
}

/**
 * Every round, `{event, round, date, games, running, over}`, event by event and the newest first.
 * `date` is that of its first game, `YYYY.MM.DD` as PGN has it; empty while unknown.
 */
export function roundsOf(games) {
  const found = new Map();
  for (const game of games) {
    const [event, round] = [eventOf(game), mainRound(game.round)];
    const key = JSON.stringify([event, round]);
    const entry = found.get(key) ?? { event, round, date: "", games: 0, running: 0, over: 0 };
    found.set(key, entry);
    entry.games += 1;
    if (running(game)) entry.running += 1;
    if (game.result !== "*") entry.over += 1;
    const date = game.date ?? "";
    if (/^\d{4}\.\d\d\.\d\d$/.test(date) && (entry.date === "" || date < entry.date)) entry.date = date;
  }
  return [...found.values()].sort(
    (a, b) => (a.event === b.event ? -roundOrder(a.round, b.round) : a.event < b.event ? -1 : 1),
  );
}

/** The games that a place asks for: of one round, of all, or of the round that is played now. */
export function inRound(games, { event = "", round = "" }) {
  if (round === ALL_ROUNDS) return games;
  if (round === "") return currentRound(games);
  return games.filter((game) => mainRound(game.round) === mainRound(round) && (event === "" || eventOf(game) === event));
}

/** `Round 4`, or what else the source calls it; empty while it is unknown. */
export function roundName(round) {
  if (unknown(round)) return "";
  return /^\d/.test(round) ? `Round ${round}` : round;
}

/** `2 May 2026` of PGN's date, in the language of who reads; empty without one. */
export function dateText(date, language = "en-GB") {
  const said = /^(\d{4})\.(\d\d)\.(\d\d)$/.exec(date);
  if (said === null) return "";
  const [, year, month, day] = said.map(Number);
  const at = new Date(Date.UTC(year, month - 1, day));
  return at.toLocaleDateString(language, { timeZone: "UTC", day: "numeric", month: "short", year: "numeric" });
}

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
