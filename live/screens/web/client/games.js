/** Rounds, events, team matches and running clocks of games. Pure. */

export const COLORS = ["white", "black"];

/** Return `{white, black}`, each made by `make(color)`. */
export const bothSides = (make) => ({ white: make("white"), black: make("black") });

/** Return the names of all players, so that shortened names stay distinct. */
export const everybodyIn = ({ games }) => [...new Set([...games.values()].flatMap(({ white, black }) => [white.name, black.name]))];

/** Value of `round` in a place (see page/page_address.js) that selects every round. */
export const ALL_ROUNDS = "all";

/** Return the text of a PGN header; empty for `?` and `-`, which mean unknown. */
export const known = (text) => (["?", "-"].includes(text) ? "" : text);

/** Compare rounds in the order of games: round 2 before round 10. */
export const roundOrder = (a, b) => compareRounds({ round: a, board: null }, { round: b, board: null });

export const running = (game) => game.result === "*" && game.plies.length > 0;

/**
 * Return the games without ended games of earlier rounds. A round is earlier if a later round of its event has begun.
 * Games whose id is in `alerting` stay, and so do rounds without a number. Same as `keep_newest_rounds` of the terminal.
 */
function ofNewestRounds(games, alerting) {
  const newest = new Map();
  const numbers = games.map((game) => ({ game, event: eventOf(game), number: roundNumber(game.round) }));
  for (const { game, event, number } of numbers) if (game.plies.length > 0) newest.set(event, Math.max(newest.get(event) ?? 0, number));
  const isNewest = ({ event, number }) => number === 0 || number >= (newest.get(event) ?? 0);
  return numbers.filter((entry) => entry.game.result === "*" || isNewest(entry) || alerting.includes(entry.game.id)).map(({ game }) => game);
}

/**
 * Return every round, `{event, round, date, games, running, live, over}`, event by event, the newest first. `live` counts
 * the running games whose source is live or only silent. `date` is the earliest date of the round's games, `YYYY.MM.DD`
 * as in PGN; empty while unknown.
 */
export function roundsOf(games, feeds = []) {
  const rounds = new Map();
  const alive = new Set(feeds.filter(({ state }) => ["live", "stale"].includes(state)).map(({ feed }) => feed));
  for (const game of games) {
    const [event, round] = [eventOf(game), mainRound(game.round)];
    const key = JSON.stringify([event, round]);
    const entry = rounds.get(key) ?? { event, round, date: "", games: 0, running: 0, live: 0, over: 0 };
    rounds.set(key, entry);
    entry.games += 1;
    if (running(game)) {
      entry.running += 1;
      if (feeds.length === 0 || [game.feed, ...(game.also ?? [])].some((feed) => alive.has(feed))) entry.live += 1;
    }
    if (game.result !== "*") entry.over += 1;
    const date = game.date ?? "";
    if (/^\d{4}\.\d\d\.\d\d$/.test(date) && (entry.date === "" || date < entry.date)) entry.date = date;
  }
  return [...rounds.values()].sort(
    (a, b) => (a.event === b.event ? -roundOrder(a.round, b.round) : a.event < b.event ? -1 : 1),
  );
}

/** Return the newest round in progress or, if none is, the newest round, of {@link roundsOf}; null for several events. */
export function leadingRound(rounds) {
  if (new Set(rounds.map(({ event }) => event)).size !== 1) return null;
  return rounds.find((round) => round.running > 0) ?? rounds[0];
}

/** Return the games that a place asks for: those of one round, of all rounds, or of the newest rounds. */
export function inRound(games, { event = "", round = "" }, alerting = []) {
  if (round === ALL_ROUNDS) return games;
  if (round === "") return ofNewestRounds(games, alerting);
  return games.filter((game) => mainRound(game.round) === mainRound(round) && (event === "" || eventOf(game) === event));
}

/** Return the round of a game without the board number that broadcasts append: `4` for `4.12` at board 12. */
export function roundOf({ round, board }) {
  const suffix = `.${board}`;
  return round.endsWith(suffix) ? round.slice(0, -suffix.length) : round;
}

/** Return PGN's date as text in the reader's language, `2 May 2026`; empty without a date. */
export function dateText(date, language = "en-GB") {
  const match = /^(\d{4})\.(\d\d)\.(\d\d)$/.exec(date);
  if (match === null) return "";
  const [, year, month, day] = match.map(Number);
  const at = new Date(Date.UTC(year, month - 1, day));
  return at.toLocaleDateString(language, { timeZone: "UTC", day: "numeric", month: "short", year: "numeric" });
}

/** Points of White and Black for each result; same as RESULT_POINTS in live/messages. */
export const RESULT_POINTS = {
  "1-0": [1, 0], "0-1": [0, 1], "1/2-1/2": [0.5, 0.5], "0-0": [0, 0], "1/2-0": [0.5, 0], "0-1/2": [0, 0.5],
};

/** Return every team match, `{event, round, teams, points, running}`, matches in progress first; empty without teams. */
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

/** Return points as tables write them: `7½`, `½`, `0`, or `7.25` for a tie-break. */
export function pointsText(points) {
  const whole = Math.floor(points);
  return points - whole === 0.5 ? `${whole || ""}\u00bd` : String(Number(points.toFixed(2)));
}

/** Return the colour of the side that makes ply `ply`. */
export function moverOf(ply, startFen) {
  const blackFirst = startFen.split(" ")[1] === "b";
  return (ply % 2 === 1) !== blackFirst ? "white" : "black";
}

/** Return the name of the event; empty if it is only the pairing, as lichess names each game of a broadcast. */
export function eventOf({ event, white, black }) {
  return white.name && black.name && event.includes(`${white.name} - ${black.name}`) ? "" : event;
}

/** Compare games by event, round (2 before 10, 2.9 before 2.10), board and id, as the service's snapshots do. */
export function gameOrder(a, b) {
  return (
    compareText(eventOf(a), eventOf(b)) ||
    compareRounds(a, b) ||
    (a.board ?? 2 ** 30) - (b.board ?? 2 ** 30) ||
    compareText(a.id, b.id)
  );
}

const WORD = "(?:round|rnd|rd|r|runde|ronde|ronda|rodada|turno|tour|kolo|runda|kierros)";
const BOARD = "(?:\\.\\d+)*(?:[\\s,;/|-]*(?:board|bd|table|brett|tafel)\\.?\\s*\\d+)?";
const ROUND = new RegExp(
  `^(?:(?:${WORD}\\s*[.:#-]?\\s*|#)?0*(\\d{1,3})${BOARD}|0*(\\d{1,3})\\s*(?:\\.|st|nd|rd|th|e|ª|ème)?\\s*${WORD})$`,
  "i",
);

function roundNumber(text) {
  const match = ROUND.exec(text.slice(0, 80).trim());
  return match === null ? 0 : Number(match[1] ?? match[2]);
}

/** Return one name for all spellings of a round, as `live/games/rounds.py` does: `8` for `08.5` and `Round 8`. */
export function mainRound(text) {
  const number = roundNumber(text);
  return number ? String(number) : text.split(".")[0];
}

/** Return a sort key of the round and the place in it: game `7.2` comes between boards 1 and 3 of round `7`. */
function roundPlace({ round, board }) {
  const inner = roundNumber(round) ? (/\d((?:\.\d+)+)/.exec(round)?.[1] ?? "") : round.slice(mainRound(round).length);
  const place = [mainRound(round), ...inner.split(".").slice(1)].map(roundPart);
  return place.length > 1 ? place : [...place, [board ?? 2 ** 30, ""]];
}

function compareRounds(a, b) {
  const left = roundPlace(a);
  const right = roundPlace(b);
  for (let at = 0; at < Math.min(left.length, right.length); at += 1) {
    const order = left[at][0] - right[at][0] || compareText(left[at][1], right[at][1]);
    if (order) return order;
  }
  return left.length - right.length;
}

const roundPart = (part) => (/^[0-9]{1,9}$/.test(part) ? [Number(part), ""] : [-1, part]);

/** Compare texts by their UTF-16 codes, so that the order does not depend on the reader's language. */
export const compareText = (a, b) => (a < b ? -1 : Number(a > b));

// --- clocks ---------------------------------------------------------------------------------------

/**
 * Running clocks between messages. The time, monotonic milliseconds, is an argument.
 *
 * A source sends a player's clock after each move, and from then on the other clock runs. This class measures for how
 * long: from the moment when the move arrived here until the source or the connection went silent. If the position was
 * there when the page opened, the time counts from the opening. A clock then shows too much time rather than too little.
 */
export class Ticking {
  constructor() {
    /** For each game, by its id: the last move, and the time when it was first seen. */
    this._moves = new Map();
    /** For each feed that is not live: the time when it stopped being live. */
    this._silent = new Map();
  }

  /** Record the games and feeds that a message changed. */
  follow(held, touched, now) {
    if (touched.all || touched.health) this.noteFeeds(held.feeds, now);
    for (const id of held.touchedGames(touched)) {
      const game = held.games.get(id);
      if (game === undefined) this._moves.delete(id);
      else this.note(game, now);
    }
  }

  /** Record the last move of a game. */
  note(game, now) {
    const last = game.plies.at(-1);
    const move = last === undefined ? "" : `${last.ply} ${last.uci}`;
    if (this._moves.get(game.id)?.move !== move) this._moves.set(game.id, { move, at: now });
  }

  /** Record which feeds are live. */
  noteFeeds(feeds, now) {
    const before = this._silent;
    this._silent = new Map();
    for (const { feed, state } of feeds) {
      if (state !== "live") this._silent.set(feed, before.get(feed) ?? now);
    }
  }

  /**
   * Return how long the clock of the side to move has been running, seconds; 0 if no clock runs. `heardAt` is the time
   * of the last message if the connection is lost, otherwise null.
   */
  elapsedS(game, now, heardAt = null) {
    const lastMove = this._moves.get(game.id);
    if (lastMove === undefined || !runs(game)) return 0;
    const until = Math.min(now, heardAt ?? now, this._silent.get(game.feed) ?? now);
    return Math.max(0, (until - lastMove.at) / 1000);
  }
}

/** Return whether a clock runs; false for a game that has ended, has not begun, or is no longer sent. */
function runs({ result, plies, problem, restored, termination }) {
  return result === "*" && plies.length > 0 && !problem && !restored && !adjourned(termination);
}

/** Return whether a game will continue on another day, as `GameView.adjourned` does. */
const adjourned = (termination) => /^adjourned/i.test(termination ?? "");

/** Return whether this colour's clock is known to run after `plies`. */
export function clockRuns(game, plies, color) {
  const stands = game.result !== "*" || adjourned(game.termination);
  return !stands && plies === game.plies && moverOf(plies.length + 1, game.start_fen) === color;
}

/** Return a clock's time after `plies`, seconds, less `elapsedS` if it runs; null if the source sends no clocks. */
export function leftS(game, plies, color, elapsedS = 0) {
  const clockS = plies.findLast(({ ply }) => moverOf(ply, game.start_fen) === color)?.clock_s ?? null;
  return clockS === null ? null : Math.max(0, clockS - (clockRuns(game, plies, color) ? elapsedS : 0));
}

/** Pairs of a clock's starting time and the time below which it is low, seconds; same as SCRAMBLES in live/watch. */
const LOW_S = [[3000, 60], [600, 20], [0, 10]];

/** Return whether a clock is low, in a running game whose clocks began at `startS`. */
export function isLow({ result }, clockS, startS) {
  // A clock that begins at 0 was never set.
  if (result !== "*" || clockS === null || !startS) return false;
  return clockS < LOW_S.find(([from]) => startS >= from)[1];
}

/** Return the starting time of a game's clocks, seconds: the longest time that a clock has shown; null without clocks. */
export function startClockS({ plies }) {
  const clocks = plies.map(({ clock_s: clock }) => clock).filter((clock) => clock !== null);
  return clocks.length ? Math.max(...clocks) : null;
}
