/** The keyboard: what each key does, and the page that says so. */

import { element, headCell, kept } from "../drawing/elements.js";
import { show } from "./explanations.js";

const STORED = "live-rate-keys";

/** Key, what people see, what it does: in the order of the help. */
export const HELP = [
  ["b", "all boards"],
  ["p", "players"],
  ["h", "health of sources and engines"],
  ["w", "wall: all boards, as large as the screen"],
  ["/", "filter"],
  ["\u2190 \u2191 \u2192 \u2193", "from board to board"],
  ["Enter", "open a board"],
  ["\u2190 \u2192", "one move back, one move on"],
  ["Home, End", "start, newest move"],
  ["[ ]", "previous board, next board"],
  ["f", "turn the board"],
  ["c", "another large figure"],
  ["Esc", "back to all boards"],
  ["?", "this help"],
];

/** Whether keys of one letter act; people who speak to their computer switch them off. */
const lettersAct = () => kept.read(STORED) !== "off";

export function showHelp() {
  const rows = HELP.map(([key, text]) => element("tr", "", "", headCell("", "row", element("kbd", "", key)), element("td", "", text)));
  const box = Object.assign(element("input"), { type: "checkbox", checked: lettersAct() });
  box.addEventListener("change", () => (box.checked ||= !kept.write(STORED, box.checked ? "on" : "off")));
  const label = element("label", "", "", box, element("span", "", " Keys of a single letter act"));
  show("Keys", [element("table", "keys", "", element("tbody", "", "", ...rows)), element("p", "", "", label)]);
}

const typing = (node) => node.closest?.("input:not([type=checkbox]), select, textarea, [contenteditable]") !== null;

/** Calls `act(name)` for keys of the page; `act` answers whether it did something. */
export function listenToKeys(act) {
  const names = {
    b: "boards", p: "players", h: "health", w: "wall", "/": "filter", "[": "before", "]": "after", f: "flip", c: "figure",
    ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "newest", Escape: "leave", "?": "help",
  };
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
    if (document.querySelector("dialog[open]")) return;
    const inField = typing(event.target);
    if (inField && event.key !== "Escape") return;
    if (inField) {
      event.target.blur();
      return;
    }
    if (event.key.length === 1 && !lettersAct()) return;
    if (Object.hasOwn(names, event.key) && act(names[event.key])) event.preventDefault();
  });
}
