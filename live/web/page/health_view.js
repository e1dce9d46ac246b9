/** How the connection, the sources and the engines do: their troubles in a word above every view, all of it on its own; and what is asked where a token is missing. */

import { brokerOf, TokenCheck, tokenUnused } from "../client/connection.js";
import { anchor, childrenOf, element, headCell, named, nameNode, scrollBox, setText, tableOf } from "../drawing/elements.js";
import { explainButton } from "./explanations.js";
import { everybodyIn, running } from "../client/games.js";
import { clockText } from "../drawing/number_format.js";
import { isolated, shortName } from "../drawing/player_names.js";
import { say, words } from "./language.js";
import { age, fill } from "../overlay/language/words.js";

const RATING_SOURCES = {
  fixed: "set by hand",
  calibration: "from the calibration",
  field: "from the field",
  withheld: "withheld here",
};

/** Positions that wait for an engine, by class, most urgent first, as people call them. */
export const CLASSES = {
  head: "after the newest moves",
  closing: "of games just over",
  backlog: "earlier in games that run",
  finished: "of games over for longer",
  speculate: "not played yet, searched ahead",
};

/** States of sources that send nothing: what was there is gone, and what is not there yet. */
const LOST = ["retrying", "failed"];
const COMING = ["connecting", "waiting"];

/**
 * How the sources do together, in a word: `live` while one lives, or is only silent; `lost`, `waiting`
 * or `over`. Pure.
 */
function sourcesState(feeds) {
  const states = feeds.filter(({ part }) => !part).map(({ state }) => state);
  if (states.length === 0 || states.some((state) => ["live", "stale"].includes(state))) return "live";
  return states.some((state) => LOST.includes(state)) ? "lost" : states.some((state) => COMING.includes(state)) ? "waiting" : "over";
}

/** A share as people read it; empty without a whole. */
function percent(part, whole) {
  return whole ? `${Math.round((100 * part) / whole)} %` : "";
}

/** Which engine, under which limit, and how strong it counts. Pure. */
export function engineText({ engine, hello }) {
  if (engine === null) return "";
  const from = RATING_SOURCES[engine.rating_source] ?? engine.rating_source;
  const basis = engine.rating_source === "field" ? `, ${engine.rating_moves} moves` : "";
  const gain = hello ? `, ${hello.gain} gain` : "";
  const counts = engine.rating ? `; counts as ${engine.rating} (${from}${basis})` : "";
  return `${engine.name}, ${engine.limit}${gain}${counts}`;
}

/** The state of all engines together; what else is the matter, as with a journal, slows none down. Pure. */
export function engineState(health) {
  const working = health.engines.filter(({ state }) => state === "idle" || state === "searching").length;
  return working === health.engines.length ? "live" : working ? "retrying" : "failed";
}

/** How far the public is behind, as people say it; empty where it is not. Pure. */
export function delayText(delay) {
  return delay?.delay_s ? `${clockText(delay.delay_s)} behind` : "";
}

/** The same where boards are spoken of; empty without a delay. Pure. */
export const lateText = (delay) => (delay?.delay_s ? `boards are shown ${clockText(delay.delay_s)} late` : "");

/** States of which nothing is said above the figures. */
const WELL = ["live", "finished"];

/** How sources do that are not as they should be, for those who look after them: a line each. */
function sourceLines(feeds) {
  return feeds
    .filter(({ state }) => !WELL.includes(state))
    .map(({ feed, state, detail }) => ({ state, name: feed, detail: [state, detail].filter(Boolean).join(": ") }));
}

/** The same for those who watch, in a word. Players think for longer than a source may be silent. */
function sourcesLine(feeds) {
  const sources = feeds.filter(({ part }) => !part);
  const lost = sources.filter(({ state }) => LOST.includes(state));
  const troubled = lost.length ? lost : sources.filter(({ state }) => COMING.includes(state));
  if (troubled.length === 0) return [];
  const [{ state }] = troubled;
  const many = sources.length === 1 ? "" : `${say("{} of {}", troubled.length, sources.length)} `;
  const how = lost.length === 0 ? "not there yet, waiting" : lost.every((each) => each.state === "failed") ? "lost" : "lost, trying again";
  return [{ state, name: say(sources.length === 1 ? "source" : "sources"), detail: many + say(how) }];
}

/** How the scores come, where they come late. */
function scoresLine({ engines, games }) {
  const state = engineState(engines);
  const { done = 0, of = 0 } = engines.measuring ?? {};
  const all = [...(games?.values() ?? [])];
  const late = all.reduce((sum, game) => sum + game.plies_played - game.plies_scored, 0);
  // Nobody waits for scores of games that are over and scored.
  const slow = late > 0 && all.some(running) ? "they come more slowly at the moment" : "";
  const words = [
    { failed: "none come at the moment", retrying: slow }[state],
    late > 0 ? `${number(late)} ${late === 1 ? "move" : "moves"} still to be rated` : "",
    done < of ? `ratings move a little until the engine is measured: ${number(done)} of ${number(of)}` : "",
  ];
  const detail = words.filter(Boolean).join(", ");
  return detail && (state !== "live" || done < of) ? [{ state, name: "scores", detail }] : [];
}

/**
 * What stands above every view, each with all of it in the view of health: a public delay, and only
 * what is not as it should be. Pure.
 */
export function troubleLines(held) {
  const { feeds, engines, hello } = held;
  const behind = delayText(hello?.public_delay);
  return [
    ...(behind ? [{ state: "waiting", name: "public", detail: behind }] : []),
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

const number = (value) => (value === null || value === undefined ? "\u2013" : value.toLocaleString("en-US"));

/** How the network of human moves does. Pure. */
export function humanWords({ problem, network, answered, waiting, left_out: leftOut, ms_per_position: ms }) {
  if (problem) return problem;
  if (!network) return "the network is being loaded";
  return [
    `${number(answered)} positions`,
    ms === null ? "" : `${ms} ms each`,
    waiting ? `${number(waiting)} wait` : "",
    leftOut ? `${number(leftOut)} left out: too many waited` : "",
  ].filter(Boolean).join(", ");
}

/** Everything known of the engines, as pairs of words. Pure. */
export function engineRows({ engines: health, engine, hello }) {
  if (!health) return [];
  const { waiting = {}, speculation } = health;
  const rows = [
    ["Problem", health.problem || "none"],
    ...(health.behind ? [["Behind", health.behind]] : []),
    ["Engine", engineText({ engine, hello }) || "\u2013"],
    ["Ratings read by", engine ? [engine.models?.join(", ") || "none", engine.note].filter(Boolean).join(": ") : "\u2013"],
    ...(health.measuring ? [["Measuring the engine, once", `${number(health.measuring.done)} of ${number(health.measuring.of)} positions`]] : []),
    ...Object.entries(CLASSES).map(([name, text]) => [`Positions waiting: ${text}`, number(waiting[name] ?? 0)]),
    ["Oldest wait", health.queued ? age(words, health.oldest_wait_s) : "\u2013"],
    ["Searches made", number(health.searches)],
    ["Asked for", number(health.asked)],
    ["Known already (cache)", [number(health.cache_hits), percent(health.cache_hits, health.asked)].filter(Boolean).join(", ")],
  ];
  if (speculation) {
    const { hits, misses } = speculation;
    rows.push(["Foreseen (searched ahead)", `${number(hits)} of ${number(hits + misses)}${hits + misses ? `, ${percent(hits, hits + misses)}` : ""}`]);
  } else {
    rows.push(["Foreseen (searched ahead)", "switched off"]);
  }
  if (health.human) rows.push(["What others would play", humanWords(health.human)]);
  rows.push(["Restarts", number(health.restarts)], ["Positions given up", number(health.set_aside)]);
  return rows;
}

/** What an engine searches, `ID ply 28`, with the board and who plays instead of an id that is known. */
function searchedText(searching, held) {
  const [, id, ply] = /^(.+) ply (\d+)$/.exec(searching) ?? [];
  const game = held.games.get(id);
  if (game === undefined) return searching || "\u2013";
  const names = [game.white, game.black].map(({ name }) => isolated(shortName(name || "?", everybodyIn(held))));
  return `${game.board === null ? "" : `Board ${game.board}: `}${names.join(" \u2013 ")}, ply ${ply}`;
}

export class HealthView {
  constructor() {
    this._feeds = table("Sources", ["Source", "State", "Detail"]);
    this._engines = table("Engine processes", ["Engine", "State", "Depth", "knodes/s", "Searching"]);
    this._figures = table("Engine room", ["Figure", "Value"]);
    const heading = element("h2", "", "Engines", explainButton("engine"));
    const parts = [element("h2", "", "Sources"), this._feeds.node, heading, this._engines.node, this._figures.node];
    this.node = named(element("section", "health-view", "", ...parts), "Health");
  }

  draw(held) {
    this._feeds.fill(held.feeds.map(({ feed, state, detail }) => [feed, state, detail || "\u2013"]));
    held.feeds.forEach(({ state }, at) => (this._feeds.body.rows[at].cells[1].dataset.state = state));
    this._engines.fill(
      (held.engines?.engines ?? []).map(({ index, state, depth, knodes_per_s: speed, searching }) => [
        String(index + 1),
        state,
        // Of one that does not search it is that of its last.
        number(state === "searching" ? depth : null),
        speed === null ? "\u2013" : String(Math.round(speed)),
        searchedText(searching, held),
      ]),
    );
    this._figures.fill(engineRows(held));
  }
}

function table(title, headings) {
  const body = element("tbody");
  const node = scrollBox(tableOf(title, headings, body));
  const fill = (rows) => {
    const cells = () => headings.slice(1).map(() => element("td", "", "", nameNode("")));
    childrenOf(body, rows.length, () => element("tr", "", "", headCell("", "row", nameNode("")), ...cells()));
    rows.forEach((row, at) => row.forEach((text, column) => setText(body.rows[at].cells[column].firstChild, text)));
  };
  return { node, body, fill };
}

/** What is said of sources by their state, `{said, state}`, where the connection itself lives. */
const SOURCES = {
  live: { said: "live", state: "live" },
  lost: { said: "not live", state: "retrying" },
  waiting: { said: "not live yet", state: "waiting" },
  over: { said: "over", state: "finished" },
};
/** States of a connection as those of a source. */
const CONNECTION = { connecting: "connecting", waiting: "retrying", refused: "failed" };

/** What is said of the connection and the sources behind it, `{said, state}`; a state is one of a source. Pure. */
export function connectionWords(connection, feeds, now) {
  const silentS = connection.heardAt === null ? null : (now - connection.heardAt) / 1000;
  const since = silentS === null ? "" : `; ${fill(words.asOf, age(words, silentS))}`;
  const texts = {
    connecting: silentS === null ? say("connecting") : say("reconnecting{}", since),
    waiting: say("no connection, trying again{}", since),
    refused: `the service refused: ${connection.reason}`,
  };
  if (connection.away && connection.status !== "refused") texts.waiting = say("the service is away{}", since);
  const { status } = connection;
  const { said, state } = SOURCES[sourcesState(feeds)];
  return status === "live" ? { said: say(said), state } : { said: texts[status], state: CONNECTION[status] };
}

/** Draws them; answers whether the connection lives. */
export function drawConnection(node, connection, feeds, now) {
  const { said, state } = connectionWords(connection, feeds, now);
  setText(node, said);
  node.dataset.state = state;
  return connection.status === "live";
}

// --- the token --------------------------------------------------------------------------------------

const WORDS = {
  missing: "This service shows its games to those who have a token.",
  unused: "This service knows no tokens: the one in the address opens nothing, everybody sees this page.",
  wrong: "This token is not valid here: mistyped, expired or withdrawn.",
};

/** Asks for a token where the service lets nobody in without a valid one, and names one that opens nothing. */
export class TokenEntry {
  constructor() {
    this._check = new TokenCheck();
    this._let = false;
    this._text = element("p", "note");
    this._input = element("input");
    Object.assign(this._input, { type: "password", autocomplete: "off", required: true, id: "token" });
    const label = element("label", "", "Token ", this._input);
    this._form = element("form", "", "", label, element("button", "plain", "Show the games"));
    this._form.addEventListener("submit", (event) => {
      event.preventDefault();
      const url = new URL(location.href);
      url.searchParams.set("token", this._input.value.trim());
      location.replace(url);
    });
    this.node = named(element("section", "token-entry", "", this._text, this._form), "Token");
    this.node.hidden = true;
  }

  /** Looks whether a token is what is missing; once something came, whether one was needed for what `sight` shows. */
  async look(connection, sight, now) {
    if (connection.heardAt === null) {
      const trouble = await this._check.look(connection, now);
      if (trouble !== null && connection.heardAt === null) this._say(trouble);
    } else if (!this._let) {
      this._let = true;
      this.node.hidden = true;
      if (brokerOf() !== null || sight === "arbiter") return;
      if (await tokenUnused(location.href, (url) => fetch(url))) this._say("unused");
    }
  }

  _say(trouble) {
    setText(this._text, WORDS[trouble] ?? "");
    this._form.hidden = trouble === "unused";
    this.node.hidden = trouble === "";
  }
}
