/** The page at `/overlay`: the layout named in its address, on a transparent background. */

import { brokerOf, openConnection, TokenCheck } from "../client/connection.js";
import { isBare, readable } from "../drawing/contrast.js";
import { element, setText } from "../drawing/elements.js";
import { Delayed, Held, heldAsOf } from "../client/event_state.js";
import { isWithheld } from "../client/figures.js";
import { COLORS, everybodyIn, Ticking } from "../client/games.js";
import { Chooser, Failures, lostSince, lostText, statusText } from "./on_air.js";
import { readOptions } from "./options.js";
import { largestSwing, Swings } from "./panels.js";
import { fill } from "./language/words.js";

/** Colours that an address can set, each with its CSS property. */
const OWN = { text: "--text", ground: "--ground", white: "--white-line", black: "--black-line", key: "--key" };
const EVERY_MS = 1_000;
const TURN_MS = 500;

const { options, problems } = readOptions(location.search);
const askedFor = [...options.game, ...options.board, ...options.player, ...options.event].map(String);
/** Whether the address selects players or events for standings, which a broker cannot do. */
const refused =
  brokerOf() !== null && options.layout === "standings" && options.player.length + options.event.length > 0;
if (refused) problems.push(...askedFor);
/** For each layout: its class, loaded with its libraries, and the number of games on air if it does not turn pages. */
const LAYOUTS = {
  board: ["board", "BoardLayout", 1],
  bar: ["lines", "BarLayout", 1],
  curves: ["curves", "CurvesLayout", 1],
  grid: ["diagrams", "GridLayout", options.boards],
  ticker: ["lines", "TickerLayout"],
  standings: ["tables", "StandingsLayout"],
  table: ["tables", "TableLayout"],
  player: ["lines", "PlayerLayout", 1],
  duel: ["lines", "DuelLayout", 1],
  moment: ["diagrams", "MomentLayout"],
};
const speaking = import(`./language/${options.lang}.js`);
const stage = document.getElementById("stage");
const status = document.getElementById("status");
const still = matchMedia("(prefers-reduced-motion: reduce)");
const moves = () => options.motion && !still.matches && !document.hidden;

applyLook(document.documentElement);
["logo", "sponsor"].forEach(showImage);

// Modules load while the connection opens; the curves' library, the largest, starts first.
if (["board", "curves"].includes(options.layout)) import("../drawing/curves.js");
const [moduleName, className, onAir] = LAYOUTS[options.layout];
const loading = import(`./layouts/${moduleName}.js`);
let layout = null;
const { default: words } = await speaking;

const held = new Held();
const now = () => performance.now();
const source = options.delay > 0 ? new Delayed(held, options.delay * 1000, now) : held;
const chooser = new Chooser(options);
const swings = new Swings(options.swing);
const ticking = new Ticking();
const failures = new Failures();
const tokenCheck = new TokenCheck();
let isDrawingPlanned = false;
/** The problem with the token, `missing` or `wrong`; empty without one. */
let trouble = "";
/** Id of the game on the screen; undefined before the first. */
let shownGame;

// Brief messages leave out fields that no overlay shows.
const address = new URL(location.href);
address.searchParams.set("detail", "brief");
// A broadcast has few overlays, which should reconnect at once. Frames in other sites can be thousands.
const connection = await openConnection(source, address.href, note, { isKeen: self === top });

/** Look for swings and moves in the changed games, and schedule a drawing. */
function note(touched) {
  ticking.follow(held, touched, now());
  for (const id of held.touchedGames(touched)) {
    const game = held.games.get(id);
    if (game === undefined) swings.forget(id);
    else swings.look(game, now());
  }
  ask();
}

function elapsedS(game) {
  // No clock runs in an earlier position.
  if (options.ply !== null) return 0;
  return ticking.elapsedS(game, now(), connection.status === "live" ? null : connection.heardAt);
}

const withheld = () => isWithheld(held);
/** Return the engine's rating if the overlay shows Algorithm 4, which is relative to it; otherwise null. */
const above = () => (options.rating === "algorithm4" ? (held.engine?.rating ?? null) : null);

function ask() {
  if (isDrawingPlanned) return;
  isDrawingPlanned = true;
  requestAnimationFrame(draw);
}

function draw() {
  isDrawingPlanned = false;
  if (held.seq === null || layout === null) {
    drawStatus([], null);
    return;
  }
  const chosen = chooser.choose([...held.games.values()], now(), [...held.moments.values()], withheld());
  const then = heldAsOf(held, options.ply);
  const games = chosen.map(({ id }) => then.games.get(id));
  // Tell the service which games are on air, so that it analyses them first. Frames in other sites are not on air.
  if (onAir && self === top) connection.say({ type: "air", games: games.slice(0, onAir).map(({ id }) => id) });
  turnTo(games[0]?.id);
  const lost = (of) => lostSince({ connection, failingSince: failures.since(held.feeds, of, now()), now: now() });
  const noticeText = (at) => (at !== null && options.lost === "notice" ? lostText(at, now(), words) : "");
  const since = lost(games);
  const noticeOf = (game) => (game.result === "*" ? noticeText(lost([game])) : "");
  layout.draw({ games, held: then, now: now(), swingOf, notice: noticeText(since), noticeOf });
  stage.dataset.seq = held.seq;
  drawStatus(games, since);
}

/** Return a game's swing while it is new. With `sample`, return its largest swing as an example. */
function swingOf(game) {
  if (options.sample === "swing") return largestSwing(game);
  return options.ply === null ? swings.shown(game, now()) : null;
}

/** Fade in when another game is shown, since a sudden change would look like a fault. */
function turnTo(id) {
  const turned = shownGame !== undefined && id !== shownGame;
  shownGame = id;
  if (turned && onAir === 1 && moves()) {
    layout.node.animate({ opacity: [0, 1] }, { duration: TURN_MS, easing: "ease-out" });
  }
}

/** Write the status text; `since` is the time of a loss, or null. Layouts with `ownNotice` write the loss themselves. */
function drawStatus(games, since) {
  const { layout: shown, lost } = options;
  const text = problems.length
    ? fill(words.notUnderstood, problems.join(", "))
    : statusText({ asked: askedFor, trouble, connection, held, games, now: now(), layout: shown, lost, since }, words);
  setText(status, text);
  status.classList.toggle("calm", [words.waiting, words.connecting].includes(text));
  status.hidden = text === "" || (since !== null && games.length > 0 && layout?.ownNotice && problems.length === 0);
  stage.hidden = refused || (since !== null && lost === "hide");
}

function fit() {
  const { clientWidth, clientHeight } = stage;
  const { width, height } = layout.size ?? {};
  const fitting = layout.fit?.(clientWidth, clientHeight) ?? Math.min(clientWidth / width, clientHeight / height);
  const rem = fitting * options.size;
  document.documentElement.style.fontSize = `${Math.max(4, rem).toFixed(2)}px`;
  layout.resized?.();
}

connection.connect();
const Layout = (await loading)[className];
layout = new Layout({
  options,
  words,
  moves,
  elapsedS,
  withheld,
  above,
  /** Return the names of all players, so that shortened names stay distinct. */
  everybody: () => everybodyIn(held),
});
// Hidden until there is something to show.
layout.node.hidden = true;
stage.append(layout.node);
fit();
addEventListener("resize", () => {
  fit();
  ask();
});
ask();
setInterval(async () => {
  if (options.delay > 0) for (const touched of source.release()) note(touched);
  ask();
  // Check the token while nothing arrives, since the service sends nothing without a valid one.
  trouble = (await tokenCheck.look(connection, now())) ?? trouble;
}, EVERY_MS);

/** Show the image of an option in its place; remove it if it cannot be loaded. */
function showImage(name) {
  if (options[name] === null) return;
  const image = Object.assign(element("img", name), { alt: "", referrerPolicy: "no-referrer", src: options[name] });
  image.addEventListener("error", () => {
    image.remove();
    dispatchEvent(new Event("resize"));
  });
  document.body.append(image);
}

function applyLook(root) {
  root.lang = options.lang;
  root.dataset.theme = options.theme;
  root.dataset.layout = options.layout;
  root.dataset.at = options.at;
  root.dataset.hide = options.hide.join(" ");
  root.classList.toggle("still", !options.motion);
  for (const [name, property] of Object.entries(OWN)) {
    if (options[name] !== null) root.style.setProperty(property, `#${options[name]}`);
  }
  const style = getComputedStyle(root);
  const color = (name) => style.getPropertyValue(name).trim();
  const [text, ground] = ["--text", "--ground"].map(color);
  // Text without a background must be readable on any picture, so it has an outline.
  const bare = isBare(ground);
  root.classList.toggle("bare", bare);
  if (!bare) {
    const readably = (from, name) => root.style.setProperty(name, readable(from, text, ground));
    // If the address sets colours, the quiet colour is the one closest to the background that is still readable.
    if (options.text !== null || options.ground !== null) readably(ground, "--quiet");
    for (const side of COLORS) {
      const line = color(`--${side}-line`);
      readably(line, `--${side}-text`);
      if (options[side] === null) readably(line, `--${side}-line`);
    }
  }
  if (options.font !== null) root.style.setProperty("--font", `"${options.font}"`);
}
