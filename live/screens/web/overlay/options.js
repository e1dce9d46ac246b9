/**
 * The table of options in an overlay's address, for the overlay and the builder. Pure.
 *
 * `read` converts an option's text to a value, or to null if the text is not valid; `unless` is the default. The other
 * fields are for the builder: `label`, `names` of the values, `help` that explains the option, and `only`, the layouts
 * that have the option.
 */

import { LANGUAGES } from "./language/words.js";

const LAYOUTS = {
  board: "Board with everything",
  bar: "Lower third",
  curves: "Curves",
  grid: "Grid of boards",
  ticker: "Ticker",
  standings: "Players by strength of play for their Elo",
  player: "Lower third of a player",
  moment: "Moment card",
  duel: "Head to head",
  table: "Points table",
};
const YES = ["1", "true", "yes"];
const NO = ["0", "false", "no"];
const LONGEST_TEXT = 200;
const LONGEST_ADDRESS = 500;
const MOST_VALUES = 64;

const choice = (values, unless) => ({
  kind: "choice",
  values,
  unless,
  read: (text) => (values.includes(text) ? text : null),
});

const number = (least, most, unless) => ({
  kind: "number",
  least,
  most,
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

/** Make an option for a colour: `rgb`, `rgba`, `rrggbb` or `rrggbbaa`, with or without `#`; stored without `#`. */
const colour = () => ({
  kind: "colour",
  unless: null,
  read(text) {
    const digits = text.replace(/^#/, "").toLowerCase();
    return /^([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/.test(digits) ? digits : null;
  },
});

/** Make an option for the address of an image, by HTTPS or from the origin of the page. */
const image = () => ({
  kind: "image",
  unless: null,
  read(text) {
    const pageAddress = globalThis.location?.href ?? "https://localhost/";
    if (!text.trim() || text.length > LONGEST_ADDRESS || !URL.canParse(text, pageAddress)) return null;
    const { protocol, origin } = new URL(text, pageAddress);
    return protocol === "https:" || origin === new URL(pageAddress).origin ? text : null;
  },
});

/** Make an option that the address repeats for each name, since names contain commas. */
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
    const chosenParts = text.split(",").filter(Boolean);
    return chosenParts.every((part) => values.includes(part)) ? chosenParts : null;
  },
});

export const OPTIONS = {
  layout: { ...choice(Object.keys(LAYOUTS), "board"), label: "Layout", names: LAYOUTS },
  boards: { ...number(1, 64, 8), label: "Boards at once", only: ["grid"], help: "More than that come page by page." },
  rows: { ...number(1, 64, 10), label: "Rows at once", only: ["standings", "table"] },
  page: { ...number(2, 600, 12), label: "Seconds a page", only: ["grid", "ticker", "standings", "table"] },
  at: { ...choice(["bottom", "top"], "bottom"), label: "Edge", only: ["bar", "ticker", "player", "moment"] },
  lang: { ...choice(Object.keys(LANGUAGES), "en"), label: "Language", names: LANGUAGES },
  follow: {
    ...choice(["top", "closest", "latest", "story"], null),
    label: "Follow",
    none: "as chosen, else top board",
    names: {
      top: "the top board still playing",
      closest: "the closest game",
      latest: "the latest move",
      story: "what is worth telling",
    },
  },
  board: { ...numbers(), label: "Board number", help: "Several with commas. Stays from round to round." },
  player: { ...names(), label: "Player", list: "players", help: "Full name or FIDE id." },
  event: { ...names(), label: "Event", list: "events" },
  game: { ...names(), label: "Game id", list: "games", help: "This one game and no other." },
  ply: { ...number(0, 2000, null), label: "After ply", help: "As the game stood then; nothing: as it stands." },
  rating: {
    ...choice(["perceived", "algorithm4"], "perceived"),
    label: "Figure",
    names: { perceived: "playing like", algorithm4: "Algorithm 4 (Ferreira)" },
  },
  provisional: { ...flag(true), label: "Show provisional scores", help: "Marked with ~ while the engine searches." },
  hide: {
    // An interval cannot be hidden without its rating.
    ...parts(["place", "title", "flag", "elo", "clock", "score", "move", "rating", "curves", "diagram"]),
    label: "Leave out",
    names: {
      place: "round and board", title: "titles", flag: "federations", elo: "Elo", clock: "clocks",
      score: "scores", move: "last move", rating: "figures", curves: "curves", diagram: "board",
    },
  },
  human: {
    ...flag(false),
    label: "What others would play",
    only: ["board"],
    help: "Finds, traps, and how many players of this rating would have played it.",
  },
  show: {
    ...parts(["arrow", "coordinates", "opening", "material"]),
    label: "Show besides",
    only: ["board"],
    names: { arrow: "arrow for a better move", material: "captured material" },
  },
  hold: { ...number(3, 600, 15), label: "Seconds a moment", only: ["moment"] },
  swing: { ...number(0, 8, 2), label: "Show swings of", unit: "pawns", help: "Within \u00b14 pawns; 0 shows none." },
  lost: {
    // What viewers see while the connection or the source is lost.
    ...choice(["freeze", "notice", "hide"], "freeze"),
    label: "While the source is lost",
    names: { freeze: "the last picture", notice: "and its age", hide: "nothing" },
  },
  delay: { ...number(0, 3600, 0), label: "Delay", unit: "s", help: "Holds moves and figures back." },
  theme: {
    ...choice(["dark", "light", "chroma", "contrast"], "dark"),
    label: "Theme",
    names: { chroma: "chroma key", contrast: "high contrast" },
  },
  size: { ...number(0.25, 4, 1), label: "Size", help: "1 fills the source." },
  font: {
    kind: "font",
    unless: null,
    // The value is inserted into a style, so only a plain name is allowed.
    read: (text) => (/^[\p{L}\p{N}][\p{L}\p{N} _-]{0,59}$/u.test(text) ? text : null),
    label: "Font",
    help: "One that is installed where the picture is mixed.",
  },
  text: { ...colour(), label: "Text" },
  ground: { ...colour(), label: "Ground" },
  white: { ...colour(), label: "White\u2019s curve" },
  black: { ...colour(), label: "Black\u2019s curve" },
  key: { ...colour(), label: "Key colour", themes: ["chroma"] },
  logo: { ...image(), label: "Logo", help: "The address of an image: https://\u2026, or one of where this page comes from." },
  sponsor: { ...image(), label: "Sponsor", help: "Another image, on the other side." },
  motion: { ...flag(true), label: "Movement", help: "Whoever wants less motion in the system gets less anyway." },
  sample: choice(["swing", "moment"], null),
};

/** Values of earlier versions that no longer exist, by option; an empty list means that the whole option is gone. */
const GONE = {"hide": ["second"], "rating": ["auto", "level", "percentile", "alone", "both", "calibrated"], "flags": [], "order": [], "stay": [], "cooldown": [], "scoring": [], "ties": []};

/** Groups of options in the builder, each with its first option. */
export const GROUPS = { Layout: "layout", "Which game": "follow", Figures: "rating", Look: "theme" };

/**
 * Return the options in a query string, `{options, problems, gone}`. Invalid values get their defaults, and `problems`
 * lists them for people. Values of earlier versions also get defaults, but only `gone` lists them, for the builder.
 * Other parameters (of OBS, tokens) are ignored.
 */
export function readOptions(query) {
  const parameters = new URLSearchParams(query);
  const options = {};
  const problems = [];
  const gone = [];
  const note = (name, text) => gone.push(`${name}=${text.slice(0, 40)}`);
  for (const [name, values] of Object.entries(GONE)) if (values.length === 0 && parameters.has(name)) note(name, parameters.get(name));
  for (const [name, option] of Object.entries(OPTIONS)) {
    const isList = Array.isArray(option.unless);
    const texts = parameters.getAll(name).slice(0, MOST_VALUES);
    const values = [];
    for (const text of isList ? texts : texts.slice(-1)) {
      const parts = text.split(",");
      const validParts = parts.filter((part) => !GONE[name]?.includes(part));
      if (validParts.length < parts.length) note(name, text);
      if (validParts.length === 0) continue;
      const value = option.read(validParts.join(","));
      if (value === null) problems.push(`${name}=${text.slice(0, 40)}${option.values ? ` (${option.values.join(", ")})` : ""}`);
      else values.push(value);
    }
    options[name] = isList ? values.flat() : (values[0] ?? option.unless);
  }
  return { options, problems, gone };
}

/** Return the shortest query string for these options, without `?`. */
export function writeOptions(options) {
  const query = new URLSearchParams();
  for (const [name, { kind, unless }] of Object.entries(OPTIONS)) {
    const value = options[name];
    if (value === undefined || value === null || value === unless) continue;
    if (kind === "names") for (const text of value) query.append(name, text);
    else if (kind === "numbers" || kind === "parts") {
      if (value.length > 0) query.set(name, value.join(","));
    } else query.set(name, kind === "flag" ? Number(value) : value);
  }
  return query.toString().replaceAll("%2C", ",");
}
