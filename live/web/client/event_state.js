/**
 * What the page holds: a snapshot with every later message applied to it. Pure, no DOM.
 *
 * The messages are those of `live/events.py`. Held objects are never changed in place, only
 * replaced, so that a view sees by identity what is new.
 */

/** A message that cannot follow from what is held: something was lost; take a fresh snapshot. */
export class OutOfSequence extends Error {}

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
    /** With `detail=gains`: moves by gain in centipawns, by the player's id. */
    this.gains = new Map();
    /** The engine's own gains: pairs of centipawns and moves. */
    this.engineGains = [];
  }

  /**
   * Applies one message. Answers what to draw anew: `{all}`, `{game}`, `{players}`, `{health}`.
   * Throws OutOfSequence when a number is missing or the message makes no sense here.
   */
  receive(message) {
    const { type, seq } = message;
    if (type === "hello") {
      if (message.resumed && (this.hello === null || this.seq !== seq)) {
        throw new OutOfSequence(`resumed after ${seq}, but held is ${this.seq}`);
      }
      this.hello = message;
      return EVERYTHING;
    }
    if (type === "heartbeat") {
      if (seq !== this.seq) throw new OutOfSequence(`heartbeat at ${seq}, but held is ${this.seq}`);
      if (this.hello === null || !message.public_delay) return NOTHING;
      this.hello = { ...this.hello, public_delay: message.public_delay };
      return { health: true };
    }
    if (type !== "snapshot" && (this.seq === null || seq !== this.seq + 1)) {
      throw new OutOfSequence(`${type} ${seq} does not follow ${this.seq}`);
    }
    // A type that a later version of the service may send is left alone, its number is not.
    const touched = Object.hasOwn(APPLY, type) ? APPLY[type](this, message) : NOTHING;
    this.seq = seq;
    return touched;
  }

  game(id) {
    const game = this.games.get(id);
    if (game === undefined) throw new OutOfSequence(`game ${id} is not held`);
    return game;
  }
}

const APPLY = {
  snapshot(held, message) {
    const { engine, games, players, feeds, engines, alerts = [], moments = [], gains = [] } = message;
    held.engine = engine;
    held.games = new Map(games.map((game) => [game.id, game]));
    held.players = new Map(players.map((player) => [player.id, player]));
    held.feeds = feeds;
    held.engines = engines;
    held.alerts = new Map(alerts.map((alert) => [alert.id, alert]));
    held.moments = new Map(moments.map((moment) => [moment.id, moment]));
    held.gains = new Map(gains.map(({ player, counts }) => [player, new Map(counts)]));
    held.engineGains = message.engine_gains ?? [];
    return EVERYTHING;
  },

  game(held, { game }) {
    const { plies = [], curves = { white: [], black: [] } } = held.games.get(game.id) ?? {};
    held.games.set(game.id, { ...game, plies, curves });
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
      plies.push(move);
    }
    const curves = { white: before(game.curves.white, ply), black: before(game.curves.black, ply) };
    held.games.set(id, { ...game, plies, curves });
    dropMoments(held, id, ply);
    return { game: id };
  },

  clock(held, { game: id, ply, clock_s, spent_s }) {
    const game = held.game(id);
    if (ply <= game.plies.length) {
      held.games.set(id, { ...game, plies: game.plies.with(ply - 1, { ...game.plies[ply - 1], clock_s, spent_s }) });
    }
    return { game: id };
  },

  score(held, { game: id, ply }) {
    const game = held.game(id);
    if (ply.ply <= game.plies.length) {
      held.games.set(id, { ...game, plies: game.plies.with(ply.ply - 1, ply) });
    }
    return { game: id };
  },

  point(held, { game: id, color, point }) {
    const game = held.game(id);
    const curve = [...before(game.curves[color], point.ply), point];
    held.games.set(id, { ...game, curves: { ...game.curves, [color]: curve } });
    return { game: id };
  },

  standing(held, { player }) {
    if (player.games || player.moves) held.players.set(player.id, player);
    else {
      held.players.delete(player.id);
      held.gains.delete(player.id);
    }
    return { players: true };
  },

  gains(held, { player, gain_cp, moves }) {
    const counts = new Map(held.gains.get(player));
    if (moves) counts.set(gain_cp, moves);
    else counts.delete(gain_cp);
    if (counts.size) held.gains.set(player, counts);
    else held.gains.delete(player);
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

/** Who makes ply `ply`. */
export function moverOf(ply, startFen) {
  const blackFirst = startFen.split(" ")[1] === "b";
  return (ply % 2 === 1) !== blackFirst ? "white" : "black";
}

/** The event; empty when it is only the pairing, as lichess names each game of a broadcast. */
export function eventOf({ event, white, black }) {
  return white.name && black.name && event.includes(`${white.name} - ${black.name}`) ? "" : event;
}

/** Event, round (2 before 10, 2.9 before 2.10), board, id: the order of the service's snapshots. */
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
  const found = ROUND.exec(text.slice(0, 80).trim());
  return found === null ? 0 : Number(found[1] ?? found[2]);
}

/** One name for one round, as `live/games/game.py` has it: `8` of `08.5` and `Round 8`. */
export function mainRound(text) {
  const number = roundNumber(text);
  return number ? String(number) : text.split(".")[0];
}

/** Round and place in it: `7.2` stands between boards 1 and 3 of round `7`. */
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

function roundPart(part) {
  return /^[0-9]{1,9}$/.test(part) ? [Number(part), ""] : [-1, part];
}

/** By code point, as Python orders text; `<` would order by UTF-16 unit. */
export function compareText(a, b) {
  const left = [...a];
  const right = [...b];
  for (let at = 0; at < Math.min(left.length, right.length); at += 1) {
    const order = left[at].codePointAt(0) - right[at].codePointAt(0);
    if (order) return order;
  }
  return left.length - right.length;
}
