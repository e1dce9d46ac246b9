/** The score of a game: a bar, its number, the last move, and a swing while viewers should see it. */

import { element, setText } from "../drawing/elements.js";
import { moveText, resultText, scoreText } from "../drawing/number_format.js";
import { isolated, shortName } from "../drawing/player_names.js";
import { moverOf } from "../client/event_state.js";
import { bestInstead, lastMove, scoreOf } from "./shown_figures.js";
import { fill, localMove } from "./language/words.js";

/** White's part of a bar once the game is over. */
const RESULTS = { "1-0": 1, "0-1": 0, "1/2-1/2": 0.5 };

export class ScoreBar {
  constructor() {
    this.node = element("div", "bar", "", element("i", "fill"), element("i", "level"));
  }

  /** White's share by the score that stands beside it, or how the game ended. */
  draw(score, result = "*") {
    this.node.style.setProperty("--white", (RESULTS[result] ?? score?.share ?? 0.5).toFixed(3));
    this.node.classList.toggle("unknown", score === null);
  }
}

/** The score bar with the number and the last move beside it. */
export class ScorePanel {
  /** `briefly`: there is room for few words; a layout may change that. */
  constructor({ options, words, moves, everybody }, briefly = false) {
    this.briefly = briefly;
    this._options = options;
    this._words = words;
    this._moves = moves;
    this._everybody = everybody;
    this._shown = null;
    this.bar = new ScoreBar();
    this.move = element("span", "move");
    this.number = element("span", "score");
    this.alert = element("span", "alert");
    this.alert.hidden = true;
  }

  draw(game, swing) {
    const score = scoreOf(game, this._options.provisional);
    this.bar.draw(score, game.result);
    // What a finished position was worth is no news beside how the game ended.
    const result = resultText(game.result);
    setText(this.number, result || (score?.text ?? ""));
    this.number.dataset.state = result ? "result" : (score?.state ?? "");
    const move = lastMove(game, this._words);
    setText(this.move, move);
    const shown = `${game.id} ${move}`;
    if (this._shown !== null && this._shown !== shown && this._moves()) {
      this.move.animate({ opacity: [0.2, 1] }, { duration: 400 });
    }
    this._shown = shown;
    this._alert(game, swing);
  }

  _alert(game, swing) {
    if (swing === null) {
      this.alert.hidden = true;
      return;
    }
    const told = this.briefly ? swingText : swingSentence;
    setText(this.alert, told(game, swing, this._words, notation.sanOf, this._everybody()));
    this.alert.dataset.color = swing.color;
    if (this.alert.hidden && this._moves()) {
      const from = { opacity: 0, transform: "translateY(0.5em)" };
      this.alert.animate([from, { opacity: 1, transform: "none" }], { duration: 350, easing: "ease-out" });
    }
    this.alert.hidden = false;
  }
}

/** Writes moves as people do; loaded with the first swing. */
export const notation = {
  asked: false,
  _sanOf: null,
  get sanOf() {
    if (!this.asked) {
      this.asked = true;
      import("../client/move_notation.js").then((loaded) => (this._sanOf = loaded.sanOf));
    }
    return this._sanOf;
  },
};

/** What a move lost, for its mover, in centipawns; not above what decides a game. */
const MOST_CP = 1000;

/** `{move, mover, lost, mate, best}` of a swing; `lost` is null where its mover gained by it. */
function blunder(game, { ply, from, to }, words, sanOf) {
  const played = game.plies[ply - 1];
  if (played === undefined) return null;
  const mover = moverOf(ply, game.start_fen);
  const sign = mover === "white" ? 1 : -1;
  const within = (cp) => Math.max(-MOST_CP, Math.min(MOST_CP, cp));
  const lost = sign * (within(from) - within(to));
  const mate = (played.mate ?? null) !== null && sign * to < 0 ? Math.abs(played.mate) : null;
  return {
    move: moveText(ply, localMove(played.san, words.letters), game.start_fen),
    mover,
    lost: lost > 0 ? (lost / 100).toFixed(1) : null,
    mate: mate || null,
    best: lost > 0 ? bestInstead(game, ply, words, sanOf) : null,
  };
}

/** Who lost how much, and what was best: `Daniel: 26… Rfd8 costs 2.7 pawns · best was Rac8`. */
export function swingSentence(game, swing, words, sanOf = null, others = []) {
  const said = blunder(game, swing, words, sanOf);
  if (said === null || (said.lost === null && said.mate === null)) return swingText(game, swing, words, sanOf);
  const cost = said.mate === null ? fill(words.costs, said.lost.replace(".", words.decimal)) : fill(words.allowsMate, said.mate);
  const best = said.best === null ? "" : ` \u00b7 ${fill(words.best, said.best)}`;
  return `${isolated(shortName(game[said.mover].name || "?", others))}: ${said.move} ${cost}${best}`;
}

/** The same where there is little room: `26… Rfd8 −2.7 · best Rac8`. */
export function swingText(game, swing, words, sanOf = null) {
  const said = blunder(game, swing, words, sanOf);
  if (said === null) return words.swing;
  if (said.mate !== null) return `${said.move} ${fill(words.allowsMate, said.mate)}`;
  if (said.lost === null) return `${words.swing} ${said.move} ${scoreText(swing.from, null)} \u2192 ${scoreText(swing.to, null)}`;
  const best = said.best === null ? "" : ` \u00b7 ${fill(words.bestShort, said.best)}`;
  return `${said.move} \u2212${said.lost}${best}`;
}

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
