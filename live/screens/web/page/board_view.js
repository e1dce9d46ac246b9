/** The view of one board. The module is loaded on first use, since only this view needs the libraries of charts and diagram. */

import { alertText, worstByBoard } from "./alerts_panel.js";
import { Side } from "./board_card.js";
import { MoveList } from "./board_panels.js";
import { materialText, placementAfter } from "../client/board_position.js";
import { ALGORITHM4, Chart, CURVES, SCORE } from "./charts.js";
import { KEYS, keyText } from "./explanations.js";
import { BoardFrame, Diagram } from "../drawing/diagram.js";
import { anchor, button, element, named, nameNode, setLine, setText, silent } from "../drawing/elements.js";
import { bothSides, eventOf } from "../client/games.js";
import { resultText, safeLink, unbroken } from "../drawing/number_format.js";
import { feedText, momentText, say, words } from "./language.js";
import { fill } from "../overlay/language/words.js";
import { FollowStar, playerKey, writePlace } from "./page_address.js";
import { basisIn, drawBar, drawOdds, placeText, problemText, scoreWords } from "./score_words.js";
import { bestInstead, humanLine, lastMove, oddsOf, oddsWords, openingText, scoreOf } from "../overlay/shown_figures.js";

export class BoardPage {
  /** `go` changes the place; `share` is the menu for this view. */
  constructor(go, share, elapsedS, followed) {
    this._go = go;
    this._game = null;
    this._ply = 0;
    const pick = (ply) => this.step(ply - this._ply);
    this._where = element("span", "where");
    this._event = nameNode("event");
    this._result = element("strong", "result");
    this._watch = Object.assign(element("a", "watch", say("watch at the source")), { rel: "noopener noreferrer", target: "_blank" });
    const back = anchor("back", `\u2190 ${say("Boards")}`, "#");
    const header = element("header", "board-head", "", back, this._where, this._result, share, this._event, this._watch);
    this._players = bothSides((color) => new PlayerHeader(color, elapsedS, followed));
    this._bar = element("div", "bar tall");
    this._bar.setAttribute("role", "img");
    this._square = element("div", "big-board");
    this._diagram = new Diagram(this._square);
    this._frame = new BoardFrame(this._square);
    this._position = null;
    this._width = 0;
    // This runs after the diagram's own observer, which was registered first.
    new ResizeObserver(() => {
      this._width = this._square.clientWidth;
      this._drawDiagram();
    }).observe(this._square);
    this._now = element("p", "now");
    this._oddsBar = silent(element("div", "bar flat"));
    this._oddsText = element("span");
    this._odds = element("p", "odds", "", this._oddsBar, this._oddsText);
    this._human = element("p", "human");
    /** A sentence that explains why the winner has the lower figure. */
    this._despite = element("p", "despite");
    this._problem = element("p", "problem");
    this._buttons = this._controls();
    const place = element("div", "position", "", this._bar, this._frame.node);
    this._left = element(
      "div", "left", "", this._players.black.node, place, this._players.white.node, this._buttons, this._now, this._odds, this._despite, this._human,
    );
    this._moves = new MoveList(pick);
    const pickMove = (move) => pick(Math.min(2 * move, this._game.plies.length));
    const [curves, algorithm4, score] = [CURVES, ALGORITHM4, SCORE].map((kind) => new Chart(kind, pickMove, (move) => this._peek(move)));
    Object.assign(this, { _curves: curves, _algorithm4: algorithm4, _score: score });
    this._experts = element("details", "experts", "", element("summary", "", say("Algorithm 4, move by move")), algorithm4.node);
    this._experts.addEventListener("toggle", () => this._drawExperts());
    const right = element("div", "right", "", this._curves.node, this._score.node);
    this._gone = element("p", "note");
    this._body = element("div", "board-body", "", this._left, right, this._moves.node);
    this.node = named(element("section", "board-view", "", header, this._gone, this._problem, this._body, this._experts), say("Board"));
  }

  draw(held, place) {
    const game = held.games.get(place.game) ?? null;
    const missing = game === null;
    this.node.classList.toggle("missing", missing);
    setLine(this._gone, missing ? say("Not here: {}. It may be gone, or belong to another round or address.", place.game) : "");
    setLine(this._problem, "");
    if (missing) return;
    this._game = game;
    const last = game.plies.length;
    const ply = place.ply === null ? last : Math.min(place.ply, last);
    this._ply = ply;
    const plies = ply === wholeOf(game) ? game.plies : game.plies.slice(0, ply);
    this._drawHead(game);
    const basis = basisIn(held);
    const alert = worstByBoard([...(held.alerts?.values() ?? [])]).get(game.id);
    setLine(this._problem, alert ? alertText(alert, game) : problemText(game, basis));
    this._problem.dataset.severity = alert?.severity ?? "";
    this._drawBoard(game, plies, place, basis);
    const despite = [...held.moments.values()].find((moment) => moment.game === game.id && moment.kind === "despite");
    setLine(this._despite, despite && plies === game.plies ? unbroken(momentText(despite)) : "");
    this._moves.draw(game, ply, basis);
    this._curves.draw(game, ply / 2);
    this._score.draw(game, ply / 2);
    this._rating = held.engine?.rating ?? null;
    this._drawExperts();
  }

  /** Draw the chart of Algorithm 4, only while its section is open. */
  _drawExperts() {
    if (this._experts.open && this._game !== null) this._algorithm4.draw(this._game, this._ply / 2, this._rating);
  }

  /** Move by this many plies, back if negative; at the newest ply the view follows the game again. */
  step(plies) {
    if (this._game === null) return;
    const last = wholeOf(this._game);
    const ply = Math.max(0, Math.min(last, this._ply + plies));
    this._go({ ply: ply === last ? null : ply }, true);
  }

  /** Update the running clocks. */
  tick() {
    for (const player of Object.values(this._players)) player.clock.tick();
  }

  restyle() {
    for (const chart of [this._curves, this._algorithm4, this._score]) chart.restyle();
  }

  _drawHead(game) {
    setText(this._where, placeText(game));
    const sources = game.also?.length ? `${say("Sources")}: ${[game.feed, ...game.also].map(feedText).join(", ")}` : "";
    setText(this._event, [eventOf(game), openingText(game), sources].filter(Boolean).join(" \u00b7 "));
    this._event.title = this._event.textContent;
    setText(this._result, resultText(game.result));
    const link = safeLink(game.url);
    this._watch.hidden = link === null;
    if (link !== null) this._watch.href = link;
  }

  _drawBoard(game, plies, place, basis) {
    this._position = { side: place.flip ? "black" : "white", game: plies === game.plies ? game : { ...game, plies } };
    this._drawDiagram();
    this._left.classList.toggle("flipped", place.flip);
    const score = scoreOf(game, { plies });
    const odds = oddsOf(game, plies);
    drawBar(this._bar, score, basis);
    const description = `${say("Score")} ${score.text || (basis.withheld ? words.withheld : say("not scored yet"))}`;
    named(this._bar, odds ? `${description}. ${oddsWords(odds, words)}` : description);
    this._odds.hidden = odds === null;
    if (odds) {
      drawOdds(this._oddsBar, odds);
      setText(this._oddsText, oddsWords(odds, words));
    }
    const human = humanLine({ ...game, plies, result: plies === game.plies ? game.result : "*" }, words);
    this._human.dataset.mark = human?.mark ?? "";
    setLine(this._human, human?.text ?? "");
    const material = materialText(placementAfter(game.start_fen, plies.map(({ uci }) => uci)));
    for (const [color, player] of Object.entries(this._players)) player.draw(game, plies, material[color], basis);
    const last = plies.at(-1);
    const better = last?.best && last.best !== last.uci && last.gain_cp < 0 ? last.best : "";
    this._frame.draw(place.flip ? "black" : "white", better);
    const best = better ? `    ${fill(words.best, bestInstead(game, plies.length, words))}` : "";
    setText(this._now, `${lastMove(game, words, plies)}    ${scoreWords(score, basis)}${best}`);
    const newestPly = wholeOf(game);
    const [first, backOne, onOne, newest] = this._buttons.children;
    first.disabled = backOne.disabled = plies.length === 0;
    onOne.disabled = newest.disabled = plies.length === newestPly;
    newest.classList.toggle("looking-back", place.ply !== null);
  }

  /** Draw the diagram once its width is settled: a board that has just appeared redraws itself, which would stop an animation. */
  _drawDiagram() {
    const width = this._square.clientWidth;
    if (this._position === null || width === 0 || width !== this._width) return;
    this._diagram.turn(this._position.side);
    const { game } = this._position;
    this._diagram.draw(game, `${say("Board")}: ${lastMove(game, words)}`);
  }

  /** Do the action of a key or button; return whether this view has such an action. */
  act(name) {
    if (!Object.hasOwn(ACTIONS, name)) return false;
    ACTIONS[name](this);
    return true;
  }

  _controls() {
    const make = ([key, sign]) => {
      const { name, text } = KEYS[key];
      return button(sign, () => this.act(name), { label: `${text} (${keyText(key)})` });
    };
    return element("div", "controls", "", ...Object.entries(CONTROLS).map(make));
  }

  /** Show the position after the move under the pointer; if null, the current position. */
  _peek(move) {
    if (this._game === null || this._position === null) return;
    const plies = move === null ? this._ply : Math.min(2 * move, this._game.plies.length);
    this._position = { ...this._position, game: { ...this._game, plies: this._game.plies.slice(0, plies) } };
    this._drawDiagram();
  }
}

/** The buttons below the board, by the key with the same action. */
const CONTROLS = { Home: "|\u25c0", ArrowLeft: "\u25c0", ArrowRight: "\u25b6", End: "\u25b6|", f: "\u21c5" };

const ACTIONS = {
  first: (board) => board.step(-Infinity),
  back: (board) => board.step(-1),
  on: (board) => board.step(1),
  newest: (board) => board.step(Infinity),
  flip: (board) => board._go((place) => ({ flip: !place.flip })),
};

/** Return the number of plies in the whole game, even if the state contains only its first plies. */
const wholeOf = (game) => game.whole_plies ?? game.plies.length;

/** The line of a player above or below the board, with the figure. */
class PlayerHeader extends Side {
  constructor(color, elapsedS, followed) {
    super(color, elapsedS);
    this._link = element("a", "name-link", "", this.name.node);
    this._more = nameNode("more");
    this._material = element("span", "material");
    this._star = new FollowStar(followed);
    this._better = element("span", "said");
    this._costly = element("span", "news");
    const nameLine = [this.piece, this.points, this.title, this._link, this.elo, this._star.node, this._material, this._more, this.clock.node];
    const figures = element("div", "figures", "", this.label, this.main, this.from, this.usual, this._better, this._costly);
    this.node = element("div", `player-line side ${color}`, "", element("div", "who", "", ...nameLine), figures, this.band.node);
  }

  draw(game, plies, material, basis) {
    const player = game[this.color];
    setText(this._material, material);
    const key = playerKey(player);
    if (key) this._link.href = writePlace({ player: key });
    else this._link.removeAttribute("href");
    this._star.draw(player);
    setText(this._more, [player.federation, player.team].filter(Boolean).join(" \u00b7 "));
    const { read, rests, news } = this.show(game, plies, basis, material);
    if (rests) setText(this.usual, [rests, read.usual].filter(Boolean).join(" \u00b7 "));
    setText(this._better, read?.better ?? "");
    setText(this._costly, news);
  }
}
