/** The page at `/overlays`, where people choose options, see the overlay live, and copy its address. */

import { Field, waitingPage } from "./choices.js";
import { contrast, isBare, LEAST_CONTRAST } from "../drawing/contrast.js";
import { element, setText } from "../drawing/elements.js";
import { lateText } from "../page/health_view.js";
import { ask } from "../page/page_address.js";
import { save } from "../page/share.js";
import { GROUPS, OPTIONS, readOptions, writeOptions } from "../overlay/options.js";

/** Delay of the preview after the last change, so that the preview does not reload while somebody types. */
const SETTLED_MS = 250;
/** For each layout, a width and height that suit it, pixels. */
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

/** For each sample of the preview, the layouts that can show it. */
const SAMPLES = {
  swing: ["board", "bar", "grid", "ticker", "player", "duel"],
  moment: ["moment"],
};

const byId = (id) => document.getElementById(id);
const token = new URLSearchParams(location.search).get("token");
/** The token for overlays: the page's token, unless it is an arbiter's, which would put delayed or hidden data on air. */
let overlayToken = null;
const { options: initialOptions, gone } = readOptions(location.search);
const fields = new Map();
let timer = null;
let shownLayout = null;

for (const [name, option] of Object.entries(OPTIONS)) {
  if (option.label === undefined) continue;
  const [title] = Object.entries(GROUPS).find(([, first]) => first === name) ?? [];
  if (title) byId("choices").append(element("fieldset", "group", "", element("legend", "", title)));
  const field = new Field(option, noteChoice);
  field.write(initialOptions[name]);
  fields.set(name, field);
  byId("choices").lastChild.append(field.node);
}

const readChoices = () => Object.fromEntries([...fields].map(([name, field]) => [name, field.value]));

/** Update the preview after a choice. */
function noteChoice() {
  const { layout } = readChoices();
  if (layout !== shownLayout) resize(layout);
  clearTimeout(timer);
  timer = setTimeout(show, SETTLED_MS);
}

function resize(layout) {
  shownLayout = layout;
  [byId("width").value, byId("height").value] = SIZES[layout];
}

/** Return the overlay's address. Options without effect in the chosen layout or theme are hidden and left out. */
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

/** Disable the samples that the chosen layout cannot show. */
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
  // OBS turns a link that is dropped on it into a source; these parameters give its name and size.
  const dragged = new URL(url);
  dragged.searchParams.set("layer-name", `live-rate ${readChoices().layout}`);
  dragged.searchParams.set("layer-width", width);
  dragged.searchParams.set("layer-height", height);
  byId("drag").href = dragged.href;
  const pageUrl = new URL(location.href);
  pageUrl.search = url.search;
  if (token !== null) pageUrl.searchParams.set("token", token);
  history.replaceState(null, "", pageUrl);
  // The preview can show a sample swing or moment; the address to copy never contains the sample.
  const previewUrl = new URL(url);
  if (byId("sample").value) previewUrl.searchParams.set("sample", byId("sample").value);
  const frame = byId("preview");
  if (frame.dataset.href !== previewUrl.href) {
    frame.dataset.href = previewUrl.href;
    // Setting `src` would add every choice to the browser's history.
    frame.contentWindow.location.replace(previewUrl.href);
  }
  scale();
}

function readScreenSize() {
  const whole = (id, unless) => Math.min(8192, Math.max(40, Math.round(byId(id).value) || unless));
  return { width: whole("width", 1280), height: whole("height", 720) };
}

/** Scale the preview down to fit. The page inside has the size of the browser source. */
function scale() {
  const { width, height } = readScreenSize();
  const screen = byId("screen");
  const factor = Math.min(1, screen.clientWidth / width);
  const { style } = byId("preview");
  style.width = `${width}px`;
  style.height = `${height}px`;
  style.transform = `scale(${factor})`;
  screen.style.height = `${Math.round(height * factor)}px`;
}

/** Return the HTML of an iframe for other sites; the service allows only the sites in `server.frames` to embed it. */
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

/** Save a file for OBS that waits until the service answers. */
const saveFile = () => save(`live-rate-${readChoices().layout}.html`, "text/html", waitingPage(byId("address").value));

async function copy(text = null) {
  const input = byId("address");
  try {
    await navigator.clipboard.writeText(text ?? input.value);
  } catch {
    // Without TLS, browsers allow access to the clipboard only on pages of the same machine.
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

/** Load suggestions for players, events and games. If this fails, people can still type. */
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

/** Write how late overlays are, since they show the public view, and that they must not use an arbiter's token. */
async function sayDelay() {
  const answer = await ask("health").catch(() => null);
  if (answer === null) return;
  const { public_delay: delay, sight } = await answer.json();
  const late = lateText(delay);
  const sentences = late ? [`For the public, ${late}. An overlay opened without an arbiter's token shows no more.`] : [];
  if (sight === "arbiter") {
    sentences.push("Your token is an arbiter's: the overlay is without it, or it would show what is delayed or hidden.");
    sentences.push("Where reading needs a token, give it one made without --arbiter.");
  } else if (token !== null) {
    overlayToken = token;
    show();
    sayGone(gone);
  }
  setText(byId("delayed"), sentences.join(" "));
}

/** Write which options of an earlier version no longer exist and were replaced by defaults. */
function sayGone(gone) {
  if (gone.length > 0) setText(byId("said"), `No longer there: ${gone.join(", ")}. The usual stands in its place.`);
}

/** Warn if viewers can hardly read the text; all other text colours are derived from text and background. */
function sayFaint() {
  const style = getComputedStyle(byId("preview").contentDocument.documentElement);
  const [text, ground] = ["--text", "--ground"].map((name) => style.getPropertyValue(name).trim());
  const ratio = ground && !isBare(ground) ? contrast(text, ground) : LEAST_CONTRAST;
  const warning = `Hard to read: text and ground have a contrast of ${ratio.toFixed(1)} : 1. From ${LEAST_CONTRAST} : 1 on everybody can read it.`;
  setText(byId("faint"), ratio < LEAST_CONTRAST ? warning : "");
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

resize(initialOptions.layout);
byId("sample").value = initialOptions.sample ?? "";
show();
sayGone(gone);
await offerChoices();
