/** Both players' ratings at the move that is looked at, and what White is expected to score. */

import { element, nameNode, setText } from "../../drawing/elements.js";
import { ratingFigure } from "../../drawing/number_format.js";
import { SIDE_COLUMNS, signed } from "../players/columns.js";
import { explainButton } from "../explanations.js";
import { Whisker } from "./side_figures.js";

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
    this._name = nameNode("name");
    this._lines = {
      calibrated: new PanelRating("Plays like", "calibrated", "large"),
      form: new PanelRating("Form", "form", ""),
      a4: new PanelRating("Algorithm 4", "a4", ""),
      expected: new PanelRating("Expected", "expected", ""),
    };
    const lines = Object.values(this._lines).map(({ node }) => node);
    this.node = element(
      "section", `rating-panel side ${color}`, "", element("h3", "", "", element("i", `piece ${color}`), this._name), ...lines,
    );
  }

  draw(game, ply, missing) {
    const player = game[this._color];
    const point = pointAt(game.curves[this._color], ply);
    setText(this._name, player.name || "?");
    const { calibrated, form, a4, expected } = this._lines;
    const fits = point !== null && point.calibrated !== null;
    calibrated.node.classList.toggle("without", point !== null && !fits);
    if (fits) {
      const { calibrated: value, calibrated_low: low, calibrated_high: high } = point;
      const note = game.calibration_note ?? "";
      calibrated.draw({ value, low, high, ...ratingFigure(value, low, high) }, player.elo, note);
    } else {
      calibrated.say(point === null ? "no move rated yet" : missing || "no calibration fits");
    }
    if (point?.form === null || point === null) form.say(point === null || !player.elo ? "" : "\u2013");
    else form.say(`${signed(point.form)} to Elo ${player.elo}`);
    form.node.hidden = point === null || point.form === null;
    if (point === null) a4.say("\u2013");
    else {
      const { rating: value, low, high } = point;
      a4.draw({ value, low, high, ...ratingFigure(value, low, high) }, player.elo);
    }
    expected.say(point === null ? "\u2013" : `${point.expected_score.toFixed(3)} against the engine, ${point.n} moves`);
  }
}

class PanelRating {
  constructor(label, name, size) {
    this._main = element("strong", "rating");
    this._interval = element("span", "interval");
    this._whisker = new Whisker();
    this._said = element("span", "said");
    this.node = element(
      "div", `rating-line ${size}`, "", element("div", "label", "", element("span", "", label), explainButton(name)),
      element("div", "value", "", this._main, this._interval, this._said), this._whisker.node,
    );
  }

  draw(figure, elo, note = "") {
    setText(this._main, figure.text);
    setText(this._interval, figure.interval);
    setText(this._said, note);
    this._whisker.node.hidden = false;
    this._whisker.draw(figure, elo);
  }

  say(text) {
    setText(this._main, "");
    setText(this._interval, "");
    setText(this._said, text);
    this._whisker.node.hidden = true;
  }
}

/** Ratings of both, the expectation between them, and the other methods. */
export class Ratings {
  constructor() {
    this._panels = { white: new RatingPanel("white"), black: new RatingPanel("black") };
    this.node = element("div", "rating-panels", "", this._panels.white.node, this._panels.black.node);
  }

  draw(game, ply, note) {
    for (const panel of Object.values(this._panels)) panel.draw(game, ply, note);
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
    this.node = element("figure", "chart head-to-head", "", title, element("div", "scroll", "", table));
  }

  draw({ head_to_head: duel, methods, white, black }) {
    const score = (value) => (value === null ? "\u2013" : value.toFixed(2));
    const { expected_score: conform, low, high, missing } = methods;
    const elo = eloExpectation(white.elo, black.elo);
    const interval = conform === null ? missing || "\u2013" : `${score(low)}\u2013${score(high)}`;
    const unbounded = duel.expected_score === null ? "\u2013" : duel.expected_score === 1 ? "\u25b2" : "\u25bc";
    this._fill(0, score(duel.expected_score), "no interval", duel.difference === null ? unbounded : signed(duel.difference));
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
    this.node = element("figure", "chart methods", "", title, element("div", "scroll", "", table));
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
