/** State of connection, sources and engines: lines above every view, the view of health, and the form for a missing token. */

import { TokenCheck } from "../client/connection.js";
import { anchor, childrenOf, element, headCell, named, nameNode, scrollBox, setText, tableOf } from "../drawing/elements.js";
import { running } from "../client/games.js";
import { clockText } from "../drawing/number_format.js";
import { feedText, locale, say, words } from "./language.js";
import { age, counted, fill, tokenText } from "../overlay/language/words.js";

/** States of sources that send nothing: of lost sources, and of sources that have not started. */
const LOST = ["retrying", "failed"];
const COMING = ["connecting", "waiting"];

/** Return the state of all sources together, `{said, state}`: a text, and `live` if any source is live or only silent. Pure. */
function sourcesWords(feeds) {
  const states = feeds.filter(({ part }) => !part).map(({ state }) => state);
  const any = (...searched) => states.some((state) => searched.includes(state));
  if (states.length === 0 || any("live", "stale")) return { said: say("live"), state: "live" };
  if (any(...LOST)) return { said: say("not live"), state: "retrying" };
  return any(...COMING) ? { said: say("not live yet"), state: "waiting" } : { said: say("over"), state: "finished" };
}

/** Return the state of all engines together. Problems that do not slow engines, as with the journal, do not count. Pure. */
export function engineState(health) {
  const working = health.engines.filter(({ state }) => state === "idle" || state === "searching").length;
  return working === health.engines.length ? "live" : working ? "retrying" : "failed";
}

/** Return how late the public sees the boards, as text; empty without a delay. Pure. */
export const lateText = (delay) => (delay?.delay_s ? say("The public sees boards {} late", clockText(delay.delay_s)) : "");

const STATES = { live: say("live"), stale: say("live"), retrying: say("lost, trying again"), failed: say("lost"), finished: say("over") };

/** Return the state of a source in words for viewers. */
export const sourceText = (state) => STATES[state] ?? say("not there yet, waiting");

/** States of a source without a problem. */
const WELL = ["live", "finished"];

/** Return a line for each source with a problem, for arbiters. */
function sourceLines(feeds) {
  return feeds
    .filter(({ state }) => !WELL.includes(state))
    .map(({ feed, state, detail }) => ({ state, name: feedText(feed), detail: [say(state), detail].filter(Boolean).join(": ") }));
}

/** Return a line about all sources with problems, for viewers. Silence is no problem, since players can think for long. */
function sourcesLine(feeds) {
  const sources = feeds.filter(({ part }) => !part);
  const lost = sources.filter(({ state }) => LOST.includes(state));
  const troubled = lost.length ? lost : sources.filter(({ state }) => COMING.includes(state));
  if (troubled.length === 0) return [];
  const { state } = troubled.find((source) => source.state === "retrying") ?? troubled[0];
  const [name, count] = sources.length === 1 ? [say("Source"), ""] : [say("Sources"), `${say("{} of {}", troubled.length, sources.length)} `];
  return [{ state, name, detail: count + sourceText(state) }];
}

/** Return a line about the scores if they are late. */
function scoresLine({ engines, games }) {
  const state = engineState(engines);
  const all = [...(games?.values() ?? [])];
  const late = all.reduce((sum, game) => sum + game.plies_played - game.plies_scored, 0);
  // Late scores matter only while a game runs.
  const slow = late > 0 && all.some(running) ? say("slower than usual at the moment") : "";
  const how = { failed: say("none at the moment"), retrying: slow }[state];
  const detail = [how, late > 0 ? counted(words, "toBeRated", late) : ""].filter(Boolean).join(", ");
  return detail && state !== "live" ? [{ state, name: say("scores"), detail }] : [];
}

/** Return a line while an unknown engine is measured, since all figures can move until then. */
function measuringLine({ measuring }) {
  if (!measuring?.of) return [];
  const percent = Math.floor((100 * measuring.done) / measuring.of);
  return [{ state: "waiting", name: say("Playing like"), detail: say("may still move, in finished games too: this engine is new here and is being measured, {} % done", percent) }];
}

/** Return the lines above every view, which link to the view of health: the public delay and problems. Pure. */
export function troubleLines(held) {
  const { feeds, engines, hello } = held;
  const late = lateText(hello?.public_delay);
  return [
    ...(late ? [{ state: "waiting", name: late, detail: "" }] : []),
    ...(hello?.sight === "arbiter" ? sourceLines(feeds) : sourcesLine(feeds)),
    // Readers who may not see scores do not learn whether scores are late.
    ...(engines && hello?.sight !== "venue" ? [...scoresLine(held), ...measuringLine(engines)] : []),
  ];
}

/** Draw the lines about problems; change only texts that differ. */
export function drawHealth(list, held) {
  const lines = troubleLines(held);
  list.hidden = lines.length === 0;
  const items = childrenOf(list, lines.length, () => {
    const link = anchor("name", "", "#view=health");
    link.append(nameNode(""));
    return element("li", "", "", element("i"), link, element("span", "detail"));
  });
  lines.forEach((line, at) => {
    const [sign, name, detail] = items[at].children;
    sign.dataset.state = line.state;
    setText(name.firstChild, line.name);
    setText(detail, line.detail);
  });
}

const writeNumber = (value) => (value === null || value === undefined ? "\u2013" : value.toLocaleString(locale));

/** Return the rows about all engines together, `[name, value]`, for people who run the service. Pure. */
export function engineRows({ engines: health, engine, hello }) {
  if (!health) return [];
  // What this reader may not see has its default value, which is no figure.
  const seenBy = (isSeen) => (text) => (isSeen ? text : say("not shown here"));
  const [forArbiters, forPublic] = [seenBy(hello?.sight === "arbiter"), seenBy(hello?.sight !== "venue")];
  const knownPercent = Math.round((100 * health.cache_hits) / health.asked);
  const searches = writeNumber(health.searches);
  const waiting = writeNumber(health.queued);
  return [
    [say("Problem"), forArbiters(health.problem || health.human?.problem || say("none"))],
    [say("Behind"), forArbiters(health.behind || say("no"))],
    [say("Engine"), engine ? `${engine.name}, ${engine.limit}` : "\u2013"],
    [say("Positions waiting"), forPublic(health.queued ? say("{}, the oldest for {}", waiting, age(words, health.oldest_wait_s)) : waiting)],
    [say("Searches"), forPublic(health.asked ? say("{}, {} % of {} known already", searches, knownPercent, writeNumber(health.asked)) : searches)],
    [say("Restarts"), forPublic(writeNumber(health.restarts))],
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
    const feeds = held.feeds.map(({ feed, state, detail }) => [feedText(feed), say(state), detail || "\u2013"]);
    this._feeds.fill(feeds.length > 0 ? feeds : [["\u2013", say("not there yet, waiting"), "\u2013"]]);
    held.feeds.forEach(({ state }, at) => (this._feeds.body.rows[at].cells[1].dataset.state = state));
    const speed = (knodes) => (knodes === null ? "\u2013" : String(Math.round(knodes)));
    const engines = (held.engines?.engines ?? []).map((engine) => [String(engine.index + 1), say(engine.state), speed(engine.knodes_per_s)]);
    this._engines.fill(held.hello?.sight === "venue" ? [["\u2013", say("not shown here"), "\u2013"]] : engines);
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

/** For each state of a connection, the state of a source that looks alike. */
const CONNECTION = { connecting: "connecting", waiting: "retrying", refused: "failed" };

/** Return the state of the connection and its sources, `{said, state}`; `state` is a source's state that looks alike. Pure. */
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

/** Draw the state of the connection; return whether it is live. */
export function drawConnection(node, connection, feeds, now) {
  const { said, state } = connectionWords(connection, feeds, now);
  setText(node, said);
  node.dataset.state = state;
  return connection.status === "live";
}

// --- the token --------------------------------------------------------------------------------------

/** A form that asks for a token if the service requires one or rejects the given one. */
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

  /** Check whether the token is missing or wrong, until the first message. */
  async look(connection, now) {
    const trouble = connection.heardAt === null ? await this._check.look(connection, now) : "";
    if (trouble === null) return;
    setText(this._text, tokenText(trouble, words));
    this.node.hidden = trouble === "" || connection.heardAt !== null;
  }
}
