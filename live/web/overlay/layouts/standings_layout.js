/** `layout=standings`: players by the perceived rating, each with its usual band drawn to scale. */

import { element, setText } from "../../drawing/elements.js";
import { bandText, eloText, isEarly, placeText, standings, unratedOf } from "../../client/figures.js";
import { head, PlayerRow, PlayersTable } from "../tables/players_table.js";

const WIDTH = 52;
/** On an upright page, without the drawing of the intervals. */
const TALL_WIDTH = 40;

export default class StandingsLayout {
  constructor(context) {
    this._context = context;
    const { words } = context;
    this._label = element("span");
    this._note = element("span", "note");
    const figure = head("", "figure");
    figure.append(this._label, this._note);
    this._table = new PlayersTable(context, {
      title: words.standings,
      columns: [head(words.elo, "elo"), figure, element("td", "range")],
      makeRow: () => new StandingsRow(context),
      headHeight: 8.1,
    });
    this.node = this._table.node;
  }

  fit(width, height) {
    const tall = width < height;
    this.node.classList.toggle("tall", tall);
    return this._table.fitting(width, height, tall ? TALL_WIDTH : WIDTH);
  }

  draw({ held, games, now }) {
    const { words, basisOf } = this._context;
    const { choice, engineRating } = basisOf();
    const all = [...held.games.values()];
    // Titles and federations come with games.
    const people = new Map(all.flatMap(({ white, black }) => [[white.name, white], [black.name, black]]));
    setText(this._label, choice === "algorithm4" ? words.algorithm4 : words.playingLike);
    setText(this._note, choice === "algorithm4" ? words.of100 : words.usualNote);
    const missing = all.reduce((sum, game) => sum + unratedOf(game), 0);
    const ranked = ranking(this._wanted(held, games), choice, engineRating, words);
    this._table.show(ranked, missing, now, (row, item, items) => row.draw(item, scaleOf(items), people));
  }

  /** With a filter, the players of the games selected; else everybody. */
  _wanted(held, games) {
    const players = [...held.players.values()].filter((player) => player.moves > 0);
    if (this._context.options.board.length === 0) return players;
    const names = new Set(games.flatMap((game) => [game.white.name, game.black.name]));
    return players.filter((player) => names.has(player.name));
  }
}

class StandingsRow extends PlayerRow {
  constructor(context) {
    const elo = element("td", "elo");
    const range = element("div", "range", "", element("i", "line"), element("i", "dot"));
    super(context, [elo], { after: [element("td", "range", "", range)] });
    Object.assign(this, { _elo: elo, _range: range });
  }

  draw({ rank, player, rating }, { low, high }, people) {
    const who = { ...people.get(player.name), name: player.name };
    this.fill(rank, who, [...people.keys()], rating?.counted ?? player.counted, rating?.text ?? "\u2013", rating?.interval ?? "");
    setText(this._elo, player.elo ? String(player.elo) : "\u2013");
    this._range.classList.toggle("none", !rating);
    if (!rating) return;
    const share = (elo) => ((elo - low) / (high - low)).toFixed(4);
    const { style } = this._range;
    style.setProperty("--low", share(rating.low ?? rating.value));
    style.setProperty("--high", share(rating.high ?? rating.value));
    style.setProperty("--value", share(rating.value));
  }
}

/** Elo left free at both ends of the scale. */
const MARGIN = 40;

/**
 * Players by the figure, or by points: `{id, rank, player, rating}`. `rank` is empty where too little
 * is known, and `rating`, `{text, interval, value, low, high}`, is null there.
 */
export function ranking(players, by, engineRating, words) {
  return standings(players, { by, engineRating }).map((each) => {
    const { figure, player } = each;
    const known = figure !== null && !isEarly(figure);
    const rating = known ? { ...figure, text: eloText(figure, words), interval: bandText(figure) } : null;
    return { id: player.id, rank: placeText(each), player, rating };
  });
}

/** Lowest and highest Elo of what is drawn together. */
export function scaleOf(ranked) {
  const ends = ranked.flatMap(({ rating }) => (rating ? [rating.low, rating.high, rating.value] : []));
  const known = ends.filter((elo) => elo !== null);
  if (known.length === 0) return { low: 0, high: 1 };
  return { low: Math.min(...known) - MARGIN, high: Math.max(...known) + MARGIN };
}
