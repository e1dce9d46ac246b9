/** Whether what is shown is true now. */

import { setText } from "../drawing/elements.js";
import { ageText } from "../drawing/number_format.js";

/** Draws the state of the connection; answers whether it lives. */
export function drawConnection(node, connection, now) {
  const silentS = connection.heardAt === null ? null : (now - connection.heardAt) / 1000;
  const since = silentS === null ? "" : `; shown as of ${ageText(silentS)} ago`;
  const texts = {
    connecting: silentS === null ? "connecting" : `reconnecting${since}`,
    live: "live",
    waiting: silentS === null ? "no connection, trying again" : `connection lost, trying again${since}`,
    refused: `the service refused: ${connection.reason}`,
  };
  if (connection.away && connection.status !== "refused") texts.waiting = `the service is away${since}`;
  setText(node, texts[connection.status]);
  node.dataset.state = connection.status;
  return connection.status === "live";
}
