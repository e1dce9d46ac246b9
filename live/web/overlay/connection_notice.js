/** The one line that an overlay says about itself; nothing while all is well. Pure. */

import { age, fill } from "./language/words.js";

/** A short break heals unseen. */
const UNSEEN_MS = 5_000;
const SILENT = new Set(["stale", "retrying", "failed"]);

export function statusText({ connection, held, games, now, layout }, words) {
  if (connection.status === "refused") return fill(words.refused, connection.reason);
  if (connection.heardAt === null) return words.connecting;
  const silentMs = now - connection.heardAt;
  if (connection.status !== "live" && silentMs > UNSEEN_MS) {
    return fill(words.asOf, age(words, silentMs / 1000));
  }
  if (layout === "standings") return held.players.size > 0 ? "" : words.waiting;
  if (games.length === 0) return words.waiting;
  const shown = new Set(games.filter((game) => game.result === "*").map((game) => game.feed));
  const silent = held.feeds.some((feed) => shown.has(feed.feed) && SILENT.has(feed.state));
  return silent ? words.sourceSilent : "";
}
