/** Where a page gets its messages from: the service beside it, or the broker that a static page names. */

import { Connection } from "./stream_connection.js";

const now = () => performance.now();
const random = Math.random;

function after(ms, action) {
  const timer = setTimeout(action, ms);
  return () => clearTimeout(timer);
}

async function unpack(bytes) {
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

export async function openConnection(held, page, changed) {
  const broker = brokerOf(document);
  if (broker === null) {
    return new Connection(held, page, changed, { open: (url) => new WebSocket(url), now, random, after });
  }
  const { BrokerConnection } = await import("./broker_connection.js");
  const { default: mqtt } = await import("../vendor/mqtt/mqtt.esm.js");
  const options = { protocolVersion: 5, clean: true, reconnectPeriod: 1000 + 4000 * random(), timerVariant: "native" };
  const client = () => mqtt.connect(broker.url, options);
  return new BrokerConnection(held, broker.prefix, changed, { client, now, random, after, unpack });
}

/** The broker that a page names, `{url, prefix}`; null where it reads from the service itself. */
export function brokerOf(document) {
  const meta = document.querySelector('meta[name="live-rate-broker"]');
  return meta === null ? null : { url: meta.content, prefix: meta.dataset.prefix };
}
