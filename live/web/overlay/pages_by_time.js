/** Shows a long list page by page. Pure: the time comes in. */

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
