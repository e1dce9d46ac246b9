/** Contrast as WCAG 2 defines it, and colours that are readable on a background. Colours are hexadecimal digits. Pure. */

/** Smallest contrast ratio at which text is easy to read. */
export const LEAST_CONTRAST = 4.5;

/** Return `[red, green, blue, alpha]`, each 0 to 1, of a colour `rgb`, `rgba`, `rrggbb` or `rrggbbaa`; `#` is optional. */
function channels(color) {
  const digits = color.replace("#", "");
  const long = digits.length > 4 ? digits : digits.replace(/./g, "$&$&");
  return long.padEnd(8, "f").match(/../g).map((pair) => parseInt(pair, 16) / 255);
}

/** Return whether a background is so transparent that text on it needs an outline. */
export const isBare = (ground) => channels(ground)[3] < 0.4;

/** Return the colour of `over` laid on `under`, without alpha; `share` is the opacity of `over`, 0 to 1. */
const mixed = (over, under, share) => [0, 1, 2].map((at) => share * over[at] + (1 - share) * under[at]);

function luminance([red, green, blue]) {
  const linear = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

/** Return the contrast of a colour on a background, 1 to 21; for a transparent one the worst case over black and white. */
export function contrast(color, ground) {
  const text = luminance(channels(color));
  const laid = channels(ground);
  const ratio = (behind) => {
    const under = luminance(mixed(laid, [behind, behind, behind], laid[3]));
    return (Math.max(text, under) + 0.05) / (Math.min(text, under) + 0.05);
  };
  return Math.min(ratio(0), ratio(1));
}

/** Return `color` mixed with the least share of `text` that makes it readable on `ground`, `#rrggbb`; `text` if none does. */
export function readable(color, text, ground) {
  for (let share = 0; share < 1; share += 0.05) {
    const rgb = mixed(channels(text), channels(color), share);
    const pair = (value) => Math.round(255 * value).toString(16).padStart(2, "0");
    const digits = `#${rgb.map(pair).join("")}`;
    if (contrast(digits, ground) >= LEAST_CONTRAST) return digits;
  }
  return text;
}
