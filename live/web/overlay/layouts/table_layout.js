/** `layout=table`: standings by points, with the perceived rating beside them. */

import { element, setText } from "../../drawing/elements.js";
import { bandText, eloText, figureOf, isEarly, unratedOf } from "../../client/figures.js";
import { eventOf } from "../shown_figures.js";
import { pointsText } from "../../client/event_rounds.js";
import { head, PlayerRow, PlayersTable } from "../tables/players_table.js";
import { roundTable } from "../tables/round_table.js";

const WIDTH = 46;
const TALL_WIDTH = 40;
/** What each tie-break adds. */
const TIE = 5.4;

export default class TableLayout {
  constructor(context) {
    this._context = context;
    const { options, words } = context;
    this._event = element("p", "place");
    const figure = head(words.playingLike, "figure");
    figure.append(element("span", "note", words.usualNote));
    const ties = options.ties.map((name) => head(words[`tie-${name}`], "tie"));
    this._table = new PlayersTable(context, {
      title: words.table,
      columns: [head(words.gamesHead, "games"), head(words.points, "points-cell"), ...ties, figure],
      makeRow: () => new TableRow(context),
      className: "layout-table",
      beside: [this._event],
      headHeight: 7.5,
    });
    this.node = this._table.node;
  }

  fit(width, height) {
    const wide = (width < height ? TALL_WIDTH : WIDTH) + TIE * this._context.options.ties.length;
    this.node.style.width = `${wide - 1.2}rem`;
    return this._table.fitting(width, height, wide);
  }

  draw({ held, games, now }) {
    const { options, words, basisOf } = this._context;
    const { withheld } = basisOf();
    // All rounds of the event on air.
    const event = games.length > 0 ? eventOf(games[0]) : null;
    const all = [...held.games.values()].filter((game) => event !== null && eventOf(game) === event);
    const table = roundTable(all, options);
    setText(this._event, event ?? "");
    const players = new Map([...held.players.values()].flatMap((each) => [[each.id, each], [each.name, each]]));
    // A column of dashes takes the room of names.
    this.node.classList.toggle("unrated", withheld || table.every((row) => shownFigure(playerOf(players, row)) === null));
    const names = table.map(({ player }) => player.name);
    const missing = all.reduce((sum, game) => sum + unratedOf(game), 0);
    this._table.show(table, missing, now, (row, item) => row.draw(item, players, names));
    if (withheld) this._table.say(words.withheld);
  }
}

/** What is known of who stands in a row; or null. */
const playerOf = (players, { id, player }) => players.get(id) ?? players.get(player.name) ?? null;

/** The perceived rating of somebody over the event, once it rests on moves enough; or null. */
function shownFigure(player) {
  const figure = figureOf(player, "perceived");
  return figure === null || isEarly(figure) ? null : figure;
}

class TableRow extends PlayerRow {
  constructor(context) {
    const [games, points, live] = [element("td", "games"), element("td", "points-cell"), element("i", "playing")];
    const ties = context.options.ties.map(() => element("td", "tie"));
    super(context, [games, points, ...ties], { beside: [live] });
    Object.assign(this, { _games: games, _points: points, _live: live, _ties: ties });
  }

  draw({ place, tied, player, points, games, playing, ties, id }, players, names) {
    this._live.hidden = !playing;
    setText(this._games, String(games));
    setText(this._points, pointsText(points));
    ties.forEach((value, at) => setText(this._ties[at], pointsText(value)));
    const figure = shownFigure(playerOf(players, { id, player }));
    const [value, band] = figure ? [eloText(figure, this._words), bandText(figure)] : ["\u2013", ""];
    this.fill(`${place}${tied ? "=" : ""}`, player, names, figure?.counted ?? null, value, band);
  }
}
