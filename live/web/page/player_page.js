/** One player: the figures and gains over all games that are held, and these games, the newest first. */

import { Card } from "./board_card.js";
import { Chart, countAtOne, gainChart, gainsOf, measuredGains } from "./charts.js";
import { brokerOf } from "../client/connection.js";
import { anchor, Children, element, named, nameNode, setText } from "../drawing/elements.js";
import { COLORS } from "../client/games.js";
import { explainButton } from "./explanations.js";
import { ask, FollowStar, playerKey, playerOf } from "./page_address.js";
import { PLAYER_COLUMNS, USUAL } from "./players.js";
import { basisIn } from "./score_words.js";

export class PlayerPage {
  constructor(go, share, elapsedS, followed) {
    this._star = new FollowStar(followed);
    this._name = nameNode("name");
    this._about = nameNode("more");
    const back = anchor("back", "\u2190 All players", "#view=players");
    const heading = element("h2", "player-name", "", this._name, " ", this._star.node);
    const header = element("header", "board-head", "", back, heading, this._about, share);
    this._figures = PLAYER_COLUMNS.map((column) => new PlayerFigure(column));
    const usual = this._figures.filter(({ column }) => USUAL.includes(column.id));
    const more = this._figures.filter((figure) => !usual.includes(figure));
    const list = (figures) => element("dl", "figure-list", "", ...figures.map(({ node }) => node));
    const others = element("details", "behind", "", element("summary", "", "Other methods"), list(more));
    this._gone = element("p", "note");
    this._body = element("div", "player-body", "", list(usual), others);
    this._gains = new Chart(gainChart());
    this._pooled = new PooledGains(() => go({}));
    this._grid = element("div", "boards");
    this._cards = new Children(this._grid, () => new Card(elapsedS));
    const parts = [header, this._gone, this._body, this._gains.node, element("h2", "", "Games"), this._grid];
    this.node = named(element("section", "player-view", "", ...parts), "One player");
  }

  draw(held, place) {
    const { player, side, games } = playerOf([...held.players.values()], [...held.games.values()], place.player);
    const known = player ?? side;
    this._gone.hidden = known !== null;
    setText(this._gone, known === null ? "No player of this name or number is here." : "");
    this._body.hidden = player === null;
    this._star.node.hidden = known === null;
    if (known !== null) {
      this._star.draw(side ?? player);
      setText(this._name, known.name || "?");
      const elo = player?.elo ?? side?.elo;
      const about = [side?.title, elo ? `Elo ${elo}` : "", side?.federation, side?.team];
      setText(this._about, about.filter(Boolean).join(" \u00b7 "));
    }
    if (player !== null) for (const figure of this._figures) figure.draw(player, held.engine);
    this._drawGains(held, player, games, place.player);
    const basis = basisIn(held, place);
    this._cards.show(games).forEach((card, at) => card.draw(games[at], basis));
  }

  _drawGains(held, player, games, key) {
    const kind = held.hello?.gain ?? "same-search";
    const subject = this._pooled.of(player, games, key, kind, held.games.values());
    this._gains.node.hidden = subject === null;
    if (subject !== null) this._gains.draw(subject, null);
  }

  /** Time has passed. */
  tick() {
    for (const card of this._cards.views) card.tick();
  }

  restyle() {
    this._gains.restyle();
    for (const card of this._cards.views) card.restyle();
  }
}

/** One figure by its name. */
class PlayerFigure {
  constructor(column) {
    this.column = column;
    this._value = element("strong", "value");
    this._interval = element("span", "interval");
    const label = element("dt", "", "", element("span", "", column.label), explainButton(column.explain));
    this._cell = element("dd", "", "", this._value, this._interval);
    this.node = element("div", "", "", label, this._cell);
  }

  draw(player, engine) {
    const { text, interval, missing } = this.column.show(player, engine ?? undefined);
    setText(this._value, text);
    setText(this._interval, interval || (text === "\u2013" ? missing : ""));
  }
}

/** The service is asked at most so often. */
const ASK_MS = 5_000;

/** The gains of a player in these games. Pure. */
export function heldGains(games, key) {
  return games.flatMap((game) => COLORS.filter((color) => playerKey(game[color]) === key).flatMap((color) => gainsOf(game, color)));
}

class PooledGains {
  /** `changed()` follows every answer of the service. */
  constructor(changed) {
    this._changed = changed;
    this._asked = { id: null, moves: null, at: -Infinity };
    this._answer = null;
    this._subject = null;
    this._rests = [];
  }

  /** What the chart of gains draws; null without a move. The same object while nothing is new. */
  of(player, games, key, kind, everything) {
    this._ask(player);
    const answer = this._answer?.player === player?.id ? this._answer : null;
    const rests = [key, answer, player?.moves, kind];
    if (this._subject !== null && rests.every((part, at) => part === this._rests[at])) return this._subject;
    this._rests = rests;
    const counts = answer?.counts ?? countAtOne(heldGains(games, key));
    const engine = answer?.engine ?? countAtOne(measuredGains(kind, everything) ?? [0]);
    const up = { name: "Player", color: "--accent", counts };
    const down = { name: "Engine", color: "--edge", counts: engine };
    if (engine.every(([gain]) => gain === 0)) down.said = "Engine: all at 0";
    this._subject = counts.length ? { up, down, engine: null, both: kind === "successive" } : null;
    return this._subject;
  }

  async _ask(player) {
    if (player === null || brokerOf() !== null) return;
    const { id, moves, at } = this._asked;
    const now = performance.now();
    if (id === player.id && (moves === player.moves || now - at < ASK_MS)) return;
    this._asked = { id: player.id, moves: player.moves, at: now };
    try {
      this._answer = await (await ask(`players/${encodeURIComponent(player.id)}/gains`)).json();
      this._changed();
    } catch {
      // What is held is shown as long as the service does not answer.
    }
  }
}
