/** Around the boards: the engine, the health of sources and engines, and the table of players. */

import { element, nameNode, setText } from "./dom.js";
import { ageText, ratingFigure } from "./format.js";

const RATING_SOURCES = {
  fixed: "set by hand",
  calibration: "from the calibration",
  field: "from the field",
};

/** Which engine, under which limit, and how strong it counts. */
export function drawEngine(node, held) {
  const { engine, hello } = held;
  if (engine === null) return;
  const from = RATING_SOURCES[engine.rating_source] ?? engine.rating_source;
  const basis = engine.rating_source === "field" ? `, ${engine.rating_moves} moves` : "";
  const gain = hello ? `, ${hello.gain} gain` : "";
  setText(node, `${engine.name}, ${engine.limit}${gain}; counts as ${engine.rating} (${from}${basis})`);
}

/** A dot and a line for each source, and one for the engines. */
export function drawHealth(list, held) {
  const lines = held.feeds.map((feed) => ({
    state: feed.state,
    name: feed.feed,
    detail: [feed.state, feed.detail].filter(Boolean).join(": "),
  }));
  if (held.engines) lines.push(engineLine(held.engines));
  while (list.children.length > lines.length) list.lastChild.remove();
  while (list.children.length < lines.length) {
    list.append(element("li", "", "", element("i", "dot"), nameNode("name"), element("span", "detail")));
  }
  lines.forEach((line, at) => {
    const [dot, name, detail] = list.children[at].children;
    dot.dataset.state = line.state;
    setText(name, line.name);
    setText(detail, line.detail);
  });
}

function engineLine(health) {
  const working = health.engines.filter((engine) => engine.state !== "failed");
  const searching = health.engines.filter((engine) => engine.state === "searching").length;
  const speed = working.reduce((sum, engine) => sum + (engine.knodes_per_s ?? 0), 0);
  const detail = [
    `${searching} of ${health.engines.length} searching`,
    health.queued ? `${health.queued} waiting, the oldest ${ageText(health.oldest_wait_s)}` : "",
    speed ? `${Math.round(speed)} knodes/s` : "",
    `${health.searches} searches`,
    health.restarts ? `${health.restarts} restarts` : "",
    health.set_aside ? `${health.set_aside} positions given up` : "",
  ];
  const state = working.length === health.engines.length ? "live" : working.length ? "retrying" : "failed";
  return { state, name: "engines", detail: detail.filter(Boolean).join(", ") };
}

/** One row a player, best first; unbounded below everyone or above everyone. */
export function drawPlayers(body, held) {
  const strength = (player) => player.rating ?? (player.high !== null ? -Infinity : Infinity);
  const players = [...held.players.values()]
    .filter((player) => player.moves > 0)
    .sort((a, b) => {
      const [left, right] = [strength(a), strength(b)];
      return left === right ? a.name.localeCompare(b.name) : left < right ? 1 : -1;
    });
  while (body.children.length > players.length) body.lastChild.remove();
  while (body.children.length < players.length) {
    const name = element("th", "", "", nameNode("name"));
    name.scope = "row";
    body.append(element("tr", "", "", name, ...Array.from({ length: 6 }, () => element("td"))));
  }
  players.forEach((player, at) => {
    const [name, ...cells] = body.children[at].children;
    const { text, interval } = ratingFigure(player.rating, player.low, player.high);
    setText(name.firstChild, player.name);
    const texts = [
      player.elo ?? "\u2013",
      text,
      interval,
      player.moves,
      player.games,
      player.mean_gain_cp === null ? "\u2013" : player.mean_gain_cp.toFixed(1).replace("-", "\u2212"),
    ];
    texts.forEach((value, index) => setText(cells[index], String(value)));
  });
}

/** Whether what is shown is true now. */
export function drawConnection(node, connection, now) {
  const silentS = connection.heardAt === null ? null : (now - connection.heardAt) / 1000;
  const since = silentS === null ? "" : `; shown as of ${ageText(silentS)} ago`;
  const texts = {
    connecting: silentS === null ? "connecting" : `reconnecting${since}`,
    live: "live",
    waiting: silentS === null ? "no connection, trying again" : `connection lost, trying again${since}`,
    refused: `the service refused: ${connection.reason}`,
  };
  setText(node, texts[connection.status]);
  node.dataset.state = connection.status;
  return connection.status === "live";
}
