/** The card of a board: position, players, score, both figures and their curves. */

import { alertText } from "./alerts_panel.js";
import { COSTLY_POINTS, lostPoints } from "../drawing/costly_moves.js";
import { element, nameNode, setLine, setText, silent, svgElement } from "../drawing/elements.js";
import { columns, compareWithUsual, pointAt } from "../client/figures.js";
import { bothSides, clockRuns, COLORS, pointsText, RESULT_POINTS } from "../client/games.js";
import { MiniBoard } from "../drawing/mini_board.js";
import { countTo, flash } from "../drawing/motion.js";
import { writePlace } from "./page_address.js";
import { Name } from "../drawing/player_names.js";
import {
  costlyNews, drawBar, isSure, markSide, placeText, problemText, scoreWords, sideFigure, sideText,
} from "./score_words.js";
import { say, words } from "./language.js";
import { fill } from "../overlay/language/words.js";
import { clockOf, lastMove, oddsOf, oddsWords, markScore, scoreOf, unratedPart, withoutFigure } from "../overlay/shown_figures.js";

export class Card {
  /** `sight` is an observer that tells the card whether it is on the screen; without it the card is always drawn. */
  constructor(elapsedS, sight = null) {
    this.game = null;
    this.basis = {};
    this.where = element("span", "where");
    this.move = element("span", "move");
    this.score = element("span", "score");
    this.bar = silent(element("div", "bar"));
    this.mini = new MiniBoard();
    this.sides = bothSides((color) => new CardSide(color, elapsedS));
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

  /** Set whether the card is on the screen. Only visible cards are drawn, since there can be hundreds. */
  set visible(visible) {
    this._visible = visible;
    if (visible && this.game) this._drawPictures();
  }

  /** Draw the card; `alert` is the board's most urgent alert, for arbiters only. */
  draw(game, basis, alert = null) {
    const before = this.game;
    const score = this._show(game, basis);
    if (score !== null || alert !== this._alert) {
      this._alert = alert;
      this.node.classList.toggle("alerting", alert !== null);
      this.node.dataset.severity = alert?.severity ?? "";
      setLine(this._problem, alert ? alertText(alert, game) : problemText(game, basis));
    }
    if (score === null) return;
    const isOver = game.result !== "*";
    this.node.classList.toggle("over", isOver);
    this._label(game, score);
    if (before !== null && before.plies.at(-1)?.uci !== game.plies.at(-1)?.uci) this._flash(game);
    if (this._visible) this._drawPictures();
  }

  /** Draw everything except the pictures; return the score as {@link scoreOf} does, or null if nothing has changed. */
  _show(game, basis) {
    const { withheld, oneRound } = basis;
    if (game === this.game && withheld === this.basis.withheld && oneRound === this.basis.oneRound) return null;
    this.game = game;
    this.basis = basis;
    const score = scoreOf(game);
    setText(this.where, placeText(game, oneRound));
    setText(this.move, lastMove(game, words));
    // A result is shown beside the names and not here.
    setText(this.score, game.result === "*" ? markScore(score) : "");
    this.score.classList.toggle("provisional", !isSure(score));
    drawBar(this.bar, score, basis);
    for (const side of Object.values(this.sides)) side.draw(game, basis);
    return score;
  }

  /** Update the running clocks. */
  tick() {
    if (this._visible) for (const side of Object.values(this.sides)) side.clock.tick();
  }

  restyle() {
    this.mini.restyle();
  }

  destroy() {
    this._sight?.unobserve(this.node);
    this.mini.destroy();
    this.node.card = null;
  }

  _label(game, score) {
    const address = writePlace({ view: "board", game: game.id });
    if (this.link.getAttribute("href") !== address) this.link.setAttribute("href", address);
    const sentences = [
      placeText(game),
      `${game.white.name || "?"} ${fill(words.against, game.black.name || "?")}`,
      game.result === "*" ? lastMove(game, words) : score.text,
      game.result === "*" && score.text ? `${say("Score")} ${scoreWords(score)}` : "",
      oddsWords(oddsOf(game), words),
      ...COLORS.map((color) => sideText(game, color, this.basis)),
    ];
    this.link.setAttribute("aria-label", sentences.filter(Boolean).join(". "));
  }

  _drawPictures() {
    this.mini.draw(this.game);
    this._spark.draw(this.game);
  }

  /** Flash a new move; a costly one flashes as a loss. */
  _flash(game) {
    if (this._visible) flash(this.move, lostPoints(game, game.plies.length) >= COSTLY_POINTS);
  }
}

const [WIDTH, HEIGHT] = [100, 40];
/** Smallest range of a sparkline, Elo, so that noise does not look like a large change. */
const LEAST_SPAN = 300;

/**
 * Return the SVG paths of a sparkline, `{zero, white: {area, line, end}, black: …}`; null without a value. The curves
 * show the difference between each side's figure and its own Elo, so that one dashed zero line serves both. A side
 * without Elo is compared with the opponent's Elo. Pure.
 */
function sparkPaths(game) {
  const { curves, white, black } = game;
  const data = columns(curves);
  const level = white.elo || black.elo || data[3].findLast(isKnown) || data[6].findLast(isKnown);
  const from = (values, elo) => values.map((value) => (value === null ? null : value - (elo || level)));
  const sides = { white: from(data[3], white.elo || black.elo), black: from(data[6], black.elo || white.elo) };
  const shownValues = [0, ...sides.white, ...sides.black].filter(isKnown);
  if (shownValues.length === 1) return null;
  const missing = Math.max(0, LEAST_SPAN - (Math.max(...shownValues) - Math.min(...shownValues))) / 2;
  const [low, high] = [Math.min(...shownValues) - missing, Math.max(...shownValues) + missing];
  const moves = data[0].length;
  const x = (at) => (moves < 2 ? WIDTH / 2 : (WIDTH * at) / (moves - 1)).toFixed(1);
  const y = (value) => ((HEIGHT * (high - value)) / (high - low)).toFixed(1);
  const zero = white.elo || black.elo ? `M0 ${y(0)}H${WIDTH}` : "";
  const paths = (values) => {
    const drawn = values.flatMap((value, at) => (value === null ? [] : [[x(at), y(value)]]));
    if (drawn.length === 0) return { area: "", line: "", end: "" };
    const along = drawn.map((point) => point.join(" ")).join("L");
    const [first, last] = [drawn[0], drawn.at(-1)];
    // The area lies between the line and the zero line, which exists only if an Elo is known.
    const area = zero && `M${first[0]} ${y(0)}L${along}L${last[0]} ${y(0)}Z`;
    return { area, line: `M${along}`, end: `M${last.join(" ")}h0.01` };
  };
  return { zero, white: paths(sides.white), black: paths(sides.black) };
}

const isKnown = (value) => value !== null;

/** Both lines have the same colour but different cores, white or black like the discs at the names. */
const PARTS = { area: ["area"], line: ["rim", "core"], end: ["rim end", "core end"] };

class Spark {
  constructor() {
    this._zero = svgElement("path", { class: "zero" });
    this._paths = COLORS.flatMap((color) => Object.entries(PARTS).flatMap(([part, kinds]) =>
      kinds.map((kind) => ({ color, part, node: svgElement("path", { class: `${kind} ${color}` }) }))));
    const attributes = { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", class: "spark" };
    this.node = silent(svgElement("svg", attributes, this._zero, ...this._paths.map(({ node }) => node)));
  }

  draw(game) {
    if (game.curves === this._curves) return;
    this._curves = game.curves;
    const paths = sparkPaths(game);
    this._zero.setAttribute("d", paths?.zero ?? "");
    for (const { color, part, node } of this._paths) node.setAttribute("d", paths?.[color][part] ?? "");
  }
}

/**
 * The parts of one side that every view shows. Each part is a node, and the view arranges them. `piece` is the disc of
 * the side's colour, `usual` the usual range as text, `band` that range as a picture.
 */
export class Side {
  constructor(color, elapsedS) {
    this.color = color;
    this.piece = element("i", `piece ${color}`);
    this.points = element("strong", "points-box");
    this.title = element("span", "title");
    this.name = new Name();
    this.elo = element("span", "elo");
    this.clock = new ClockText(color, elapsedS);
    this.label = element("span", "figure-name");
    this.main = element("strong", "rating");
    this.from = element("span", "distance");
    this.band = new Band(color);
    this.usual = element("span", "interval");
  }

  /** Draw the parts after `plies`; return `{read, rests, news}`: texts of the figure, of the moves that it rests on and of a costly move. */
  show(game, plies, basis, room = "") {
    const { color } = this;
    const player = game[color];
    const point = pointAt(game.curves[color], plies.length);
    const points = plies === game.plies ? (RESULT_POINTS[game.result]?.[COLORS.indexOf(color)] ?? null) : null;
    setLine(this.points, points === null ? "" : pointsText(points));
    this.node.dataset.points = points ?? "";
    setText(this.title, player.title ?? "");
    setText(this.elo, player.elo ? String(player.elo) : "");
    this.clock.draw(game, plies);
    this.name.draw(player.name || "?", basis.everybody, `${player.title} ${player.elo} ${this.clock.room} ${points} ${room}`);
    const read = sideFigure(game, color, point, basis);
    const how = compareWithUsual(read?.figure ?? null, player.elo);
    setText(this.label, read?.label ?? "");
    countTo(this.main, read?.text ?? "\u2013");
    setText(this.from, how?.distance ?? "");
    this.node.dataset.how = how?.is ?? "";
    this.band.draw(how);
    setText(this.usual, read ? read.usual : withoutFigure(point, words, basis.withheld));
    markSide(this.node, read);
    const open = plies === game.plies ? unratedPart(game, color, words, read?.figure)?.text : "";
    const rests = read === null ? "" : [read.early || open, read.theory].filter(Boolean).join(" \u00b7 ");
    return { read, rests, news: costlyNews(game, color, basis, plies.length) };
  }
}

/** A strip with a band for the player's usual range and a dot for the figure. */
class Band {
  constructor(color) {
    this._dot = element("i", `dot ${color}`);
    this.node = silent(element("span", "band", "", element("i", "usual"), this._dot));
  }

  draw(how) {
    this.node.classList.toggle("none", how === null);
    if (how !== null) this._dot.style.setProperty("--at", `${(100 * how.at).toFixed(1)}%`);
  }
}

/** A player on a card: points, name, Elo, clock, figure, and the band below. */
class CardSide extends Side {
  constructor(color, elapsedS) {
    super(color, elapsedS);
    const nameLine = element("div", "who", "", this.piece, this.points, this.title, this.name.node, this.elo);
    const placed = element("div", "placed", "", this.band.node, this.from, this.clock.node);
    this._team = nameNode("team");
    this.node = element("div", `side ${color}`, "", nameLine, element("div", "figures", "", this.main), this._team, placed);
  }

  draw(game, basis) {
    const player = game[this.color];
    const { read, rests, news } = this.show(game, game.plies, basis);
    setText(this._team, player.team ?? "");
    this.name.node.title = [player.name, player.team, player.federation].filter(Boolean).join(" \u00b7 ");
    this.main.title = [read?.label, read?.usual, read?.better, rests, news].filter(Boolean).join(" \u00b7 ");
  }
}

class ClockText {
  /** `elapsedS` returns how long a game's clock has been running, seconds. */
  constructor(color, elapsedS) {
    this._color = color;
    this._elapsedS = elapsedS;
    this._game = null;
    this._plies = null;
    this.node = element("span", "clock");
  }

  /** A text that changes with the width of the clock, which is wider while it runs, since it is bold. */
  get room() {
    return `${this.node.className} ${this.node.textContent.length}`;
  }

  draw(game, plies) {
    this._game = game;
    this._plies = plies;
    this.node.classList.toggle("running", clockRuns(game, plies, this._color));
    this.tick();
  }

  tick() {
    const { _game: game } = this;
    if (game === null) return;
    const { text, low } = clockOf(game, this._color, this._elapsedS(game), this._plies);
    setText(this.node, text);
    this.node.classList.toggle("low", low);
  }
}
