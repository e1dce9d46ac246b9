/** Building the page. Everything a feed says goes in as text, never as markup. */

/** `element("p", "card-note", "text")`, with children after that. */
export function element(tag, className = "", text = "", ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text) node.textContent = text;
  node.append(...children);
  return node;
}

/** A button that acts; `label` where its text does not say enough. */
export function button(text, action, { label = "", className = "plain" } = {}) {
  const node = element("button", className, text);
  node.type = "button";
  if (label) named(node, label).title = label;
  node.addEventListener("click", action);
  return node;
}

/** A part of the page with what screen readers call it, and its role where the tag does not say it. */
export function named(node, label, role = "") {
  node.setAttribute("aria-label", label);
  if (role) node.setAttribute("role", role);
  return node;
}

/** A cell that heads a column or, with `scope` "row", a row. */
export const headCell = (text, scope = "col", ...children) => Object.assign(element("th", "", text, ...children), { scope });

/** A table under a caption for screen readers; `heads` are texts or cells. */
export function tableOf(caption, heads, body, className = "plain-table") {
  const cells = heads.map((head) => (typeof head === "string" ? headCell(head) : head));
  const head = element("thead", "", "", element("tr", "", "", ...cells));
  return element("table", className, "", element("caption", "hidden", caption), head, body);
}

/** A field to search with, `label` for screen readers; `typed` is given what stands in it. */
export function searchField(label, placeholder, typed) {
  const input = named(Object.assign(element("input"), { type: "search", placeholder }), label);
  input.addEventListener("input", () => typed(input.value));
  return input;
}

/** What may be wider than the screen, in a box that scrolls by keys too. */
export function scrollBox(...children) {
  const box = element("div", "scroll", "", ...children);
  box.tabIndex = 0;
  return box;
}

/** Sets text only where it differs, so that screen readers and selections are left in peace. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Loads styles that most pages do without; done once they are there, or cannot be had. */
export function loadStyles(href) {
  const link = Object.assign(element("link"), { rel: "stylesheet", href });
  document.head.append(link);
  return new Promise((done) => (link.onload = link.onerror = done));
}

/** Text of several parts with `·` between them, so that one that has no room can be left out whole. */
export function setParts(node, text) {
  if (node.textContent === text) return;
  node.replaceChildren(...text.split(/(?= \u00b7 )/u).map((part) => element("span", "", part)));
}

/** A name: kept apart from its surroundings, so that right-to-left names do not move them. */
export function nameNode(className) {
  return element("bdi", className);
}

/**
 * What this browser keeps for the page by a name; where it keeps nothing, reading gives null and
 * writing answers false.
 */
export const kept = {
  read(name) {
    try {
      return localStorage.getItem(name);
    } catch {
      return null;
    }
  },
  write(name, text) {
    try {
      localStorage.setItem(name, text);
      return true;
    } catch {
      return false;
    }
  },
};
