/** The page at `/overlay`: what its address asks for, drawn over whatever lies behind. */

import { brokerOf, openConnection } from "../client/open_connection.js";
import { loadStyles, setText } from "../drawing/elements.js";
import { Held } from "../client/event_state.js";
import { Ticking } from "../client/running_clocks.js";
import { Chooser } from "./game_choice.js";
import { applyLook, Failures, lostSince, statusText } from "./look_and_notice.js";
import { readOptions } from "./options.js";
import { largestSwing, Swings } from "./score.js";
import { fill } from "./language/words.js";

/** How many of its games each layout has on air; the others turn pages. */
const ON_AIR = {
  board: () => 1,
  bar: () => 1,
  curves: () => 1,
  player: () => 1,
  duel: () => 1,
  grid: ({ boards }) => boards,
};
/** Layouts with styles of their own. */
const OWN_STYLES = ["player", "duel", "moment", "table"];
const EVERY_MS = 1_000;
const TURN_MS = 500;
const TOKEN_EVERY_MS = 10_000;
/** Where nothing came for so long since the page was opened, the token may be why. */
const TOKEN_AFTER_MS = 2_000;

const { options, problems } = readOptions(location.search);
const wanted = [...options.game, ...options.board, ...options.player, ...options.event].map(String);
/** Standings come whole from a broker, which knows nothing of events and players. */
const refused =
  brokerOf(document) !== null && options.layout === "standings" && options.player.length + options.event.length > 0;
if (refused) problems.push(...wanted);
const speaking = import(`./language/${options.lang}.js`);
const stage = document.getElementById("stage");
const status = document.getElementById("status");
const still = matchMedia("(prefers-reduced-motion: reduce)");
const moves = () => options.motion && !still.matches && !document.hidden;

applyLook(document.documentElement, options);

// A layout brings its own libraries: a ticker needs neither curves nor boards. They load while the
// connection opens; the library of the curves, which is largest, starts at once.
if (["board", "curves"].includes(options.layout)) import("../drawing/uplot_loader.js");
const loading = import(`./layouts/${options.layout}_layout.js`);
const dressed = OWN_STYLES.includes(options.layout) || options.show.length > 0;
const styled = dressed ? loadStyles(new URL("./layouts/more_layouts.css", import.meta.url).href) : null;
let layout = null;
const { default: words } = await speaking;

const held = new Held();
const now = () => performance.now();
const source = options.delay > 0 ? await delayed() : held;
const earlier = options.ply === null ? null : await import("../client/earlier_ply.js");
const story = options.follow === "story" ? await import("./story/board_interest.js") : null;
const chooser = new Chooser(options, options.follow === "story" ? new story.Story() : null);
const flags = options.flags === "emoji" ? await import("./language/flags.js") : null;
/** A federation as it is shown. */
const flagOf = (federation) => (flags === null ? (federation ?? "") : flags.flagText(federation, options.flags));
const swings = new Swings(options.swing, options.cooldown * 1000);
const ticking = new Ticking();
const failures = new Failures();
let asked = false;
/** Whether the token is `missing` or `wrong`, and when to ask again. */
let trouble = "";
let askAgainAt = TOKEN_AFTER_MS;
/** The game that is shown, once one was. */
let shownGame;
/** Everybody who plays, so that two of one family are told apart. */
let names = [];

// What no overlay shows need not come.
const address = new URL(location.href);
address.searchParams.set("detail", "brief");
const connection = await openConnection(source, address.href, note);

async function delayed() {
  const { Delayed } = await import("./delayed_messages.js");
  return new Delayed(held, options.delay * 1000, now);
}

/** Looks for swings and moves in what was touched, and asks for a drawing. */
function note(touched) {
  if (touched.all || touched.health) ticking.noteFeeds(held.feeds, now());
  if (touched.all) for (const game of held.games.values()) look(game);
  if (touched.game !== undefined) {
    const game = held.games.get(touched.game);
    if (game === undefined) {
      swings.forget(touched.game);
      ticking.forget(touched.game);
    } else look(game);
  }
  ask();
}

function elapsedS(game) {
  // As it stood after a ply, no clock runs.
  if (options.ply !== null) return 0;
  return ticking.elapsedS(game, now(), connection.status === "live" ? null : connection.heardAt);
}

/** Which figure is shown, what Algorithm 4 adds to, and whether figures are withheld here. */
function basisOf() {
  return {
    choice: options.rating ?? held.hello?.figure ?? "perceived",
    engineRating: held.engine?.rating ?? null,
    withheld: held.engine?.rating_source === "withheld",
  };
}

function look(game) {
  ticking.note(game, now());
  swings.look(game, now());
}

function ask() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(draw);
}

function draw() {
  asked = false;
  if (held.seq === null || layout === null) {
    drawStatus([]);
    return;
  }
  const all = [...held.games.values()];
  names = [...new Set(all.flatMap(({ white, black }) => [white.name, black.name]))];
  const chosen = chooser.choose(all, now(), [...held.moments.values()], basisOf().withheld);
  const then = earlier === null ? held : earlier.heldAsOf(held, options.ply);
  const games = chosen.map(({ id }) => then.games.get(id));
  if (ON_AIR[options.layout] !== undefined && self === top) {
    // Analysed first, where this overlay may say so; a broker is told nothing.
    connection.say?.({ type: "air", games: games.slice(0, ON_AIR[options.layout](options)).map(({ id }) => id) });
  }
  turnTo(games[0]?.id);
  layout.draw({ games, held: then, now: now(), swingOf });
  stage.dataset.seq = held.seq;
  drawStatus(games);
}

/** A swing while it is news; on demand the largest of the game, to see how it looks. */
function swingOf(game) {
  if (options.sample === "swing") return largestSwing(game);
  return options.ply === null ? swings.shown(game, now()) : null;
}

/** Another game comes in softly: a hard cut would look like a fault. */
function turnTo(id) {
  const turned = shownGame !== undefined && id !== shownGame;
  shownGame = id;
  if (turned && ON_AIR[options.layout]?.(options) === 1 && moves()) {
    layout.node.animate({ opacity: [0, 1] }, { duration: TURN_MS, easing: "ease-out" });
  }
}

/** While nothing comes at all, whether it is the token: without one a service waits and is silent. */
async function checkToken() {
  // Static pages have no service beside them that could be asked.
  if (brokerOf(document) !== null) return;
  if (connection.heardAt !== null || now() < askAgainAt) return;
  askAgainAt = now() + TOKEN_EVERY_MS;
  const { tokenTrouble } = await import("../client/token_check.js");
  trouble = await tokenTrouble(location.href, (url) => fetch(url));
  ask();
}

function drawStatus(games) {
  const failingSince = failures.since(held.feeds, games, now());
  const { layout: shown, lost } = options;
  const since = lostSince({ connection, failingSince, now: now() });
  const text = problems.length
    ? fill(words.notUnderstood, problems.join(", "))
    : statusText({ asked: wanted, trouble, connection, held, games, now: now(), layout: shown, lost, since }, words);
  setText(status, text);
  status.classList.toggle("calm", [words.waiting, words.connecting].includes(text));
  status.hidden = text === "";
  stage.hidden = refused || (since !== null && lost === "hide");
}

function fit() {
  const { width, height } = layout.size ?? {};
  const fitting = layout.fit?.(innerWidth, innerHeight) ?? Math.min(innerWidth / width, innerHeight / height);
  const rem = fitting * options.size;
  document.documentElement.style.fontSize = `${Math.max(4, rem).toFixed(2)}px`;
  layout.resized?.();
}

connection.connect();
const { default: Layout } = await loading;
await styled;
layout = new Layout({ options, words, moves, elapsedS, basisOf, everybody: () => names, flagOf });
stage.append(layout.node);
fit();
addEventListener("resize", () => {
  fit();
  ask();
});
ask();
setInterval(() => {
  checkToken();
  if (options.delay > 0) for (const touched of source.release()) note(touched);
  ask();
}, EVERY_MS);
