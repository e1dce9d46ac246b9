/** Dialogs that explain the figures and the keys. */

import { say } from "./language.js";
import { anchor, button, element, headCell, kept, named } from "../drawing/elements.js";

/** Paragraphs of the explanation of the figures. */
const WORDS = [
  say("\u201cPlaying like 2340\u201d: every move is compared with what players of every rating lose in the same position, as learned from rated games. 2340 is the rating that these moves look like. Both players of a game start at its level, and the moves pull them away from it."),
  say("The strip below a figure shows what is usual: 8 of 10 games by players of this rating lie in its dark part. A dot outside it, with \u25b2 or \u25bc and the distance from the Elo, is unusual. A finished game is compared with whole games, which spread a little wider."),
  say("Under five counted moves there is no figure. Under ten it is early: small and grey. Known theory counts too, so wait until about move 15."),
  say("In charts, the shaded band is what is usual and the dashed line is the own Elo; moves that cost 10 points of expected score are labelled."),
  say("A high figure is evidence only of good moves in this game. It accuses nobody."),
];

let dialog = null;

/** Show the explanation; Escape, its button, or a click beside it closes it. */
export function explain() {
  const nodes = WORDS.map((text) => element("p", "", text));
  nodes.push(element("p", "", "", anchor("", say("Manual"), "manual/")));
  show(say("What do the numbers mean?"), nodes);
}

/** Show a dialog with this title and these nodes. */
function show(title, nodes) {
  if (dialog === null) {
    dialog = element("dialog", "explanation");
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
    document.body.append(dialog);
  }
  const close = button(say("Close"), () => dialog.close());
  const heading = element("h2", "", title);
  heading.id = "explanation-title";
  dialog.setAttribute("aria-labelledby", heading.id);
  dialog.replaceChildren(heading, ...nodes, close);
  if (!dialog.open) dialog.showModal();
}

/** Make a small button that explains the figures beside it. */
export const explainButton = () => named(button("?", explain, { className: "why" }), say("What do the numbers mean?"));

// --- the keyboard ----------------------------------------------------------------------------------

const STORED = "live-rate-keys";

/** The action of each key with its description, in the order of the help. */
export const KEYS = {
  b: { name: "boards", text: say("Boards") },
  p: { name: "players", text: say("Players") },
  h: { name: "health", text: say("Health") },
  w: { name: "wall", text: say("wall: all boards, for a screen in the hall") },
  "/": { name: "filter", text: say("filter") },
  Enter: { text: say("open a board") },
  ArrowLeft: { name: "back", text: say("one move back") },
  ArrowRight: { name: "on", text: say("one move forward") },
  Home: { name: "first", text: say("to the start") },
  End: { name: "newest", text: say("to the newest move") },
  f: { name: "flip", text: say("turn the board") },
  Escape: { name: "leave", text: say("back to all boards") },
  "?": { name: "help", text: say("this help") },
};

/** Return the label of a key. */
export const keyText = (key) => ({ ArrowLeft: "\u2190", ArrowRight: "\u2192", Escape: "Esc" })[key] ?? key;

/** Return whether keys of a single letter work. People who use voice control can switch them off. */
const lettersAct = () => kept.read(STORED) !== "off";

export function showHelp() {
  const cells = ([key, { text }]) => [headCell("", "row", element("kbd", "", keyText(key))), element("td", "", text)];
  const rows = Object.entries(KEYS).map((entry) => element("tr", "", "", ...cells(entry)));
  const box = Object.assign(element("input"), { type: "checkbox", checked: lettersAct() });
  box.addEventListener("change", () => (box.checked ||= !kept.write(STORED, box.checked ? "on" : "off")));
  const label = element("label", "", "", box, element("span", "", ` ${say("Single-letter keys work")}`));
  show(say("Keys"), [element("table", "keys", "", element("tbody", "", "", ...rows)), element("p", "", "", label)]);
}

const typing = (node) => node.closest?.("input:not([type=checkbox]), select, textarea, [contenteditable]") !== null;

/** Call `act(name)` for the keys of the page; `act` returns whether it did something. */
export function listenToKeys(act) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
    if (document.querySelector("dialog[open]")) return;
    if (typing(event.target)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (event.key.length === 1 && !lettersAct()) return;
    if (Object.hasOwn(KEYS, event.key) && act(KEYS[event.key].name)) event.preventDefault();
  });
}
