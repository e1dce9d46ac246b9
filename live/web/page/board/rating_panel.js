/** Both players' figures at the move that is looked at, and what White is expected to score. */

import { element, headCell, scrollBox, setText, tableOf } from "../../drawing/elements.js";
import { Name } from "../../drawing/player_names.js";
import { bandText, eloText, figureOf, LEAST_SHOWN_ELO, MOST_SHOWN_ELO, newestLeap, pointAt } from "../../client/figures.js";
import { moveText } from "../../drawing/number_format.js";
import { countedMoves, sideFigure, withoutFigure } from "../score_words.js";
import { SIDE_COLUMNS, signed } from "../players/columns.js";
import { explainButton } from "../explanations.js";
import { figureBox } from "./chart_frame.js";
import { Whisker } from "./side_figures.js";

const DASH = "\u2013";
/** Both players are compared from so many moves on. */
const LEAST_MOVES = 5;

/** The logistic expectation of White from both Elo ratings; null without both. Pure. */
export function eloExpectation(white, black) {
  if (!white || !black) return null;
  return 1 / (1 + 10 ** ((black - white) / 400));
}

/** What the newest leap of a side was, in words; empty without one. `sanOf` is that of move_notation.js. */
export function leapWords(game, color, ply, sanOf) {
  const newest = newestLeap(game.curves[color], { ply });
  const move = game.plies[newest?.ply - 1];
  if (!move) return "";
  const [from, to] = [newest.from, newest.to].map(Math.round);
  const said = `Last swing: ${to > from ? "rose" : "fell"} from ${from} to ${to} with ${moveText(newest.ply, move.san, game.start_fen)}`;
  const { best = null } = move;
  if (to > from || best === null || best === move.uci) return said;
  const before = game.plies.slice(0, newest.ply - 1).map(({ uci }) => uci);
  return `${said}; ${sanOf(game.start_fen, before, best)} was better`;
}

class RatingPanel {
  constructor(color) {
    this._color = color;
    this._name = new Name();
    this._label = element("span");
    this._main = element("strong", "rating");
    this._usual = element("span", "interval");
    this._better = element("span", "said");
    this._whisker = new Whisker();
    this._leap = element("p", "leap");
    this._fine = element("p", "note");
    this._more = element("details", "", "", element("summary", "", "How sure, and Algorithm 4"), this._fine);
    this._line = element(
      "div", "rating-line large", "", element("div", "label", "", this._label, explainButton("perceived")),
      element("div", "value", "", this._main, this._usual, this._better), this._whisker.node,
    );
    const title = element("h2", "", "", element("i", `piece ${color}`), this._name.node);
    this.node = element("section", `rating-panel side ${color}`, "", title, this._line, this._leap, this._more);
  }

  draw(game, ply, basis, sanOf) {
    const player = game[this._color];
    const point = pointAt(game.curves[this._color], ply);
    this._name.draw(player.name || "?", basis.everybody);
    const read = sideFigure(game, this._color, point, basis);
    setText(this._label, read === null ? "No figure yet" : `${titled(read.label)}, ${countedMoves(read.figure.counted)}`);
    setText(this._main, read?.text ?? "");
    setText(this._usual, read?.usual ?? "");
    setText(this._better, read === null ? game.note || withoutFigure(point, basis) : read.early ? "early" : read.better);
    this._line.classList.toggle("early", Boolean(read?.early));
    this._whisker.node.hidden = read?.figure.kind !== "perceived";
    if (!this._whisker.node.hidden) this._whisker.draw(read.figure, player.elo);
    const leads = !basis.withheld && basis.choice === "perceived";
    setText(this._leap, leads ? leapWords(game, this._color, ply, sanOf) : "");
    this._leap.hidden = !this._leap.textContent;
    setText(this._fine, read === null ? "" : details(point, basis));
    this._more.hidden = !this._fine.textContent;
  }
}

/** On demand: what the moves alone allow, and the figure that does not lead; beside the large number they would seem to deny it. */
function details(point, { choice, engineRating }) {
  const leads = choice === "perceived";
  const other = figureOf(point, leads ? "algorithm4" : "perceived", engineRating);
  const { low, high } = point;
  const ends = [
    (low ?? 0) < LEAST_SHOWN_ELO ? `below ${LEAST_SHOWN_ELO}` : Math.round(low),
    (high ?? Infinity) > MOST_SHOWN_ELO ? `above ${MOST_SHOWN_ELO}` : Math.round(high),
  ];
  const band = other === null ? "" : bandText(other);
  const name = leads ? "Algorithm 4, on a scale of its own" : "Playing like";
  const second = other === null ? "" : `${name}: ${eloText(other)}${band ? ` (${band})` : ""}.`;
  return [leads ? `The moves alone, whoever played them: ${ends.join(DASH)} (95\u00a0%).` : "", second].filter(Boolean).join(" ");
}

const titled = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** Ratings of both, the expectation between them, and the other methods. */
export class Ratings {
  constructor() {
    this._panels = { white: new RatingPanel("white"), black: new RatingPanel("black") };
    this.node = element("div", "rating-panels", "", this._panels.white.node, this._panels.black.node);
  }

  /** `basis` says which figure leads; `sanOf` writes a move. */
  draw(game, ply, basis, sanOf) {
    for (const panel of Object.values(this._panels)) panel.draw(game, ply, basis, sanOf);
  }
}

export class HeadToHeadPanel {
  constructor() {
    this._body = element("tbody");
    this._rows = ["By these moves (Algorithm 1)", "By conformance", "By Elo before the game"].map((text) =>
      element("tr", "", "", headCell(text, "row"), element("td"), element("td"), element("td")),
    );
    this._body.append(...this._rows);
    const table = tableOf("Head to head", ["What White scores", "Expected", "95 %", "Elo"], this._body);
    this.node = figureBox("head-to-head", "Head to head", "headToHead", scrollBox(table));
  }

  draw({ head_to_head: duel, methods, white, black, curves }) {
    // After a move or two the comparison says nothing, and says it with a number.
    const few = Math.min(curves.white.length, curves.black.length) < LEAST_MOVES;
    const score = (value) => (value === null ? "\u2013" : value.toFixed(2));
    const { expected_score: conform, low, high, missing } = methods;
    const elo = eloExpectation(white.elo, black.elo);
    const interval = conform === null ? missing || "\u2013" : `${score(low)}\u2013${score(high)}`;
    const unbounded = duel.expected_score === null ? "\u2013" : "unbounded";
    if (few) this._fill(0, "\u2013", "too few moves", "\u2013");
    else this._fill(0, score(duel.expected_score), "no interval", duel.difference === null ? unbounded : signed(duel.difference));
    this._fill(1, score(conform), interval, "\u2013");
    this._fill(2, score(elo), "\u2013", elo === null ? "\u2013" : signed(white.elo - black.elo));
  }

  _fill(at, ...texts) {
    texts.forEach((text, column) => setText(this._rows[at].cells[column + 1], text));
  }
}

export class MethodsTable {
  constructor() {
    this._cells = SIDE_COLUMNS.map(() => [0, 1].map(() => element("td", "", "", element("span", "value"), element("span", "interval"))));
    const rows = SIDE_COLUMNS.map(({ label, explain }, at) =>
      element("tr", "", "", headCell("", "row", element("span", "", label), explainButton(explain)), ...this._cells[at]),
    );
    const table = tableOf("Other methods", ["Method", "White", "Black"], element("tbody", "", "", ...rows));
    this.node = figureBox("methods", "Other methods", "", scrollBox(table));
  }

  draw({ methods }) {
    SIDE_COLUMNS.forEach((column, at) => {
      ["white", "black"].forEach((color, side) => {
        const cell = this._cells[at][side];
        const { text, interval, missing } = column.show({ ...methods[color], methods: methods[color] });
        setText(cell.firstChild, text);
        setText(cell.lastChild, interval);
        if (cell.title !== missing) cell.title = missing;
      });
    });
  }
}
