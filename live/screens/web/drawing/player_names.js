/**
 * Names whole where there is room, else cut as the sport does: the family name, with an initial
 * where two share it. What people know somebody by is never cut. The service has the same rule for
 * its sentences, in live/games/player_identity.py.
 */

import { element, nameNode, setText } from "./elements.js";

/** Small words that belong to the family name after them. */
const PARTICLES = new Set(
  "al ben bin da dal das de del della den der des di do dos du el ibn la las le los san st ten ter van vom von y zu".split(" "),
);
/** What follows a family name and is none. */
const SUFFIX = /^(jr|sr|ii|iii|iv)\.?$/iu;
/** Patronymics stand last in lists that put the family name first. */
const PATRONYMIC = /(ович|евич|ич|овна|евна|ична|ovich|evich|ovna|evna)$/iu;
/** Letters that join, or words that are one letter each: they have no initial. */
const NO_INITIAL = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Devanagari}]/u;

/** What stands in brackets is another way to write the name, or no name. Sources cut names short. */
const BRACKETED = /[(\uff08][^()\uff08\uff09]*(?:[)\uff09]|$)/gu;
const BRACKETS = /[()\uff08\uff09]/gu;
/** Letters that are written from right to left. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

const spaced = (name) => name.replace(/\s+/gu, " ").trim();

/** A name for a sentence: what is written from right to left is kept from moving its neighbours. */
export const isolated = (name) => (RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name);

/** `{family, given}` of a name as lists write it. */
function partsOf(name) {
  const bare = spaced(name.replace(BRACKETED, " "));
  if (bare !== name) return partsOf(bare || spaced(name.replace(BRACKETS, " ")));
  const comma = name.indexOf(",");
  if (comma > 0) return { family: name.slice(0, comma).trim(), given: name.slice(comma + 1).trim(), comma: true };
  const words = name.split(" ");
  const last = words.at(-1);
  if (words.length === 1) return { family: name, given: "", comma: false };
  // In `Gukesh D` the first word is what people know; so is it before a patronymic.
  if (/^\p{L}\.?$/u.test(last)) return { family: words.slice(0, -1).join(" "), given: last, after: true };
  if (words.length === 3 && PATRONYMIC.test(last)) return { family: words[0], given: words.slice(1).join(" "), after: true };
  let at = words.length - 1;
  if (SUFFIX.test(last) && at > 1) at -= 1;
  while (at > 1 && PARTICLES.has(words[at - 1].toLowerCase())) at -= 1;
  return { family: words.slice(at).join(" "), given: words.slice(0, at).join(" "), comma: false };
}

/** The first letters of a given name, as few as `count`; null where letters cannot stand alone. */
function initial(given, count) {
  const letters = [...given].slice(0, count).join("");
  if (!letters || NO_INITIAL.test(given)) return null;
  return letters.length === given.length ? letters : `${letters}.`;
}

function joined({ family, given, comma, after }, short) {
  const first = short ?? given;
  if (!first) return family;
  if (comma) return `${family}, ${first}`;
  return after ? `${family} ${first}` : `${first} ${family}`;
}

/**
 * The ways to write a name, longest first: whole, with an initial, the family name. None can be
 * taken for another player of `others`; a name that two share stays whole.
 */
export function nameForms(name, others = []) {
  const whole = spaced(name) || "?";
  const parts = partsOf(whole);
  const forms = [whole];
  if (!parts.family) return forms;
  const rivals = others
    .map(spaced)
    .filter((other) => other !== whole)
    .map((other) => ({ whole: other, ...partsOf(other) }))
    .filter(({ family }) => family.toLowerCase() === parts.family.toLowerCase());
  const letters = [...parts.given].length;
  for (let count = 1; count < letters; count += 1) {
    const short = initial(parts.given, count);
    if (short === null) break;
    const shared = rivals.some((rival) => rival.given.toLowerCase().startsWith(short.replace(/\.$/u, "").toLowerCase()));
    if (shared) continue;
    const form = joined(parts, short);
    if (form.length < whole.length) forms.push(form);
    break;
  }
  if (rivals.length === 0 && parts.family !== whole) forms.push(parts.family);
  return forms;
}

/** The family name, or as much more as tells the player from these others. Pure. */
export const shortName = (name, others = []) => nameForms(name, others).at(-1);

/** The longest form of at most `most` letters, else the shortest there is. Pure. */
export function nameWithin(name, others, most) {
  const forms = nameForms(name, others);
  return forms.find((form) => [...form].length <= most) ?? forms.at(-1);
}

/**
 * A name on the page, as long as its room allows; one that has no shorter form gets smaller letters, and breaks before they
 * are smaller than the part of their size that styles name (`--smallest`). It is measured when name or room change.
 */
export class Name {
  constructor() {
    this._key = null;
    this._line = null;
    this._text = element("span", "family");
    this.node = nameNode("name");
    this.node.append(this._text);
  }

  /** `room` is what else lies in the line: whatever is not the same asks for a new measure. */
  draw(name, others = [], room = "") {
    const key = `${name}\n${room}\n${others.length}`;
    if (key === this._key) return;
    this._key = key;
    this.node.title = name;
    this._forms = nameForms(name, others);
    setText(this._text, this._forms[0]);
    if (this._line === null) {
      this._line = this.node.closest(".who") ?? this.node.parentNode;
      lines.set(this._line, [...(lines.get(this._line) ?? []), this]);
      watched?.observe(this._line);
    }
    this.measure();
  }

  /** Soon, with all others that are. */
  measure() {
    this._width = null;
    if (waiting.size === 0) queueMicrotask(measureAll);
    waiting.add(this);
  }

  /** Whether its line has another width than when it was measured. */
  hasOtherRoom() {
    const width = this._line.clientWidth;
    const other = width !== this._width;
    this._width = width;
    return other;
  }

  /** Write the form of this number; false where there is none. */
  write(form) {
    if (form >= this._forms.length) return false;
    this._text.style.fontSize = "";
    this._text.classList.remove("broken");
    setText(this._text, this._forms[form]);
    return true;
  }

  fits() {
    const { clientWidth } = this.node;
    return clientWidth === 0 || this._text.offsetWidth <= clientWidth + 0.5;
  }

  /** How much smaller its letters had to be, and may be. A little less: they do not shrink by parts of a pixel. */
  scales() {
    const smallest = Number(getComputedStyle(this.node).getPropertyValue("--smallest"));
    return [(0.97 * this.node.clientWidth) / this._text.offsetWidth, smallest];
  }

  /** Smaller letters, in several lines where they became too small. */
  shrink(scale, smallest) {
    this._text.style.fontSize = `${Math.max(smallest, scale).toFixed(3)}em`;
    this._text.classList.toggle("broken", scale < smallest);
  }
}

const waiting = new Set();
/** The lines that names lie in, for when those get another width. */
const lines = new Map();
const watched =
  typeof ResizeObserver === "undefined"
    ? null
    : new ResizeObserver((entries) => {
        for (const { target } of entries) for (const name of lines.get(target) ?? []) waiting.add(name);
        // What was removed has another size, too; watched on, it would be kept for ever.
        for (const line of lines.keys()) if (!line.isConnected) letGo(line);
        // Not now: what is measured while sizes are observed would be observed again.
        requestAnimationFrame(measureAll);
      });

function letGo(line) {
  lines.delete(line);
  watched.unobserve(line);
}

/** All names drawn at a time are measured together: a layout for each form, not one for each name. */
function measureAll() {
  const all = [...waiting];
  waiting.clear();
  let open = all.filter((name) => name.hasOtherRoom());
  for (let form = 0; open.length > 0; form += 1) {
    const written = open.filter((name) => name.write(form));
    const last = open.filter((name) => !written.includes(name)).map((name) => [name, name.scales()]);
    for (const [name, scales] of last) name.shrink(...scales);
    open = written.filter((name) => !name.fits());
  }
}
