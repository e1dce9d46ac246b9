/** Parts of the layouts: a player, the score, and a swing, which is a large change of the score by one move. */

import { compareWithUsual } from "../client/figures.js";
import { element, setParts, setText } from "../drawing/elements.js";
import { bothSides, moverOf } from "../client/games.js";
import { moveText, scoreText } from "../drawing/number_format.js";
import { isolated, Name, shortName } from "../drawing/player_names.js";
import {
  bestInstead, clockOf, fallText, figureWords, lastMove, placeOf, pointsOf, markScore, scoreOf, turnOf, unratedPart, withoutFigure,
} from "./shown_figures.js";
import { fill, localMove } from "./language/words.js";

/** A layout of one game: both players, the score, and the round and board. Subclasses arrange and draw them in `drawGame`. */
export class OneGame {
  /** Whether the layout itself writes the notice of a lost connection. */
  ownNotice = true;

  constructor(context, briefly = false) {
    this.context = context;
    this.place = element("p", "place");
    this.sides = bothSides((color) => new PlayerPanel(color, context));
    this.score = new ScorePanel(context, briefly);
  }

  /** Return the size of a rem. A layout defines its `size` in rem and, for an upright page, `tall`. */
  fit(width, height) {
    const upright = this.tall !== undefined && width < height;
    this.node.classList.toggle("tall", upright);
    const design = upright ? this.tall : this.size;
    return Math.min(width / design.width, height / design.height);
  }

  draw(picture) {
    const [game = null] = picture.games;
    this.node.hidden = game === null;
    if (game === null) return;
    setParts(this.place, picture.notice || placeOf(game, this.context.words));
    this.place.classList.toggle("notice", Boolean(picture.notice));
    this.drawGame(game, picture);
  }
}

/** One of several games: board number, both players and the score, arranged by the layout. */
export class SmallGame {
  constructor(context) {
    this._words = context.words;
    this.place = element("span", "place");
    this.score = new ScorePanel(context, true);
    this.sides = bothSides((color) => new PlayerPanel(color, context));
  }

  /** Draw a game; a `notice` replaces the board number. */
  draw(game, swing, notice = "") {
    setText(this.place, notice || (game.board === null ? "" : fill(this._words.board, game.board)));
    this.place.classList.toggle("notice", Boolean(notice));
    for (const side of Object.values(this.sides)) side.draw(game);
    this.score.draw(game, swing);
  }
}

/** The line of a player: federation, title, name, and other parts. */
export class Who {
  /** `before` are nodes before the name, `beside` nodes after it. */
  constructor(before, beside) {
    this._flag = element("span", "flag");
    this._title = element("span", "title");
    this._name = new Name();
    this.node = element("div", "who", "", ...before, this._flag, this._title, this._name.node, ...beside);
  }

  /** Draw a player; `beside` is a text that changes whenever the room for the name does. */
  draw({ name, title, federation }, everybody, beside = "") {
    // A country's full name, as some sources send it, is too long here.
    setText(this._flag, /^[A-Z]{2,3}$/i.test(federation ?? "") ? federation.toUpperCase() : "");
    setText(this._title, title ?? "");
    this._name.draw(name || "?", everybody, `${title} ${beside}`);
  }
}

/** A player with clock and figure: the figure's name, its value, the usual range, and the percentile in words. */
class PlayerPanel {
  constructor(color, context) {
    this._color = color;
    this._context = context;
    this._eloValue = element("span", "value");
    this._elo = element("p", "elo", "", element("span", "label", context.words.elo), this._eloValue);
    this._points = element("strong", "points");
    this._material = element("span", "material");
    this._clock = element("span", "clock");
    this._who = new Who([element("i", "piece")], [this._material, this._points, this._clock]);
    this._label = element("span", "label");
    this._value = element("span", "value");
    this._usual = element("span", "interval");
    this._better = element("span", "better");
    this._fall = element("span", "fall");
    const about = element("span", "about", "", this._usual, this._better, this._fall);
    this._rating = element("p", "rating main", "", element("span", "read", "", this._label, this._value), about);
    this.node = element("section", `player ${color}`, "", this._who.node, element("div", "ratings", "", this._rating, this._elo));
  }

  /** Draw a player. `material` is the text of the side's surplus pieces; `isTold` tells that a swing already shows the loss. */
  draw(game, { material = "", isTold = false } = {}) {
    const { _color: color } = this;
    const { everybody, elapsedS } = this._context;
    const player = game[color];
    setText(this._eloValue, player.elo ? String(player.elo) : "");
    this._elo.hidden = !player.elo;
    setText(this._points, pointsOf(game.result, color));
    const clock = game.result === "*" ? clockOf(game, color, elapsedS(game)) : { text: "", low: false };
    setText(this._clock, clock.text);
    this._clock.classList.toggle("low", clock.low);
    setText(this._material, material);
    this._who.draw(player, everybody(), `${material} ${this._points.textContent} ${clock.text.length}`);
    this.node.classList.toggle("turn", turnOf(game) === color && game.plies.length > 0);
    this._drawFigure(game, color, isTold);
  }

  _drawFigure(game, color, isTold) {
    const { options, words } = this._context;
    const [withheld, above] = [this._context.withheld(), this._context.above()];
    const point = game.curves[color].at(-1) ?? null;
    const isGrid = options.layout === "grid";
    const brief = ["bar", "curves", "grid", "ticker"].includes(options.layout);
    const read = withheld ? null : figureWords(game, color, point, words, { brief, above });
    // The moves that the figure does not contain yet.
    const open = withheld ? null : unratedPart(game, color, words, read?.figure, brief);
    const fall = read === null || read.figure.index || open || brief || isTold ? "" : fallText(game, color, words);
    const { classList } = this._rating;
    this._rating.dataset.how = compareWithUsual(read?.figure ?? null, game[color].elo)?.is ?? "";
    classList.toggle("none", read === null);
    classList.toggle("early", Boolean(read?.early));
    classList.toggle("open", read !== null && open !== null);
    // The name of Algorithm 4 is too long for a small board, so it is in the strip below the grid.
    setText(this._label, isGrid && read?.figure.index ? "" : (read?.label ?? ""));
    setText(this._value, read === null ? "\u2013" : read.text + (open ? "\u2026" : ""));
    // A small board has room only for the number.
    const reason = isGrid ? "" : withoutFigure(point, words, withheld);
    setText(this._usual, read === null ? reason : brief && !read.figure.index ? "" : read.usual);
    setText(this._better, read === null || isGrid ? "" : read.early ? [read.early, read.theory].filter(Boolean).join(" \u00b7 ") : open?.text || read.better);
    setText(this._fall, fall);
  }
}

/** The score bar, the score, the last move and a swing, arranged by a layout. */
class ScorePanel {
  /** `briefly` shortens the texts; a layout can change it later. */
  constructor({ options, words, moves, everybody, withheld }, briefly = false) {
    this.briefly = briefly;
    this._options = options;
    this._words = words;
    this._moves = moves;
    Object.assign(this, { _everybody: everybody, _withheld: withheld });
    this._shown = null;
    this.bar = element("div", "bar", "", element("i", "fill"));
    this.move = element("span", "move");
    this.number = element("span", "score");
    this.alert = element("span", "alert");
    this.alert.hidden = true;
  }

  draw(game, swing) {
    const score = scoreOf(game, this._options);
    const { share, state } = score;
    this.bar.hidden = this._withheld();
    this.bar.style.setProperty("--white", (share ?? 0.5).toFixed(3));
    this.bar.classList.toggle("unknown", share === null);
    setText(this.number, markScore(score));
    this.number.dataset.state = state;
    const move = lastMove(game, this._words);
    setText(this.move, move);
    const shownMove = `${game.id} ${move}`;
    if (this._shown !== null && this._shown !== shownMove && this._moves()) {
      this.move.animate({ opacity: [0.2, 1] }, { duration: 400 });
    }
    this._shown = shownMove;
    if (swing !== null) {
      setText(this.alert, (this.briefly ? swingText : swingSentence)(game, swing, this._words, this._everybody()));
      if (this.alert.hidden && this._moves()) {
        const from = { opacity: 0, transform: "translateY(0.5em)" };
        this.alert.animate([from, { opacity: 1, transform: "none" }], { duration: 350, easing: "ease-out" });
      }
    }
    this.alert.hidden = swing === null;
  }
}

/** Largest loss of a move that is written, centipawns, since a larger loss decides a game anyway. */
const MOST_CP = 1000;
/** Smallest loss for which a swing's loss is written, centipawns; for a smaller loss both scores are written. */
const LEAST_CP = 50;

/** Return a swing in words, `{move, mover, lost, mate, best}`; `lost` is null if the mover gained by the move. */
function describeBlunder(game, { ply, from, to }, words) {
  const played = game.plies[ply - 1];
  if (played === undefined) return null;
  const mover = moverOf(ply, game.start_fen);
  const sign = mover === "white" ? 1 : -1;
  const within = (cp) => Math.max(-MOST_CP, Math.min(MOST_CP, cp));
  // The move's gain is more exact than the difference of two scores, which come from separate searches.
  const lost = Math.min(MOST_CP, -(played.gain_cp ?? sign * (within(to) - within(from))));
  const mate = (played.mate ?? null) !== null && sign * to < 0 ? Math.abs(played.mate) : null;
  return {
    move: moveText(ply, localMove(played.san, words.letters), game.start_fen),
    mover,
    lost: lost >= LEAST_CP ? (lost / 100).toFixed(1) : null,
    mate: mate || null,
    best: lost >= LEAST_CP ? bestInstead(game, ply, words) : null,
  };
}

/** Return a swing as a sentence with its player and the best move: `Daniel: 26… Rfd8 costs 2.7 pawns · best was Rac8`. */
export function swingSentence(game, swing, words, others = []) {
  const blunder = describeBlunder(game, swing, words);
  if (blunder === null || (blunder.lost === null && blunder.mate === null)) return swingText(game, swing, words);
  const cost = blunder.mate === null ? fill(words.costs, Number(blunder.lost).toLocaleString(words.locale, { minimumFractionDigits: 1 })) : fill(words.allowsMate, blunder.mate);
  const best = blunder.best === null ? "" : `\u00a0\u00b7 ${fill(words.best, blunder.best)}`;
  return `${isolated(shortName(game[blunder.mover].name || "?", others))}: ${blunder.move} ${cost}${best}`;
}

/** Return a swing as a short text: `26… Rfd8 −2.7 · best Rac8`. */
export function swingText(game, swing, words) {
  const blunder = describeBlunder(game, swing, words);
  if (blunder === null) return words.swing;
  if (blunder.mate !== null) return `${blunder.move} ${fill(words.allowsMate, blunder.mate)}`;
  if (blunder.lost === null) return `${words.swing} ${blunder.move} ${scoreText(swing.from, null)} \u2192 ${scoreText(swing.to, null)}`;
  const best = blunder.best === null ? "" : `\u00a0\u00b7 ${fill(words.bestShort, blunder.best)}`;
  return `${blunder.move} \u2212${blunder.lost}${best}`;
}

/** Time for which a swing is shown. */
const SHOWN_MS = 8_000;
/** Score from which a game counts as decided, centipawns: a change from 900 to 500 is not a swing. */
const DECIDED_CP = 400;

/** Time after a swing in which no other is shown in the same game. */
const QUIET_MS = 30_000;

export class Swings {
  /** `pawns` is the smallest difference between two final scores that counts as a swing. */
  constructor(pawns) {
    this._least = pawns * 100;
    this._games = new Map();
  }

  /** Return the swing of the last move on the first call after it; otherwise null. The first call for a game returns null. */
  look(game, now) {
    const scored = finalPly(game);
    const record = this._games.get(game.id) ?? { seen: Infinity, quietUntil: -Infinity };
    this._games.set(game.id, record);
    const before = record.seen;
    record.seen = scored;
    // A late score of an earlier move is not a new swing, nor is a takeback.
    if (this._least === 0 || scored <= before || scored !== game.plies.length) return null;
    const swing = swingAt(game, scored);
    if (swing === null || swing.size < this._least || now < record.quietUntil) return null;
    Object.assign(record, { swing, quietUntil: now + QUIET_MS, until: now + SHOWN_MS, uci: game.plies[scored - 1].uci });
    return swing;
  }

  /** Return the swing of a game while it is new and its move is not taken back; otherwise null. */
  shown(game, now) {
    const { swing = null, until, uci } = this._games.get(game.id) ?? {};
    return swing !== null && now < until && game.plies[swing.ply - 1]?.uci === uci ? swing : null;
  }

  forget(id) {
    this._games.delete(id);
  }
}

/** Return the largest swing of a game; null if there is none. */
export function largestSwing(game) {
  let largest = null;
  for (let ply = 1; ply <= game.plies.length; ply += 1) {
    const swing = swingAt(game, ply);
    if (swing !== null && swing.size > (largest?.size ?? 0)) largest = swing;
  }
  return largest;
}

/** Return the change of the score by a move, `{ply, from, to, size}`, centipawns; null while unknown. */
function swingAt(game, ply) {
  const from = ply === 1 ? game.start_score_cp : finalScore(game.plies[ply - 2]);
  const to = finalScore(game.plies[ply - 1]);
  if (from === null || to === null) return null;
  return { ply, from, to, size: Math.abs(clamp(to) - clamp(from)) };
}

/** Return the last ply with a final score; 0 if there is none. */
const finalPly = (game) => game.plies.findLast((ply) => finalScore(ply) !== null)?.ply ?? 0;

const finalScore = (ply) => (ply.final ? ply.score_cp : null);

const clamp = (cp) => Math.max(-DECIDED_CP, Math.min(DECIDED_CP, cp));
