/** The page at `/overlays`: choose, see it live, copy the address. */

import { Field, waitingPage } from "./choices.js";
import { contrast, isBare, LEAST_CONTRAST } from "../drawing/contrast.js";
import { element, setText } from "../drawing/elements.js";
import { lateText } from "../page/health_view.js";
import { ask } from "../page/page_address.js";
import { save } from "../page/share.js";
import { GROUPS, OPTIONS, readOptions, writeOptions } from "../overlay/options.js";

/** While somebody types, the preview waits. */
const SETTLED_MS = 250;
/** A width and height that suit each layout. */
const SIZES = {
  board: [1920, 1080],
  bar: [1920, 208],
  curves: [1280, 720],
  grid: [1920, 1080],
  ticker: [1920, 116],
  standings: [1280, 840],
  table: [1104, 800],
  player: [1104, 300],
  duel: [1104, 620],
  moment: [1104, 350],
};

/** Where there is a place for what the preview shows on demand. */
const SAMPLES = {
  swing: ["board", "bar", "grid", "ticker", "player", "duel"],
  moment: ["moment"],
};

const byId = (id) => document.getElementById(id);
const token = new URLSearchParams(location.search).get("token");
/** What overlays get of it, once it is known not to be an arbiter's: that would put on air what is delayed or hidden. */
let overlayToken = null;
const { options: given, gone } = readOptions(location.search);
const fields = new Map();
let timer = null;
let shown = null;

for (const [name, option] of Object.entries(OPTIONS)) {
  if (option.label === undefined) continue;
  const [title] = Object.entries(GROUPS).find(([, first]) => first === name) ?? [];
  if (title) byId("choices").append(element("fieldset", "group", "", element("legend", "", title)));
  const field = new Field(option, noteChoice);
  field.write(given[name]);
  fields.set(name, field);
  byId("choices").lastChild.append(field.node);
}

function readChoices() {
  return Object.fromEntries([...fields].map(([name, field]) => [name, field.value]));
}

/** Somebody chose something. */
function noteChoice() {
  const { layout } = readChoices();
  if (layout !== shown) resize(layout);
  clearTimeout(timer);
  timer = setTimeout(show, SETTLED_MS);
}

function resize(layout) {
  shown = layout;
  [byId("width").value, byId("height").value] = SIZES[layout];
}

/** The address of the overlay; options only where they mean something. */
function address() {
  const options = readChoices();
  for (const [name, field] of fields) {
    const { only, themes } = field.option;
    const idle = (only && !only.includes(options.layout)) || (themes && !themes.includes(options.theme));
    field.node.hidden = Boolean(idle);
    if (idle) options[name] = OPTIONS[name].unless;
  }
  const url = new URL("overlay", location.href);
  url.search = writeOptions(options);
  url.hash = "";
  if (overlayToken !== null) url.searchParams.set("token", overlayToken);
  return url;
}

/** Only what the layout has a place for can be shown on demand. */
function offerSamples() {
  const { layout } = readChoices();
  const select = byId("sample");
  for (const option of select.options) option.disabled = !(SAMPLES[option.value]?.includes(layout) ?? true);
  if (select.selectedOptions[0]?.disabled) select.value = "";
}

function show() {
  const url = address();
  offerSamples();
  const { width, height } = readScreenSize();
  byId("address").value = url.href;
  byId("token").hidden = overlayToken === null;
  setText(byId("said"), "");
  // OBS makes a source of a link that is dropped on it, as large and named as these say.
  const dragged = new URL(url);
  dragged.searchParams.set("layer-name", `live-rate ${readChoices().layout}`);
  dragged.searchParams.set("layer-width", width);
  dragged.searchParams.set("layer-height", height);
  byId("drag").href = dragged.href;
  const own = new URL(location.href);
  own.search = url.search;
  if (token !== null) own.searchParams.set("token", token);
  history.replaceState(null, "", own);
  // A swing or a moment to see how it looks; the address to go on air knows nothing of it.
  const seen = new URL(url);
  if (byId("sample").value) seen.searchParams.set("sample", byId("sample").value);
  const frame = byId("preview");
  if (frame.dataset.href !== seen.href) {
    frame.dataset.href = seen.href;
    // Not `src`: that would fill the history with every choice.
    frame.contentWindow.location.replace(seen.href);
  }
  scale();
}

function readScreenSize() {
  const whole = (id, unless) => Math.min(8192, Math.max(40, Math.round(byId(id).value) || unless));
  return { width: whole("width", 1280), height: whole("height", 720) };
}

/** The preview is as large as the source will be, and drawn as large as there is room. */
function scale() {
  const { width, height } = readScreenSize();
  const screen = byId("screen");
  const by = Math.min(1, screen.clientWidth / width);
  const { style } = byId("preview");
  style.width = `${width}px`;
  style.height = `${height}px`;
  style.transform = `scale(${by})`;
  screen.style.height = `${Math.round(height * by)}px`;
}

/** A frame for a page of one's own; the service allows it to whom `server.frames` names. */
function writeEmbed() {
  const address = new URL(byId("address").value);
  address.searchParams.delete("token");
  const frame = document.createElement("iframe");
  frame.setAttribute("src", address.href);
  for (const [name, value] of Object.entries({ width: 960, height: 540, title: "live-rate", style: "border:0" })) {
    frame.setAttribute(name, value);
  }
  return frame.outerHTML;
}

/** A file for OBS that waits for the service. */
const saveFile = () => save(`live-rate-${readChoices().layout}.html`, "text/html", waitingPage(byId("address").value));

async function copy(text = null) {
  const input = byId("address");
  try {
    await navigator.clipboard.writeText(text ?? input.value);
  } catch {
    // Without TLS a browser gives the clipboard only to pages of this machine.
    if (text !== null) {
      setText(byId("said"), text);
      return;
    }
    input.select();
    if (!document.execCommand("copy")) {
      setText(byId("said"), "Press Ctrl+C: the address is selected.");
      return;
    }
  }
  setText(byId("said"), "Copied.");
}

/** What there is to choose from; typing goes without it. */
async function offerChoices() {
  await sayDelay();
  const answer = await ask("games").catch(({ message }) => setText(byId("said"), `No games to choose from: ${message}.`));
  if (!answer) return;
  const { games } = await answer.json();
  const names = games.flatMap((game) => [game.white.name, game.black.name]).filter(Boolean);
  const fill = (id, values) => byId(id).replaceChildren(...values.map(([value, text]) => new Option(text, value)));
  fill("players", [...new Set(names)].sort().map((name) => [name, name]));
  fill("events", [...new Set(games.map((game) => game.event).filter(Boolean))].map((name) => [name, name]));
  const pairing = (game) => `${game.round} ${game.white.name} \u2013 ${game.black.name}`;
  fill("games", games.map((game) => [game.id, pairing(game)]));
}

/** Overlays are the public's: whoever sets one up is to know how late they are, and that they get no arbiter's token. */
async function sayDelay() {
  const answer = await ask("health").catch(() => null);
  if (answer === null) return;
  const { public_delay: delay, sight } = await answer.json();
  const late = lateText(delay);
  const said = late ? [`For the public, ${late}. An overlay opened without an arbiter's token shows no more.`] : [];
  if (sight === "arbiter") {
    said.push("Your token is an arbiter's: the overlay is without it, or it would show what is delayed or hidden.");
    said.push("Where reading needs a token, give it one made without --arbiter.");
  } else if (token !== null) {
    overlayToken = token;
    show();
    sayGone(gone);
  }
  setText(byId("delayed"), said.join(" "));
}

/** What an address of an earlier version asked for, and what stands there now. */
function sayGone(gone) {
  if (gone.length > 0) setText(byId("said"), `No longer there: ${gone.join(", ")}. The usual stands in its place.`);
}

/** Says where viewers could hardly read: all other colours of texts follow from these two. */
function sayFaint() {
  const style = getComputedStyle(byId("preview").contentDocument.documentElement);
  const [text, ground] = ["--text", "--ground"].map((name) => style.getPropertyValue(name).trim());
  const found = ground && !isBare(ground) ? contrast(text, ground) : LEAST_CONTRAST;
  const said = `Hard to read: text and ground have a contrast of ${found.toFixed(1)} : 1. From ${LEAST_CONTRAST} : 1 on everybody can read it.`;
  setText(byId("faint"), found < LEAST_CONTRAST ? said : "");
}

byId("copy").addEventListener("click", () => copy());
byId("copy-embed").addEventListener("click", () => copy(writeEmbed()));
byId("save-file").addEventListener("click", saveFile);
byId("sample").addEventListener("change", show);
byId("preview").addEventListener("load", sayFaint);
byId("address").addEventListener("focus", (event) => event.target.select());
for (const id of ["width", "height"]) byId(id).addEventListener("input", noteChoice);
byId("behind").addEventListener("input", (event) => {
  byId("screen").dataset.behind = event.target.value;
});
byId("choices").addEventListener("submit", (event) => event.preventDefault());
addEventListener("resize", scale);

resize(given.layout);
byId("sample").value = given.sample ?? "";
show();
sayGone(gone);
await offerChoices();
