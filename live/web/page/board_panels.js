/** What stands beside the board: its moves, both players' figures, what others would play, and the other methods. */

import { Whisker } from "./board_card.js";
import { figureBox } from "./charts.js";
import { button, childrenOf, element, headCell, named, scrollBox, setLine, setText, silent, tableOf } from "../drawing/elements.js";
import english from "../overlay/language/en.js";
import { explainButton } from "./explanations.js";
import {
  bandText, eloText, figureOf, LEAST_SHOWN_ELO, MOST_SHOWN_ELO, newestLeap, pointAt,
} from "../client/figures.js";
import { moverOf } from "../client/games.js";
import { moveText, scoreText, whiteShare } from "../drawing/number_format.js";
import { Name } from "../drawing/player_names.js";
import { SIDE_COLUMNS, signed } from "./players.js";
import { countedMoves, provisionalWords, sideFigure, withoutFigure } from "./score_words.js";
import { bestInstead, shareWords as sharesIn } from "../overlay/shown_figures.js";

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

/** `+0.00` of a gain in pawns: `-0.35`, `0` for the first choice; empty while unknown. Pure. */
export const gainText = (gain) => (gain === 0 ? "0" : scoreText(gain, null));

export class MoveList {
  constructor(picked) {
    this._picked = picked;
    this._game = null;
    this._cells = [];
    this._at = null;
    this._start = button("Start", () => picked(0), { className: "move-cell start" });
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
    this._gain = element("span", "gain");
    this._score = element("span", "score");
    // For those who hear the page; what they see of it is the score on the board beside.
    this._said = element("span", "hidden");
    this.node = button("", () => picked(ply), { className: "move-cell" });
    this.node.append(this._san, this._mark, this._gain, this._score, this._said);
  }

  draw(ply, game, withheld) {
    if (ply === this._ply) return;
    this._ply = ply;
    const mover = moverOf(ply.ply, game.start_fen);
    const numbered = moveText(ply.ply, ply.san, game.start_fen);
    setText(this._san, mover === "white" || ply.ply === 1 ? numbered : ply.san);
    const mark = moveMark(ply, mover);
    setText(this._mark, mark?.sign ?? "");
    setText(this._gain, gainText(ply.gain_cp));
    setText(this._score, scoreText(ply.score_cp, ply.mate));
    this._score.classList.toggle("provisional", ply.score_cp !== null && !ply.final);
    this.node.classList.toggle("first-choice", ply.best !== null && ply.best === ply.uci);
    this.node.dataset.mark = mark?.name ?? "";
    const unscored = withheld ? "" : "not scored yet";
    const said = [
      ply.score_cp === null ? unscored : `score ${scoreText(ply.score_cp, ply.mate)}${ply.final ? "" : `, ${provisionalWords(ply.score_source ?? "")}`}`,
      ply.gain_cp === null ? "" : ply.gain_cp === 0 ? "kept up with the engine" : `${ply.gain_cp < 0 ? "lost" : "won"} ${(Math.abs(ply.gain_cp) / 100).toFixed(2)}`,
      mark?.name ?? "",
    ];
    setText(this._said, ["", ...said.filter(Boolean)].join(", "));
  }
}

// --- figures ----------------------------------------------------------------------------------------

const DASH = "\u2013";
/** Both players are compared from so many moves on. */
const LEAST_MOVES = 5;

/** The logistic expectation of White from both Elo ratings; null without both. Pure. */
export function eloExpectation(white, black) {
  if (!white || !black) return null;
  return 1 / (1 + 10 ** ((black - white) / 400));
}

/** What the newest leap of a side was, in words; empty without one. */
export function leapWords(game, color, ply) {
  const newest = newestLeap(game.curves[color], { ply });
  const move = game.plies[newest?.ply - 1];
  if (!move) return "";
  const [from, to] = [newest.from, newest.to].map(Math.round);
  const said = `Last swing: ${to > from ? "rose" : "fell"} from ${from} to ${to} with ${moveText(newest.ply, move.san, game.start_fen)}`;
  const better = to > from ? null : bestInstead(game, newest.ply, english);
  return better === null ? said : `${said}; ${better} was better`;
}

export class RatingPanel {
  constructor(color) {
    this._color = color;
    this._name = new Name();
    this._label = element("span");
    this._main = element("strong", "rating");
    this._usual = element("span", "interval");
    this._better = element("span", "said");
    this._whisker = new Whisker();
    this._leap = element("p", "leap");
    this._fine = element("p", "note");
    this._more = element("details", "", "", element("summary", "", "How sure, and Algorithm 4"), this._fine);
    this._line = element(
      "div", "rating-line large", "", element("div", "label", "", this._label, explainButton("perceived")),
      element("div", "value", "", this._main, this._usual, this._better), this._whisker.node,
    );
    const title = element("h2", "", "", element("i", `piece ${color}`), this._name.node);
    this.node = element("section", `rating-panel side ${color}`, "", title, this._line, this._leap, this._more);
  }

  draw(game, ply, basis) {
    const player = game[this._color];
    const point = pointAt(game.curves[this._color], ply);
    this._name.draw(player.name || "?", basis.everybody);
    const read = sideFigure(game, this._color, point, basis);
    setText(this._label, read === null ? "No figure yet" : `${titled(read.label)}, ${countedMoves(read.figure.counted)}`);
    setText(this._main, read?.text ?? "");
    setText(this._usual, read?.usual ?? "");
    setText(this._better, read === null ? game.note || withoutFigure(point, basis) : read.early ? "early" : read.better);
    this._line.classList.toggle("early", Boolean(read?.early));
    this._whisker.node.hidden = read?.figure.kind !== "perceived";
    if (!this._whisker.node.hidden) this._whisker.draw(read.figure, player.elo);
    const leads = !basis.withheld && basis.choice === "perceived";
    setLine(this._leap, leads ? leapWords(game, this._color, ply) : "");
    setText(this._fine, read === null ? "" : details(point, basis));
    this._more.hidden = !this._fine.textContent;
  }
}

/** On demand: what the moves alone allow, and the figure that does not lead; beside the large number they would seem to deny it. */
function details(point, { choice, engineRating }) {
  const leads = choice === "perceived";
  const other = figureOf(point, leads ? "algorithm4" : "perceived", engineRating);
  const { low, high } = point;
  const ends = [
    (low ?? 0) < LEAST_SHOWN_ELO ? `below ${LEAST_SHOWN_ELO}` : Math.round(low),
    (high ?? Infinity) > MOST_SHOWN_ELO ? `above ${MOST_SHOWN_ELO}` : Math.round(high),
  ];
  const band = other === null ? "" : bandText(other);
  const name = leads ? "Algorithm 4, on a scale of its own" : "Playing like";
  const second = other === null ? "" : `${name}: ${eloText(other)}${band ? ` (${band})` : ""}.`;
  return [leads ? `The moves alone, whoever played them: ${ends.join(DASH)} (95\u00a0%).` : "", second].filter(Boolean).join(" ");
}

const titled = (text) => text.charAt(0).toUpperCase() + text.slice(1);

export class HeadToHeadPanel {
  constructor() {
    this._body = element("tbody");
    this._rows = ["By these moves (Algorithm 1)", "By conformance", "By Elo before the game"].map((text) =>
      element("tr", "", "", headCell(text, "row"), element("td"), element("td"), element("td")),
    );
    this._body.append(...this._rows);
    const table = tableOf("Head to head", ["What White scores", "Expected", "95 %", "Elo"], this._body);
    this.node = figureBox("head-to-head", "Head to head", "headToHead", scrollBox(table));
  }

  draw({ head_to_head: duel, methods, white, black, curves }) {
    // After a move or two the comparison says nothing, and says it with a number.
    const few = Math.min(curves.white.length, curves.black.length) < LEAST_MOVES;
    const score = (value) => (value === null ? "\u2013" : value.toFixed(2));
    const { expected_score: conform, low, high, missing } = methods;
    const elo = eloExpectation(white.elo, black.elo);
    const interval = conform === null ? missing || "\u2013" : `${score(low)}\u2013${score(high)}`;
    const unbounded = duel.expected_score === null ? "\u2013" : "unbounded";
    if (few) this._fill(0, "\u2013", "too few moves", "\u2013");
    else this._fill(0, score(duel.expected_score), "no interval", duel.difference === null ? unbounded : signed(duel.difference));
    this._fill(1, score(conform), interval, "\u2013");
    this._fill(2, score(elo), "\u2013", elo === null ? "\u2013" : signed(white.elo - black.elo));
  }

  _fill(at, ...texts) {
    texts.forEach((text, column) => setText(this._rows[at].cells[column + 1], text));
  }
}

export class MethodsTable {
  constructor() {
    this._cells = SIDE_COLUMNS.map(() => [0, 1].map(() => element("td", "", "", element("span", "value"), element("span", "interval"))));
    const rows = SIDE_COLUMNS.map(({ label, explain }, at) =>
      element("tr", "", "", headCell("", "row", element("span", "", label), explainButton(explain)), ...this._cells[at]),
    );
    const table = tableOf("Other methods", ["Method", "White", "Black"], element("tbody", "", "", ...rows));
    this.node = figureBox("methods", "Other methods", "", scrollBox(table));
  }

  draw({ methods }) {
    SIDE_COLUMNS.forEach((column, at) => {
      ["white", "black"].forEach((color, side) => {
        const cell = this._cells[at][side];
        const { text, interval, missing } = column.show({ ...methods[color], methods: methods[color] });
        setText(cell.firstChild, text);
        setText(cell.lastChild, interval);
        if (cell.title !== missing) cell.title = missing;
      });
    });
  }
}

// --- what others would play -----------------------------------------------------------------------

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
    const head = element("h2", "", "What others would play", explainButton("human"));
    this.node = named(element("section", "human-panel", "", head, this._row, this._hard, this._learned), "What others would play");
  }

  /** `learned` says whose games the network knows. */
  draw(game, plies, learned) {
    const ply = plies.at(-1) ?? null;
    const played = ply === null ? "" : playedWords(ply, game.start_fen);
    const difficulty = ply?.difficulty ?? null;
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
