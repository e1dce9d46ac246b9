/**
 * Players' names, shortened where they do not fit, as is usual in chess: to the family name, with an initial if two
 * players share it. The family name is never cut. live/games/player_identity.py has the same rule for the service's
 * sentences.
 */

import { element, nameNode, setText } from "./elements.js";

/** Particles that belong to the family name after them. */
const PARTICLES = new Set(
  "al ben bin da dal das de del della den der des di do dos du el ibn la las le los san st ten ter van vom von y zu".split(" "),
);
/** Suffixes after a family name that are not part of it. */
const SUFFIX = /^(jr|sr|ii|iii|iv)\.?$/iu;
/** Endings of patronymics, which come last in lists that put the family name first. */
const PATRONYMIC = /(ович|евич|ич|овна|евна|ична|ovich|evich|ovna|evna)$/iu;
/** Scripts without initials, since their letters join or one letter can be a whole word. */
const NO_INITIAL = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Devanagari}]/u;

/** Text in brackets, such as a second spelling. The closing bracket can be missing, since sources cut long names. */
const BRACKETED = /[(\uff08][^()\uff08\uff09]*(?:[)\uff09]|$)/gu;
const BRACKETS = /[()\uff08\uff09]/gu;
/** Letters of right-to-left scripts. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

const spaced = (name) => name.replace(/\s+/gu, " ").trim();

/** Return a name for use in a sentence; a right-to-left name is isolated so that it does not reorder the words around it. */
export const isolated = (name) => (RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name);

/** Return the parts of a name, `{family, given}`, with `comma` as in `Carlsen, Magnus` or `after` as in `Gukesh D`. */
function partsOf(name) {
  const bare = spaced(name.replace(BRACKETED, " "));
  if (bare !== name) return partsOf(bare || spaced(name.replace(BRACKETS, " ")));
  const comma = name.indexOf(",");
  if (comma > 0) return { family: name.slice(0, comma).trim(), given: name.slice(comma + 1).trim(), comma: true };
  const words = name.split(" ");
  const last = words.at(-1);
  if (words.length === 1) return { family: name, given: "", comma: false };
  // In `Gukesh D`, the first word is the name that people use. The same holds for three words with a patronymic at the
  // end.
  if (/^\p{L}\.?$/u.test(last)) return { family: words.slice(0, -1).join(" "), given: last, after: true };
  if (words.length === 3 && PATRONYMIC.test(last)) return { family: words[0], given: words.slice(1).join(" "), after: true };
  let at = words.length - 1;
  if (SUFFIX.test(last) && at > 1) at -= 1;
  while (at > 1 && PARTICLES.has(words[at - 1].toLowerCase())) at -= 1;
  return { family: words.slice(at).join(" "), given: words.slice(0, at).join(" "), comma: false };
}

/** Return the first `count` letters of a given name; null for scripts without initials. */
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

/** Return the forms of a name that fit no player in `others`, longest first: whole, with an initial, the family name. */
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

/** Return the shortest form of a name that fits no player in `others`, usually the family name. Pure. */
export const shortName = (name, others = []) => nameForms(name, others).at(-1);

/** Return the longest form of at most `limit` letters; if all are longer, the shortest form. Pure. */
export function nameWithin(name, others, limit) {
  const forms = nameForms(name, others);
  return forms.find((form) => [...form].length <= limit) ?? forms.at(-1);
}

/**
 * A name on the page, in the longest form that fits. If even the shortest form is too long, its letters shrink. At the
 * smallest size that the styles allow (`--smallest`), the name wraps. The forms are measured when the name or the
 * available width changes.
 */
export class Name {
  constructor() {
    this._key = null;
    this._line = null;
    this._text = element("span", "family");
    this.node = nameNode("name");
    this.node.append(this._text);
  }

  /** Draw a name. `room` describes the rest of the line; a change of it causes a new measurement. */
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

  /** Schedule a measurement, together with all other waiting names. */
  measure() {
    this._width = null;
    if (waiting.size === 0) queueMicrotask(measureAll);
    waiting.add(this);
  }

  /** Return whether the width of the line has changed since the last measurement. */
  hasOtherRoom() {
    const width = this._line.clientWidth;
    const hasChanged = width !== this._width;
    this._width = width;
    return hasChanged;
  }

  /** Write the form with this index; return whether there is one. */
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

  /** Return the scale at which the letters fit, less 3 % since they shrink by whole pixels, and the smallest allowed scale. */
  scales() {
    const smallest = Number(getComputedStyle(this.node).getPropertyValue("--smallest"));
    return [(0.97 * this.node.clientWidth) / this._text.offsetWidth, smallest];
  }

  /** Shrink the letters; wrap the name if they would become too small. */
  shrink(scale, smallest) {
    this._text.style.fontSize = `${Math.max(smallest, scale).toFixed(3)}em`;
    this._text.classList.toggle("broken", scale < smallest);
  }
}

const waiting = new Set();
/** For each line of the page, the names in it. They are measured when the line's width changes. */
const lines = new Map();
const watched =
  typeof ResizeObserver === "undefined"
    ? null
    : new ResizeObserver((entries) => {
        for (const { target } of entries) for (const name of lines.get(target) ?? []) waiting.add(name);
        // Stop observing removed lines, which would otherwise stay in memory for ever.
        for (const line of lines.keys()) if (!line.isConnected) letGo(line);
        // Measure later, since a measurement during this callback would trigger the observer again.
        requestAnimationFrame(measureAll);
      });

function letGo(line) {
  lines.delete(line);
  watched.unobserve(line);
}

/** Measure all waiting names together: the page is then laid out once per form and not once per name. */
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
