/** One board of the overview: position, players, score, both perceived ratings, their curves, small. */

import { element, setText } from "../../drawing/elements.js";
import { resultText } from "../../drawing/number_format.js";
import { placementAfter } from "../../client/board_position.js";
import { drawBar, lastMove, oddsText, placeText, problemText, provisionalWords, scoreAfter, sideText } from "../score_words.js";
import { writePlace } from "../page_address.js";
import { oddsOf } from "../../overlay/shown_figures.js";
import { MiniBoard } from "../board/pieces.js";
import { CardSide } from "../board/side_figures.js";
import { columns, hasRating, span } from "../../client/figures.js";

export class Card {
  /** `sight` observes which cards can be seen; without one it is drawn as seen. */
  constructor(elapsedS, sight = null) {
    this._game = null;
    this._basis = {};
    this._plies = null;
    this._placement = "";
    this._visible = sight === null;
    this._sight = sight;
    this._where = element("span", "where");
    this._move = element("span", "move");
    this._score = element("span", "score");
    this._result = element("strong", "result");
    this._bar = element("div", "bar");
    this._bar.setAttribute("aria-hidden", "true");
    this._canvas = element("canvas", "mini");
    this._canvas.setAttribute("aria-hidden", "true");
    this._mini = new MiniBoard(this._canvas);
    this._problem = element("p", "problem");
    this._spark = new Spark();
    this._sides = { white: new CardSide("white", elapsedS), black: new CardSide("black", elapsedS) };
    this.link = element("a", "open");
    const header = element("header", "", "", this._where, this._move, this._score, this._result);
    const board = element("div", "board", "", this._bar, this._canvas);
    const sides = element("div", "sides", "", this._sides.black.node, this._spark.node, this._sides.white.node);
    const body = element("div", "body", "", board, sides);
    this.node = element("article", "card", "", header, body, this._problem, this.link);
    this.node.card = this;
    sight?.observe(this.node);
  }

  /** Boards are drawn only while they can be seen: there may be hundreds. */
  set visible(visible) {
    this._visible = visible;
    if (visible && this._game) this._drawPictures();
  }

  draw(game, basis) {
    if (game === this._game && basis.choice === this._basis.choice && basis.engineRating === this._basis.engineRating) return;
    const before = this._game;
    this._game = game;
    this._basis = basis;
    const score = scoreAfter(game, game.plies);
    setText(this._where, placeText(game, true));
    setText(this._move, lastMove(game, game.plies));
    setText(this._score, score.provisional && score.text ? `${score.text} \u2026` : score.text);
    this._score.classList.toggle("provisional", score.provisional);
    this._score.title = score.source ? provisionalWords(score.source) : "";
    setText(this._result, resultText(game.result));
    const odds = oddsOf(game);
    drawBar(this._bar, score);
    for (const side of Object.values(this._sides)) side.draw(game, basis);
    setText(this._problem, problemText(game, basis));
    this._problem.hidden = !this._problem.textContent;
    this.node.classList.toggle("over", game.result !== "*");
    this._label(game, score, odds);
    const moved = before !== null && before.plies.at(-1)?.uci !== game.plies.at(-1)?.uci;
    if (moved) this._flash();
    if (this._visible) this._drawPictures();
  }

  /** Time has passed. */
  tick() {
    if (this._visible) for (const side of Object.values(this._sides)) side.clock.tick();
  }

  restyle() {
    this._mini.restyle();
  }

  destroy() {
    this._sight?.unobserve(this.node);
    this._mini.destroy();
    this.node.card = null;
  }

  _label(game, score, odds) {
    const address = writePlace({ view: "board", game: game.id });
    if (this.link.getAttribute("href") !== address) this.link.setAttribute("href", address);
    const said = [
      placeText(game),
      `${game.white.name || "?"} against ${game.black.name || "?"}`,
      game.result === "*" ? lastMove(game, game.plies) : resultText(game.result),
      score.text ? `score ${score.text}${score.provisional ? `, ${provisionalWords(score.source)}` : ""}` : "",
      odds ? oddsText(odds) : "",
      sideText(game, "white", this._basis),
      sideText(game, "black", this._basis),
    ];
    this.link.setAttribute("aria-label", said.filter(Boolean).join(". "));
  }

  _drawPictures() {
    const { _game: game } = this;
    if (game.plies !== this._plies) {
      this._plies = game.plies;
      this._placement = placementAfter(game.start_fen, game.plies.map((ply) => ply.uci));
    }
    this._mini.draw(this._placement, game.plies.at(-1)?.uci ?? "");
    this._spark.draw(game.curves, this._basis);
  }

  _flash() {
    if (!this._visible || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    this._move.getAnimations().forEach((animation) => animation.cancel());
    this._move.animate({ opacity: [0.2, 1] }, { duration: 500 });
  }
}

const NS = "http://www.w3.org/2000/svg";
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

export class Spark {
  constructor() {
    this.node = document.createElementNS(NS, "svg");
    this.node.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    this.node.setAttribute("preserveAspectRatio", "none");
    this.node.setAttribute("class", "spark");
    this.node.setAttribute("aria-hidden", "true");
    this._paths = {};
    for (const kind of ["band", "line"]) {
      for (const color of ["white", "black"]) {
        const path = document.createElementNS(NS, "path");
        path.setAttribute("class", `${kind} ${color}`);
        this._paths[`${color} ${kind}`] = path;
        this.node.append(path);
      }
    }
    this._drawn = null;
  }

  draw(curves, basis) {
    if (curves === this._drawn && basis.choice === this._basis?.choice && basis.engineRating === this._basis?.engineRating) return;
    this._drawn = curves;
    this._basis = basis;
    const paths = sparkPaths(curves, basis);
    this.node.classList.toggle("empty", paths === null);
    for (const [name, path] of Object.entries(this._paths)) {
      const [color, kind] = name.split(" ");
      path.setAttribute("d", paths?.[color][kind] ?? "");
    }
  }
}
