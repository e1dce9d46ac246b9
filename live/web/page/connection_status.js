/** Whether what is shown is true now. */

import { setText } from "../drawing/elements.js";
import { ageText } from "../drawing/number_format.js";
import { sourcesState } from "./health_view.js";

/** What is said of sources by their state, `{said, state}`, where the connection itself lives. */
const SOURCES = {
  live: { said: "live", state: "live" },
  lost: { said: "not live", state: "waiting" },
  waiting: { said: "not live yet", state: "connecting" },
  over: { said: "over", state: "over" },
};

/** What is said of the connection and the sources behind it, `{said, state}`. Pure. */
export function connectionWords(connection, feeds, now) {
  const silentS = connection.heardAt === null ? null : (now - connection.heardAt) / 1000;
  const since = silentS === null ? "" : `; shown as of ${ageText(silentS)} ago`;
  const texts = {
    connecting: silentS === null ? "connecting" : `reconnecting${since}`,
    waiting: silentS === null ? "no connection, trying again" : `connection lost, trying again${since}`,
    refused: `the service refused: ${connection.reason}`,
  };
  if (connection.away && connection.status !== "refused") texts.waiting = `the service is away${since}`;
  const { status } = connection;
  return status === "live" ? SOURCES[sourcesState(feeds)] : { said: texts[status], state: status };
}

/** Draws them; answers whether the connection lives. */
export function drawConnection(node, connection, feeds, now) {
  const { said, state } = connectionWords(connection, feeds, now);
  setText(node, said);
  node.dataset.state = state;
  return connection.status === "live";
}
