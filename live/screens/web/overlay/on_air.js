/** The choice of the games and the moment that an overlay shows, and its status text. Pure: the time is an argument. */

import { unratedOf } from "../client/figures.js";
import { eventOf, gameOrder, mainRound, roundOrder, running } from "../client/games.js";
import { whiteShare } from "../drawing/number_format.js";
import { age, fill, tokenText } from "./language/words.js";

/** Time for which the result of a finished game stays on the screen before the next game replaces it. */
const LINGER_MS = 20_000;
/** Longest wait for the last scores of a finished game. The time for its result begins after this wait. */
const SETTLE_MS = 90_000;
/** Shortest time on the screen for each way to follow games, so that viewers can read it. */
const STAY_MS = { closest: 20_000, latest: 10_000, story: 20_000 };
/** Another game replaces the current one if it is closer by this part of the score bar; with less the overlay would flicker. */
const CLOSER = 0.03;

/** Return a name as filters compare it; same as `fold_name` of `live/games/player_identity.py`. */
const foldName = (name) => name.normalize("NFC").toUpperCase().toLowerCase().split(/\s+/).filter(Boolean).join(" ");

/** Return whether a player is in the list `asked` of names and FIDE ids. */
export function isAsked({ name, fide_id: id }, asked) {
  const askedNames = asked.map(foldName);
  return askedNames.includes(foldName(name)) || (Boolean(id) && askedNames.includes(String(id)));
}

/** Return the games of each event's current round: its last round with running games or, without any, its last round. */
function currentRound(games) {
  return [...Map.groupBy(games, eventOf).values()].flatMap((all) => {
    const live = all.filter(running);
    const rounds = new Set((live.length ? live : all).map(({ round }) => mainRound(round)));
    const last = [...rounds].sort(roundOrder).at(-1);
    return all.filter(({ round }) => mainRound(round) === last);
  });
}

export class Chooser {
  constructor(options) {
    this._options = options;
    this._story = options.follow === "story" ? new Story() : null;
    /** The followed game, and the times when it was chosen, when it ended, and when its last figures had arrived. */
    this._followed = null;
    this._since = 0;
    this._over = null;
    this._ended = null;
    /** For each game: its last move and the time when that move arrived here. */
    this._moves = new Map();
  }

  /** Return the games to show; layouts of one game use the first. A result does not wait for scores that are `withheld`. */
  choose(games, now, moments = [], withheld = false) {
    const { game: ids, board: boards, follow, player, event: events = [] } = this._options;
    this._story?.note(moments, now);
    let chosen = [...games].sort(gameOrder);
    // The service sends only the events in the address, but a broker sends all.
    if (events.length > 0) {
      const eventNames = events.map(foldName);
      chosen = chosen.filter((game) => eventNames.includes(foldName(game.event)));
    }
    if (player.length > 0) {
      chosen = chosen.filter(({ white, black }) => isAsked(white, player) || isAsked(black, player));
    }
    if (ids.length > 0) chosen = chosen.filter((game) => ids.includes(game.id));
    else chosen = currentRound(chosen);
    if (boards.length > 0) chosen = chosen.filter((game) => boards.includes(game.board));
    this._note(chosen, now);
    const named = ids.length > 0 || boards.length > 0 || player.length > 0;
    const settled = (game) => withheld || unratedOf(game) === 0;
    const first = this._follow(chosen, follow ?? (named ? null : "top"), now, settled);
    return first ? [first, ...chosen.filter((game) => game !== first)] : chosen;
  }

  _note(games, now) {
    const ids = new Set();
    for (const game of games) {
      ids.add(game.id);
      const last = `${game.plies.length} ${game.plies.at(-1)?.uci}`;
      const lastMove = this._moves.get(game.id);
      // A move that was there when the page opened counts as older than all later moves.
      if (lastMove === undefined) this._moves.set(game.id, { last, at: -Infinity });
      else if (lastMove.last !== last) this._moves.set(game.id, { last, at: now });
    }
    for (const id of this._moves.keys()) if (!ids.has(id)) this._moves.delete(id);
  }

  _follow(games, follow, now, settled) {
    if (follow === null || games.length === 0) return null;
    const current = games.find((game) => game.id === this._followed) ?? null;
    const live = games.filter(running);
    // If a result is withdrawn, the game has not ended yet.
    if (current && running(current)) this._over = this._ended = null;
    if (current && !running(current) && live.length > 0) {
      this._over ??= now;
      if (settled(current) || now - this._over > SETTLE_MS) this._ended ??= now;
      if (this._ended === null || now - this._ended < LINGER_MS) return current;
    } else if (current && (live.length === 0 || now - this._since < (STAY_MS[follow] ?? 0))) {
      return current;
    }
    const best = this._best(live.length ? live : games, follow, live.includes(current) ? current : null);
    if (best.id !== this._followed) {
      this._followed = best.id;
      this._since = now;
      this._over = null;
      this._ended = null;
    }
    return best;
  }

  _best(games, follow, current) {
    if (follow === "story") {
      const best = this._story.best(games, current);
      // If no game has a recent moment, keep the current game or, without one, take the closest.
      if (best !== null || current) return best ?? current;
      return this._best(games, "closest", null);
    }
    if (follow === "closest") {
      const closest = games.reduce((a, b) => (imbalance(b) < imbalance(a) ? b : a));
      if (current && imbalance(current) <= imbalance(closest) + CLOSER) return current;
      return closest;
    }
    if (follow === "latest") {
      const at = (game) => this._moves.get(game.id).at;
      const latest = games.reduce((a, b) => (at(b) > at(a) ? b : a));
      return current && at(current) >= at(latest) ? current : latest;
    }
    const board = (game) => game.board ?? Infinity;
    return games.reduce((a, b) => (board(b) < board(a) ? b : a));
  }
}

/** Return how far a game is from equal, 0 to 0.5; 0.5 if unknown. */
function imbalance(game) {
  const cp = game.plies.findLast((ply) => ply.score_cp !== null)?.score_cp ?? null;
  return cp === null ? 0.5 : Math.abs(whiteShare(cp) - 0.5);
}

/** Time after which a moment is half as interesting. */
const HALF_LIFE_MS = 90_000;
/** Another game replaces the current one if its interest is this much greater; with less the picture would change too often. */
const MORE = 0.15;

/** Number of moments that are remembered as seen. */
const KNOWN = 1_000;

/**
 * The times when moments arrived at this page. A moment counts as old if it has no time or was there when the page
 * opened. A moment that is withdrawn and sent again keeps its age.
 */
export class MomentAges {
  constructor() {
    this._seen = null;
  }

  /** Record the current moments. */
  note(moments, now) {
    const first = this._seen === null;
    this._seen ??= new Map();
    for (const { id, at_s: atS } of moments) {
      if (first || atS === null) this._seen.set(id, -Infinity);
      else if (!this._seen.has(id)) this._seen.set(id, now);
    }
    for (const id of this._seen.keys()) {
      if (this._seen.size <= KNOWN) break;
      this._seen.delete(id);
    }
  }

  /** Return the time since a moment first arrived, milliseconds. */
  age(moment, now) {
    return now - (this._seen?.get(moment.id) ?? -Infinity);
  }
}

/** The interest of each game for viewers: that of its most interesting moment. */
class Story {
  constructor() {
    this._ages = new MomentAges();
    this._interests = new Map();
  }

  note(moments, now) {
    this._ages.note(moments, now);
    this._interests = new Map();
    for (const moment of moments) {
      const interest = moment.weight * 0.5 ** (this._ages.age(moment, now) / HALF_LIFE_MS);
      this._interests.set(moment.game, Math.max(this._interests.get(moment.game) ?? 0, interest));
    }
  }

  /** Return the most interesting game, or null; `current` stays unless another is clearly more interesting. */
  best(games, current) {
    const interest = (game) => this._interests.get(game.id) ?? 0;
    const best = games.reduce((a, b) => (interest(b) > interest(a) ? b : a));
    if (interest(best) <= 0) return null;
    return current && interest(best) < interest(current) + MORE ? current : best;
  }
}

/** Return the newest moment if it is younger than `holdMs` or with `always`; otherwise null. */
export function shownMoment(moments, games, ages, now, { holdMs, always }) {
  const ids = new Set(games.map(({ id }) => id));
  const chosen = moments.filter(({ game }) => ids.has(game));
  // Moments that were there when the page opened have an infinite age, and are sorted by their own times.
  const order = (a, b) => ages.age(a, now) - ages.age(b, now) || (b.at_s ?? 0) - (a.at_s ?? 0) || b.weight - a.weight;
  const newest = chosen.toSorted(order)[0] ?? null;
  return always || (newest !== null && ages.age(newest, now) < holdMs) ? newest : null;
}

/** Shortest loss of the connection that the overlay reports. */
const UNSEEN_MS = 5_000;
/** Shortest failure of a source that the overlay reports. */
const SOURCE_UNSEEN_MS = 60_000;
/** States of a failing source. A silent source is not failing, since players can think for a long time. */
const FAILING = new Set(["retrying", "failed"]);

/** A time that stands for an unknown time before the overlay was opened. */
const BEFORE = -1e12;

/** Times since which sources have been failing; one object for each overlay. */
export class Failures {
  constructor() {
    this._since = new Map();
    this._first = null;
  }

  /**
   * Record the state of the sources; return the time since which a source of these games has been failing, or null. The
   * result is {@link BEFORE}, after a short wait, if the source failed before the overlay was opened.
   */
  since(feeds, games, now) {
    const failing = new Set(feeds.filter(({ state }) => FAILING.has(state)).map(({ feed }) => feed));
    for (const feed of this._since.keys()) if (!failing.has(feed)) this._since.delete(feed);
    for (const feed of failing) if (!this._since.has(feed)) this._since.set(feed, this._first === null ? BEFORE : now);
    if (feeds.length > 0) this._first ??= now;
    const shownFeeds = new Set(games.filter((game) => game.result === "*").map((game) => game.feed));
    const isReported = ([feed, at]) => shownFeeds.has(feed) && (at !== BEFORE || now - this._first > UNSEEN_MS);
    const times = [...this._since].filter(isReported).map(([, at]) => at);
    return times.length > 0 ? Math.min(...times) : null;
  }
}

/** Return the time since which the picture is out of date; null if it is not. */
export function lostSince({ connection, failingSince, now }) {
  if (connection.heardAt === null) return null;
  if (connection.status !== "live" && now - connection.heardAt > UNSEEN_MS) return connection.heardAt;
  return failingSince !== null && now - failingSince > SOURCE_UNSEEN_MS ? failingSince : null;
}

/** Return the text about a lost connection: the age of the picture or, if unknown, that the source is not live. */
export const lostText = (since, now, words) => (since === BEFORE ? words.notLive : fill(words.asOf, age(words, (now - since) / 1000)));

/** Return the overlay's status text, or an empty text; `asked` lists the games, boards, players and events in the address. */
export function statusText({ asked = [], trouble = "", connection, held, games, now, layout, lost, since }, words) {
  if (connection.heardAt === null && trouble) return tokenText(trouble, words);
  if (connection.status === "refused") return fill(words.refused, connection.reason);
  if (connection.heardAt === null) return words.connecting;
  if (since !== null) return lost === "notice" ? lostText(since, now, words) : "";
  if (layout === "standings" && held.players.size > 0) return "";
  if (layout === "standings" && games.length > 0) {
    return held.engine?.rating_source === "withheld" ? words.withheld : words.waiting;
  }
  if (games.length > 0) return "";
  return asked.length > 0 ? fill(words.notThere, asked.join(", ")) : words.waiting;
}
