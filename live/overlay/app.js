/** The page at `/`: every board that the service follows, as it happens. */

import { Card } from "./card.js";
import { Connection } from "./connection.js";
import { setText } from "./dom.js";
import { drawConnection, drawEngine, drawHealth, drawPlayers } from "./panels.js";
import { Held, gameOrder } from "./state.js";

const byId = (id) => document.getElementById(id);
const grid = byId("boards");
const held = new Held();
const cards = new Map();

/** What has changed since the last drawing: messages come faster than frames. */
let dirty = { all: false, games: new Set(), players: false, health: false, engine: false };
let asked = false;

const sight = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) entry.target.card.visible = entry.isIntersecting;
  },
  { rootMargin: "200px" },
);

const connection = new Connection(held, location.href, changed, {
  open: (url) => new WebSocket(url),
  now: () => performance.now(),
  random: Math.random,
  after: (ms, action) => {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  },
});

function changed(touched) {
  dirty.all ||= touched.all ?? false;
  dirty.players ||= touched.players ?? false;
  dirty.health ||= touched.health ?? false;
  dirty.engine ||= touched.engine ?? false;
  if (touched.game !== undefined) dirty.games.add(touched.game);
  if (asked) return;
  asked = true;
  requestAnimationFrame(draw);
}

function draw() {
  asked = false;
  const { all, games, players, health, engine } = dirty;
  dirty = { all: false, games: new Set(), players: false, health: false, engine: false };
  if (held.seq === null) return;
  const known = cards.size;
  for (const id of all ? new Set([...held.games.keys(), ...cards.keys()]) : games) drawGame(id);
  if (all || cards.size !== known) arrange();
  if (all || engine) drawEngine(byId("engine"), held);
  if (all || players) drawPlayers(byId("players").tBodies[0], held);
  if (all || health) drawHealth(byId("health"), held);
  byId("standings").hidden = byId("players").tBodies[0].rows.length === 0;
  byId("empty").hidden = cards.size > 0;
  grid.dataset.seq = held.seq;
  drawStatus();
}

function drawGame(id) {
  const game = held.games.get(id);
  let card = cards.get(id);
  if (game === undefined) {
    if (card === undefined) return;
    sight.unobserve(card.node);
    card.destroy();
    cards.delete(id);
    return;
  }
  if (card === undefined) {
    card = new Card();
    cards.set(id, card);
    grid.append(card.node);
    sight.observe(card.node);
  }
  card.draw(game);
}

/** Puts the boards in order, moving only those that stand wrong. */
function arrange() {
  const games = [...held.games.values()].sort(gameOrder);
  games.forEach((game, at) => {
    const { node } = cards.get(game.id);
    if (grid.children[at] !== node) grid.insertBefore(node, grid.children[at] ?? null);
  });
  const events = [...new Set(games.map((game) => game.event).filter(Boolean))];
  const more = events.length > 1 ? ` and ${events.length - 1} more` : "";
  setText(byId("event"), events.length ? events[0] + more : "live-rate");
  document.title = events.length ? `${events[0]} · live-rate` : "live-rate";
}

function drawStatus() {
  const live = drawConnection(byId("connection"), connection, performance.now());
  document.body.classList.toggle("stale", !live && held.seq !== null);
}

setInterval(drawStatus, 1000);
matchMedia("(prefers-color-scheme: light)").addEventListener("change", () => {
  for (const card of cards.values()) card.restyle();
});
connection.connect();
