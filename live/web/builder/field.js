/** One control of the builder for one option: native elements, so that keyboard and mouse work. */

import { element, setText } from "../drawing/elements.js";
import { LANGUAGES } from "../overlay/language/words.js";

let made = 0;

export class Field {
  /** `changed()` follows every choice. */
  constructor(name, option, about, changed) {
    this.name = name;
    this.about = about;
    this._option = option;
    made += 1;
    this._id = `field-${made}`;
    const { control, read, write } = MAKERS[option.kind](this._id, name, option, about);
    this._read = read;
    this.write = write;
    control.addEventListener("input", changed);
    this.node = element("div", `field ${option.kind}`);
    if (option.kind === "parts") this.node.append(control);
    else {
      const label = element("label", "", about.label);
      label.htmlFor = this._id;
      this.node.append(label, control);
      if (about.unit) this.node.append(element("span", "unit", about.unit));
    }
    if (about.help) {
      const help = element("p", "help", about.help);
      help.id = `${this._id}-help`;
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
  const input = element("input");
  input.type = "text";
  input.id = id;
  input.spellcheck = false;
  if (about.list) input.setAttribute("list", about.list);
  return input;
}

const MAKERS = {
  choice(id, name, option, about) {
    const control = element("select");
    control.id = id;
    if (option.unless === null) control.append(new Option(about.none ?? "\u2013", ""));
    for (const value of option.values) {
      const text = name === "lang" ? LANGUAGES[value] : (about.values?.[value] ?? value);
      control.append(new Option(text, value));
    }
    return {
      control,
      read: () => control.value || null,
      write: (value) => (control.value = value ?? ""),
    };
  },

  number(id, name, option) {
    const control = element("input");
    Object.assign(control, { id, type: "number", min: option.least, max: option.most, step: "any" });
    return { control, read: () => understood(control, option), write: (value) => (control.value = value ?? "") };
  },

  flag(id) {
    const control = element("input");
    Object.assign(control, { id, type: "checkbox" });
    return { control, read: () => control.checked, write: (value) => (control.checked = value) };
  },

  /** A colour is typed, for alpha's sake, or picked. */
  colour(id, name, option, about) {
    const text = textInput(id, about);
    text.placeholder = "theme";
    const picker = element("input");
    picker.type = "color";
    picker.setAttribute("aria-label", `${about.label}: pick`);
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

  font(id, name, option, about) {
    const control = textInput(id, about);
    control.placeholder = "theme";
    return { control, read: () => understood(control, option), write: (value) => (control.value = value ?? "") };
  },

  names(id, name, option, about) {
    const control = textInput(id, about);
    return {
      control,
      read: () => [understood(control, option)].filter((each) => each !== null),
      write: (values) => (control.value = values[0] ?? ""),
    };
  },

  numbers(id, name, option, about) {
    const control = textInput(id, about);
    return { control, read: () => understood(control, option), write: (values) => (control.value = values.join(",")) };
  },

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
