/** Elements of the page. Text from feeds is inserted as text, never as markup. */

/** Make an element, as in `element("p", "card-note", "text")`; further arguments are its children. */
export function element(tag, className = "", text = "", ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text) node.textContent = text;
  node.append(...children);
  return node;
}

/** Make a button; `label` is its name for screen readers if its text alone is not clear. */
export function button(text, action, { label = "", className = "plain" } = {}) {
  const node = element("button", className, text);
  node.type = "button";
  if (label) named(node, label).title = label;
  node.addEventListener("click", action);
  return node;
}

/** Make a link. */
export const anchor = (className, text, href) => Object.assign(element("a", className, text), { href });

/** Give a node a name for screen readers, and a role if its tag does not imply one. */
export function named(node, label, role = "") {
  node.setAttribute("aria-label", label);
  if (role) node.setAttribute("role", role);
  return node;
}

/** Hide a picture from screen readers, since the text beside it says the same. */
export const silent = (node) => {
  node.setAttribute("aria-hidden", "true");
  return node;
};

/** Make an SVG element. */
export function svgElement(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/** Add or remove children of a node until it has `count`; return them. */
export function childrenOf(parent, count, make) {
  while (parent.children.length > count) parent.lastChild.remove();
  while (parent.children.length < count) parent.append(make());
  return parent.children;
}

/** Make a header cell of a column or, with `scope` "row", of a row. */
export const headCell = (text, scope = "col", ...children) => Object.assign(element("th", "", text, ...children), { scope });

/** Make a table with a caption for screen readers; `heads` are texts or cells. */
export function tableOf(caption, heads, body, className = "plain-table") {
  const cells = heads.map((head) => (typeof head === "string" ? headCell(head) : head));
  const head = element("thead", "", "", element("tr", "", "", ...cells));
  return element("table", className, "", element("caption", "hidden", caption), head, body);
}

/** Make a search field; `typed` is called with its text after each change. */
export function searchField(placeholder, typed) {
  const input = named(Object.assign(element("input"), { type: "search", placeholder }), placeholder);
  input.addEventListener("input", () => typed(input.value));
  return input;
}

/** Make a box for wide content, which scrolls by keyboard too. */
export function scrollBox(...children) {
  const box = element("div", "scroll", "", ...children);
  box.tabIndex = 0;
  return box;
}

/** Set a node's text only if it differs, so that screen readers and selections are not disturbed. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Set the text of a line and hide the line if the text is empty. */
export function setLine(node, text) {
  setText(node, text);
  node.hidden = !text;
}

/** Set a text, with a node for each part between its `·`, so that styles can hide a part that does not fit. */
export function setParts(node, text) {
  if (node.textContent === text) return;
  node.replaceChildren(...text.split(/(?= \u00b7 )/u).map((part) => element("span", "", part)));
}

/** Make a node for a name, isolated so that right-to-left names do not reorder the text around them. */
export const nameNode = (className) => element("bdi", className);

/** Texts stored in this browser, by name. If the browser stores nothing, reading returns null and writing returns false. */
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

/** A list of items on the page; each item has a node of its own. */
export class Children {
  /** `make(item)` returns a view: `{node, …}`, with a method `destroy()` if it has something to release. */
  constructor(parent, make) {
    this._parent = parent;
    this._make = make;
    this._viewsById = new Map();
  }

  /** Show exactly these items in this order, identified by `id`; return their views. */
  show(items) {
    const ids = new Set(items.map((item) => item.id));
    for (const [id, view] of this._viewsById) {
      if (ids.has(id)) continue;
      view.destroy?.();
      view.node.remove();
      this._viewsById.delete(id);
    }
    return items.map((item, at) => {
      let view = this._viewsById.get(item.id);
      if (view === undefined) {
        view = this._make(item);
        this._viewsById.set(item.id, view);
      }
      const current = this._parent.children[at] ?? null;
      // Moving a node restarts its animations, so only nodes in a wrong place are moved.
      if (current !== view.node) this._parent.insertBefore(view.node, current);
      return view;
    });
  }

  get views() {
    return [...this._viewsById.values()];
  }

  /** Return the view of an item, or undefined. */
  of(id) {
    return this._viewsById.get(id);
  }
}

/** A long list that is shown page by page, changing with time. */
export class Pager {
  constructor(pageMs) {
    this._pageMs = pageMs;
    this._turnedAt = null;
    this._page = 0;
  }

  /** Return the items of the current page, `{items, page, pages}`; all of them if they fit on one. */
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
