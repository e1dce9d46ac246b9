/**
 * What an overlay's address can say: one table, read by the overlay and by the builder. Pure.
 *
 * An option reads its text to a value, or to null where the text makes no sense; `unless` is what
 * holds where the address says nothing.
 */

import { CHOICES } from "../client/figures.js";
import { LANGUAGES } from "./language/words.js";

export const LAYOUTS = ["board", "bar", "curves", "grid", "ticker", "standings", "player", "moment", "duel", "table"];
const THEMES = ["dark", "light", "chroma", "contrast"];
/** What a win, a draw and a loss are worth. */
export const SCORINGS = { "1-half-0": [1, 0.5, 0], "3-1-0": [3, 1, 0] };
const TIES = ["direct", "wins", "buchholz", "sonneborn", "black"];
/** What viewers see while the service or its source is lost. */
const LOSSES = ["freeze", "notice", "hide"];
const FOLLOWS = ["top", "closest", "latest", "story"];

/** What the board can show besides. */
const EXTRAS = ["arrow", "coordinates", "opening", "material"];

/** What can be left out. An interval is part of its rating and cannot be left out alone. */
export const FIGURES = ["place", "title", "flag", "elo", "clock", "score", "move", "rating", "curves", "diagram"];

const YES = ["1", "true", "yes"];
const NO = ["0", "false", "no"];
const LONGEST_TEXT = 200;
const MOST_VALUES = 64;

const choice = (values, unless) => ({
  kind: "choice",
  values,
  unless,
  read: (text) => (values.includes(text) ? text : null),
});

const number = (least, most, unless, step = 1) => ({
  kind: "number",
  least,
  most,
  step,
  unless,
  read(text) {
    const value = Number(text);
    return text.trim() !== "" && value >= least && value <= most ? value : null;
  },
});

const flag = (unless) => ({
  kind: "flag",
  unless,
  read: (text) => (YES.includes(text) ? true : NO.includes(text) ? false : null),
});

/** A colour as `rgb`, `rgba`, `rrggbb` or `rrggbbaa`, with or without `#`; kept without. */
const colour = () => ({
  kind: "colour",
  unless: null,
  read(text) {
    const digits = text.replace(/^#/, "").toLowerCase();
    return /^([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/.test(digits) ? digits : null;
  },
});

/** Names that may be given several times. Names hold commas, so there is no list of them. */
const names = () => ({
  kind: "names",
  unless: [],
  read: (text) => (text.trim() && text.length <= LONGEST_TEXT ? text : null),
});

const numbers = () => ({
  kind: "numbers",
  unless: [],
  read(text) {
    const values = text.split(",").map(Number);
    return values.every((value) => Number.isInteger(value) && value > 0) ? values : null;
  },
});

const parts = (values) => ({
  kind: "parts",
  values,
  unless: [],
  read(text) {
    const given = text.split(",").filter(Boolean);
    return given.every((each) => values.includes(each)) ? given : null;
  },
});

export const OPTIONS = {
  layout: choice(LAYOUTS, "board"),
  game: names(),
  event: names(),
  player: names(),
  board: numbers(),
  follow: choice(FOLLOWS, null),
  stay: number(5, 600, 20),
  order: { ...choice(["board", "perceived"], "board"), gone: ["percentile"] },
  ply: number(0, 2000, null),
  theme: choice(THEMES, "dark"),
  text: colour(),
  ground: colour(),
  white: colour(),
  black: colour(),
  key: colour(),
  font: {
    kind: "font",
    unless: null,
    // It ends up in a style, so it can be nothing but a name.
    read: (text) => (/^[\p{L}\p{N}][\p{L}\p{N} _-]{0,59}$/u.test(text) ? text : null),
  },
  size: number(0.25, 4, 1, 0.05),
  hide: { ...parts(FIGURES), gone: ["second"] },
  flags: choice(["code", "emoji"], "code"),
  rating: { ...choice(CHOICES, null), gone: ["auto", "level", "percentile", "alone", "both", "calibrated"] },
  provisional: flag(true),
  delay: number(0, 3600, 0),
  lang: choice(Object.keys(LANGUAGES), "en"),
  swing: number(0, 8, 2, 0.5),
  cooldown: number(0, 600, 30),
  boards: number(1, 64, 8),
  rows: number(1, 64, 10),
  page: number(2, 600, 12),
  at: choice(["bottom", "top"], "bottom"),
  motion: flag(true),
  lost: choice(LOSSES, "freeze"),
  human: flag(false),
  show: parts(EXTRAS),
  hold: number(3, 600, 15),
  sample: choice(["swing", "moment"], null),
  scoring: choice(Object.keys(SCORINGS), "1-half-0"),
  ties: parts(TIES),
};

/**
 * The options of a query string, `{options, problems, gone}`: what makes no sense is left at its
 * default, and `problems` says so, for people. What an earlier version knew is left at its default
 * without a word on air; `gone` names it for the builder. Parameters of others (OBS, tokens) are
 * left alone.
 */
export function readOptions(query) {
  const given = new URLSearchParams(query);
  const options = {};
  const problems = [];
  const gone = [];
  for (const [name, option] of Object.entries(OPTIONS)) {
    const many = Array.isArray(option.unless);
    const texts = given.getAll(name).slice(0, MOST_VALUES);
    const values = [];
    for (const text of many ? texts : texts.slice(-1)) {
      const parts = text.split(",");
      const left = parts.filter((part) => !option.gone?.includes(part));
      if (left.length < parts.length) gone.push(`${name}=${text.slice(0, 40)}`);
      if (left.length === 0) continue;
      const value = option.read(left.join(","));
      if (value === null) problems.push(`${name}=${text.slice(0, 40)}`);
      else values.push(value);
    }
    options[name] = many ? values.flat() : (values[0] ?? option.unless);
  }
  return { options, problems, gone };
}

/** The shortest query string that says these options, without `?`. */
export function writeOptions(options) {
  const query = new URLSearchParams();
  for (const [name, { kind, unless }] of Object.entries(OPTIONS)) {
    const value = options[name];
    if (value === undefined || value === null || value === unless) continue;
    if (kind === "names") for (const each of value) query.append(name, each);
    else if (kind === "numbers" || kind === "parts") {
      if (value.length > 0) query.set(name, value.join(","));
    } else query.set(name, kind === "flag" ? Number(value) : value);
  }
  return query.toString().replaceAll("%2C", ",");
}
