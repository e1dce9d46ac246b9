/**
 * Overlays by a name, kept in this browser: the query strings that their addresses have. A link of
 * the builder carries a preset to another browser, with its name as `preset`.
 */

const STORED = "live-rate-presets";
const MOST = 60;
const LONGEST_NAME = 60;

/** A name as it is kept; empty where there is none. */
export const presetName = (text) => (text ?? "").replace(/\s+/gu, " ").trim().slice(0, LONGEST_NAME);

export class Presets {
  /** `storage` keeps text by name, as `kept` of drawing/elements.js. */
  constructor(storage) {
    this._storage = storage;
    this._queries = new Map(this._read());
  }

  get names() {
    return [...this._queries.keys()].sort((a, b) => a.localeCompare(b));
  }

  /** The query string of a preset; null where none has this name. */
  query(name) {
    return this._queries.get(name) ?? null;
  }

  /** Keeps a preset, also in place of one of the same name; answers whether the browser did. */
  keep(name, query) {
    if (!name || (!this._queries.has(name) && this._queries.size >= MOST)) return false;
    this._queries.set(name, query);
    return this._write();
  }

  drop(name) {
    this._queries.delete(name);
    return this._write();
  }

  _write() {
    return this._storage.write(STORED, JSON.stringify([...this._queries]));
  }

  _read() {
    try {
      const held = JSON.parse(this._storage.read(STORED) ?? "[]");
      const isPreset = (each) => Array.isArray(each) && each.length === 2 && each.every((text) => typeof text === "string");
      return Array.isArray(held) ? held.filter(isPreset).slice(0, MOST) : [];
    } catch {
      return [];
    }
  }
}

/** The choices of a link, and what it calls them: `{name, query}`; an empty name where it says none. */
export function presetOf(search) {
  const said = new URLSearchParams(search);
  const name = presetName(said.get("preset"));
  for (const other of ["preset", "token"]) said.delete(other);
  return { name, query: said.toString() };
}
