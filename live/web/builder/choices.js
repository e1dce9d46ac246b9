/** One control for each option of an overlay, and the overlays that the builder keeps by a name. */

import { element, keptList, named } from "../drawing/elements.js";

let fields = 0;

/** One control for one option: native elements, so that keyboard and mouse work. */
export class Field {
  /** `changed()` follows every choice. */
  constructor(option, changed) {
    this.option = option;
    fields += 1;
    const id = `field-${fields}`;
    const { control, read, write } = MAKERS[option.kind](id, option);
    this._read = read;
    this.write = write;
    control.addEventListener("input", changed);
    this.node = element("div", `field ${option.kind}`);
    if (option.kind === "parts") this.node.append(control);
    else {
      const label = element("label", "", option.label);
      label.htmlFor = id;
      this.node.append(label, control);
      if (option.unit) this.node.append(element("span", "unit", option.unit));
    }
    if (option.help) {
      const help = element("p", "help", option.help);
      help.id = `${id}-help`;
      (control.querySelector?.("input[type=text]") ?? control).setAttribute("aria-describedby", help.id);
      this.node.append(help);
    }
  }

  /** The value, or the option's own where what stands there makes no sense. */
  get value() {
    return this._read() ?? this.option.unless;
  }
}

/** A text field's value through the option's own reader, and whether it was understood. */
function understood(input, option) {
  const text = input.value.trim();
  const value = text === "" ? null : option.read(text);
  input.setCustomValidity(text === "" || value !== null ? "" : "not understood");
  return value;
}

function textInput(id, option, placeholder = "") {
  const input = Object.assign(element("input"), { type: "text", id, placeholder, spellcheck: false });
  if (option.list) input.setAttribute("list", option.list);
  return input;
}

/** A field whose text the option's own reader reads; `shown` writes a value, `made` makes one of what was understood. */
function typed(control, option, { shown = (value) => value ?? "", made = (value) => value } = {}) {
  return { control, read: () => made(understood(control, option)), write: (value) => (control.value = shown(value)) };
}

const MAKERS = {
  choice(id, option) {
    const control = Object.assign(element("select"), { id });
    if (option.unless === null) control.append(new Option(option.none ?? "\u2013", ""));
    for (const value of option.values) control.append(new Option(option.names?.[value] ?? value, value));
    return { control, read: () => control.value || null, write: (value) => (control.value = value ?? "") };
  },

  number(id, option) {
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
  colour(id, option) {
    const text = textInput(id, option, "theme");
    const picker = named(element("input"), `${option.label}: pick`);
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

  font: (id, option) => typed(textInput(id, option, "theme"), option),
  image: (id, option) => typed(textInput(id, option, "https://"), option),

  names(id, option) {
    const made = (value) => (value === null ? [] : [value]);
    return typed(textInput(id, option), option, { shown: ([first = ""]) => first, made });
  },

  numbers: (id, option) => typed(textInput(id, option), option, { shown: (values) => values.join(",") }),

  parts(id, option) {
    const control = element("fieldset", "", "", element("legend", "", option.label));
    const boxes = option.values.map((value) => Object.assign(element("input"), { type: "checkbox", value }));
    for (const box of boxes) control.append(element("label", "", "", box, option.names?.[box.value] ?? box.value));
    return {
      control,
      read: () => boxes.filter(({ checked }) => checked).map(({ value }) => value),
      write: (values) => boxes.forEach((box) => (box.checked = values.includes(box.value))),
    };
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

/**
 * A page that waits for the service and then becomes the overlay: OBS keeps the error of an address that did not
 * answer when it started, but a file of its own machine is always there. It asks for a picture, which
 * no error page is.
 */
export function waitingPage(address) {
  const written = (text) => JSON.stringify(text).replaceAll("<", "\\u003c");
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>live-rate overlay</title>
<script>
function look() {
  const icon = new Image();
  icon.onload = () => location.replace(${written(address)});
  icon.onerror = () => setTimeout(look, 1000);
  icon.src = ${written(new URL("static/icon.svg", address).href)} + "?" + Date.now();
}
look();
</script>
</html>
`;
}
