/** One player: name, clock, the figure with what is usual as text and as a line. */

import { element, setText } from "../../drawing/elements.js";
import { Name } from "../../drawing/player_names.js";
import { percentText, pointAt } from "../../client/figures.js";
import { basisText, countedMoves, leapNews, markSide, SCALE, sideFigure, withoutFigure } from "../score_words.js";
import { clockText } from "../../drawing/number_format.js";
import { clockRuns, isLow, leftS, startClockS } from "../../client/running_clocks.js";

/** A rating and its band on a scale that all boards share, so that eyes can compare them. */
export class Whisker {
  constructor() {
    this._range = element("i", "range");
    this._dot = element("i", "dot-at");
    this._own = element("i", "own");
    this.node = element("div", "whisker", "", this._range, this._own, this._dot);
    this.node.setAttribute("aria-hidden", "true");
  }

  draw(figure, elo) {
    const at = (value) => (100 * (value - SCALE[0])) / (SCALE[1] - SCALE[0]);
    const cut = (value) => Math.max(0, Math.min(100, at(value)));
    this.node.classList.toggle("unknown", figure === null);
    place(this._own, "left", elo ? cut(elo) : null);
    if (figure === null) return;
    const banded = figure.low !== null && figure.high !== null;
    place(this._range, "left", banded ? cut(figure.low) : null);
    if (banded) place(this._range, "width", Math.max(1, cut(figure.high) - cut(figure.low)));
    place(this._dot, "left", cut(figure.value));
  }
}

function place(node, side, percent) {
  node.hidden = percent === null;
  if (percent !== null) node.style.setProperty(side, `${percent.toFixed(1)}%`);
}

/**
 * What every view shows of one side, each part a node of its own; the view arranges them. `piece` is
 * the disc of its colour, `usual` what is usual, `rests` what the figure rests on.
 */
export class Side {
  constructor(color, elapsedS) {
    this.color = color;
    this.piece = element("i", `piece ${color}`);
    this.title = element("span", "title");
    this.name = new Name();
    this.elo = element("span", "elo");
    this.clock = new ClockText(color, elapsedS);
    this.label = element("span", "figure-name");
    this.main = element("strong", "rating");
    this.usual = element("span", "interval");
  }

  /** Draws them as after `plies`; answers `{read, rests, news}`: the figure as it is read, its basis, what moved it. */
  show(game, plies, basis, room = "") {
    const { color } = this;
    const player = game[color];
    const point = pointAt(game.curves[color], plies.length);
    setText(this.title, player.title ?? "");
    setText(this.elo, player.elo ? String(player.elo) : "");
    this.clock.draw(game, plies);
    this.name.draw(player.name || "?", basis.everybody, `${player.title} ${player.elo} ${this.clock.room} ${room}`);
    const read = sideFigure(game, color, point, basis);
    setText(this.label, read?.label ?? "");
    setText(this.main, read?.text ?? "\u2013");
    setText(this.usual, read ? read.usual : withoutFigure(point, basis));
    markSide(this.node, read);
    const rests = read === null ? "" : plies === game.plies ? basisText(game, color, read.figure) : countedMoves(read.figure.counted);
    return { read, rests, news: leapNews(game, color, basis, plies.length) };
  }
}

/** A player's line of a card: name, title, Elo, clock, and the ratings below. */
export class CardSide extends Side {
  constructor(color, elapsedS) {
    super(color, elapsedS);
    this._better = element("span", "other");
    this._whisker = new Whisker();
    this.node = element(
      "div", `side ${color}`, "",
      element("div", "who", "", this.piece, this.title, this.name.node, this.elo, this.clock.node),
      element("div", "figures", "", this.label, this.main, this.usual, this._better),
      this._whisker.node,
    );
  }

  draw(game, basis) {
    const player = game[this.color];
    const { read, rests, news } = this.show(game, game.plies, basis);
    this.name.node.title = [player.name, player.team, player.federation].filter(Boolean).join(" \u00b7 ");
    // Whose games they are stands in the line before.
    const better = read?.better ? `better than ${percentText(read.figure.percentile)}\u00a0% of such games` : "";
    setText(this._better, read === null ? "" : read.early || [news || better, rests.replaceAll(" ", "\u00a0")].filter(Boolean).join(" \u00b7 "));
    this._better.classList.toggle("news", news !== "");
    // Algorithm 4's index has no place on a scale of Elo.
    this._whisker.draw(read?.figure.kind === "perceived" ? read.figure : null, player.elo);
  }
}

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
