/** One board in small: position, players, score, both figures, their curves. */

import { alertText } from "./alerts_panel.js";
import { element, setLine, setText, silent, svgElement } from "../drawing/elements.js";
import { columns, hasRating, percentText, pointAt, span } from "../client/figures.js";
import { bothSides, clockRuns, COLORS, isLow, leftS, startClockS } from "../client/games.js";
import { MiniBoard } from "../drawing/mini_board.js";
import { clockText } from "../drawing/number_format.js";
import { writePlace } from "./page_address.js";
import { Name } from "../drawing/player_names.js";
import {
  basisText, drawBar, lastMove, costlyNews, markSide, oddsText, placeText, problemText, scoreAfter,
  sideFigure, sideText, withoutFigure,
} from "./score_words.js";
import { oddsOf } from "../overlay/shown_figures.js";

/** What every view shows of a game in small, each part a node of its own; the view arranges them. */
export class SmallGame {
  /** `makeSide(color)` makes what shows a side, by its `draw(game, basis)`, with its `clock`. */
  constructor(makeSide) {
    this.game = null;
    this.basis = {};
    this.where = element("span", "where");
    this.move = element("span", "move");
    this.score = element("span", "score");
    this.bar = silent(element("div", "bar"));
    this.mini = new MiniBoard();
    this.sides = bothSides(makeSide);
  }

  /** Draws all but the board; answers the score as {@link scoreAfter}, or null where nothing is new. */
  show(game, basis) {
    if (game === this.game && basis.withheld === this.basis.withheld) return null;
    this.game = game;
    this.basis = basis;
    const score = scoreAfter(game, game.plies);
    setText(this.where, placeText(game, true));
    setText(this.move, lastMove(game, game.plies));
    setText(this.score, score.provisional && score.text ? `${score.text} \u2026` : score.text);
    this.score.classList.toggle("provisional", score.provisional);
    this.score.classList.toggle("result", game.result !== "*");
    drawBar(this.bar, score);
    for (const side of Object.values(this.sides)) side.draw(game, basis);
    return score;
  }

  /** Time has passed. */
  tick() {
    for (const side of Object.values(this.sides)) side.clock.tick();
  }

  restyle() {
    this.mini.restyle();
  }

  destroy() {
    this.mini.destroy();
  }
}

export class Card extends SmallGame {
  /** `sight` observes which cards can be seen; without one it is drawn as seen. */
  constructor(elapsedS, sight = null) {
    super((color) => new CardSide(color, elapsedS));
    this._visible = sight === null;
    this._sight = sight;
    this._alert = null;
    this._problem = element("p", "problem");
    this._spark = new Spark();
    this.link = element("a", "open");
    const header = element("header", "", "", this.where, this.move, this.score);
    const board = element("div", "board", "", this.bar, this.mini.node);
    const sides = element("div", "sides", "", this.sides.black.node, this._spark.node, this.sides.white.node);
    const body = element("div", "body", "", board, sides);
    this.node = element("article", "card", "", header, body, this._problem, this.link);
    this.node.card = this;
    sight?.observe(this.node);
  }

  /** Boards are drawn only while they can be seen: there may be hundreds. */
  set visible(visible) {
    this._visible = visible;
    if (visible && this.game) this._drawPictures();
  }

  /** `alert` is the worst that stands, where an arbiter looks. */
  draw(game, basis, alert = null) {
    const before = this.game;
    const score = this.show(game, basis);
    if (score !== null || alert !== this._alert) {
      this._alert = alert;
      this.node.classList.toggle("alerting", alert !== null);
      this.node.dataset.severity = alert?.severity ?? "";
      setLine(this._problem, alert ? alertText(alert, game) : problemText(game, basis));
    }
    if (score === null) return;
    this.node.classList.toggle("over", game.result !== "*");
    this._label(game, score);
    if (before !== null && before.plies.at(-1)?.uci !== game.plies.at(-1)?.uci) this._flash();
    if (this._visible) this._drawPictures();
  }

  tick() {
    if (this._visible) super.tick();
  }

  destroy() {
    this._sight?.unobserve(this.node);
    super.destroy();
    this.node.card = null;
  }

  _label(game, score) {
    const address = writePlace({ view: "board", game: game.id });
    if (this.link.getAttribute("href") !== address) this.link.setAttribute("href", address);
    const said = [
      placeText(game),
      `${game.white.name || "?"} against ${game.black.name || "?"}`,
      game.result === "*" ? lastMove(game, game.plies) : score.text,
      game.result === "*" && score.text ? `score ${score.text}${score.provisional ? ", provisional" : ""}` : "",
      oddsText(oddsOf(game)),
      ...COLORS.map((color) => sideText(game, color, this.basis)),
    ];
    this.link.setAttribute("aria-label", said.filter(Boolean).join(". "));
  }

  _drawPictures() {
    this.mini.draw(this.game);
    this._spark.draw(this.game.curves);
  }

  _flash() {
    if (!this._visible || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    this.move.getAnimations().forEach((animation) => animation.cancel());
    this.move.animate({ opacity: [0.2, 1] }, { duration: 500 });
  }
}

const [WIDTH, HEIGHT] = [100, 40];

/** What the four paths are, from curves: `{white: {band, line}, black: …}`; null without a value. */
export function sparkPaths(curves) {
  if (!hasRating({ curves })) return null;
  const data = columns(curves);
  const [low, high] = span(data);
  const moves = data[0].length;
  const x = (at) => (moves < 2 ? WIDTH / 2 : (WIDTH * at) / (moves - 1)).toFixed(1);
  const y = (value) => (HEIGHT * (1 - (Math.max(low, Math.min(high, value)) - low) / (high - low))).toFixed(1);
  const side = (top, bottom, values) => ({ band: band(top, bottom, x, y, low, high), line: line(values, x, y) });
  return { white: side(data[1], data[2], data[3]), black: side(data[4], data[5], data[6]) };
}

function line(values, x, y) {
  const known = values.flatMap((value, at) => (value === null ? [] : [`${x(at)} ${y(value)}`]));
  // One value alone is a short dash.
  return known.length === 0 ? "" : `M${known.join("L")}${known.length === 1 ? "h2" : ""}`;
}

function band(top, bottom, x, y, low, high) {
  const known = top.map((_, at) => at).filter((at) => top[at] !== null || bottom[at] !== null);
  if (known.length < 2) return "";
  const over = known.map((at) => `${x(at)} ${y(top[at] ?? high)}`);
  const under = known.reverse().map((at) => `${x(at)} ${y(bottom[at] ?? low)}`);
  return `M${[...over, ...under].join("L")}Z`;
}

class Spark {
  constructor() {
    this._paths = bothSides((color) => ({ band: pathOf("band", color), line: pathOf("line", color) }));
    const { white, black } = this._paths;
    const attributes = { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", class: "spark" };
    this.node = silent(svgElement("svg", attributes, white.band, black.band, white.line, black.line));
  }

  draw(curves) {
    if (curves === this._curves) return;
    this._curves = curves;
    const paths = sparkPaths(curves);
    for (const color of COLORS) {
      for (const kind of ["band", "line"]) this._paths[color][kind].setAttribute("d", paths?.[color][kind] ?? "");
    }
  }
}

const pathOf = (kind, color) => svgElement("path", { class: `${kind} ${color}` });

/** Letters of names on the page become no smaller than this part of their size. */
const SMALLEST_NAME = 0.75;

/**
 * What every view shows of one side, each part a node of its own; the view arranges them. `piece` is
 * the disc of its colour, `usual` what is usual.
 */
export class Side {
  constructor(color, elapsedS) {
    this.color = color;
    this.piece = element("i", `piece ${color}`);
    this.title = element("span", "title");
    this.name = new Name("name", SMALLEST_NAME);
    this.elo = element("span", "elo");
    this.clock = new ClockText(color, elapsedS);
    this.label = element("span", "figure-name");
    this.main = element("strong", "rating");
    this.usual = element("span", "interval");
  }

  /** Draws them as after `plies`; answers `{read, rests, news}`: the figure as it is read, what of the moves it rests on, what moved it. */
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
    const rests = read === null ? "" : read.early || (plies === game.plies ? basisText(game, color, read.figure) : "");
    return { read, rests, news: costlyNews(game, color, basis, plies.length) };
  }
}

/** A player's line of a card: name, title, Elo, clock, and the figure below. */
class CardSide extends Side {
  constructor(color, elapsedS) {
    super(color, elapsedS);
    this._better = element("span", "other");
    this.node = element(
      "div", `side ${color}`, "",
      element("div", "who", "", this.piece, this.title, this.name.node, this.elo, this.clock.node),
      element("div", "figures", "", this.label, this.main, this.usual, this._better),
    );
  }

  draw(game, basis) {
    const player = game[this.color];
    const { read, rests, news } = this.show(game, game.plies, basis);
    this.name.node.title = [player.name, player.team, player.federation].filter(Boolean).join(" \u00b7 ");
    // Whose games they are stands in the line before.
    const better = read?.better ? `better than ${percentText(read.figure.percentile)}\u00a0% of such games` : "";
    setText(this._better, rests || news || better);
    this._better.classList.toggle("news", !rests && news !== "");
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
