/** `layout=duel`: two players head to head, figure by figure. */

import { element, headCell, setParts, setText } from "../../drawing/elements.js";
import { bandText, percentText } from "../../client/figures.js";
import { Who } from "../player_lines.js";
import { ScorePanel } from "../score.js";
import { fill } from "../language/words.js";
import { figureWords, leapText, oddsOf, unratedPart, placeOf, pointsOf } from "../shown_figures.js";
import { eventPoints } from "../tables/round_table.js";

const COLORS = ["white", "black"];

export default class DuelLayout {
  /** In rem; it is made as large as the page. */
  size = { width: 46, height: 25 };

  constructor(context) {
    this._context = context;
    this._place = element("p", "place");
    this._heads = Object.fromEntries(COLORS.map((color) => [color, new DuelHead(color, context)]));
    this._body = element("tbody");
    this._rows = new Map();
    this._score = new ScorePanel(context, true);
    const { bar, move, number, alert } = this._score;
    this.node = element(
      "article",
      "layout-duel panel",
      "",
      this._place,
      element("div", "heads", "", this._heads.white.node, this._heads.black.node),
      element("table", "", "", this._body),
      element("div", "state", "", move, number, alert),
      bar.node,
    );
    this.node.hidden = true;
  }

  draw({ games: [game = null], held, swingOf }) {
    this.node.hidden = game === null;
    if (game === null) return;
    const { options, words, basisOf } = this._context;
    const basis = basisOf(game);
    const { withheld, choice } = basis;
    const open = (color) => (unratedPart(game, color, words) ? "\u2026" : "");
    setParts(this._place, [placeOf(game, words), withheld ? words.withheld : ""].filter(Boolean).join(" \u00b7 "));
    for (const color of COLORS) this._heads[color].draw(game);
    const players = [...held.players.values()];
    this._row(words.elo, (color) => String(game[color].elo ?? "\u2013"));
    const read = (color) => (withheld ? null : figureWords(game, color, game.curves[color].at(-1) ?? null, basis, words));
    const perceived = choice !== "algorithm4";
    const like = COLORS.every((color) => read(color)?.label === words.playedLike) ? words.playedLike : words.playingLike;
    const label = perceived ? `${like} (${words.usualNote})` : `${words.algorithm4} (${words.of100})`;
    this._row("figure", (color) => {
      const said = read(color);
      return said === null ? "\u2013" : [said.text + open(color), said.early || [bandText(said.figure), perceived ? "" : said.moves].filter(Boolean).join(" \u00b7 ")];
    }, label);
    for (const color of COLORS) this._rows.get("figure")[color].classList.toggle("early", Boolean(read(color)?.early));
    this._row(fill(words.betterThanSuch, "\u2026"), (color) => {
      const said = read(color);
      const percentile = said?.figure.percentile ?? null;
      return percentile === null || open(color) ? "\u2013" : [`${percentText(percentile)}\u00a0%`, said.moves];
    });
    // In small letters: it says why the figure above is another.
    this._row(words.swing, (color) => {
      const leap = perceived && read(color) && !open(color) ? leapText(game, color, words, null) : "";
      return ["", leap];
    });
    this._row(words.points, (color) => eventPoints(players, game[color], options.scoring) ?? "\u2013");
    const odds = options.hide.includes("score") ? null : oddsOf(game, game.plies, options.provisional);
    this._row(words.winChance, (color) => {
      if (odds === null) return "\u2013";
      return `${Math.round(100 * (color === "white" ? odds.win : odds.loss))}\u00a0%`;
    });
    // A game that is over has a result, beside the names, and no chances.
    this._rows.get(words.winChance).white.parentNode.hidden ||= game.result !== "*";
    this._score.draw(game, swingOf(game));
  }

  /** One line: White's figure, what it is, Black's; each a text, or text and range. */
  _row(name, valueOf, label = name) {
    let row = this._rows.get(name);
    if (row === undefined) {
      row = Object.fromEntries(COLORS.map((color) => [color, element("td", `${color} figure`)]));
      row.head = Object.assign(headCell("", "row"), { className: "label" });
      this._body.append(element("tr", "", "", row.white, row.head, row.black));
      this._rows.set(name, row);
    }
    setText(row.head, label);
    const values = COLORS.map((color) => [valueOf(color)].flat());
    // What nobody knows of either compares nobody.
    row.white.parentNode.hidden = values.every(([text, range]) => !range && ["", "\u2013"].includes(text));
    for (const [at, color] of COLORS.entries()) {
      const [text, range = ""] = values[at];
      const key = `${text}\n${range}`;
      if (row[color].dataset.key === key) continue;
      row[color].dataset.key = key;
      const parts = [element("span", "value", text), element("span", "interval", range)];
      row[color].replaceChildren(...(color === "white" ? parts : parts.reverse()));
    }
  }
}

class DuelHead {
  constructor(color, { everybody, flagOf }) {
    this._color = color;
    this._everybody = everybody;
    this._points = element("strong", "points");
    this._who = new Who(flagOf, [element("i", "piece")], [this._points], `player ${color}`);
    this.node = this._who.node;
  }

  draw(game) {
    setText(this._points, pointsOf(game.result, this._color));
    this._who.draw(game[this._color], this._everybody(), this._points.textContent);
  }
}
