/** The list of moves beside a board. */

import { button, childrenOf, element, named, setText } from "../drawing/elements.js";
import { moverOf } from "../client/games.js";
import { moveText, scoreText, unbroken, whiteShare } from "../drawing/number_format.js";
import { say, words } from "./language.js";
import { localMove } from "../overlay/language/words.js";

/** Marks of bad moves, each with its smallest loss of expected score (0 to 1). The limits are those of lichess. */
export const MARKS = [[0.15, "??", "blunder"], [0.1, "?", "mistake"], [0.05, "?!", "inaccuracy"]];

/** Marks of a good move that few would have found, and of a move that sets a trap. */
const PRAISE = { find: "!", trap: "!?" };

/** Return the mark of a move, `{sign, name}`; null without a mark or while a score is missing. Pure. */
export function moveMark(ply, mover) {
  const score = ply.played_cp ?? ply.score_cp;
  if (ply.gain_cp === null || score === null) return null;
  const played = mover === "white" ? score : -score;
  const lost = whiteShare(played - ply.gain_cp) - whiteShare(played);
  const mark = MARKS.find(([from]) => lost >= from);
  if (mark) return { sign: mark[1], name: mark[2] };
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
    this.node = named(element("div", "moves", "", this._start, this._list), say("Moves"), "group");
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

  /** Scroll the list, but not the page, until the button is visible. */
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
    // Forget the current ply if the game no longer has it.
    if (this._at !== null && this._at > plies.length) this._at = null;
  }
}

class MoveCell {
  constructor(ply, picked) {
    this._ply = null;
    this._san = element("span", "san");
    this._mark = element("span", "mark");
    // For screen readers.
    this._spokenScore = element("span", "hidden");
    this.node = button("", () => picked(ply), { className: "move-cell" });
    this.node.append(this._san, this._mark, this._spokenScore);
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
    const unscored = withheld ? "" : say("not scored yet");
    setText(this._spokenScore, `, ${ply.score_cp === null ? unscored : scoreText(ply.score_cp, ply.mate)}`);
  }
}
