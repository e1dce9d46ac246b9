/** What stands beside the board: its moves, what others would play, and for experts every figure there is. */

import { button, childrenOf, element, headCell, named, scrollBox, setLine, setText, silent, tableOf } from "../drawing/elements.js";
import english from "../overlay/language/en.js";
import { explainButton } from "./explanations.js";
import { bandText, eloText, figureOf, pointAt } from "../client/figures.js";
import { bothSides, COLORS, moverOf } from "../client/games.js";
import { clockText, moveText, scoreText, unbroken, whiteShare } from "../drawing/number_format.js";
import { say, words } from "./language.js";
import { localMove } from "../overlay/language/words.js";
import { PLAYER_COLUMNS } from "./players.js";
import { shareWords as sharesIn } from "../overlay/shown_figures.js";

/**
 * From which loss of winning chances on a move bears which sign: as lichess judges moves, so that
 * what is lost in a decided position weighs little.
 */
export const MARKS = [[0.15, "??", "blunder"], [0.1, "?", "mistake"], [0.05, "?!", "inaccuracy"]];

/** A move that few would have found, and one that sets a trap. */
const PRAISE = { find: "!", trap: "!?" };

/** The mark of a move: `{sign, name}`; null for any other, and while nothing is known. Pure. */
export function moveMark(ply, mover) {
  const score = ply.played_cp ?? ply.score_cp;
  if (ply.gain_cp === null || score === null) return null;
  const played = mover === "white" ? score : -score;
  const lost = whiteShare(played - ply.gain_cp) - whiteShare(played);
  const found = MARKS.find(([from]) => lost >= from);
  if (found) return { sign: found[1], name: found[2] };
  return PRAISE[ply.mark] ? { sign: PRAISE[ply.mark], name: ply.mark } : null;
}

export class MoveList {
  constructor(picked) {
    this._picked = picked;
    this._game = null;
    this._cells = [];
    this._at = null;
    this._start = button(say("Start"), () => picked(0), { className: "move-cell start" });
    this._list = element("ol", "turns");
    this.node = named(element("div", "moves", "", this._start, this._list), "Moves", "group");
  }

  draw(game, at, { withheld = false } = {}) {
    if (game.plies !== this._game?.plies) this._fill(game, withheld);
    this._game = game;
    if (at === this._at) return;
    const buttons = [this._start, ...this._cells.map(({ node }) => node)];
    if (this._at !== null) buttons[this._at]?.removeAttribute("aria-current");
    this._at = at;
    const now = buttons[at];
    now?.setAttribute("aria-current", "step");
    if (now) this._reveal(now);
  }

  /** Scrolls the list, never the page. */
  _reveal(button) {
    const { node } = this;
    const top = button.offsetTop;
    const bottom = top + button.offsetHeight;
    if (top < node.scrollTop) node.scrollTop = top - 20;
    else if (bottom > node.scrollTop + node.clientHeight) node.scrollTop = bottom - node.clientHeight + 20;
  }

  _fill(game, withheld) {
    const { plies } = game;
    while (this._cells.length > plies.length) this._cells.pop();
    plies.forEach((ply, at) => {
      if (at === this._cells.length) this._cells.push(new MoveCell(at + 1, this._picked));
      this._cells[at].draw(ply, game, withheld);
    });
    const turns = [];
    this._cells.forEach(({ node }, at) => {
      const first = at === 0 || moverOf(at + 1, game.start_fen) === "white";
      if (first) turns.push([]);
      turns.at(-1).push(node);
    });
    const items = childrenOf(this._list, turns.length, () => element("li"));
    turns.forEach((nodes, at) => {
      const item = items[at];
      if (item.children.length === nodes.length && nodes.every((node, place) => item.children[place] === node)) return;
      item.replaceChildren(...nodes);
      item.classList.toggle("half", at === 0 && moverOf(1, game.start_fen) === "black");
    });
    // The mark of where we are belongs to the ply, not to the button.
    if (this._at !== null && this._at > plies.length) this._at = null;
  }
}

class MoveCell {
  constructor(ply, picked) {
    this._ply = null;
    this._san = element("span", "san");
    this._mark = element("span", "mark");
    // For those who hear the page.
    this._said = element("span", "hidden");
    this.node = button("", () => picked(ply), { className: "move-cell" });
    this.node.append(this._san, this._mark, this._said);
  }

  draw(ply, game, withheld) {
    if (ply === this._ply) return;
    this._ply = ply;
    const mover = moverOf(ply.ply, game.start_fen);
    const san = localMove(ply.san, words.letters);
    setText(this._san, mover === "white" || ply.ply === 1 ? moveText(ply.ply, san, game.start_fen) : unbroken(san));
    const mark = moveMark(ply, mover);
    setText(this._mark, mark?.sign ?? "");
    this.node.classList.toggle("first-choice", ply.best !== null && ply.best === ply.uci);
    this.node.dataset.mark = mark?.name ?? "";
    const unscored = withheld ? "" : "not scored yet";
    const said = [
      ply.score_cp === null ? unscored : `score ${scoreText(ply.score_cp, ply.mate)}${ply.final ? "" : ", provisional"}`,
      ply.gain_cp === null ? "" : ply.gain_cp === 0 ? "kept up with the engine" : `${ply.gain_cp < 0 ? "lost" : "won"} ${(Math.abs(ply.gain_cp) / 100).toFixed(2)}`,
      mark?.name ?? "",
    ];
    setText(this._said, ["", ...said.filter(Boolean)].join(", "));
  }
}

// --- for experts ----------------------------------------------------------------------------------

const DASH = "\u2013";
const FIGURES = PLAYER_COLUMNS.filter(({ curve }) => curve);

/** Algorithm 4's curve, and the figures of both sides and of every move as plain tables: behind one door. */
export class ExpertTables {
  /** `curves` is the chart of Algorithm 4. */
  constructor(curves) {
    this._key = [];
    this._curves = curves;
    this._box = element("div", "below");
    const summary = element("summary", "", say("For experts: Algorithm 4, move by move"));
    this.node = element("details", "experts", "", summary, curves.node, this._box);
    this.node.addEventListener("toggle", () => this._fill());
  }

  draw(game, ply, engine) {
    this._shown = { game, ply, engine };
    this._fill();
  }

  /** They are made only while somebody looks at them. */
  _fill() {
    const { game, ply, engine } = this._shown ?? {};
    const key = [game, ply, engine?.rating];
    if (!this.node.open || key.every((part, at) => part === this._key[at])) return;
    this._key = key;
    this._curves.draw(game, ply / 2, engine?.rating ?? null);
    const table = (title, head, rows) => {
      const cells = ([first, ...rest]) => [headCell(first, "row"), ...rest.map((text) => element("td", "", text || DASH))];
      const body = element("tbody", "", "", ...rows.map((row) => element("tr", "", "", ...cells(row))));
      return scrollBox(tableOf(title, head, body));
    };
    this._box.replaceChildren(
      table("Figures", ["Figure", "White", "Black"], methodRows(game, ply, engine)),
      table("Move by move", MOVE_HEADS, moveRows(game, engine)),
    );
  }
}

/** `[name, White's, Black's]` of every figure that a side has, and of what they are expected to score. Pure. */
export function methodRows(game, ply, engine) {
  const { curves, head_to_head: duel } = game;
  const views = bothSides((color) => pointAt(curves[color], ply) ?? {});
  const said = ({ text, interval }) => (interval ? `${text} (${interval})` : text);
  const expected = (name, score) => [name, ...[score, score === null ? null : 1 - score].map((each) => each?.toFixed(2) ?? "")];
  return [
    ...FIGURES.map((column) => [column.label, ...COLORS.map((color) => said(column.show(views[color], engine ?? undefined)))]),
    expected("Expected score by Algorithm 1", duel?.expected_score ?? null),
  ];
}

const MOVE_HEADS = ["Move", "Score", "Depth", "Clock", "Gain, cp", "Complexity, cp", "Plays like", "Usual", "Algorithm 4"];

/** Every move with its search and what the figures were after it. Pure. */
export function moveRows(game, engine) {
  const points = new Map(COLORS.flatMap((color) => game.curves[color].map((point) => [point.ply, point])));
  const four = PLAYER_COLUMNS.find(({ id }) => id === "algorithm4");
  return game.plies.map((ply) => {
    const point = points.get(ply.ply) ?? {};
    const figure = figureOf(point);
    const { text, interval } = four.show(point, engine ?? undefined);
    return [
      moveText(ply.ply, ply.san, game.start_fen), scoreText(ply.score_cp, ply.mate), String(ply.depth ?? ""), clockText(ply.clock_s),
      String(point.gain_cp ?? ""), ply.complexity?.stability_cp.toFixed(1), figure && eloText(figure), figure && bandText(figure),
      interval ? `${text} (${interval})` : text,
    ];
  });
}

// --- what others would play -----------------------------------------------------------------------

const titled = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const shareWords = (share) => sharesIn(share, english);
const players = (elo) => (elo === null ? "players" : `players rated ${elo}`);

/** `about 1 in 12 players rated 2500 play 26… Rxf2`; empty where that is not known. Pure. */
export function playedWords(ply, startFen) {
  const share = ply.played_share ?? null;
  if (share === null) return "";
  return `${shareWords(share)} ${players(ply.played_elo)} play ${moveText(ply.ply, ply.san, startFen)}`;
}

/** The same of other ratings, where it is another there: `1500: about 1 in 40`. Pure. */
export function otherRatings(share, references) {
  const own = shareWords(share);
  const said = references.map((each) => [each.elo, shareWords(each.share)]);
  if (said.every(([, words]) => words === own)) return "";
  return said.map(([elo, words]) => `${elo}: ${words}`).join(" \u00b7 ");
}

/** `about 1 in 20 find the best move, about 4 in 10 lose a pawn or more`. Pure. */
export function difficultyWords(difficulty) {
  const said = [];
  if (difficulty.best_share !== null) said.push(`${shareWords(difficulty.best_share)} find the best move`);
  if (difficulty.error_chance !== null) {
    said.push(`${difficulty.error_chance < 0.005 ? "hardly any" : shareWords(difficulty.error_chance)} lose a pawn or more`);
  }
  return said.join(", ");
}

export class HumanPanel {
  constructor() {
    this._mark = element("strong", "mark-chip");
    this._played = element("span");
    this._others = element("span", "quiet");
    this._row = element("p", "human-row", "", this._mark, this._played, this._others);
    this._found = element("i", "found");
    this._erred = element("i", "erred");
    this._bar = silent(element("div", "difficulty-bar", "", this._found, this._erred));
    this._next = element("strong");
    this._said = element("span");
    this._hard = element("p", "human-row", "", this._next, this._said, this._bar);
    this._learned = element("p", "learned");
    const head = element("h2", "", say("What others would play"), explainButton("human"));
    this.node = named(element("section", "human-panel", "", head, this._row, this._hard, this._learned), "What others would play");
  }

  /** `learned` says whose games the network knows. */
  draw(game, plies, learned) {
    const ply = plies.at(-1) ?? null;
    const played = ply === null ? "" : playedWords(ply, game.start_fen);
    // Where the game ended nobody moves next.
    const difficulty = game.result !== "*" && plies === game.plies ? null : (ply?.difficulty ?? null);
    const hard = difficulty === null ? "" : difficultyWords(difficulty);
    this.node.hidden = !played && !hard;
    if (this.node.hidden) return;
    const mark = ply.mark ?? "";
    setLine(this._mark, english[mark] ?? "");
    this._mark.dataset.mark = mark;
    setText(this._played, titled(played));
    setText(this._others, played ? otherRatings(ply.played_share, ply.played_references ?? []) : "");
    this._row.hidden = !played;
    this._hard.hidden = !hard;
    if (hard) this._drawDifficulty(difficulty, moverOf(ply.ply + 1, game.start_fen));
    setText(this._learned, learned ? `By a network that learned from ${learned}` : "");
  }

  _drawDifficulty(difficulty, mover) {
    const found = difficulty.best_share ?? 0;
    this._found.style.width = `${(100 * found).toFixed(1)}%`;
    this._erred.style.width = `${(100 * Math.min(difficulty.error_chance ?? 0, 1 - found)).toFixed(1)}%`;
    const name = mover === "white" ? "White" : "Black";
    setText(this._next, difficulty.elo === null ? `${name} to move:` : `${name} to move, ${difficulty.elo}:`);
    setText(this._said, difficultyWords(difficulty));
  }
}
