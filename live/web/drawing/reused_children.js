/** Brings a list of things, each with a node of its own, onto the page; a long one page by page. */

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
