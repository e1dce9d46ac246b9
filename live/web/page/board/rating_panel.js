/** Both players' figures at the move that is looked at, and what White is expected to score. */

import { element, scrollBox, setText } from "../../drawing/elements.js";
import { Name } from "../../drawing/player_names.js";
import { figureOf, isEarly } from "../../client/leading_figure.js";
import { countedMoves, ratings, usualWords, withoutFigure, written } from "../score_words.js";
import { SIDE_COLUMNS, signed } from "../players/columns.js";
import { explainButton } from "../explanations.js";
import { Whisker } from "./side_figures.js";

/** Both players are compared from so many moves on. */
const LEAST_MOVES = 5;

/** The last point of a curve at or before a ply, or null. Pure. */
export function pointAt(curve, ply) {
  for (let at = curve.length - 1; at >= 0; at -= 1) if (curve[at].ply <= ply) return curve[at];
  return null;
}

/** The logistic expectation of White from both Elo ratings; null without both. Pure. */
export function eloExpectation(white, black) {
  if (!white || !black) return null;
  return 1 / (1 + 10 ** ((black - white) / 400));
}

class RatingPanel {
  constructor(color) {
    this._color = color;
    this._name = new Name();
    this._large = new PanelRating("leading", "large");
    this._lines = {
      level: new PanelRating("level"),
      percentile: new PanelRating("percentile"),
      alone: new PanelRating("alone"),
      performance: new PanelRating("performance"),
      algorithm4: new PanelRating("a4"),
    };
    this._ranges = element("p", "note ranges", "Ranges are 95 % intervals.");
    const lines = [this._large, ...Object.values(this._lines)].map(({ node }) => node);
    this.node = element(
      "section", `rating-panel side ${color}`, "", element("h2", "", "", element("i", `piece ${color}`), this._name.node), ...lines, this._ranges,
    );
  }

  draw(game, ply, basis, note) {
    const player = game[this._color];
    const point = pointAt(game.curves[this._color], ply);
    this._name.draw(player.name || "?", basis.everybody);
    const { main, early } = ratings(point, player.elo, basis);
    this._ranges.hidden = basis.withheld;
    const counted = point === null ? "" : `from ${countedMoves(point.n)}`;
    const named = [titled(main?.kind === "percentile" ? main.before : (main?.label ?? "")), counted].join(", ");
    this._large.name(main === null ? "No figure yet" : named);
    if (main === null) this._large.say(note && point !== null && point.n >= 5 ? note : withoutFigure(point, basis));
    else this._large.draw(main, player.elo, main.kind === "percentile" ? `${main.label}: ${usualWords(main, point.n)}` : "", early);
    for (const [kind, line] of Object.entries(this._lines)) {
      // A performance belongs to the whole game, not to a move of it.
      const whole = kind === "performance";
      const held = whole ? (ply >= game.plies.length ? game.methods[this._color] : null) : point;
      const figure = written(figureOf(held, kind));
      line.node.hidden = figure === null || main?.kind === kind;
      if (figure !== null) line.draw(figure, player.elo, about(figure), isEarly(figure, point?.n));
    }
  }
}

const NAMES = { level: "Level", percentile: "Better than", alone: "Moves alone", performance: "Performance", a4: "A4 index" };

const titled = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** What else there is to say of a figure. */
function about({ kind, share, label }) {
  if (kind === "percentile") return label;
  if (kind === "level" && share !== null && share >= 0.005) return `${Math.round(100 * share)} % from these moves`;
  return "";
}

class PanelRating {
  constructor(name, size = "") {
    this._label = element("span", "", NAMES[name] ?? "");
    this._main = element("strong", "rating");
    this._interval = element("span", "interval");
    this._whisker = new Whisker();
    this._said = element("span", "said");
    this.node = element(
      "div", `rating-line ${size}`, "", element("div", "label", "", this._label, explainButton(name)),
      element("div", "value", "", this._main, this._interval, this._said), this._whisker.node,
    );
  }

  name(text) {
    setText(this._label, text);
  }

  draw(figure, elo, said, early) {
    setText(this._main, figure.text);
    setText(this._interval, figure.interval);
    setText(this._said, said);
    // Percentiles and Algorithm 4's index have no place on a scale of Elo.
    this.node.classList.toggle("early", early);
    this._whisker.node.hidden = ["percentile", "algorithm4"].includes(figure.kind);
    if (!this._whisker.node.hidden) this._whisker.draw(figure, elo);
  }

  say(text) {
    setText(this._main, "");
    setText(this._interval, "");
    setText(this._said, text);
    this.node.classList.remove("early");
    this._whisker.node.hidden = true;
  }
}

/** Ratings of both, the expectation between them, and the other methods. */
export class Ratings {
  constructor() {
    this._panels = { white: new RatingPanel("white"), black: new RatingPanel("black") };
    this.node = element("div", "rating-panels", "", this._panels.white.node, this._panels.black.node);
  }

  /** `basis` says which figure leads; `note` why there may be none. */
  draw(game, ply, basis, note) {
    for (const panel of Object.values(this._panels)) panel.draw(game, ply, basis, note);
  }
}

export class HeadToHeadPanel {
  constructor() {
    this._body = element("tbody");
    const heads = ["What White scores", "Expected", "95 %", "Elo"].map((text) => {
      const cell = element("th", "", text);
      cell.scope = "col";
      return cell;
    });
    this._rows = ["By these moves (Algorithm 1)", "By conformance", "By Elo before the game"].map((text) => {
      const head = element("th", "", text);
      head.scope = "row";
      return element("tr", "", "", head, element("td"), element("td"), element("td"));
    });
    this._body.append(...this._rows);
    const table = element(
      "table", "plain-table", "", element("caption", "hidden", "Head to head"),
      element("thead", "", "", element("tr", "", "", ...heads)), this._body,
    );
    const title = element("figcaption", "", "", element("span", "", "Head to head"), explainButton("headToHead"));
    this.node = element("figure", "chart head-to-head", "", title, scrollBox(table));
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
    const heads = ["Method", "White", "Black"].map((text) => {
      const cell = element("th", "", text);
      cell.scope = "col";
      return cell;
    });
    const rows = SIDE_COLUMNS.map(({ label, explain }, at) => {
      const head = element("th", "", "", element("span", "", label), explainButton(explain));
      head.scope = "row";
      return element("tr", "", "", head, ...this._cells[at]);
    });
    const table = element(
      "table", "plain-table", "", element("caption", "hidden", "Other methods"),
      element("thead", "", "", element("tr", "", "", ...heads)), element("tbody", "", "", ...rows),
    );
    const title = element("figcaption", "", "", element("span", "", "Other methods"));
    this.node = element("figure", "chart methods", "", title, scrollBox(table));
  }

  draw({ methods }) {
    SIDE_COLUMNS.forEach((column, at) => {
      ["white", "black"].forEach((color, side) => {
        const cell = this._cells[at][side];
        const { text, interval, missing, provisional } = column.show({ methods: methods[color] });
        setText(cell.firstChild, text);
        setText(cell.lastChild, interval);
        if (cell.title !== missing) cell.title = missing;
        cell.classList.toggle("provisional", Boolean(provisional));
      });
    });
  }
}
