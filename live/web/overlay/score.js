/** The score of a game: a bar, its number, the last move, and a swing while it is news. */

import { element, setText } from "../drawing/elements.js";
import { moveText, scoreText } from "../drawing/number_format.js";
import { lastMove, oddsOf, scoreOf } from "./shown_figures.js";
import { localMove } from "./language/words.js";

export class ScoreBar {
  constructor() {
    this.node = element("div", "bar", "", element("i", "drawn"), element("i", "fill"), element("i", "level"));
  }

  /** Three parts where the odds are known, else White's share by the score. */
  draw(score, odds) {
    const win = odds?.win ?? score?.share ?? 0.5;
    this.node.style.setProperty("--white", win.toFixed(3));
    this.node.style.setProperty("--not-lost", (odds?.notLost ?? win).toFixed(3));
    this.node.classList.toggle("odds", odds !== null);
    this.node.classList.toggle("unknown", score === null);
  }
}

/** The score bar with the number and the last move beside it. */
export class ScorePanel {
  constructor({ options, words, moves }) {
    this._options = options;
    this._words = words;
    this._moves = moves;
    this._shown = null;
    this.bar = new ScoreBar();
    this.move = element("span", "move");
    this.number = element("span", "score");
    this.alert = element("span", "alert");
    this.alert.hidden = true;
  }

  draw(game, swing) {
    const score = scoreOf(game, this._options.provisional);
    this.bar.draw(score, oddsOf(game));
    setText(this.number, score?.text ?? "");
    this.number.dataset.state = score?.state ?? "";
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
    setText(this.alert, swingText(game, swing, this._words));
    this.alert.dataset.color = swing.color;
    if (this.alert.hidden && this._moves()) {
      const from = { opacity: 0, transform: "translateY(0.5em)" };
      this.alert.animate([from, { opacity: 1, transform: "none" }], { duration: 350, easing: "ease-out" });
    }
    this.alert.hidden = false;
  }
}

/** `Swing 23… Nf6 +0.30 → −2.40`. */
export function swingText(game, { ply, from, to }, words) {
  const played = game.plies[ply - 1];
  const move = played ? moveText(ply, localMove(played.san, words.letters), game.start_fen) : "";
  const mate = played?.mate ?? null;
  return `${words.swing} ${move} \u2002 ${scoreText(from, null)} \u2192 ${scoreText(to, mate)}`;
}
