/** One control for each option of an overlay, and the file that waits for the service. */

import { element, named } from "../drawing/elements.js";

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
function readInput(input, option) {
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
function makeTyped(control, option, { shown = (value) => value ?? "", made = (value) => value } = {}) {
  return { control, read: () => made(readInput(control, option)), write: (value) => (control.value = shown(value)) };
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
    return makeTyped(control, option);
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
      read: () => readInput(text, option),
      write(value) {
        text.value = value ?? "";
        if (/^[0-9a-f]{6}/.test(value ?? "")) picker.value = `#${value.slice(0, 6)}`;
      },
    };
  },

  font: (id, option) => makeTyped(textInput(id, option, "theme"), option),
  image: (id, option) => makeTyped(textInput(id, option, "https://"), option),

  names(id, option) {
    const made = (value) => (value === null ? [] : [value]);
    return makeTyped(textInput(id, option), option, { shown: ([first = ""]) => first, made });
  },

  numbers: (id, option) => makeTyped(textInput(id, option), option, { shown: (values) => values.join(",") }),

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
