/** How the builder asks for each option, one control for each, and the overlays it keeps by a name. */

import { element, keptList, named, setText } from "../drawing/elements.js";
import { LANGUAGES } from "../overlay/language/words.js";

/** `help` where the name says too little. */
export const GROUPS = [
  {
    title: "Layout",
    options: {
      layout: {
        label: "Layout",
        values: {
          board: "Board with everything",
          bar: "Lower third",
          curves: "Curves",
          grid: "Grid of boards",
          ticker: "Ticker",
          standings: "Players by the figure",
          table: "Standings by points",
          player: "Lower third of a player",
          duel: "Head to head",
          moment: "Moment card",
        },
      },
      boards: { label: "Boards at once", only: ["grid"], help: "More than that come page by page." },
      rows: { label: "Rows at once", only: ["standings", "table"] },
      page: { label: "Seconds a page", only: ["grid", "ticker", "standings", "table"] },
      at: { label: "Edge", only: ["bar", "ticker"] },
      lang: { label: "Language" },
    },
  },
  {
    title: "Which game",
    options: {
      follow: {
        label: "Follow",
        none: "as chosen below, else the top board",
        values: {
          top: "the top board still playing",
          closest: "the closest game",
          latest: "the latest move",
          story: "the story: whatever is worth telling",
        },
      },
      stay: { label: "at least", unit: "s", help: "How long the story stays with a board." },
      order: {
        label: "Order of boards",
        only: ["grid", "ticker"],
        values: { board: "board number", perceived: "highest figure first" },
      },
      board: { label: "Board number", help: "Several with commas. Stays from round to round." },
      player: { label: "Player", list: "players", help: "Full name or FIDE id." },
      event: { label: "Event", list: "events" },
      game: { label: "Game id", list: "games", help: "This one game and no other." },
      ply: { label: "After ply", help: "As the game stood then; nothing: as it stands." },
    },
  },
  {
    title: "Figures",
    options: {
      rating: {
        label: "Large figure",
        none: "as the service is set",
        values: { perceived: "playing like", algorithm4: "Algorithm 4 (as published)" },
      },
      provisional: { label: "Show provisional scores", help: "Marked with ~ while the engine searches." },
      hide: {
        label: "Leave out",
        values: {
          place: "round and board",
          title: "titles",
          flag: "federations",
          elo: "Elo",
          clock: "clocks",
          move: "last move",
          rating: "figures",
          curves: "curves",
          diagram: "board",
        },
      },
      human: {
        label: "What others would play",
        only: ["board"],
        help: "Finds, traps, and how many players of this rating would have played it.",
      },
      show: {
        label: "Show besides",
        only: ["board"],
        values: {
          arrow: "arrow for a better move",
          material: "captured material",
        },
      },
      hold: { label: "Seconds a moment", only: ["moment"] },
      scoring: {
        label: "Scoring",
        only: ["table"],
        values: { "1-half-0": "1, ½, 0", "3-1-0": "3, 1, 0" },
      },
      ties: {
        label: "Tie-breaks",
        only: ["table"],
        ordered: true,
        help: "They count in the order in which they are ticked.",
        values: {
          direct: "direct encounter",
          buchholz: "Buchholz",
          sonneborn: "Sonneborn-Berger",
          black: "games as Black",
        },
      },
      flags: { label: "Federations as", values: { code: "code (NOR)", emoji: "flag (not on Windows)" } },
      swing: { label: "Show swings of", unit: "pawns", help: "Within ±4 pawns; 0 shows none." },
      cooldown: { label: "then none for", unit: "s" },
      lost: {
        label: "While the source is lost",
        values: { freeze: "the last picture", notice: "and its age", hide: "nothing" },
      },
      delay: { label: "Delay", unit: "s", help: "Holds moves and figures back." },
    },
  },
  {
    title: "Look",
    options: {
      theme: {
        label: "Theme",
        values: { chroma: "chroma key", contrast: "high contrast" },
      },
      size: { label: "Size", help: "1 fills the source." },
      font: { label: "Font", help: "One that is installed where the picture is mixed." },
      text: { label: "Text" },
      ground: { label: "Ground" },
      white: { label: "White’s curve" },
      black: { label: "Black’s curve" },
      key: { label: "Key colour", themes: ["chroma"] },
      motion: { label: "Movement", help: "Whoever wants less motion in the system gets less anyway." },
    },
  },
];

let fields = 0;

/** One control for one option: native elements, so that keyboard and mouse work. */
export class Field {
  /** `changed()` follows every choice. */
  constructor(name, option, about, changed) {
    this.about = about;
    this._option = option;
    fields += 1;
    const id = `field-${fields}`;
    const { control, read, write } = MAKERS[option.kind](id, name, option, about);
    this._read = read;
    this.write = write;
    control.addEventListener("input", changed);
    this.node = element("div", `field ${option.kind}`);
    if (option.kind === "parts") this.node.append(control);
    else {
      const label = element("label", "", about.label);
      label.htmlFor = id;
      this.node.append(label, control);
      if (about.unit) this.node.append(element("span", "unit", about.unit));
    }
    if (about.help) {
      const help = element("p", "help", about.help);
      help.id = `${id}-help`;
      (control.querySelector?.("input[type=text]") ?? control).setAttribute("aria-describedby", help.id);
      this.node.append(help);
    }
  }

  /** The value, or the option's own where what stands there makes no sense. */
  get value() {
    return this._read() ?? this._option.unless;
  }
}

/** A text field's value through the option's own reader, and whether it was understood. */
function understood(input, option) {
  const text = input.value.trim();
  const value = text === "" ? null : option.read(text);
  input.setCustomValidity(text === "" || value !== null ? "" : "not understood");
  return value;
}

function textInput(id, about) {
  const input = Object.assign(element("input"), { type: "text", id, spellcheck: false });
  if (about.list) input.setAttribute("list", about.list);
  if (about.placeholder) input.placeholder = about.placeholder;
  return input;
}

/** A field whose text the option's own reader reads; `shown` writes a value, `made` makes one of what was understood. */
function typed(control, option, { shown = (value) => value ?? "", made = (value) => value } = {}) {
  return { control, read: () => made(understood(control, option)), write: (value) => (control.value = shown(value)) };
}

const MAKERS = {
  choice(id, name, option, about) {
    const control = Object.assign(element("select"), { id });
    if (option.unless === null) control.append(new Option(about.none ?? "\u2013", ""));
    for (const value of option.values) {
      const text = name === "lang" ? LANGUAGES[value] : (about.values?.[value] ?? value);
      control.append(new Option(text, value));
    }
    return { control, read: () => control.value || null, write: (value) => (control.value = value ?? "") };
  },

  number(id, name, option) {
    const control = element("input");
    Object.assign(control, { id, type: "number", min: option.least, max: option.most, step: "any" });
    return typed(control, option);
  },

  flag(id) {
    const control = element("input");
    Object.assign(control, { id, type: "checkbox" });
    return { control, read: () => control.checked, write: (value) => (control.checked = value) };
  },

  /** A colour is typed, for alpha's sake, or picked. */
  colour(id, name, option, about) {
    const text = textInput(id, { ...about, placeholder: "theme" });
    const picker = named(element("input"), `${about.label}: pick`);
    picker.type = "color";
    picker.addEventListener("input", () => (text.value = picker.value.slice(1)));
    return {
      control: element("span", "pair", "", text, picker),
      read: () => understood(text, option),
      write(value) {
        text.value = value ?? "";
        if (/^[0-9a-f]{6}/.test(value ?? "")) picker.value = `#${value.slice(0, 6)}`;
      },
    };
  },

  font: (id, name, option, about) => typed(textInput(id, { ...about, placeholder: "theme" }), option),

  names(id, name, option, about) {
    const made = (value) => (value === null ? [] : [value]);
    return typed(textInput(id, about), option, { shown: ([first = ""]) => first, made });
  },

  numbers: (id, name, option, about) => typed(textInput(id, about), option, { shown: (values) => values.join(",") }),

  parts(id, name, option, about) {
    const control = element("fieldset", "", "", element("legend", "", about.label));
    let chosen = [];
    const boxes = option.values.map((value) => {
      const box = element("input");
      Object.assign(box, { type: "checkbox", value });
      box.addEventListener("input", () => write(box.checked ? [...chosen, value] : chosen.filter((each) => each !== value)));
      const place = element("b");
      control.append(element("label", "", "", box, place, about.values?.[value] ?? value));
      return { box, place };
    });
    function write(values) {
      // Where their order matters it is that in which they were ticked, and it is shown.
      chosen = about.ordered ? [...new Set(values)] : option.values.filter((each) => values.includes(each));
      for (const { box, place } of boxes) {
        box.checked = chosen.includes(box.value);
        setText(place, about.ordered && box.checked ? `${chosen.indexOf(box.value) + 1}.` : "");
      }
    }
    return { control, read: () => chosen, write };
  },
};

const STORED = "live-rate-presets";
const MOST = 60;
const LONGEST_NAME = 60;

/** A name as it is kept; empty where there is none. */
export const presetName = (text) => (text ?? "").replace(/\s+/gu, " ").trim().slice(0, LONGEST_NAME);

/**
 * Overlays by a name, kept in this browser: the query strings that their addresses have. A link of
 * the builder carries a preset to another browser, with its name as `preset`.
 */
export class Presets {
  /** `storage` keeps text by name, as `kept` of drawing/elements.js. */
  constructor(storage) {
    this._storage = storage;
    const isPreset = (each) => Array.isArray(each) && each.length === 2 && each.every((text) => typeof text === "string");
    this._queries = new Map(keptList(storage, STORED, isPreset).slice(0, MOST));
  }

  get names() {
    return [...this._queries.keys()].sort((a, b) => a.localeCompare(b));
  }

  /** The query string of a preset; null where none has this name. */
  query(name) {
    return this._queries.get(name) ?? null;
  }

  /** Keeps a preset, also in place of one of the same name; answers whether the browser did. */
  keep(name, query) {
    if (!name || (!this._queries.has(name) && this._queries.size >= MOST)) return false;
    this._queries.set(name, query);
    return this._write();
  }

  drop(name) {
    this._queries.delete(name);
    return this._write();
  }

  _write() {
    return this._storage.write(STORED, JSON.stringify([...this._queries]));
  }

}

/** The choices of a link, and what it calls them: `{name, query}`; an empty name where it says none. */
export function presetOf(search) {
  const said = new URLSearchParams(search);
  const name = presetName(said.get("preset"));
  for (const other of ["preset", "token"]) said.delete(other);
  return { name, query: said.toString() };
}
