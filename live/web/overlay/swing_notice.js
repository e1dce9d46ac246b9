/** When a score swings so far that viewers should see it. Pure: the time comes in. */

/** How long a swing is shown. */
const SHOWN_MS = 8_000;
/** Beyond four pawns a game is decided: the way from nine to five is no news. */
const DECIDED_CP = 400;

export class Swings {
  /** At least `pawns` between two final scores; then silence for `cooldownMs` in that game. */
  constructor(pawns, cooldownMs) {
    this._least = pawns * 100;
    this._cooldownMs = cooldownMs;
    this._games = new Map();
  }

  /**
   * `{ply, from, to, color}` when the last move brought a swing, reported once; `color` is who gains
   * by it. What was there when a game was first looked at is no news.
   */
  look(game, now) {
    const scored = finalPly(game);
    const held = this._games.get(game.id);
    if (held === undefined) {
      this._games.set(game.id, { seen: scored, quietUntil: -Infinity });
      return null;
    }
    const before = held.seen;
    held.seen = scored;
    // An older score that is late, or a takeback, is no news either.
    if (this._least === 0 || scored <= before || scored !== game.plies.length) return null;
    const from = scored === 1 ? game.start_score_cp : finalScore(game.plies[scored - 2]);
    const to = finalScore(game.plies[scored - 1]);
    if (from === null || Math.abs(clamp(to) - clamp(from)) < this._least) return null;
    if (now < held.quietUntil) return null;
    held.quietUntil = now + this._cooldownMs;
    held.swing = { ply: scored, from, to, color: to > from ? "white" : "black" };
    Object.assign(held, { until: now + SHOWN_MS, uci: game.plies[scored - 1].uci });
    return held.swing;
  }

  /** The swing of a game while it is news, and its move is not taken back; else null. */
  shown(game, now) {
    const { swing = null, until, uci } = this._games.get(game.id) ?? {};
    return swing !== null && now < until && game.plies[swing.ply - 1]?.uci === uci ? swing : null;
  }

  forget(id) {
    this._games.delete(id);
  }
}

/** The largest swing of a game; null where nothing swung. */
export function largestSwing(game) {
  let largest = null;
  for (let ply = 1; ply <= game.plies.length; ply += 1) {
    const from = ply === 1 ? game.start_score_cp : finalScore(game.plies[ply - 2]);
    const to = finalScore(game.plies[ply - 1]);
    if (from === null || to === null) continue;
    const size = Math.abs(clamp(to) - clamp(from));
    if (size > 0 && size > (largest?.size ?? 0)) largest = { ply, from, to, size };
  }
  if (largest === null) return null;
  const { ply, from, to } = largest;
  return { ply, from, to, color: to > from ? "white" : "black" };
}

/** The last ply with a final score; 0 when there is none. */
function finalPly(game) {
  return game.plies.findLast((ply) => finalScore(ply) !== null)?.ply ?? 0;
}

function finalScore(ply) {
  return ply.final ? ply.score_cp : null;
}

function clamp(cp) {
  return Math.max(-DECIDED_CP, Math.min(DECIDED_CP, cp));
}
