/** What players of this rating would do: the move played, and the position that came of it. */

import { shareWords as sharesIn } from "../../client/move_shares.js";
import english from "../../overlay/language/en.js";
import { element, setText } from "../../drawing/elements.js";
import { moveText } from "../../drawing/number_format.js";
import { explainButton } from "../explanations.js";
import { moverOf } from "../../client/event_state.js";

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
    this._bar = element("div", "difficulty-bar", "", this._found, this._erred);
    this._bar.setAttribute("aria-hidden", "true");
    this._next = element("strong");
    this._said = element("span");
    this._hard = element("p", "human-row", "", this._next, this._said, this._bar);
    this._learned = element("p", "learned");
    const head = element("h2", "", "What others would play", explainButton("human"));
    this.node = element("section", "human-panel", "", head, this._row, this._hard, this._learned);
    this.node.setAttribute("aria-label", "What others would play");
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
    setText(this._mark, english[mark] ?? "");
    this._mark.dataset.mark = mark;
    this._mark.hidden = !mark;
    setText(this._played, played.charAt(0).toUpperCase() + played.slice(1));
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
