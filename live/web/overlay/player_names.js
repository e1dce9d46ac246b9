/** Names that give way where there is no room for them: what people know somebody by goes last. */

import { element, nameNode } from "../drawing/elements.js";

/**
 * A name in reading order as `{parts, kept}`; `kept` is the part that stays longest.
 *
 * `Carlsen, Magnus` is known by its comma; what follows goes word by word, the initial last. Without
 * a comma the last word is taken for the family name, as lists of players write those, unless it is
 * an initial: in `Gukesh D` the first word is what people know.
 */
export function partsOf(name) {
  const comma = name.indexOf(",");
  if (comma > 0) return { parts: [name.slice(0, comma), ...given(name.slice(comma))], kept: 0 };
  const at = name.lastIndexOf(" ");
  if (at <= 0) return { parts: [name], kept: 0 };
  if (/^ \p{L}\.?$/u.test(name.slice(at))) return { parts: [name.slice(0, at), name.slice(at)], kept: 0 };
  return { parts: [name.slice(0, at), name.slice(at)], kept: 1 };
}

/** `, Ian Maria` as `, I`, `an`, ` Maria`. Only capitals stand alone: other letters join. */
function given(text) {
  const [initial] = /^, *\p{Lu}/u.exec(text) ?? [""];
  return [initial, ...text.slice(initial.length).split(/(?<=[^ ,])(?= )/)].filter(Boolean);
}

/** A name on the page; the style sheet lets its parts give way. */
export class Name {
  constructor() {
    this._text = null;
    this.node = nameNode("name");
  }

  draw(name) {
    if (name === this._text) return;
    this._text = name;
    const { parts, kept } = partsOf(name);
    this.node.classList.toggle("given-first", kept > 0);
    this.node.replaceChildren(...parts.map((text, at) => element("span", at === kept ? "family" : "", text)));
  }
}
