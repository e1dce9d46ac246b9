/** The page at `/`: every board that the service follows, as it happens. */

import { alertCount, ArbiterView } from "./page/alerts_panel.js";
import { arrangeBoards, overlayAddress, Overview, REARRANGE_MS, writeHeadline } from "./page/boards.js";
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
import { ShareMenu } from "./page/share.js";

/** The page is drawn at most so often: messages come faster than eyes can follow. */
const DRAW_EVERY_MS = 120;
/** A held-down key writes the address once it is let go. */
const ADDRESS_AFTER_MS = 200;
const TOAST_MS = 6_000;
/** A screen reader is not talked over: at most one sentence in so long. */
const SPEAK_EVERY_MS = 8_000;
/** After so long a view that could not be loaded is tried again. */
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
/** Views that are loaded when somebody first opens them. */
const LATER = {
  board: async () => new (await import("./page/board_view.js")).BoardPage(go, share.menu("board"), elapsedS, followed),
  player: async () => new (await import("./page/player_page.js")).PlayerPage(share.menu("player"), elapsedS, followed),
};

/** Those that are on their way. */
const loading = new Set();

let place = readPlace(location.hash);
/** The ply of the link that this was opened with, until somebody goes on: later ones are not shown. */
let linked = place.ply;
let written = writePlace(place);
/** The boards as they were looked at last. */
let boardsPlace = place.view === "boards" ? place : { event: place.event, round: place.round };
let writing = null;
let dirty = new Set();
/** What was there to say at the last look, and when something was said. */
let news = null;
let saidAt = -Infinity;
let timer = null;
let drawnAt = -Infinity;

const views = { boards: overview, players, health, arbiter };
for (const view of Object.values(views)) main.append(view.node);
main.prepend(tokenEntry.node);

const connection = await openConnection(held, location.href, changed);

/** A screen in a hall is the overlay of all boards, on a ground of its own. */
const WALL = { layout: "grid", boards: 12, lost: "notice", theme: "chroma", key: "0f141a", lang: language };
const wallAddress = () => overlayAddress(location.href, held.hello?.sight, brokerOf() !== null, WALL);
/** It is also there by `?view=wall`, which is easier to type. */
const isWall = () => place.view === "wall" || new URLSearchParams(location.search).get("view") === "wall";

// --- where we are ---------------------------------------------------------------------------------

/** Changes the place: parts of it, or a function from the place to parts. */
function go(change) {
  const parts = typeof change === "function" ? change(place) : change;
  const before = place;
  place = { ...place, ...parts };
  if (place.ply === null || place.game !== before.game) linked = null;
  // Who goes on sees one ply more.
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

/** Follows the players of a link to them. */
function takeFollowed() {
  if (!place.follow) return;
  const added = followed.add(place.follow.split(","));
  showToast(say("\u2605 followed: {}", added));
  go({ follow: "" });
}

/** Goes somewhere else, as a link does: there is a way back. */
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

/** Loads a view; what fails is tried again while somebody waits for it. Whether it is there now. */
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

/** A browser asks only once for a module that failed: the page is opened anew, once it can be. */
async function loadAgain(view) {
  if (place.view !== view) return;
  const answer = await fetch(location.href, { method: "HEAD", cache: "no-store" }).catch(() => null);
  if (answer?.ok) {
    writeAddress();
    location.reload();
  } else setTimeout(() => loadAgain(view), LOAD_AGAIN_MS);
}

// --- drawing --------------------------------------------------------------------------------------

/** Only that something changed is kept: what is held never grows with the number of messages. */
function changed(touched) {
  ticking.follow(held, touched, performance.now());
  for (const [part, value] of Object.entries(touched)) if (value) dirty.add(part);
  if (timer !== null) return;
  const wait = Math.max(0, DRAW_EVERY_MS - (performance.now() - drawnAt));
  timer = setTimeout(() => requestAnimationFrame(draw), wait);
}

/** How long the clock of the side to move has run, as far as is known. */
function elapsedS(game) {
  return ticking.elapsedS(game, performance.now(), connection.status === "live" ? null : connection.heardAt);
}

/** Under which heading a view stands that has none of its own. */
const PART_OF = { board: "boards", player: "players" };

function draw() {
  clearTimeout(timer);
  timer = null;
  drawnAt = performance.now();
  const parts = dirty;
  dirty = new Set();
  for (const [name, view] of Object.entries(views)) {
    // Before anything has come there is nothing to sort, filter or share.
    view.node.hidden = held.seq === null || name !== place.view;
  }
  for (const link of document.querySelectorAll("nav a")) {
    const here = link.dataset.view === (PART_OF[place.view] ?? place.view);
    if (here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.body.dataset.view = place.view;
  drawStatus();
  if (held.seq === null) return;
  if (isWall()) return location.replace(wallAddress());
  const shown = place.view === "board" ? heldAsOf(held, linked, place.game) : held;
  views[place.view]?.draw(shown, place, drawnAt);
  if (parts.has("all") || parts.has("health")) drawHealth(byId("health"), held);
  if (parts.has("all") || parts.has("engine")) drawService();
  const alerts = [...(held.alerts?.values() ?? [])];
  arbiter.sound.hear(alerts);
  setLine(byId("alerts"), alertCount(alerts));
  if (parts.has("all") || parts.has("game")) drawTitle();
  if (news === null) speak(); // what is there at first: from here on all is news
  main.dataset.seq = held.seq;
}

function drawService() {
  const sight = held.hello?.sight ?? "public";
  byId("withheld").hidden = sight !== "venue";
  byId("wall").href = wallAddress();
  document.querySelector("nav a[data-view=arbiter]").hidden = sight !== "arbiter";
}

function drawTitle() {
  const events = [...new Set([...held.games.values()].sort(gameOrder).map(eventOf).filter(Boolean))];
  const more = events.length > 1 ? ` +${events.length - 1}` : "";
  setText(byId("event"), events.length ? events[0] + more : roundText(leadingRound(roundsOf([...held.games.values()]))?.round ?? "") || "live-rate");
  const title = events.length ? `${events[0]} \u00b7 live-rate` : "live-rate";
  if (document.title !== title) document.title = title;
}

function drawStatus() {
  const live = drawConnection(byId("connection"), connection, held.feeds, performance.now());
  tokenEntry.look(connection, performance.now());
  document.body.classList.toggle("stale", !live && held.seq !== null);
}

/** Says what is new of the open board, else the headline, to those who do not look: what was there at first is no news. */
function speak() {
  const now = performance.now();
  if (held.seq === null || now - saidAt < SPEAK_EVERY_MS) return;
  const game = place.view === "board" ? held.games.get(place.game) : undefined;
  const boards = () => writeHeadline(inRound([...held.games.values()], place), [...held.moments.values()], held.feeds).slice(0, 2).join(" ");
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

// --- what people do -------------------------------------------------------------------------------

/** What an arbiter does about alerts and the log; answers whether the service was reached. */
function sendCommand(asked) {
  const sent = connection.send({ type: "desk", ...asked });
  if (!sent) showToast(say("Not connected: nothing was sent."));
  return sent;
}

/** What is on the page now, for whoever takes it along. */
function collectShown() {
  return {
    place,
    arbiter: held.hello?.sight === "arbiter",
    game: held.games.get(place.game) ?? null,
    games: arrangeBoards([...held.games.values()], place),
    players: players.shown(held, place).map(({ player }) => player),
  };
}

/** Back to the boards as they were left: their round, filter and order. */
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
// The organiser's, as overlays take it.
const logo = OPTIONS.logo.read(new URLSearchParams(location.search).get("logo") ?? "");
if (logo !== null) document.querySelector("h1").before(Object.assign(element("img", "logo"), { src: logo, alt: "", referrerPolicy: "no-referrer", onerror: ({ target }) => target.remove() }));
for (const node of document.querySelectorAll("[data-say]")) setText(node, say(node.textContent));
byId("meaning").addEventListener("click", explain);
byId("keys").addEventListener("click", showHelp);
const restyle = () => {
  for (const view of Object.values(views)) view.restyle?.();
};
matchMedia("(prefers-color-scheme: light)").addEventListener("change", restyle);
// What is drawn on a canvas does not wait for its letters.
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
// Boards take their new places also when nothing happens any more.
setInterval(() => {
  if (place.view === "boards") changed({ order: true });
}, REARRANGE_MS);
connection.connect();
takeFollowed();
show();
