/** How the connection, the sources and the engines do: their troubles in a word above every view, all of it on its own; and what is asked where a token is missing. */

import { TokenCheck } from "../client/connection.js";
import { anchor, childrenOf, element, headCell, named, nameNode, scrollBox, setText, tableOf } from "../drawing/elements.js";
import { running } from "../client/games.js";
import { clockText } from "../drawing/number_format.js";
import { feedText, locale, say, words } from "./language.js";
import { age, counted, fill, tokenText } from "../overlay/language/words.js";

/** States of sources that send nothing: what was there is gone, and what is not there yet. */
const LOST = ["retrying", "failed"];
const COMING = ["connecting", "waiting"];

/** What is said of all sources together, `{said, state}`: live while one lives, or is only silent. Pure. */
function sourcesWords(feeds) {
  const states = feeds.filter(({ part }) => !part).map(({ state }) => state);
  const any = (...wanted) => states.some((state) => wanted.includes(state));
  if (states.length === 0 || any("live", "stale")) return { said: say("live"), state: "live" };
  if (any(...LOST)) return { said: say("not live"), state: "retrying" };
  return any(...COMING) ? { said: say("not live yet"), state: "waiting" } : { said: say("over"), state: "finished" };
}

/** The state of all engines together; what else is the matter, as with a journal, slows none down. Pure. */
export function engineState(health) {
  const working = health.engines.filter(({ state }) => state === "idle" || state === "searching").length;
  return working === health.engines.length ? "live" : working ? "retrying" : "failed";
}

/** How late the public sees the boards; empty without a delay. Pure. */
export const lateText = (delay) => (delay?.delay_s ? say("boards are shown {} late", clockText(delay.delay_s)) : "");

const STATES = { live: say("live"), stale: say("live"), retrying: say("lost, trying again"), failed: say("lost"), finished: say("over") };

/** What is said of a source to those who watch. */
export const sourceText = (state) => STATES[state] ?? say("not there yet, waiting");

/** States of which nothing is said above the figures. */
const WELL = ["live", "finished"];

/** How sources do that are not as they should be, for those who look after them: a line each. */
function sourceLines(feeds) {
  return feeds
    .filter(({ state }) => !WELL.includes(state))
    .map(({ feed, state, detail }) => ({ state, name: feedText(feed), detail: [say(state), detail].filter(Boolean).join(": ") }));
}

/** The same for those who watch, in a word. Players think for longer than a source may be silent. */
function sourcesLine(feeds) {
  const sources = feeds.filter(({ part }) => !part);
  const lost = sources.filter(({ state }) => LOST.includes(state));
  const troubled = lost.length ? lost : sources.filter(({ state }) => COMING.includes(state));
  if (troubled.length === 0) return [];
  const { state } = troubled.find((each) => each.state === "retrying") ?? troubled[0];
  const [name, many] = sources.length === 1 ? [say("Source"), ""] : [say("Sources"), `${say("{} of {}", troubled.length, sources.length)} `];
  return [{ state, name, detail: many + sourceText(state) }];
}

/** How the scores come, where they come late. */
function scoresLine({ engines, games }) {
  const state = engineState(engines);
  const all = [...(games?.values() ?? [])];
  const late = all.reduce((sum, game) => sum + game.plies_played - game.plies_scored, 0);
  // Nobody waits for scores of games that are over and scored.
  const slow = late > 0 && all.some(running) ? say("slower than usual at the moment") : "";
  const how = { failed: say("none at the moment"), retrying: slow }[state];
  const detail = [how, late > 0 ? counted(words, "toBeRated", late) : ""].filter(Boolean).join(", ");
  return detail && state !== "live" ? [{ state, name: say("scores"), detail }] : [];
}

/**
 * What stands above every view, each with all of it in the view of health: a public delay, and only
 * what is not as it should be. Pure.
 */
export function troubleLines(held) {
  const { feeds, engines, hello } = held;
  const late = lateText(hello?.public_delay);
  return [
    ...(late ? [{ state: "waiting", name: say("public"), detail: late }] : []),
    ...(hello?.sight === "arbiter" ? sourceLines(feeds) : sourcesLine(feeds)),
    // Who may not see scores is not shown how they come either.
    ...(engines && hello?.sight !== "venue" ? scoresLine(held) : []),
  ];
}

/** Draws these lines; only texts that differ are touched. */
export function drawHealth(list, held) {
  const lines = troubleLines(held);
  list.hidden = lines.length === 0;
  const items = childrenOf(list, lines.length, () => {
    const more = anchor("name", "", "#view=health");
    more.append(nameNode(""));
    return element("li", "", "", element("i"), more, element("span", "detail"));
  });
  lines.forEach((line, at) => {
    const [sign, name, detail] = items[at].children;
    sign.dataset.state = line.state;
    setText(name.firstChild, line.name);
    setText(detail, line.detail);
  });
}

const writeNumber = (value) => (value === null || value === undefined ? "\u2013" : value.toLocaleString(locale));

/** What those who look after the engines want to know of them together, as pairs of words. Pure. */
export function engineRows({ engines: health, engine }) {
  if (!health) return [];
  const known = Math.round((100 * health.cache_hits) / health.asked);
  const searches = writeNumber(health.searches);
  const waiting = writeNumber(health.queued);
  return [
    [say("Problem"), health.problem || health.human?.problem || say("none")],
    [say("Behind"), health.behind || say("no")],
    [say("Engine"), engine ? `${engine.name}, ${engine.limit}` : "\u2013"],
    [say("Positions waiting"), health.queued ? say("{}, the oldest for {}", waiting, age(words, health.oldest_wait_s)) : waiting],
    [say("Searches"), health.asked ? say("{}, {} % of {} known already", searches, known, writeNumber(health.asked)) : searches],
    [say("Restarts"), writeNumber(health.restarts)],
  ];
}

export class HealthView {
  constructor() {
    this._feeds = makeTable(say("Sources"), [say("Source"), say("State"), say("Detail")]);
    this._engines = makeTable(say("Engines"), [say("Engine"), say("State"), say("knodes/s")]);
    this._figures = makeTable(say("All engines together"), [say("All engines together"), say("Detail")]);
    const heading = element("h2", "", say("Engines"));
    const parts = [element("h2", "", say("Sources")), this._feeds.node, heading, this._engines.node, this._figures.node];
    this.node = named(element("section", "health-view", "", ...parts), say("Health"));
  }

  draw(held) {
    this._feeds.fill(held.feeds.map(({ feed, state, detail }) => [feedText(feed), say(state), detail || "\u2013"]));
    held.feeds.forEach(({ state }, at) => (this._feeds.body.rows[at].cells[1].dataset.state = state));
    const speed = (knodes) => (knodes === null ? "\u2013" : String(Math.round(knodes)));
    const engines = held.engines?.engines ?? [];
    this._engines.fill(engines.map((each) => [String(each.index + 1), say(each.state), speed(each.knodes_per_s)]));
    this._figures.fill(engineRows(held));
  }
}

function makeTable(title, headings) {
  const body = element("tbody");
  const node = scrollBox(tableOf(title, headings, body));
  const fill = (rows) => {
    const cells = () => headings.slice(1).map(() => element("td", "", "", nameNode("")));
    childrenOf(body, rows.length, () => element("tr", "", "", headCell("", "row", nameNode("")), ...cells()));
    rows.forEach((row, at) => row.forEach((text, column) => setText(body.rows[at].cells[column].firstChild, text)));
  };
  return { node, body, fill };
}

/** States of a connection as those of a source. */
const CONNECTION = { connecting: "connecting", waiting: "retrying", refused: "failed" };

/** What is said of the connection and the sources behind it, `{said, state}`; a state is one of a source. Pure. */
export function connectionWords({ status, heardAt, away = false, reason = "" }, feeds, now) {
  const silentS = heardAt === null ? null : (now - heardAt) / 1000;
  const since = silentS === null ? "" : `; ${fill(words.asOf, age(words, silentS))}`;
  const waiting = away ? say("the service is offline{}", since) : say("no connection, trying again{}", since);
  const texts = {
    connecting: silentS === null ? say("connecting") : waiting,
    waiting,
    refused: fill(words.refused, say(reason)),
  };
  return status === "live" ? sourcesWords(feeds) : { said: texts[status], state: CONNECTION[status] };
}

/** Draws them; answers whether the connection lives. */
export function drawConnection(node, connection, feeds, now) {
  const { said, state } = connectionWords(connection, feeds, now);
  setText(node, said);
  node.dataset.state = state;
  return connection.status === "live";
}

// --- the token --------------------------------------------------------------------------------------

/** Asks for a token where the service lets nobody in without a valid one, and names one that opens nothing. */
export class TokenEntry {
  constructor() {
    this._check = new TokenCheck();
    this._text = element("p", "note");
    this._input = element("input");
    Object.assign(this._input, { type: "password", autocomplete: "off", required: true, id: "token" });
    const label = element("label", "", `${say("Token")} `, this._input);
    this._form = element("form", "", "", label, element("button", "plain", say("Show")));
    this._form.addEventListener("submit", (event) => {
      event.preventDefault();
      const url = new URL(location.href);
      url.searchParams.set("token", this._input.value.trim());
      location.replace(url);
    });
    this.node = named(element("section", "token-entry", "", this._text, this._form), say("Token"));
    this.node.hidden = true;
  }

  /** Looks whether a token is what is missing, until something came. */
  async look(connection, now) {
    if (connection.heardAt === null) {
      const trouble = await this._check.look(connection, now);
      if (trouble !== null && connection.heardAt === null) this._say(trouble);
    } else this.node.hidden = true;
  }

  _say(trouble) {
    setText(this._text, tokenText(trouble, words));
    this.node.hidden = trouble === "";
  }
}
