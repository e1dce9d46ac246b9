/** One board in small: position, players, score, both figures, their curves. */

import { alertText } from "./alerts_panel.js";
import { COSTLY_POINTS, lostPoints } from "../drawing/costly_moves.js";
import { element, nameNode, setLine, setText, silent, svgElement } from "../drawing/elements.js";
import { columns, placeInBand, pointAt } from "../client/figures.js";
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
import { clockOf, lastMove, oddsOf, oddsWords, scoreOf, unratedPart, withoutFigure } from "../overlay/shown_figures.js";

export class Card {
  /** `sight` observes which cards can be seen; without one it is drawn as seen. */
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

  /** Boards are drawn only while they can be seen: there may be hundreds. */
  set visible(visible) {
    this._visible = visible;
    if (visible && this.game) this._drawPictures();
  }

  /** `alert` is the worst that stands, where an arbiter looks. */
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

  /** Draws all but pictures; answers the score as {@link scoreOf}, or null where nothing is new. */
  _show(game, basis) {
    const { withheld, oneRound } = basis;
    if (game === this.game && withheld === this.basis.withheld && oneRound === this.basis.oneRound) return null;
    this.game = game;
    this.basis = basis;
    const score = scoreOf(game);
    setText(this.where, placeText(game, oneRound));
    setText(this.move, lastMove(game, words));
    // A result stands at the names.
    const text = game.result === "*" ? score.text : "";
    setText(this.score, isSure(score) || !text ? text : `${text} \u2026`);
    this.score.classList.toggle("provisional", !isSure(score));
    drawBar(this.bar, score);
    for (const side of Object.values(this.sides)) side.draw(game, basis);
    return score;
  }

  /** Time has passed. */
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
    const said = [
      placeText(game),
      `${game.white.name || "?"} ${fill(words.against, game.black.name || "?")}`,
      game.result === "*" ? lastMove(game, words) : score.text,
      game.result === "*" && score.text ? `${say("Score")} ${scoreWords(score)}` : "",
      oddsWords(oddsOf(game), words),
      ...COLORS.map((color) => sideText(game, color, this.basis)),
    ];
    this.link.setAttribute("aria-label", said.filter(Boolean).join(". "));
  }

  _drawPictures() {
    this.mini.draw(this.game);
    this._spark.draw(this.game);
  }

  /** A move lights up; one that cost its player much, as a loss. */
  _flash(game) {
    if (this._visible) flash(this.move, lostPoints(game, game.plies.length) >= COSTLY_POINTS);
  }
}

const [WIDTH, HEIGHT] = [100, 40];
/** A sparkline shows at least so many Elo, so that noise does not look like drama. */
const LEAST_SPAN = 300;

/**
 * What a sparkline is made of: how far both sides' figures are from their own Elo, move by move, so that one dashed line is
 * the own Elo of both: `{zero, white: {area, line, end}, black: …}`; null without a value. A side without Elo is
 * compared with its opponent's. Pure.
 */
function sparkPaths(game) {
  const { curves, white, black } = game;
  const data = columns(curves);
  const level = white.elo || black.elo || data[3].findLast(isKnown) || data[6].findLast(isKnown);
  const from = (values, elo) => values.map((value) => (value === null ? null : value - (elo || level)));
  const sides = { white: from(data[3], white.elo || black.elo), black: from(data[6], black.elo || white.elo) };
  const known = [0, ...sides.white, ...sides.black].filter(isKnown);
  if (known.length === 1) return null;
  const missing = Math.max(0, LEAST_SPAN - (Math.max(...known) - Math.min(...known))) / 2;
  const [low, high] = [Math.min(...known) - missing, Math.max(...known) + missing];
  const moves = data[0].length;
  const x = (at) => (moves < 2 ? WIDTH / 2 : (WIDTH * at) / (moves - 1)).toFixed(1);
  const y = (value) => ((HEIGHT * (high - value)) / (high - low)).toFixed(1);
  const zero = white.elo || black.elo ? `M0 ${y(0)}H${WIDTH}` : "";
  const paths = (values) => {
    const drawn = values.flatMap((value, at) => (value === null ? [] : [[x(at), y(value)]]));
    if (drawn.length === 0) return { area: "", line: "", end: "" };
    const along = drawn.map((point) => point.join(" ")).join("L");
    const [first, last] = [drawn[0], drawn.at(-1)];
    // Without an own Elo there is nothing to be above or below.
    const area = zero && `M${first[0]} ${y(0)}L${along}L${last[0]} ${y(0)}Z`;
    return { area, line: `M${along}`, end: `M${last.join(" ")}h0.01` };
  };
  return { zero, white: paths(sides.white), black: paths(sides.black) };
}

const isKnown = (value) => value !== null;

/** White's line has a white core and Black's a black one, as the discs at their names: no colour tells them apart. */
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
 * What every view shows of one side, each part a node of its own; the view arranges them. `piece` is
 * the disc of its colour, `usual` what is usual, `band` the same as a picture.
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

  /** Draws them as after `plies`; answers `{read, rests, news}`: the figure as it is read, what of the moves it rests on, what moved it. */
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
    const how = placeInBand(read?.figure ?? null, player.elo);
    setText(this.label, read?.label ?? "");
    countTo(this.main, read ? `${read.early ? "~" : ""}${read.text}` : "\u2013");
    setText(this.from, how?.distance ?? "");
    this.node.dataset.how = how?.is ?? "";
    this.band.draw(how);
    setText(this.usual, read ? read.usual : withoutFigure(point, words, basis.withheld));
    markSide(this.node, read);
    const rests = read === null ? "" : read.early || ((plies === game.plies && unratedPart(game, color, words, read.figure)?.text) || "");
    return { read, rests, news: costlyNews(game, color, basis, plies.length) };
  }
}

/** What is usual for a player, as a strip with a dot where the figure is: outside it on either side, where it is unusual. */
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

/** A player's row of a card: points, name, Elo, clock, figure, and the band below. */
class CardSide extends Side {
  constructor(color, elapsedS) {
    super(color, elapsedS);
    const who = element("div", "who", "", this.piece, this.points, this.title, this.name.node, this.elo);
    const placed = element("div", "placed", "", this.band.node, this.from, this.clock.node);
    this._team = nameNode("team");
    this.node = element("div", `side ${color}`, "", who, element("div", "figures", "", this.main), this._team, placed);
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
