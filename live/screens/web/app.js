/** The page at `/`: all boards that the service follows, live. */

import { alertCount, ArbiterView } from "./page/alerts_panel.js";
import { arrangeBoards } from "./page/board_order.js";
import { Overview, REARRANGE_MS } from "./page/boards.js";
import { brokerOf, openConnection } from "./client/connection.js";
import { element, kept, setLine, setText } from "./drawing/elements.js";
import { Held, heldAsOf } from "./client/event_state.js";
import { explain, listenToKeys, showHelp } from "./page/explanations.js";
import { eventOf, gameOrder, inRound, leadingRound, roundsOf, Ticking } from "./client/games.js";
import { drawConnection, drawHealth, HealthView, TokenEntry } from "./page/health_view.js";
import { language, roundText, say } from "./page/language.js";
import { OPTIONS } from "./overlay/options.js";
import { FollowedPlayers, HOME, readPlace, writePlace } from "./page/page_address.js";
import { PlayersPage } from "./page/players.js";
import { boardNews } from "./page/score_words.js";
import { overlayAddress } from "./page/service_addresses.js";
import { ShareMenu } from "./page/share.js";

/** Shortest time between two drawings of the page, since messages arrive faster than eyes can follow. */
const DRAW_EVERY_MS = 120;
/** Delay before the address is written, so that a key held down writes it only once. */
const ADDRESS_AFTER_MS = 200;
const TOAST_MS = 6_000;
/** Shortest time between two sentences for screen readers: a new sentence would interrupt the one before. */
const SPEAK_EVERY_MS = 8_000;
/** Time before a view that could not be loaded is requested again. */
const LOAD_AGAIN_MS = 3_000;

const byId = (id) => document.getElementById(id);
const main = byId("main");
const held = new Held();
const ticking = new Ticking();
const followed = new FollowedPlayers(kept, () => changed({ all: true }));
const share = new ShareMenu(collectShown, showToast, followed);
const overview = new Overview(go, elapsedS, followed, share.menu("boards"));
const players = new PlayersPage(go, followed, share.menu("players"));
const health = new HealthView();
const tokenEntry = new TokenEntry();
const arbiter = new ArbiterView(sendCommand);
/** Views whose modules are loaded only when somebody first opens them. */
const LATER = {
  board: async () => new (await import("./page/board_view.js")).BoardPage(go, share.menu("board"), elapsedS, followed),
  player: async () => new (await import("./page/player_page.js")).PlayerPage(share.menu("player"), elapsedS, followed),
};

/** Names of the views that are being loaded. */
const loading = new Set();

let place = readPlace(location.hash);
/** Ply named by the opened link, or null. Later plies stay hidden until the reader steps past it. */
let linked = place.ply;
let written = writePlace(place);
/** The latest place in the view of all boards, to which the reader returns from other views. */
let boardsPlace = place.view === "boards" ? place : { event: place.event, round: place.round };
let writing = null;
let dirty = new Set();
/** The sentence at the last check, and the time of the last sentence for screen readers. */
let news = null;
let saidAt = -Infinity;
let timer = null;
let drawnAt = -Infinity;

const views = { boards: overview, players, health, arbiter };
for (const view of Object.values(views)) main.append(view.node);
main.prepend(tokenEntry.node);

const connection = await openConnection(held, location.href, changed);

/** Options for a screen in a hall: the overlay of all boards, on a background of its own. */
const WALL = { layout: "grid", boards: 12, lost: "notice", theme: "chroma", key: "0f141a", lang: language };
const wallAddress = () => overlayAddress(location.href, held.hello?.sight, brokerOf() !== null, WALL);
/** Return whether the page was opened for a screen in the hall. `?view=wall` also does that, since it is easy to type. */
const isWall = () => place.view === "wall" || new URLSearchParams(location.search).get("view") === "wall";

// --- the current place ----------------------------------------------------------------------------

/** Change the current place. `change` is an object with the new parts, or a function from the old place to such an object. */
function go(change) {
  const parts = typeof change === "function" ? change(place) : change;
  const before = place;
  place = { ...place, ...parts };
  if (place.ply === null || place.game !== before.game) linked = null;
  // Each step past the linked ply shows one ply more.
  if (linked !== null) linked = Math.max(linked, place.ply);
  show();
  clearTimeout(writing);
  writing = setTimeout(writeAddress, ADDRESS_AFTER_MS);
}

function writeAddress() {
  const fragment = writePlace(place);
  if (fragment === written) return;
  written = fragment;
  history.replaceState(null, "", fragment || location.pathname + location.search);
}

/** Follow the players that the opened link names. */
function takeFollowed() {
  if (!place.follow) return;
  const added = followed.add(place.follow.split(","));
  showToast(say("\u2605 followed: {}", added));
  go({ follow: "" });
}

/** Go to another place and add an entry to the browser's history, as a link does. */
function open(parts) {
  clearTimeout(writing);
  writeAddress();
  location.hash = writePlace({ ...HOME, ...parts }) || "#";
}

addEventListener("hashchange", () => {
  if (location.hash === "#main") return;
  const before = place;
  place = readPlace(location.hash);
  linked = place.ply;
  written = writePlace(place);
  if (before.view !== place.view || before.game !== place.game) scrollTo({ top: 0 });
  takeFollowed();
  show();
});

async function show() {
  const { view } = place;
  if (view === "boards") boardsPlace = place;
  if (Object.hasOwn(LATER, view) && views[view] === undefined && !(await loadView(view))) return;
  const backLink = document.querySelector(".board-head .back");
  if (backLink !== null) backLink.href = writePlace({ ...HOME, ...boardsPlace }) || "#";
  draw();
}

/** Load a view and return whether it is ready now. A failed load is retried while the view is open. */
async function loadView(view) {
  if (loading.has(view)) return false;
  loading.add(view);
  try {
    views[view] = await LATER[view]();
    main.append(views[view].node);
    return true;
  } catch (error) {
    console.warn(error);
    showToast(say("This view could not be loaded. Trying again \u2026"));
    setTimeout(() => loadAgain(view), LOAD_AGAIN_MS);
    return false;
  } finally {
    loading.delete(view);
  }
}

/** Reload the page once the service answers, since a browser never requests a failed module a second time. */
async function loadAgain(view) {
  if (place.view !== view) return;
  const answer = await fetch(location.href, { method: "HEAD", cache: "no-store" }).catch(() => null);
  if (answer?.ok) {
    writeAddress();
    location.reload();
  } else setTimeout(() => loadAgain(view), LOAD_AGAIN_MS);
}

// --- drawing --------------------------------------------------------------------------------------

/** Record which parts changed and schedule a drawing. Messages are not queued, so bursts of them cost no memory. */
function changed(touched) {
  ticking.follow(held, touched, performance.now());
  for (const [part, value] of Object.entries(touched)) if (value) dirty.add(part);
  if (timer !== null) return;
  const wait = Math.max(0, DRAW_EVERY_MS - (performance.now() - drawnAt));
  timer = setTimeout(() => requestAnimationFrame(draw), wait);
}

/** Return for how many seconds the clock of the side to move is known to have run. */
function elapsedS(game) {
  return ticking.elapsedS(game, performance.now(), connection.status === "live" ? null : connection.heardAt);
}

/** For each view without a tab of its own, the tab that is marked as current. */
const PART_OF = { board: "boards", player: "players" };

function draw() {
  clearTimeout(timer);
  timer = null;
  drawnAt = performance.now();
  const parts = dirty;
  dirty = new Set();
  for (const [name, view] of Object.entries(views)) {
    // Before the first snapshot there is nothing to sort, filter or share.
    view.node.hidden = held.seq === null || name !== place.view;
  }
  for (const link of document.querySelectorAll("nav a")) {
    const isCurrent = link.dataset.view === (PART_OF[place.view] ?? place.view);
    if (isCurrent) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.body.dataset.view = place.view;
  drawStatus();
  if (held.seq === null) return;
  if (isWall()) return location.replace(wallAddress());
  const visibleState = place.view === "board" ? heldAsOf(held, linked, place.game) : held;
  views[place.view]?.draw(visibleState, place, drawnAt);
  if (parts.has("all") || parts.has("health")) drawHealth(byId("health"), held);
  const sight = held.hello?.sight ?? "public";
  byId("withheld").hidden = sight !== "venue";
  byId("wall").href = wallAddress();
  document.querySelector("nav a[data-view=arbiter]").hidden = sight !== "arbiter";
  const alerts = [...(held.alerts?.values() ?? [])];
  arbiter.sound.hear(alerts);
  setLine(byId("alerts"), alertCount(alerts));
  if (parts.has("all") || parts.has("game")) drawTitle();
  if (news === null) speak(); // record the state at the start, so that only later changes are news
  main.dataset.seq = held.seq;
}

function drawTitle() {
  const events = [...new Set([...held.games.values()].sort(gameOrder).map(eventOf).filter(Boolean))];
  const suffix = events.length > 1 ? ` +${events.length - 1}` : "";
  setText(byId("event"), events.length ? events[0] + suffix : roundText(leadingRound(roundsOf([...held.games.values()]))?.round ?? "") || "live-rate");
  const title = events.length ? `${events[0]} \u00b7 live-rate` : "live-rate";
  if (document.title !== title) document.title = title;
}

function drawStatus() {
  const live = drawConnection(byId("connection"), connection, held.feeds, performance.now());
  tokenEntry.look(connection, performance.now());
  document.body.classList.toggle("stale", !live && held.seq !== null);
}

/** Give screen readers the news of the open board or, without one, the headline. The state at the start is not news. */
function speak() {
  const now = performance.now();
  if (held.seq === null || now - saidAt < SPEAK_EVERY_MS) return;
  const game = place.view === "board" ? held.games.get(place.game) : undefined;
  const boards = () => overview.headline(held, inRound([...held.games.values()], place)).slice(0, 2).join(" ");
  const words = game ? boardNews(game) : boards();
  if (news !== null && words !== news) {
    setText(byId("spoken"), words);
    saidAt = now;
  }
  news = words;
}

let toastTimer = null;
function showToast(text) {
  setText(byId("toast"), text);
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => setText(byId("toast"), ""), TOAST_MS);
}

// --- commands, keys and timers --------------------------------------------------------------------

/** Send an arbiter's command about alerts or the log; return whether the service could be reached. */
function sendCommand(command) {
  const sent = connection.send({ type: "desk", ...command });
  if (!sent) showToast(say("Not connected: nothing was sent."));
  return sent;
}

/** Return the place and data on the page, for the share menu. */
function collectShown() {
  return {
    place,
    arbiter: held.hello?.sight === "arbiter",
    game: held.games.get(place.game) ?? null,
    games: arrangeBoards([...held.games.values()], place),
    players: players.shown(held, place).map(({ player }) => player),
  };
}

/** Return to the boards as the reader left them: same round, filter and order. */
const back = () => open(boardsPlace);

const ANYWHERE = {
  boards: back,
  players: () => open({ view: "players" }),
  health: () => open({ view: "health" }),
  wall: () => location.assign(wallAddress()),
  help: showHelp,
  leave: () => place.view === "boards" || back(),
  filter: () => views[place.view]?.node.querySelector("input[type=search]")?.focus(),
};

listenToKeys((name) => {
  if (place.view === "board" && views.board?.act(name)) return true;
  ANYWHERE[name]?.();
  return Object.hasOwn(ANYWHERE, name);
});

document.documentElement.lang = language;
// The organiser's logo, given by the same option as for overlays.
const logo = OPTIONS.logo.read(new URLSearchParams(location.search).get("logo") ?? "");
if (logo !== null) document.querySelector("h1").before(Object.assign(element("img", "logo"), { src: logo, alt: "", referrerPolicy: "no-referrer", onerror: ({ target }) => target.remove() }));
for (const node of document.querySelectorAll("[data-say]")) setText(node, say(node.textContent));
byId("meaning").addEventListener("click", explain);
byId("keys").addEventListener("click", showHelp);
const restyle = () => {
  for (const view of Object.values(views)) view.restyle?.();
};
matchMedia("(prefers-color-scheme: light)").addEventListener("change", restyle);
// A canvas does not redraw by itself when its font has loaded.
document.fonts.addEventListener("loadingdone", restyle);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) changed({ all: true });
});
addEventListener("storage", () => followed.reread());
setInterval(() => {
  drawStatus();
  speak();
  if (!document.hidden) views[place.view]?.tick?.();
}, 1000);
// A change of order waits some seconds, so draw it even if no message arrives.
setInterval(() => {
  if (place.view === "boards") changed({ order: true });
}, REARRANGE_MS);
connection.connect();
takeFollowed();
show();
