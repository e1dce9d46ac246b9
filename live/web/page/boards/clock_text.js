/** A clock on the page; it runs on between messages when `tick` says that time has passed. */

import { element, setText } from "../../drawing/elements.js";
import { clockText } from "../../drawing/number_format.js";
import { clockRuns, isLow, leftS, startClockS } from "../../client/running_clocks.js";

export class ClockText {
  /** `elapsedS` says of a game how long its clock has run. */
  constructor(color, elapsedS) {
    this._color = color;
    this._elapsedS = elapsedS;
    this._game = null;
    this._plies = null;
    this.node = element("span", "clock");
  }

  /** What its width depends on: a clock that runs is bolder. */
  get room() {
    return `${this.node.className} ${this.node.textContent.length}`;
  }

  draw(game, plies) {
    if (game !== this._game) this._startS = startClockS(game);
    this._game = game;
    this._plies = plies;
    this.node.classList.toggle("running", clockRuns(game, plies, this._color));
    this.tick();
  }

  tick() {
    const { _game: game } = this;
    if (game === null) return;
    const left = leftS(game, this._plies, this._color, this._elapsedS(game));
    setText(this.node, clockText(left));
    const low = isLow(game, left, this._startS);
    this.node.classList.toggle("low", low);
    this.node.title = low ? "little time left" : "";
  }
}
