/** One board of the page: players, score bar, position, both perceived ratings and their curves. */

import { Curve } from "./curve.js";
import { Diagram } from "./diagram.js";
import { element, nameNode, setText } from "./dom.js";
import {
  clockText,
  moveText,
  ratingFigure,
  resultText,
  safeLink,
  scoreText,
  whiteShare,
} from "./format.js";

export class Card {
  constructor() {
    this._game = null;
    this._visible = false;
    this._curve = null;
    this._diagram = null;
    this._where = element("span", "where");
    this._result = element("strong", "result");
    this._link = element("a", "watch", "watch");
    this._link.rel = "noopener noreferrer";
    this._link.target = "_blank";
    this._move = element("span", "move");
    this._score = element("span", "score");
    this._bar = element("div", "bar");
    this._bar.setAttribute("role", "img");
    this._board = element("div", "board");
    this._plot = element("div", "plot", "The curves begin with the first bounded rating.");
    this._problem = element("p", "problem");
    this._sides = { white: new Side("white"), black: new Side("black") };
    const header = element("header", "", "", this._where, this._result, this._link);
    const state = element("div", "state", "", this._move, this._score);
    const figures = element(
      "div",
      "figures",
      "",
      this._sides.black.node,
      state,
      this._bar,
      this._sides.white.node,
    );
    const middle = element("div", "middle", "", this._board, figures);
    this.node = element("article", "card", "", header, middle, this._plot, this._problem);
    this.node.card = this;
  }

  /** Boards and curves are drawn only while they can be seen: there may be hundreds. */
  set visible(visible) {
    this._visible = visible;
    if (visible && this._game) this._drawPictures();
  }

  draw(game) {
    const previous = this._game;
    this._game = game;
    const last = game.plies.at(-1) ?? null;
    // The score that is known, even when the move just played has none yet.
    const scored = game.plies.findLast((ply) => ply.score_cp !== null) ?? null;
    const cp = scored ? scored.score_cp : game.start_score_cp;
    const provisional = scored !== null && (!scored.final || scored !== last);
    setText(this._where, place(game));
    setText(this._result, resultText(game.result));
    const link = safeLink(game.url);
    this._link.hidden = link === null;
    if (link !== null) this._link.href = link;
    setText(this._move, last ? moveText(last.ply, last.san, game.start_fen) : "not started");
    const text = scoreText(cp, scored?.mate ?? null);
    setText(this._score, provisional ? `${text} \u2026` : text);
    this._score.classList.toggle("provisional", provisional);
    this._score.title = provisional ? "The engine is still searching." : depthText(scored);
    this._bar.style.setProperty("--white", `${(100 * whiteShare(cp ?? 0)).toFixed(1)}%`);
    this._bar.classList.toggle("unknown", cp === null);
    this._bar.setAttribute("aria-label", text ? `Score ${text}` : "Score not known yet");
    for (const color of ["white", "black"]) this._sides[color].draw(game, color);
    setText(this._problem, problemText(game));
    this._problem.hidden = !this._problem.textContent;
    this.node.classList.toggle("over", game.result !== "*");
    if (previous && last && previous.plies.at(-1)?.uci !== last.uci) this._flash();
    if (this._visible) this._drawPictures();
  }

  restyle() {
    this._curve?.restyle();
  }

  destroy() {
    this._curve?.destroy();
    this._diagram?.destroy();
    this.node.remove();
  }

  _drawPictures() {
    this._diagram ??= new Diagram(this._board);
    this._diagram.draw(this._game);
    if (this._curve === null && hasRating(this._game.curves)) {
      this._plot.textContent = "";
      this._plot.setAttribute("role", "img");
      this._curve = new Curve(this._plot);
    }
    if (this._curve === null) return;
    this._curve.draw(this._game.curves);
    this._plot.setAttribute("aria-label", curveText(this._game));
  }

  _flash() {
    this._move.getAnimations().forEach((animation) => animation.cancel());
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    this._move.animate({ opacity: [0.2, 1] }, { duration: 500 });
  }
}

/** One player of a board. */
class Side {
  constructor(color) {
    this._title = element("span", "title");
    this._name = nameNode("name");
    this._elo = element("span", "elo");
    this._clock = element("span", "clock");
    this._main = element("span", "rating");
    this._interval = element("span", "interval");
    this._other = element("p", "other");
    const who = element("div", "who", "", element("i", `piece ${color}`), this._title, this._name);
    this.node = element(
      "section",
      `side ${color}`,
      "",
      element("div", "line", "", who, this._clock),
      element("div", "line", "", this._main, this._interval, this._elo),
      this._other,
    );
  }

  draw(game, color) {
    const player = game[color];
    const point = game.curves[color].at(-1) ?? null;
    setText(this._title, player.title ?? "");
    setText(this._name, player.name || "?");
    this._name.title = [player.name, player.team, player.federation].filter(Boolean).join(" · ");
    setText(this._elo, player.elo ? `Elo ${player.elo}` : "unrated");
    const clocked = game.plies.findLast((ply) => moverOf(ply, game.start_fen) === color);
    setText(this._clock, clockText(clocked?.clock_s ?? null));
    const { main, other } = figures(point);
    setText(this._main, main.text);
    setText(this._interval, main.interval);
    this._interval.title = "95 % interval";
    setText(this._other, other);
    this.node.classList.toggle("unknown", point === null);
    this._main.classList.toggle("unbounded", point !== null && main.text.length === 1);
    this._main.title = point ? `${point.n} moves, expected score ${point.expected_score.toFixed(3)}` : "";
  }
}

/** The large figure, and what stands beside it: both are always named. */
function figures(point) {
  if (point === null) return { main: ratingFigure(null, null, null), other: "no move rated yet" };
  const plain = ratingFigure(point.rating, point.low, point.high);
  if (point.calibrated === null) return { main: plain, other: "Algorithm 4, not calibrated" };
  return {
    main: ratingFigure(point.calibrated, point.calibrated_low, point.calibrated_high),
    other: `calibrated; Algorithm 4: ${plain.text} (${plain.interval})`,
  };
}

/** Whether there is a number to draw: unbounded points have none. */
function hasRating({ white, black }) {
  return [...white, ...black].some((point) => point.rating !== null || point.calibrated !== null);
}

function moverOf(ply, startFen) {
  const blackFirst = startFen.split(" ")[1] === "b";
  return (ply.ply % 2 === 1) !== blackFirst ? "white" : "black";
}

function place(game) {
  const round = game.round && game.round !== "?" ? `Round ${game.round}` : "";
  const board = game.board === null ? "" : `Board ${game.board}`;
  return [round, board].filter(Boolean).join(" · ") || game.event || game.id;
}

function depthText(ply) {
  return ply?.depth ? `Depth ${ply.depth}` : "";
}

function problemText(game) {
  if (game.problem) return game.problem;
  const waiting = game.plies_played - game.plies_scored;
  return waiting > 1 ? `${waiting} moves wait for the engine` : "";
}

function curveText(game) {
  const say = (color) => {
    const point = game.curves[color].at(-1) ?? null;
    const { main } = figures(point);
    return `${game[color].name}: ${main.text} (${main.interval || "no move rated yet"})`;
  };
  return `Perceived ratings by move. ${say("white")}; ${say("black")}.`;
}
