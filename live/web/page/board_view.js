/** One board in depth. Everything that needs the charts' library is here, loaded when first asked for. */

import { Side } from "./board_card.js";
import { HeadToHeadPanel, HumanPanel, MethodsTable, MoveList, RatingPanel } from "./board_panels.js";
import { materialText, placementAfter, sanOf } from "../client/board_position.js";
import {
  Chart, CLOCKS, COMPLEXITY, countAtOne, curvesChart, gainChart, gainsOf, measuredGains, SCORE,
} from "./charts.js";
import { BoardFrame, Diagram } from "../drawing/diagram.js";
import { anchor, button, element, named, nameNode, setLine, setText, silent } from "../drawing/elements.js";
import { explainButton } from "./explanations.js";
import { bothSides, COLORS, eventOf } from "../client/games.js";
import { resultText, safeLink } from "../drawing/number_format.js";
import { FollowStar, playerKey, writePlace } from "./page_address.js";
import { nameWithin } from "../drawing/player_names.js";
import {
  basisIn, drawBar, drawOdds, FIGURE_NAMES, lastMove, oddsText, placeText, problemText, scoreAfter, scoreWords,
} from "./score_words.js";
import { oddsOf, openingText } from "../overlay/shown_figures.js";

/** Letters of a name that fit a button. */
const NAME_LETTERS = 18;

export class BoardPage {
  /** `go` changes the place; `share` makes the row of buttons for what is seen. */
  constructor(go, share, elapsedS, followed) {
    this._go = go;
    this._game = null;
    this._ply = 0;
    const pick = (ply) => this.step(ply - this._ply);
    this._where = element("span", "where");
    this._event = nameNode("event");
    this._result = element("strong", "result");
    this._watch = Object.assign(element("a", "watch", "watch at the source"), { rel: "noopener noreferrer", target: "_blank" });
    const back = anchor("back", "\u2190 All boards", "#");
    const header = element("header", "board-head", "", back, this._where, this._result, share, this._event, this._watch);
    this._players = bothSides((color) => new PlayerHeader(color, elapsedS, followed));
    this._bar = element("div", "bar tall");
    this._bar.setAttribute("role", "img");
    this._square = element("div", "big-board");
    this._diagram = new Diagram(this._square);
    this._frame = new BoardFrame(this._square);
    this._position = null;
    this._width = 0;
    // Heard after the board's own observer, which was there first.
    new ResizeObserver(() => {
      this._width = this._square.clientWidth;
      this._drawDiagram();
    }).observe(this._square);
    this._now = element("p", "now");
    this._oddsBar = silent(element("div", "bar flat"));
    this._oddsText = element("span");
    this._odds = element("p", "odds", "", this._oddsBar, this._oddsText, explainButton("odds"));
    this._human = new HumanPanel();
    this._problem = element("p", "problem");
    this._buttons = this._controls();
    const place = element("div", "position", "", this._bar, this._frame.node);
    this._left = element(
      "div", "left", "", this._players.black.node, place, this._players.white.node, this._buttons, this._now, this._odds, this._human.node, this._problem,
    );
    this._moves = new MoveList(pick);
    this._ratings = bothSides((color) => new RatingPanel(color));
    this._leading = "";
    this._curvesKind = curvesChart();
    const pickMove = (move) => pick(Math.min(2 * move, this._game.plies.length));
    this._curves = new Chart(this._curvesKind, pickMove, (move) => this._peek(move));
    this._score = new Chart(SCORE, pick);
    this._complexity = new Chart(COMPLEXITY, pick);
    this._clocks = new Chart(CLOCKS, pick);
    this._gains = new Chart(gainChart());
    this._gainsKey = [];
    this._duel = new HeadToHeadPanel();
    this._methods = new MethodsTable();
    this._switch = this._figureSwitch();
    this._curvesBox = element("div", "curves-box", "", this._switch, this._curves.node, this._bandButtons());
    const ratings = element("div", "rating-panels", "", this._ratings.white.node, this._ratings.black.node);
    const right = element("div", "right", "", this._curvesBox, ratings);
    const charts = [this._gains, this._duel, this._methods, this._complexity, this._clocks].map(({ node }) => node);
    const heading = element("summary", "", "Methods: gains, accuracy and what the papers measure");
    this._below = element("details", "methods-behind", "", heading, element("div", "below", "", ...charts));
    this._gone = element("p", "note");
    this._body = element("div", "board-body", "", this._left, this._moves.node, right, this._score.node);
    this.node = named(element("section", "board-view", "", header, this._gone, this._body, this._below), "One board");
  }

  draw(held, place) {
    const game = held.games.get(place.game) ?? null;
    const missing = game === null;
    this._gone.hidden = !missing;
    this._body.hidden = this._below.hidden = missing;
    if (missing) {
      setText(this._gone, held.seq === null ? "Waiting for the service." : "This board is not here any more, or not for this address.");
      return;
    }
    this._game = game;
    const last = game.plies.length;
    const ply = place.ply === null ? last : Math.min(place.ply, last);
    this._ply = ply;
    const plies = ply === wholeOf(game) ? game.plies : game.plies.slice(0, ply);
    this._drawHead(game);
    const basis = basisIn(held, place);
    this._drawBoard(game, plies, place, basis);
    this._human.draw(game, plies, held.engines?.human?.learned_from ?? "");
    this._moves.draw(game, ply, basis);
    for (const panel of Object.values(this._ratings)) panel.draw(game, ply, basis);
    this._useFigure(basis);
    this._curves.draw(game, Math.max(1, Math.ceil(ply / 2)), this._leading);
    for (const chart of [this._score, this._complexity, this._clocks]) chart.draw(game, ply);
    this._drawGains(game, held);
    for (const color of COLORS) {
      setText(this._bands[color].lastChild, nameWithin(game[color].name || "?", basis.everybody, NAME_LETTERS));
    }
    this._duel.draw(game);
    this._methods.draw(game);
  }

  /** Goes so many plies on or back; at the newest it follows the game again. */
  step(by) {
    if (this._game === null) return;
    const last = wholeOf(this._game);
    const ply = Math.max(0, Math.min(last, this._ply + by));
    this._go({ ply: ply === last ? null : ply }, true);
  }

  /** Time has passed. */
  tick() {
    for (const player of Object.values(this._players)) player.clock.tick();
  }

  restyle() {
    for (const chart of [this._curves, this._score, this._complexity, this._clocks, this._gains]) chart.restyle();
  }

  _drawHead(game) {
    setText(this._where, placeText(game));
    const sources = game.also?.length ? `from ${[game.feed, ...game.also].join(" and ")}` : "";
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
    const score = scoreAfter(game, plies);
    const odds = oddsOf(game, plies);
    drawBar(this._bar, score);
    const said = score.text ? `Score ${score.text}` : basis.withheld ? "Score withheld here" : "Score not known yet";
    named(this._bar, odds ? `${said}. ${oddsText(odds)}` : said);
    this._odds.hidden = odds === null;
    if (odds) {
      drawOdds(this._oddsBar, odds);
      setText(this._oddsText, oddsText(odds));
    }
    const moves = plies.map(({ uci }) => uci);
    const material = materialText(placementAfter(game.start_fen, moves));
    for (const [color, player] of Object.entries(this._players)) player.draw(game, plies, material[color], basis);
    const last = plies.at(-1);
    const better = last?.best && last.best !== last.uci && last.gain_cp < 0 ? last.best : "";
    this._frame.draw(place.flip ? "black" : "white", better);
    const best = better ? `    best was ${sanOf(game.start_fen, moves.slice(0, -1), better)}` : "";
    setText(this._now, `${lastMove(game, plies)}    ${scoreWords(score, basis)}${best}`);
    setLine(this._problem, problemText(game, basis));
    const newestPly = wholeOf(game);
    const [first, backOne, onOne, newest] = this._buttons.children;
    first.disabled = backOne.disabled = plies.length === 0;
    onOne.disabled = newest.disabled = plies.length === newestPly;
    newest.classList.toggle("looking-back", place.ply !== null);
  }

  /** The gains of the whole game; the engine's are counted over all games that are held. */
  _drawGains(game, held) {
    const kind = held.hello?.gain ?? "same-search";
    const key = [game.curves.white, game.curves.black, kind];
    if (key.every((part, at) => part === this._gainsKey[at])) return;
    this._gainsKey = key;
    const side = (color, name) => ({ name, color: `--${color}-line`, counts: countAtOne(gainsOf(game, color)) });
    const engine = countAtOne(measuredGains(kind, held.games.values()) ?? [0]);
    this._gains.draw({ up: side("white", "White"), down: side("black", "Black"), engine, both: kind === "successive" }, null);
  }

  /** A board that was just shown draws itself anew for its size: nothing may move before that. */
  _drawDiagram() {
    const width = this._square.clientWidth;
    if (this._position === null || width === 0 || width !== this._width) return;
    this._diagram.turn(this._position.side);
    this._diagram.draw(this._position.game);
  }

  _controls() {
    const make = (text, label, action) => button(text, action, { label });
    const box = element(
      "div", "controls", "",
      make("|\u25c0", "Start (Home)", () => this.step(-this._ply)),
      make("\u25c0", "Back one move (left arrow)", () => this.step(-1)),
      make("\u25b6", "On one move (right arrow)", () => this.step(1)),
      make("\u25b6|", "Newest move, follow the game (End)", () => this.step(Infinity)),
      make("\u21c5", "Turn the board (f)", () => this._go((place) => ({ flip: !place.flip }))),
    );
    return named(box, "Step through the game", "group");
  }

  _figureSwitch() {
    const buttons = Object.entries(FIGURE_NAMES).map(([figure, text]) => button(text, () => this._go({ figure })));
    buttons.forEach((each, at) => each.setAttribute("aria-pressed", String(at === 0)));
    return named(element("div", "switch", "", ...buttons), "Which figure is large, and which the curves show", "group");
  }

  /** Whose band is shown alone: while pointed at or with the keyboard on it, and for good once pressed. */
  _bandButtons() {
    this._bands = bothSides((color) => {
      const node = button("", () => this._pinBand(node.getAttribute("aria-pressed") === "true" ? null : color));
      node.append(element("i", `piece ${color}`), nameNode(""));
      for (const type of ["pointerenter", "focus"]) node.addEventListener(type, () => this._curves.hover(color));
      for (const type of ["pointerleave", "blur"]) node.addEventListener(type, () => this._curves.hover(null));
      return node;
    });
    this._pinBand(null);
    return named(element("div", "switch bands", "", element("span", "", "Band of"), this._bands.white, this._bands.black), "Whose band is shown alone", "group");
  }

  _pinBand(color) {
    this._curves.pin(color);
    for (const each of COLORS) this._bands[each].setAttribute("aria-pressed", String(each === color));
  }

  /** Shows the position after a move that is pointed at; null: the one that is looked at. */
  _peek(move) {
    if (this._game === null || this._position === null) return;
    const plies = move === null ? this._ply : Math.min(2 * move, this._game.plies.length);
    this._position = { ...this._position, game: { ...this._game, plies: this._game.plies.slice(0, plies) } };
    this._drawDiagram();
  }

  _useFigure(basis) {
    const leading = `${basis.choice} ${basis.engineRating}`;
    if (leading === this._leading) return;
    this._leading = leading;
    this._curvesKind.lead(basis);
    this._pinBand(null);
    Object.keys(FIGURE_NAMES).forEach((each, at) => {
      this._switch.children[at].setAttribute("aria-pressed", String(each === basis.choice));
    });
  }
}

/** How many plies there are, also where a link shows the first of them. */
const wholeOf = (game) => game.whole_plies ?? game.plies.length;

/** A player above or below the board; the figure stands here where its panel is out of sight. */
class PlayerHeader extends Side {
  constructor(color, elapsedS, followed) {
    super(color, elapsedS);
    this._link = element("a", "name-link", "", this.name.node);
    this._more = nameNode("more");
    this._material = element("span", "material");
    this._material.title = "What this side has more of, and by how many pawns it is ahead";
    this._star = new FollowStar(followed);
    this._leap = element("span", "news");
    const who = [this.piece, this.title, this._link, this.elo, this._star.node, this._material, this._more, this.clock.node];
    const figures = element("div", "figures", "", this.label, this.main, this.usual, this._leap);
    this.node = element("div", `player-line side ${color}`, "", element("div", "who", "", ...who), figures);
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
    setText(this.label, read ? `${read.label} \u00b7 ${read.early || rests}` : "");
    setText(this._leap, news);
  }
}
