/**
 * The page's state: a snapshot with all later messages applied to it. Pure, no DOM.
 *
 * The messages are those of `live/messages/`. An object in the state is never changed but replaced by a new one, so that
 * a view detects changes by identity. Fields that a game, ply or point omits get their usual values.
 */

import USUAL from "./usual.js";

const wholePly = (ply) => ({ ...USUAL.ply, ...ply });
const wholePoint = (point) => ({ ...USUAL.point, ...point });

function wholeGame(sent) {
  const game = { ...USUAL.game, ...sent };
  const { white, black } = game.curves;
  return { ...game, plies: game.plies.map(wholePly), curves: { white: white.map(wholePoint), black: black.map(wholePoint) } };
}

/** Thrown if a message cannot follow the current state. Another message was lost, so a fresh snapshot is needed. */
export class OutOfSequence extends Error {}

/** Throw {@link OutOfSequence} if a message cannot follow the message with number `held`. */
function mustFollow(held, { type, seq, resumed }) {
  if (type === "hello" && resumed && seq !== held) throw new OutOfSequence(`resumed after ${seq}, but held is ${held}`);
  if (type === "heartbeat" && seq !== held) throw new OutOfSequence(`heartbeat at ${seq}, but held is ${held}`);
  if (["hello", "heartbeat", "snapshot"].includes(type) || (held !== null && seq === held + 1)) return;
  throw new OutOfSequence(`${type} ${seq} does not follow ${held}`);
}

/** What a message changed, for the views: the id of a game, or names of parts. */
const EVERYTHING = Object.freeze({ all: true });
const NOTHING = Object.freeze({});

export class Held {
  constructor() {
    /** The `hello` message of this connection. */
    this.hello = null;
    /** Number of the last applied message; null before the first snapshot. */
    this.seq = null;
    this.engine = null;
    /** `GameDetail` objects by id. */
    this.games = new Map();
    /** `PlayerView` objects by id. */
    this.players = new Map();
    this.feeds = [];
    this.engines = null;
    /** `Alert` objects by id; the service sends them to arbiters only. */
    this.alerts = new Map();
    /** `Moment` objects by id. */
    this.moments = new Map();
  }

  /**
   * Apply one message. Return what to redraw: `{all}`, `{game}`, `{players}`, `{health}`, and so on. Throw {@link
   * OutOfSequence} if a message is missing or does not fit the state.
   */
  receive(message) {
    mustFollow(this.seq, message);
    const { type, seq } = message;
    if (type === "hello") {
      this.hello = message;
      return EVERYTHING;
    }
    if (type === "heartbeat") {
      if (this.hello === null || !message.public_delay) return NOTHING;
      this.hello = { ...this.hello, public_delay: message.public_delay };
      return { health: true };
    }
    // Messages of an unknown type come from a later version of the service. They are skipped, but their numbers count.
    const touched = Object.hasOwn(APPLY, type) ? APPLY[type](this, message) : NOTHING;
    this.seq = seq;
    return touched;
  }

  /** Return the ids of the games that a message changed. */
  touchedGames({ all, game }) {
    if (all) return [...this.games.keys()];
    return game === undefined ? [] : [game];
  }

  game(id) {
    const game = this.games.get(id);
    if (game === undefined) throw new OutOfSequence(`game ${id} is unknown`);
    return game;
  }
}

const byId = (list) => new Map(list.map((item) => [item.id, item]));

const APPLY = {
  snapshot(held, message) {
    const { engine, games, players, feeds, engines, alerts = [], moments = [] } = message;
    held.engine = engine;
    held.games = byId(games.map(wholeGame));
    held.players = byId(players);
    held.feeds = feeds;
    held.engines = engines;
    held.alerts = byId(alerts);
    held.moments = byId(moments);
    return EVERYTHING;
  },

  game(held, { game }) {
    const { plies, curves } = held.games.get(game.id) ?? USUAL.game;
    held.games.set(game.id, { ...USUAL.game, ...game, plies, curves });
    return { game: game.id };
  },

  gone(held, { game }) {
    held.games.delete(game);
    for (const [id, alert] of held.alerts) if (alert.game === game) held.alerts.delete(id);
    dropMoments(held, game, 0);
    return { game };
  },

  move(held, { game: id, ply, move }) {
    const game = held.game(id);
    const plies = game.plies.slice(0, ply - 1);
    if (move !== null) {
      if (move.ply !== ply || plies.length !== ply - 1) {
        throw new OutOfSequence(`ply ${ply} does not follow ${plies.length} in ${id}`);
      }
      plies.push(wholePly(move));
    }
    const curves = { white: before(game.curves.white, ply), black: before(game.curves.black, ply) };
    held.games.set(id, { ...game, plies, curves });
    dropMoments(held, id, ply);
    return { game: id };
  },

  clock(held, { game: id, ply, clock_s, spent_s = null }) {
    const game = held.game(id);
    if (ply <= game.plies.length) {
      held.games.set(id, { ...game, plies: game.plies.with(ply - 1, { ...game.plies[ply - 1], clock_s, spent_s }) });
    }
    return { game: id };
  },

  score(held, { game: id, ply }) {
    const game = held.game(id);
    if (ply.ply <= game.plies.length) {
      held.games.set(id, { ...game, plies: game.plies.with(ply.ply - 1, wholePly(ply)) });
    }
    return { game: id };
  },

  point(held, { game: id, color, point }) {
    const game = held.game(id);
    const curve = [...before(game.curves[color], point.ply), wholePoint(point)];
    held.games.set(id, { ...game, curves: { ...game.curves, [color]: curve } });
    return { game: id };
  },

  standing(held, { player }) {
    if (player.games || player.moves) held.players.set(player.id, player);
    else held.players.delete(player.id);
    return { players: true };
  },

  engine(held, { engine }) {
    const moved = held.engine?.rating !== engine.rating;
    held.engine = engine;
    return moved ? EVERYTHING : { engine: true };
  },

  health(held, { feeds, engines }) {
    held.feeds = feeds;
    held.engines = engines;
    return { health: true };
  },

  alert(held, { alert }) {
    if (alert.cleared_s === null) held.alerts.set(alert.id, alert);
    else held.alerts.delete(alert.id);
    return { alerts: true };
  },

  moment(held, { game, moment, holds }) {
    held.game(game);
    if (holds) held.moments.set(moment.id, moment);
    else held.moments.delete(moment.id);
    return { moments: true };
  },
};

/** Remove a game's moments at `ply` and later. */
function dropMoments(held, game, ply) {
  for (const [id, moment] of held.moments) {
    if (moment.game === game && moment.ply >= ply) held.moments.delete(id);
  }
}

/** Return the points of a curve before a ply; the same array if no point is later. */
function before(points, ply) {
  let end = points.length;
  while (end > 0 && points[end - 1].ply >= ply) end -= 1;
  return end === points.length ? points : points.slice(0, end);
}

// --- the state after an earlier ply ---------------------------------------------------------------

/** Return a game as it was after a ply; unchanged if `ply` is null or not reached yet. */
export function asOf(game, ply) {
  if (ply === null || ply >= game.plies.length) return game;
  const before = (points) => points.filter((point) => point.ply <= ply);
  const curves = { white: before(game.curves.white), black: before(game.curves.black) };
  return {
    ...game,
    plies: game.plies.slice(0, ply),
    curves,
    result: "*",
    plies_played: ply,
    /** Number of plies in the whole game now. */
    whole_plies: game.plies.length,
    plies_scored: Math.min(ply, game.plies_scored ?? 0),
    // The values of these fields at the earlier ply are not known.
    head_to_head: null,
    problem: null,
    dispute: "",
    eco: "",
    opening: "",
    termination: "",
  };
}

/**
 * Return the state with each game, or only the game `only`, as it was after a ply. If one of these games has more plies,
 * all data that depends on several games is left out: players' figures and points, and moments about neither player.
 */
export function heldAsOf(held, ply, only = null) {
  if (ply === null) return held;
  const cut = new Set();
  const games = new Map(held.games);
  for (const [id, game] of held.games) {
    const then = only === null || id === only ? asOf(game, ply) : game;
    if (then !== game) cut.add(id);
    games.set(id, then);
  }
  if (cut.size === 0) return held;
  const then = Object.create(held);
  const isKept = ([, moment]) => moment.color !== null && (!cut.has(moment.game) || moment.ply <= ply);
  then.games = games;
  then.players = new Map();
  then.moments = new Map([...held.moments].filter(isKept));
  return then;
}

// --- delayed messages -----------------------------------------------------------------------------

/**
 * Delays messages, so that an overlay matches a delayed picture and reveals no current score to people in the hall. The
 * connection passes messages to this class, which has the interface of the state and passes them on when they are due.
 * Its `seq` is the number of the last message received. The clock is an argument.
 */
export class Delayed {
  constructor(state, delayMs, now) {
    this.hello = null;
    this.seq = null;
    this._state = state;
    this._delayMs = delayMs;
    this._now = now;
    this._waiting = [];
  }

  receive(message) {
    mustFollow(this.seq, message);
    const { type, seq } = message;
    // A `hello` reveals no moves, so it is passed on at once.
    if (type === "hello") this.hello = this._state.hello = message;
    if (type === "hello" || type === "heartbeat") return {};
    this.seq = seq;
    const first = type === "snapshot" && this._state.seq === null;
    const at = this._now() + this._delayMs;
    // Moments without a time are not news: those of the first snapshot happened before the page was opened.
    const moments = message.moments?.map((moment) => ({ ...moment, at_s: null })) ?? [];
    this._waiting.push({ at, message: first ? { ...message, moments } : message });
    // Until the first snapshot is due, viewers see who plays, but no moves.
    return first ? this._state.receive(withoutPlay(message)) : {};
  }

  /** Apply the messages that are due; return a list of what each message changed. */
  release() {
    const touched = [];
    const now = this._now();
    while (this._waiting.length > 0 && this._waiting[0].at <= now) {
      const { message } = this._waiting.shift();
      touched.push(this._state.receive(message));
    }
    return touched;
  }
}

/** Return a snapshot in which no game has a move. */
function withoutPlay(snapshot) {
  const unknown = { start_score_cp: null, problem: null, eco: "", opening: "", termination: "" };
  const games = snapshot.games.map((game) => ({ ...asOf(wholeGame(game), 0), ...unknown, result: "*" }));
  return { ...snapshot, games, players: [], moments: [] };
}
