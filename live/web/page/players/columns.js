/** The figures that a player or one side of a game has, from the catalogue, method by method. Pure. */

import catalogue from "../../client/catalogue.js";
import { bandText, eloText, figureOf, isEarly, percentText, placeText, standings } from "../../client/figures.js";
import { pointsText } from "../../client/event_rounds.js";

const MINUS = "\u2212";
const DASH = "\u2013";

/** A figure as it is shown: `text`, `interval` and, where there is none, `missing` saying why. */
const shown = (text, interval = "", missing = "") => ({ text, interval, missing });
const none = (missing) => shown(DASH, "", missing);

export const signed = (value) => {
  const text = Math.abs(Math.round(value));
  return `${value < 0 && text !== 0 ? MINUS : "+"}${text}`;
};

/** A field of a view, dotted; of a side of a game the methods are the view's own. */
const field = (view, path) => path.split(".").reduce((found, name) => found?.[name], view) ?? null;

/** A column of the catalogue's row. */
function column(row) {
  const { id, value, low, high, kind, digits, unit, missing, meaning } = row;
  const read = (view, path, { rating = null } = {}) => {
    const found = path ? field(view, path) : null;
    if (found === null || !row.above_engine) return found;
    return rating === null ? null : rating + found;
  };
  const write = (number) => {
    if (kind === "share") return `${Math.round(100 * number)}\u00a0%`;
    if (kind === "points") return pointsText(number);
    if (kind !== "number") return String(Math.round(number));
    if (id === "percentile") return `${percentText(number)}\u00a0%`;
    return `${number.toFixed(digits).replace("-", MINUS)}${unit === "%" ? "\u00a0%" : ""}`;
  };
  return {
    id,
    label: unit === "cp" ? `${row.name}, cp` : row.name,
    explain: id,
    least: row.least_is_best,
    meaning,
    value: (view, engine) => read(view, value, engine),
    show(view, engine) {
      const why = view.methods?.missing?.[id] || missing;
      if (id === "perceived" || id === "percentile") return showPerceived(view, id, why);
      const found = read(view, value, engine);
      if (found === null) return none(why);
      const ends = [read(view, low, engine), read(view, high, engine)];
      return shown(write(found), ends.includes(null) ? "" : ends.map(write).join(DASH));
    },
  };
}

function showPerceived(view, id, why) {
  const figure = figureOf(view, "perceived");
  if (figure === null || (id === "percentile" && figure.percentile === null)) return none(why);
  if (id === "percentile") return shown(`${percentText(figure.percentile)}\u00a0%`);
  const band = bandText(figure);
  return { ...shown(eloText(figure), band && `usual ${band}`), early: isEarly(figure) };
}

/** Every column of the table of players, in its order. */
export const PLAYER_COLUMNS = catalogue.figures.map(column);

/** The methods of one side of a game, for the table below the board. */
export const SIDE_COLUMNS = catalogue.figures.filter((row) => row.side).map(column);

/** What is shown to whoever has chosen nothing. */
export const USUAL = catalogue.figures.filter((row) => row.usual).map(({ id }) => id);

/** A column for each plugin that says something of a player, by the plugins' names. */
export function pluginColumns(players) {
  const names = new Set(players.flatMap(({ plugins = [] }) => plugins.map(({ name }) => name)));
  return [...names].sort().map((name) => {
    const of = ({ plugins = [] }) => plugins.find((each) => each.name === name) ?? null;
    return {
      id: `plugin-${name}`,
      label: name,
      value: (player) => of(player)?.value ?? null,
      show: (player) => {
        const found = of(player);
        if (found === null) return none("the plugin gives no figure");
        const { value, low = null, high = null, digits = 0, note = "" } = found;
        const write = (number) => number.toFixed(digits).replace("-", MINUS);
        return shown(write(value), low === null || high === null ? "" : `${write(low)}${DASH}${write(high)}`, note);
      },
    };
  });
}

/** The columns that a place names: known ones in the table's order, or the usual ones. */
export function chosenColumns(text) {
  const ids = text ? text.split(",") : USUAL;
  const chosen = PLAYER_COLUMNS.filter(({ id }) => ids.includes(id));
  return chosen.length ? chosen : PLAYER_COLUMNS.filter(({ id }) => USUAL.includes(id));
}

/**
 * Players as a place wants them, `[{player, place}]`: by the figure that leads or by a column, best
 * first, those without it last. `place` is text: `3`, `3=` for a tie, empty where too little is known.
 */
export function rankedPlayers(players, sort, down, { choice = "perceived", engineRating = null } = {}) {
  const rows = orderedBy(players, sort, choice, engineRating);
  if (!down) return rows;
  return [...rows.filter(({ place }) => place).reverse(), ...rows.filter(({ place }) => !place)];
}

function orderedBy(players, sort, choice, engineRating) {
  const by = { perceived: "perceived", algorithm4: "algorithm4", points: "points" }[sort || choice];
  if (by) return standings(players, { by, engineRating }).map((each) => ({ player: each.player, place: placeText(each) }));
  const byName = (a, b) => a.name.localeCompare(b.name) || (a.id < b.id ? -1 : 1);
  const wanted = [...PLAYER_COLUMNS, ...pluginColumns(players)].find((each) => each.id === sort);
  if (!wanted) return [...players].sort(byName).map((player, at) => ({ player, place: String(at + 1) }));
  const engine = { rating: engineRating };
  const sign = wanted.least ? 1 : -1;
  const value = (player) => wanted.value(player, engine);
  const known = players.filter((player) => value(player) !== null);
  known.sort((a, b) => (value(a) === value(b) ? byName(a, b) : sign * (value(a) < value(b) ? -1 : 1)));
  // What reads the same is a tie.
  const texts = known.map((player) => wanted.show(player, engine).text);
  const placed = known.map((player, at) => {
    const place = texts.indexOf(texts[at]) + 1;
    return { player, place: `${place}${texts.lastIndexOf(texts[at]) + 1 > place ? "=" : ""}` };
  });
  const unknown = players.filter((player) => value(player) === null).sort(byName);
  return [...placed, ...unknown.map((player) => ({ player, place: "" }))];
}
