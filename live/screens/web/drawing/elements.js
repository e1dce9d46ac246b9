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

/** A link. */
export const anchor = (className, text, href) => Object.assign(element("a", className, text), { href });

/** A part of the page with what screen readers call it, and its role where the tag does not say it. */
export function named(node, label, role = "") {
  node.setAttribute("aria-label", label);
  if (role) node.setAttribute("role", role);
  return node;
}

/** A picture of what stands beside it in words. */
export const silent = (node) => {
  node.setAttribute("aria-hidden", "true");
  return node;
};

/** An element of a drawing. */
export function svgElement(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/** Makes or removes children of a node, so that there are so many; answers them. */
export function childrenOf(parent, count, make) {
  while (parent.children.length > count) parent.lastChild.remove();
  while (parent.children.length < count) parent.append(make());
  return parent.children;
}

/** A cell that heads a column or, with `scope` "row", a row. */
export const headCell = (text, scope = "col", ...children) => Object.assign(element("th", "", text, ...children), { scope });

/** A table under a caption for screen readers; `heads` are texts or cells. */
export function tableOf(caption, heads, body, className = "plain-table") {
  const cells = heads.map((head) => (typeof head === "string" ? headCell(head) : head));
  const head = element("thead", "", "", element("tr", "", "", ...cells));
  return element("table", className, "", element("caption", "hidden", caption), head, body);
}

/** A field to search with; `typed` is given what stands in it. */
export function searchField(placeholder, typed) {
  const input = named(Object.assign(element("input"), { type: "search", placeholder }), placeholder);
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

/** A line that is there only while it says something. */
export function setLine(node, text) {
  setText(node, text);
  node.hidden = !text;
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

/** Brings a list of things, each with a node of its own, onto the page. */
export class Children {
  /** `make(item)` answers `{node, …}`, and `destroy()` where it holds something. */
  constructor(parent, make) {
    this._parent = parent;
    this._make = make;
    this._held = new Map();
  }

  /** Exactly these items in this order, distinguished by `id`; answers their views. */
  show(items) {
    const wanted = new Set(items.map((item) => item.id));
    for (const [id, view] of this._held) {
      if (wanted.has(id)) continue;
      view.destroy?.();
      view.node.remove();
      this._held.delete(id);
    }
    return items.map((item, at) => {
      let view = this._held.get(item.id);
      if (view === undefined) {
        view = this._make(item);
        this._held.set(item.id, view);
      }
      const there = this._parent.children[at] ?? null;
      // Moving a node restarts what is animated in it, so only those that stand wrong are moved.
      if (there !== view.node) this._parent.insertBefore(view.node, there);
      return view;
    });
  }

  get views() {
    return [...this._held.values()];
  }

  /** The view of an item, or nothing. */
  of(id) {
    return this._held.get(id);
  }
}

/** A long list, page by page. */
export class Pager {
  constructor(pageMs) {
    this._pageMs = pageMs;
    this._turnedAt = null;
    this._page = 0;
  }

  /** The items of the page that is up, `{items, page, pages}`; all of them where they fit. */
  page(items, size, now) {
    const pages = Math.max(1, Math.ceil(items.length / size));
    this._turnedAt ??= now;
    if (now - this._turnedAt >= this._pageMs) {
      this._turnedAt = now;
      this._page += 1;
    }
    this._page %= pages;
    const from = this._page * size;
    return { items: items.slice(from, from + size), page: this._page, pages };
  }
}
