/** Contrast as WCAG 2 counts it, and colours that can be read on a ground. Colours are hexadecimal digits. Pure. */

/** Text under this contrast is hard to read. */
export const LEAST_CONTRAST = 4.5;

/** `[red, green, blue, alpha]` of `rgb`, `rgba`, `rrggbb` or `rrggbbaa`, with or without `#`; each from 0 to 1. */
function channels(color) {
  const digits = color.replace("#", "");
  const long = digits.length > 4 ? digits : digits.replace(/./g, "$&$&");
  return long.padEnd(8, "f").match(/../g).map((pair) => parseInt(pair, 16) / 255);
}

/** Whether so much light comes through a ground that text on it has to have an outline. */
export const isBare = (ground) => channels(ground)[3] < 0.4;

/** So much of one colour over another, without alpha. */
const mixed = (over, under, share) => [0, 1, 2].map((at) => share * over[at] + (1 - share) * under[at]);

function luminance([red, green, blue]) {
  const linear = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

/** From 1 to 21; over the worse of black and white where light comes through the ground. */
export function contrast(color, ground) {
  const text = luminance(channels(color));
  const laid = channels(ground);
  const ratio = (behind) => {
    const under = luminance(mixed(laid, [behind, behind, behind], laid[3]));
    return (Math.max(text, under) + 0.05) / (Math.min(text, under) + 0.05);
  };
  return Math.min(ratio(0), ratio(1));
}

/** A colour with as much of the text's as makes it readable on the ground: `#rrggbb`, the text's own where nothing does. */
export function readable(color, text, ground) {
  for (let share = 0; share < 1; share += 0.05) {
    const found = mixed(channels(text), channels(color), share);
    const pair = (value) => Math.round(255 * value).toString(16).padStart(2, "0");
    const digits = `#${found.map(pair).join("")}`;
    if (contrast(digits, ground) >= LEAST_CONTRAST) return digits;
  }
  return text;
}
