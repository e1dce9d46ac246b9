/** Puts a theme, own colours, font and what is left out onto the page. */

const OWN = {
  text: "--text",
  ground: "--ground",
  white: "--white-line",
  black: "--black-line",
  key: "--key",
};

export function applyLook(root, options) {
  root.lang = options.lang;
  root.dataset.theme = options.theme;
  root.dataset.layout = options.layout;
  root.dataset.at = options.at;
  root.dataset.hide = options.hide.join(" ");
  root.classList.toggle("still", !options.motion);
  for (const [name, property] of Object.entries(OWN)) {
    if (options[name] !== null) root.style.setProperty(property, `#${options[name]}`);
  }
  // Text without a ground of its own must be read on anything.
  root.classList.toggle("bare", options.ground !== null && alphaOf(options.ground) < 0.4);
  if (options.font !== null) root.style.setProperty("--font", `"${options.font}"`);
}

/** How opaque a colour is, 0 to 1. */
function alphaOf(digits) {
  if (digits.length === 4) return parseInt(digits[3], 16) / 15;
  return digits.length === 8 ? parseInt(digits.slice(6), 16) / 255 : 1;
}
