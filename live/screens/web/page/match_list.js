/** The scores of team matches. */

import { pointsText, teamMatches } from "../client/games.js";
import { element, named } from "../drawing/elements.js";
import { roundText, say } from "./language.js";

/** The scores of the team matches; empty if there are no teams. */
export class MatchList {
  constructor() {
    this._shownText = "";
    this.node = named(element("ul", "matches"), say("Team matches"));
    this.node.hidden = true;
  }

  draw(games) {
    const matches = teamMatches(games);
    // Name the event only if there are several events, and the round only if there are several rounds.
    const [events, rounds] = ["event", "round"].map((part) => new Set(matches.map((match) => match[part])).size);
    const lines = matches.map(({ event, round, teams, points }) => {
      const where = [events > 1 ? event : "", rounds > 1 ? roundText(round) : ""].filter(Boolean).join(", ");
      return [where && `${where}:`, teams[0], `${pointsText(points[0])} \u2013 ${pointsText(points[1])}`, teams[1]].filter(Boolean).join(" ");
    });
    if (lines.join("\n") === this._shownText) return;
    this._shownText = lines.join("\n");
    this.node.replaceChildren(...lines.map((text) => element("li", "", text)));
    this.node.hidden = lines.length === 0;
  }
}
