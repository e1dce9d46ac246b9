/** The view of a player: figures over all games, and the games on this page, the newest first. */

import { Card } from "./board_card.js";
import { anchor, Children, element, named, nameNode, setText } from "../drawing/elements.js";
import { say, words } from "./language.js";
import { FollowStar, playerOf } from "./page_address.js";
import { PLAYER_COLUMNS } from "./players.js";
import { basisIn } from "./score_words.js";

export class PlayerPage {
  constructor(share, elapsedS, followed) {
    this._star = new FollowStar(followed);
    this._name = nameNode("name");
    this._about = nameNode("more");
    const back = anchor("back", `\u2190 ${say("Players")}`, "#view=players");
    const heading = element("h2", "player-name", "", this._name, " ", this._star.node);
    const header = element("header", "board-head", "", back, heading, this._about, share);
    this._figures = PLAYER_COLUMNS.map((column) => new PlayerFigure(column));
    this._gone = element("p", "note");
    this._body = element("dl", "figure-list", "", ...this._figures.map(({ node }) => node));
    this._grid = element("div", "boards");
    this._cards = new Children(this._grid, () => new Card(elapsedS));
    this._games = element("h2", "", say("Games"));
    const parts = [header, this._gone, this._body, this._games, this._grid];
    this.node = named(element("section", "player-view", "", ...parts), words.player);
  }

  draw(held, place) {
    const { player, side, games } = playerOf([...held.players.values()], [...held.games.values()], place.player);
    const person = player ?? side;
    this._gone.hidden = person !== null;
    setText(this._gone, person === null ? say("Not here: {}. It may be gone, or belong to another round or address.", place.player) : "");
    this._body.hidden = player === null;
    this._star.node.hidden = person === null;
    if (person !== null) {
      this._star.draw(side ?? player);
      setText(this._name, person.name || "?");
      // A player in the standings has the Elo among the figures below.
      const elo = player === null ? side.elo : null;
      const about = [side?.title, elo ? `${say("Elo")} ${elo}` : "", side?.federation, side?.team];
      setText(this._about, about.filter(Boolean).join(" \u00b7 "));
    }
    if (player !== null) for (const figure of this._figures) figure.draw(player, held.engine);
    this._games.hidden = games.length === 0;
    const basis = basisIn(held);
    this._cards.show(games).forEach((card, at) => card.draw(games[at], basis));
  }

  /** Update the running clocks. */
  tick() {
    for (const card of this._cards.views) card.tick();
  }

  restyle() {
    for (const card of this._cards.views) card.restyle();
  }
}

/** A figure with its name. */
class PlayerFigure {
  constructor(column) {
    this.column = column;
    this._value = element("strong", "value");
    this._interval = element("span", "interval");
    const label = element("dt", "", column.label);
    this._cell = element("dd", "", "", this._value, this._interval);
    this.node = element("div", "", "", label, this._cell);
  }

  draw(player, engine) {
    const { text, interval, missing } = this.column.show(player, engine ?? undefined);
    setText(this._value, text);
    setText(this._interval, interval || say(missing));
  }
}
