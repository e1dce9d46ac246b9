/**
 * What the page holds: a snapshot with every later message applied to it. Pure, no DOM.
 *
 * The messages are those of `live/messages/`. Held objects are never changed in place, only
 * replaced, so that a view sees by identity what is new. What a game, a ply or a point is sent
 * without is held as it usually is.
 */

import USUAL from "./usual.js";

const wholePly = (ply) => ({ ...USUAL.ply, ...ply });
const wholePoint = (point) => ({ ...USUAL.point, ...point });

function wholeGame(sent) {
  const game = { ...USUAL.game, ...sent };
  const { white, black } = game.curves;
  return { ...game, plies: game.plies.map(wholePly), curves: { white: white.map(wholePoint), black: black.map(wholePoint) } };
}

/** A message that cannot follow from what is held: something was lost; take a fresh snapshot. */
export class OutOfSequence extends Error {}

/** Throws where a message cannot follow the one of this number. */
function mustFollow(held, { type, seq, resumed }) {
  if (type === "hello" && resumed && seq !== held) throw new OutOfSequence(`resumed after ${seq}, but held is ${held}`);
  if (type === "heartbeat" && seq !== held) throw new OutOfSequence(`heartbeat at ${seq}, but held is ${held}`);
  if (["hello", "heartbeat", "snapshot"].includes(type) || (held !== null && seq === held + 1)) return;
  throw new OutOfSequence(`${type} ${seq} does not follow ${held}`);
}

/** What a message touched, for whoever draws: the ids of games, or the name of a part. */
const EVERYTHING = Object.freeze({ all: true });
const NOTHING = Object.freeze({});

export class Held {
  constructor() {
    /** The `hello` of this connection. */
    this.hello = null;
    /** Number of the last message applied; null before the first snapshot. */
    this.seq = null;
    this.engine = null;
    /** `GameDetail` by id. */
    this.games = new Map();
    /** `PlayerView` by id. */
    this.players = new Map();
    this.feeds = [];
    this.engines = null;
    /** `Alert` by id; the service sends them to arbiters only. */
    this.alerts = new Map();
    /** `Moment` by id. */
    this.moments = new Map();
  }

  /**
   * Applies one message. Answers what to draw anew: `{all}`, `{game}`, `{players}`, `{health}`.
   * Throws OutOfSequence when a number is missing or the message makes no sense here.
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
    // A type that a later version of the service may send is left alone, its number is not.
    const touched = Object.hasOwn(APPLY, type) ? APPLY[type](this, message) : NOTHING;
    this.seq = seq;
    return touched;
  }

  /** The ids of the games that a message touched. */
  touchedGames({ all, game }) {
    if (all) return [...this.games.keys()];
    return game === undefined ? [] : [game];
  }

  game(id) {
    const game = this.games.get(id);
    if (game === undefined) throw new OutOfSequence(`game ${id} is not held`);
    return game;
  }
}

const byId = (list) => new Map(list.map((each) => [each.id, each]));

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

/** The moments of a game from a ply on are told no more. */
function dropMoments(held, game, ply) {
  for (const [id, moment] of held.moments) {
    if (moment.game === game && moment.ply >= ply) held.moments.delete(id);
  }
}

/** The points of a curve before a ply; the same array when that is all of them. */
function before(points, ply) {
  let end = points.length;
  while (end > 0 && points[end - 1].ply >= ply) end -= 1;
  return end === points.length ? points : points.slice(0, end);
}

// --- as it stood after an earlier ply -------------------------------------------------------------

/** A game as it stood after a ply; null, and a ply that is not reached, mean as it is. */
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
    /** So many there are by now. */
    whole_plies: game.plies.length,
    plies_scored: Math.min(ply, game.plies_scored ?? 0),
    // Of these nobody knows how they stood then.
    head_to_head: null,
    problem: null,
    dispute: "",
    eco: "",
    opening: "",
    termination: "",
  };
}

/**
 * All that is held, with each game (`only` one, where it is named) as it stood after a ply. What
 * rests on several games (figures and points of players, moments of nobody) is left out where a game
 * that it may rest on went on.
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
  const known = ([, moment]) => moment.color !== null && (!cut.has(moment.game) || moment.ply <= ply);
  then.games = games;
  then.players = new Map();
  then.moments = new Map([...held.moments].filter(known));
  return then;
}

// --- held back ------------------------------------------------------------------------------------

/**
 * Holds messages back, so that an overlay fits a delayed picture or gives nobody in the hall the
 * score of now; the time comes in. It stands between the connection and what is held, and looks like
 * the latter. What is resumed from is the last message received; what is seen is the last one due.
 */
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
    mustFollow(this.seq, message);
    const { type, seq } = message;
    // Not what is played: which figure leads here.
    if (type === "hello") this.hello = this._shown.hello = message;
    if (type === "hello" || type === "heartbeat") return {};
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
  const unknown = { start_score_cp: null, problem: null, eco: "", opening: "", termination: "" };
  const games = snapshot.games.map((game) => ({ ...asOf(wholeGame(game), 0), ...unknown, result: "*" }));
  return { ...snapshot, games, players: [], moments: [] };
}

/** A snapshot whose moments are no news when it is due: they were there before the page was. */
function withOldMoments({ moments = [], ...snapshot }) {
  return { ...snapshot, moments: moments.map((moment) => ({ ...moment, at_s: null })) };
}
