/** The builder's control for each option of an overlay, and the file that waits for the service. */

import { element, named } from "../drawing/elements.js";

let fields = 0;

/** A control for one option, made of native elements so that keyboard and mouse work. */
export class Field {
  /** `changed()` is called after every change of the control. */
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

  /** The chosen value, or the option's default if the input is not valid. */
  get value() {
    return this._read() ?? this.option.unless;
  }
}

/** Return the value of a text field, read by the option; mark the field if the text is not valid. */
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

/** Return `{control, read, write}` of a control for text. `toText` converts a value to text, `toValue` the option's result. */
function makeTyped(control, option, { toText = (value) => value ?? "", toValue = (value) => value } = {}) {
  return { control, read: () => toValue(readInput(control, option)), write: (value) => (control.value = toText(value)) };
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

  /** A colour can be typed, which allows transparency, or picked. */
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
    const makeList = (value) => (value === null ? [] : [value]);
    return makeTyped(textInput(id, option), option, { toText: ([first = ""]) => first, toValue: makeList });
  },

  numbers: (id, option) => makeTyped(textInput(id, option), option, { toText: (values) => values.join(",") }),

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
 * Return a page that waits for the service and then becomes the overlay. OBS does not reload an address that failed when
 * OBS started, but it can always load a file on its own machine. The page requests a picture to learn whether the service
 * answers, because an error page is never a picture.
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
