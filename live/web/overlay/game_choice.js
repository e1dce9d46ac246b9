/** Which games an overlay shows. Pure: the time comes in. */

import { whiteShare } from "../drawing/number_format.js";
import { currentRound } from "../client/event_rounds.js";
import { gameOrder } from "../client/event_state.js";
import { figureOf, isEarly, unratedOf } from "../client/figures.js";
import { eventOf } from "./shown_figures.js";

/** How long a result stays on the screen before the next game takes its place. */
const LINGER_MS = 20_000;
/** How long its last scores are waited for at most, before that. */
const SETTLE_MS = 90_000;
/** A game that is followed stays at least so long, or viewers could not read it. */
const STAY_MS = { closest: 20_000, latest: 10_000 };
/** Another game must be closer by so much of White's share, or the overlay would flicker. */
const CLOSER = 0.03;

const running = (game) => game.result === "*" && game.plies.length > 0;

/** A name as filters compare it, as `fold` of `live/publish/visibility.py` does. */
function folded(name) {
  return name.normalize("NFC").toUpperCase().toLowerCase().split(/\s+/).filter(Boolean).join(" ");
}

/** Whether a player is one of those asked for, by name or FIDE id. */
export function isAsked({ name, fide_id: id }, asked) {
  const wanted = asked.map(folded);
  return wanted.includes(folded(name)) || (Boolean(id) && wanted.includes(String(id)));
}

/** The order of the service's snapshots, without regard to events that viewers do not see. */
function order(a, b) {
  return gameOrder({ ...a, event: eventOf(a) }, { ...b, event: eventOf(b) });
}

export class Chooser {
  /** `story`: what finds the board that matters, where that is followed. */
  constructor(options, story = null) {
    this._options = options;
    this._story = story;
    /** The game followed, since when, when it was seen to end, and when its figures were whole. */
    this._followed = null;
    this._since = 0;
    this._over = null;
    this._ended = null;
    /** Per game: the last move and when it was seen. */
    this._moves = new Map();
  }

  /**
   * The games to show, in order. One-game layouts take the first. Where scores are `withheld`, none
   * are waited for.
   */
  choose(games, now, moments = [], withheld = false) {
    const { game: ids, board: boards, follow, player, event: events = [] } = this._options;
    this._story?.note(moments, now);
    let chosen = [...games].sort(this._options.order === "perceived" ? byPerceived : order);
    // The service sends nothing else; a broker sends all.
    if (events.length > 0) {
      const wanted = events.map(folded);
      chosen = chosen.filter((game) => wanted.includes(folded(game.event)));
    }
    if (player.length > 0) {
      chosen = chosen.filter(({ white, black }) => isAsked(white, player) || isAsked(black, player));
    }
    if (ids.length > 0) chosen = chosen.filter((game) => ids.includes(game.id));
    else chosen = currentRound(chosen, eventOf);
    if (boards.length > 0) chosen = chosen.filter((game) => boards.includes(game.board));
    this._note(chosen, now);
    const named = ids.length > 0 || boards.length > 0 || player.length > 0;
    const settled = (game) => withheld || unratedOf(game) === 0;
    const first = this._follow(chosen, follow ?? (named ? null : "top"), now, settled);
    return first ? [first, ...chosen.filter((game) => game !== first)] : chosen;
  }

  _note(games, now) {
    const known = new Set();
    for (const game of games) {
      known.add(game.id);
      const last = `${game.plies.length} ${game.plies.at(-1)?.uci}`;
      const held = this._moves.get(game.id);
      // What was there when the page opened is older than anything seen since.
      if (held === undefined) this._moves.set(game.id, { last, at: -Infinity });
      else if (held.last !== last) this._moves.set(game.id, { last, at: now });
    }
    for (const id of this._moves.keys()) if (!known.has(id)) this._moves.delete(id);
  }

  _follow(games, follow, now, settled) {
    if (follow === null || games.length === 0) return null;
    const current = games.find((game) => game.id === this._followed) ?? null;
    const live = games.filter(running);
    // A result may be withdrawn: then the game is not over yet.
    if (current && running(current)) this._over = this._ended = null;
    if (current && !running(current) && live.length > 0) {
      this._over ??= now;
      if (settled(current) || now - this._over > SETTLE_MS) this._ended ??= now;
      if (this._ended === null || now - this._ended < LINGER_MS) return current;
    } else if (current && (live.length === 0 || now - this._since < this._stayMs(follow))) {
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

  _stayMs(follow) {
    return follow === "story" ? 1000 * (this._options.stay ?? 20) : (STAY_MS[follow] ?? 0);
  }

  _best(games, follow, current) {
    if (follow === "story") {
      const told = this._story.best(games, current);
      // While nothing is worth telling, what is being watched stays, and else the closest game.
      if (told !== null || current) return told ?? current;
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

/** Highest perceived rating of either side first, once it is not early; the others in their order. */
function byPerceived(a, b) {
  return bestPerceived(b) - bestPerceived(a) || order(a, b);
}

function bestPerceived({ curves }) {
  const figures = [curves.white.at(-1), curves.black.at(-1)].map((point) => figureOf(point, "perceived"));
  return Math.max(-1, ...figures.filter((figure) => figure && !isEarly(figure)).map(({ value }) => value));
}

/** How far from level a game stands, 0 to 0.5; unknown is as far as can be. */
function imbalance(game) {
  const cp = game.plies.findLast((ply) => ply.score_cp !== null)?.score_cp ?? null;
  return cp === null ? 0.5 : Math.abs(whiteShare(cp) - 0.5);
}
