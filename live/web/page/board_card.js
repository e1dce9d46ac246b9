/** One board in small: position, players, score, both figures, their curves. There may be hundreds, so positions are drawn on canvases. */

import { parsePlacement, placementAfter, square } from "../client/board_position.js";
import { element, setLine, setText, silent, svgElement } from "../drawing/elements.js";
import { columns, hasRating, percentText, pointAt, span } from "../client/figures.js";
import { bothSides, clockRuns, COLORS, isLow, leftS, startClockS } from "../client/games.js";
import { clockText, resultText } from "../drawing/number_format.js";
import { writePlace } from "./page_address.js";
import { Name } from "../drawing/player_names.js";
import {
  basisText, countedMoves, drawBar, lastMove, leapNews, markSide, oddsText, placeText, problemText, provisionalWords,
  scoreAfter, sideFigure, sideText, withoutFigure,
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
    this.result = element("strong", "result");
    this.bar = silent(element("div", "bar"));
    this.sides = bothSides(makeSide);
  }

  /** Draws them; answers the score as {@link scoreAfter}, or null where nothing is new. */
  show(game, basis) {
    const { choice, engineRating } = this.basis;
    if (game === this.game && basis.choice === choice && basis.engineRating === engineRating) return null;
    this.game = game;
    this.basis = basis;
    const score = scoreAfter(game, game.plies);
    setText(this.where, placeText(game, true));
    setText(this.move, lastMove(game, game.plies));
    setText(this.score, score.provisional && score.text ? `${score.text} \u2026` : score.text);
    this.score.classList.toggle("provisional", score.provisional);
    this.score.title = score.source ? provisionalWords(score.source) : "";
    setText(this.result, resultText(game.result));
    drawBar(this.bar, score);
    for (const side of Object.values(this.sides)) side.draw(game, basis);
    return score;
  }

  /** Time has passed. */
  tick() {
    for (const side of Object.values(this.sides)) side.clock.tick();
  }
}

export class Card extends SmallGame {
  /** `sight` observes which cards can be seen; without one it is drawn as seen. */
  constructor(elapsedS, sight = null) {
    super((color) => new CardSide(color, elapsedS));
    this._visible = sight === null;
    this._sight = sight;
    this._mini = new MiniBoard();
    this._problem = element("p", "problem");
    this._spark = new Spark();
    this.link = element("a", "open");
    const header = element("header", "", "", this.where, this.move, this.score, this.result);
    const board = element("div", "board", "", this.bar, this._mini.node);
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

  draw(game, basis) {
    const before = this.game;
    const score = this.show(game, basis);
    if (score === null) return;
    setLine(this._problem, problemText(game, basis));
    this.node.classList.toggle("over", game.result !== "*");
    this._label(game, score);
    if (before !== null && before.plies.at(-1)?.uci !== game.plies.at(-1)?.uci) this._flash();
    if (this._visible) this._drawPictures();
  }

  tick() {
    if (this._visible) super.tick();
  }

  restyle() {
    this._mini.restyle();
  }

  destroy() {
    this._sight?.unobserve(this.node);
    this._mini.destroy();
    this.node.card = null;
  }

  _label(game, score) {
    const address = writePlace({ view: "board", game: game.id });
    if (this.link.getAttribute("href") !== address) this.link.setAttribute("href", address);
    const said = [
      placeText(game),
      `${game.white.name || "?"} against ${game.black.name || "?"}`,
      game.result === "*" ? lastMove(game, game.plies) : resultText(game.result),
      score.text ? `score ${score.text}${score.provisional ? `, ${provisionalWords(score.source)}` : ""}` : "",
      oddsText(oddsOf(game)),
      ...COLORS.map((color) => sideText(game, color, this.basis)),
    ];
    this.link.setAttribute("aria-label", said.filter(Boolean).join(". "));
  }

  _drawPictures() {
    this._mini.draw(this.game);
    this._spark.draw(this.game.curves, this.basis);
  }

  _flash() {
    if (!this._visible || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    this.move.getAnimations().forEach((animation) => animation.cancel());
    this.move.animate({ opacity: [0.2, 1] }, { duration: 500 });
  }
}

const [WIDTH, HEIGHT] = [100, 40];

/** What the four paths are, from curves: `{white: {band, line}, black: …}`; null without a value. */
export function sparkPaths(curves, { choice = "perceived", engineRating = null } = {}) {
  if (!hasRating({ curves }, choice, engineRating)) return null;
  const data = columns(curves, choice, engineRating);
  const [low, high] = span(data);
  const moves = data[0].length;
  const x = (at) => (moves < 2 ? WIDTH / 2 : (WIDTH * at) / (moves - 1)).toFixed(1);
  const y = (value) => (HEIGHT * (1 - (Math.max(low, Math.min(high, value)) - low) / (high - low))).toFixed(1);
  const side = (top, bottom, values) => ({ band: band(top, bottom, x, y, low, high), line: line(values, x, y) });
  return { white: side(data[1], data[2], data[3]), black: side(data[4], data[5], data[6]) };
}

function line(values, x, y) {
  let path = "";
  let pen = "M";
  values.forEach((value, at) => {
    if (value === null) return;
    path += `${pen}${x(at)} ${y(value)}`;
    pen = "L";
  });
  // One value alone is a short dash.
  return path.includes("L") ? path : path && `${path}h2`;
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

  draw(curves, basis) {
    const key = [curves, basis.choice, basis.engineRating];
    if (key.every((part, at) => part === this._key?.[at])) return;
    this._key = key;
    const paths = sparkPaths(curves, basis);
    this.node.classList.toggle("empty", paths === null);
    for (const color of COLORS) {
      for (const kind of ["band", "line"]) this._paths[color][kind].setAttribute("d", paths?.[color][kind] ?? "");
    }
  }
}

const pathOf = (kind, color) => svgElement("path", { class: `${kind} ${color}` });

/** The scale that small intervals are drawn on, Elo; beyond it they are cut off. */
const SCALE = [1000, 3000];

/** A rating and its band on a scale that all boards share, so that eyes can compare them. */
export class Whisker {
  constructor() {
    this._range = element("i", "range");
    this._dot = element("i", "dot-at");
    this._own = element("i", "own");
    this.node = silent(element("div", "whisker", "", this._range, this._own, this._dot));
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
class CardSide extends Side {
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

// --- the pieces -------------------------------------------------------------------------------------

const SPRITE = new URL("../vendor/cm-chessboard/assets/pieces/standard.svg", import.meta.url).href;
/** A piece of the sprite stands in a square of this side. */
const TILE = 40;

const SQUARES = ["--light-square", "--dark-square", "--light-marked", "--dark-marked"];

let pictures = null;
/** Read once for all boards: asking for them, or for sizes, at every move would lay out the page. */
let colors = null;
// Where there is no page (tests of what is pure beside it) nothing has a size.
const sizes = globalThis.document && new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) target.mini?.resize(contentRect.width);
});
const waiting = new Set();

/** The drawing of each piece as SVG, by FEN letter, from the sprite that the big board uses. */
export const pieceMarkup = once(async () => {
  const answer = await fetch(SPRITE);
  const sprite = new DOMParser().parseFromString(await answer.text(), "image/svg+xml");
  const markup = new Map();
  for (const letter of "KQRBNPkqrbnp") {
    const id = (letter < "a" ? "w" : "b") + letter.toLowerCase();
    markup.set(letter, new XMLSerializer().serializeToString(sprite.getElementById(id)));
  }
  return markup;
});

const load = once(async () => {
  const found = new Map();
  for (const [letter, markup] of await pieceMarkup()) {
    const image = new Image();
    image.src = svgAddress(
      `<svg xmlns="http://www.w3.org/2000/svg" width="120" height="120" viewBox="0 0 ${TILE} ${TILE}">${markup}</svg>`,
    );
    await image.decode();
    found.set(letter, image);
  }
  pictures = found;
  for (const board of waiting) board.paint();
  waiting.clear();
});

/** An address that holds a whole picture. */
export function svgAddress(svg) {
  return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
}

function once(make) {
  let made = null;
  return () => (made ??= make());
}

/** A position on a canvas. */
export class MiniBoard {
  constructor() {
    this.node = silent(element("canvas", "mini"));
    this.node.mini = this;
    sizes.observe(this.node);
    this._plies = null;
    this._shown = "";
    this._side = 0;
  }

  /** A game as it stands, with the squares of the last move marked. */
  draw({ plies, start_fen: startFen }) {
    if (plies === this._plies) return;
    this._plies = plies;
    this._last = plies.at(-1)?.uci ?? "";
    this._placement = placementAfter(startFen, plies.map(({ uci }) => uci));
    const wanted = `${this._placement} ${this._last}`;
    if (wanted === this._shown) return;
    this._shown = wanted;
    if (this._side) this.paint();
  }

  resize(width) {
    this._side = Math.round(width * devicePixelRatio);
    if (this._side && this._shown) this.paint();
  }

  paint() {
    const canvas = this.node;
    if (canvas.width !== this._side) canvas.width = canvas.height = this._side;
    const context = canvas.getContext("2d");
    const style = getComputedStyle(canvas);
    colors ??= SQUARES.map((name) => style.getPropertyValue(name).trim());
    const side = this._side / 8;
    const marked = markedSquares(this._last);
    const [light, dark, markLight, markDark] = colors;
    for (let at = 0; at < 64; at += 1) {
      const [file, rank] = [at % 8, Math.floor(at / 8)];
      const isLight = (file + rank) % 2 === 1;
      context.fillStyle = marked.includes(at) ? (isLight ? markLight : markDark) : isLight ? light : dark;
      context.fillRect(Math.floor(file * side), Math.floor((7 - rank) * side), Math.ceil(side), Math.ceil(side));
    }
    if (pictures === null) {
      waiting.add(this);
      load();
      return;
    }
    parsePlacement(this._placement).forEach((piece, at) => {
      if (piece === null) return;
      context.drawImage(pictures.get(piece), (at % 8) * side, (7 - Math.floor(at / 8)) * side, side, side);
    });
  }

  restyle() {
    colors = null;
    if (this._side && this._shown) this.paint();
  }

  destroy() {
    waiting.delete(this);
    sizes.unobserve(this.node);
    this.node.mini = null;
  }
}

/** The squares of the last move (UCI), where there is one. */
export const markedSquares = (last) => (last ? [square(last.slice(0, 2)), square(last.slice(2, 4))] : []);
