/** The figures that a player or one side of a game has, method by method. Pure. */

import { figureOf, isEarly, placeText, standings } from "../../client/leading_figure.js";
import { pointsText } from "../../client/team_matches.js";
import { ratingFigure } from "../../drawing/number_format.js";
import { written } from "../score_words.js";

const MINUS = "\u2212";
const DASH = "\u2013";

/** A figure as it is shown: `text`, `interval` and, where there is none, `missing` saying why. */
const figure = (text, interval = "", missing = "") => ({ text, interval, missing });
const none = (missing = "") => figure(DASH, "", missing);

export const signed = (value) => {
  const text = Math.abs(Math.round(value));
  return `${value < 0 && text !== 0 ? MINUS : "+"}${text}`;
};

const oneDigit = (value) => (value === null ? DASH : value.toFixed(1).replace("-", MINUS));
const percent = (share) => `${Math.round(100 * share)} %`;

/** `p(30 cp)` and the like: a share of moves with its interval. */
function share(name) {
  return {
    value: ({ methods }) => methods[name].share,
    show: ({ methods }) => {
      const { share: found, low, high, moves } = methods[name];
      if (found === null) return none(methods.missing[name] ?? "not known yet");
      return figure(percent(found), `${percent(low).replace(" %", "")}\u2013${percent(high)}`, `${moves} moves`);
    },
  };
}

/** A plain figure that is null until everything is scored; until then as far as it is known. */
function whole(name, digits, unit = "") {
  const soFar = `${name}_so_far`;
  return {
    value: ({ methods }) => methods[name] ?? methods[soFar],
    show: ({ methods }) => {
      const [done, part] = [methods[name], methods[soFar]];
      if (done !== null) return figure(done.toFixed(digits) + unit);
      const why = methods.missing[name] ?? "not known yet";
      return part === null ? none(why) : { ...figure(`${part.toFixed(digits)}${unit}`, "", why), provisional: true };
    },
  };
}

function number(read, digits = 0, missing = "not known yet") {
  return {
    value: read,
    show: (each) => {
      const value = read(each);
      return value === null || value === undefined
        ? none(missing)
        : figure(value.toFixed(digits).replace("-", MINUS));
    },
  };
}

/** A figure on a scale of its own; `2450 or more` sorts as 2450, `2034 or less` below everybody. */
function rating(kind, missing) {
  return {
    value: (each) => {
      const found = figureOf(each, kind);
      if (found === null || kind === "percentile") return found?.value ?? null;
      if (found.low === null) return -Infinity;
      return found.high === null ? found.low : found.value;
    },
    show: (each) => {
      const found = written(figureOf(each, kind));
      if (found === null) return none(missing);
      const shown = figure(found.text, found.interval, kind === "algorithm4" ? "" : (each.calibration_note ?? ""));
      return isEarly(found, each.moves) ? { ...shown, early: true, missing: "too early to say" } : shown;
    },
  };
}

const METHOD_COLUMNS = [
  { id: "accuracy", label: "Accuracy", explain: "accuracy", ...whole("accuracy", 1, " %") },
  { id: "loss", label: "Loss per move, cp", explain: "loss", low: true, ...whole("centipawn_loss", 1) },
  { id: "first", label: "First choice", explain: "first", ...share("first_choice") },
  { id: "conformance", label: "Conformance", explain: "conformance", ...share("conformance") },
  { id: "guid", label: "Guid-Bratko", explain: "guid", ...share("guid_bratko") },
  { id: "ponderated", label: "Ponderated", explain: "ponderated", ...share("ponderated") },
  {
    id: "intrinsic", label: "Intrinsic", explain: "intrinsic",
    value: ({ methods }) => methods.intrinsic?.rating ?? null,
    show: ({ methods }) => {
      const { intrinsic: found = null, missing } = methods;
      if (found === null) return none(missing.intrinsic ?? "needs several lines (Multi-PV)");
      const { rating: value, low, high, turns, beyond, table } = found;
      const { text, interval } = ratingFigure(value, low, high);
      const { match_z: match = null, difference_z: difference = null } = found;
      // Sent to arbiters alone; never without what they are.
      const screening =
        match === null && difference === null ? "" : `; z ${oneDigit(match)} and ${oneDigit(difference)}: ${found.note}`;
      const note = `${turns} moves, by ${table}${beyond ? ", beyond what it was learned from" : ""}${screening}`;
      return interval ? figure(text, interval, note) : none(`the table does not reach that far; ${note}`);
    },
  },
];

/** Every column of the table of players, in its order; `low` columns are best when small. */
export const PLAYER_COLUMNS = [
  { id: "elo", label: "Elo", explain: "elo", ...number((player) => player.elo, 0, "the source gives no rating") },
  {
    id: "performance", label: "Performance", explain: "performance",
    ...rating("performance", "needs games against rated opponents"),
  },
  { id: "level", label: "Level", explain: "level", ...rating("level", "no move rated yet, or no calibration fits") },
  {
    id: "fide", label: "FIDE performance", explain: "fide",
    value: (player) => player.fide_performance ?? null,
    show: ({
      fide_performance: found = null, rating_change: change = null, rating_k: k = null, rating_k_listed: listed = false,
    }) =>
      found === null
        ? none("needs a finished game against a rated opponent")
        : figure(String(found), change === null ? "" : `${oneDigit(change)} (K ${k}${listed ? "" : "?"})`),
  },
  {
    id: "share", label: "Share", explain: "level",
    value: (player) => player.level_share ?? null,
    show: ({ level_share: part = null }) => (part === null ? none("there is no level") : figure(percent(part))),
  },
  {
    id: "percentile", label: "Percentile", explain: "percentile",
    ...rating("percentile", "needs the player's own Elo and five counted moves"),
  },
  { id: "alone", label: "Moves alone", explain: "alone", ...rating("alone", "no move rated yet, or no calibration fits") },
  { id: "a4", label: "Algorithm 4", explain: "a4", ...rating("algorithm4", "no move rated yet") },
  {
    id: "expected", label: "Expected score", explain: "expected",
    ...number((player) => player.expected_score, 3, "no move rated yet"),
  },
  {
    id: "a2", label: "Algorithm 2", explain: "a2",
    value: ({ methods }) => methods.tournament_rating ?? methods.tournament_difference,
    show: ({ methods }) => {
      const { tournament_rating: elo, tournament_difference: difference, missing } = methods;
      const { tournament_low: low = null, tournament_high: high = null } = methods;
      const ends = (write) => (low === null || high === null ? "" : `${write(low)}\u2013${write(high)}`);
      if (elo !== null) return figure(String(elo), ends(String));
      // Nobody of the group is rated: Elo above its mean.
      if (difference !== null) return figure(signed(difference), ends(signed), "to the mean of those compared");
      return none(missing.tournament_rating ?? "not known yet");
    },
  },
  ...METHOD_COLUMNS,
  {
    id: "gain", label: "Mean gain, cp", explain: "gain",
    ...number((player) => player.mean_gain_cp, 1, "no move rated yet"),
  },
  {
    id: "markov", label: "Markov moves", explain: "markov",
    value: ({ methods }) => methods.markov_moves,
    show: ({ methods }) => figure(String(methods.markov_moves), "", methods.missing.markov ?? ""),
  },
  {
    id: "points", label: "Points", explain: "points",
    value: (player) => player.points ?? null,
    show: ({ points = null }) => (points === null ? none("no game is finished") : figure(pointsText(points))),
  },
  { id: "moves", label: "Moves", explain: "moves", ...number((player) => player.moves) },
  { id: "games", label: "Games", explain: "games", ...number((player) => player.games) },
];

/** A column for each plugin that says something of a player, by the plugins' names. */
export function pluginColumns(players) {
  const names = new Set(players.flatMap(({ plugins = [] }) => plugins.map(({ name }) => name)));
  return [...names].sort().map((name) => {
    const of = ({ plugins = [] }) => plugins.find((each) => each.name === name) ?? null;
    return {
      id: `plugin-${name}`, label: name,
      value: (player) => of(player)?.value ?? null,
      show: (player) => {
        const found = of(player);
        if (found === null) return none("the plugin gives no figure");
        const { value, low = null, high = null, digits = 0, note = "" } = found;
        const write = (number) => number.toFixed(digits).replace("-", MINUS);
        return figure(write(value), low === null || high === null ? "" : `${write(low)}${DASH}${write(high)}`, note);
      },
    };
  });
}

/** What is shown to whoever has chosen nothing. */
export const USUAL = ["elo", "performance", "level", "percentile", "alone", "a4", "accuracy", "points", "moves", "games"];

/** The figures of one side of a game, for the table below the board. */
export const SIDE_COLUMNS = [
  ...METHOD_COLUMNS,
  {
    id: "gain", label: "Mean gain, cp", explain: "gain",
    ...number(({ methods }) => methods.mean_gain_cp, 1, "no move rated yet"),
  },
];

/** Columns of before, by the one that took their place: kept addresses go on working. */
const BEFORE = { calibrated: "level", form: "percentile" };

/** The columns that a place names: known ones in the table's order, or the usual ones. */
export function chosenColumns(text) {
  const ids = text ? text.split(",").map((id) => BEFORE[id] ?? id) : USUAL;
  const chosen = PLAYER_COLUMNS.filter((column) => ids.includes(column.id));
  return chosen.length ? chosen : PLAYER_COLUMNS.filter((column) => USUAL.includes(column.id));
}

/**
 * Players as a place wants them, `[{player, place}]`: by what is known of their strength, or by a
 * column, best first, those without a figure last. `place` is text: `3`, `3=` for a tie, empty
 * where too little is known.
 */
export function rankedPlayers(players, sort, down, choice = "auto") {
  const rows = orderedBy(players, BEFORE[sort] ?? sort, choice);
  if (!down) return rows;
  return [...rows.filter(({ place }) => place).reverse(), ...rows.filter(({ place }) => !place)];
}

function orderedBy(players, sort, choice) {
  const column = [...PLAYER_COLUMNS, ...pluginColumns(players)].find((each) => each.id === sort);
  const byName = (a, b) => a.name.localeCompare(b.name) || (a.id < b.id ? -1 : 1);
  if (sort === "name") return [...players].sort(byName).map((player, at) => ({ player, place: String(at + 1) }));
  if (!column) {
    return standings(players, choice).map((each) => ({ player: each.player, place: placeText(each) }));
  }
  const sign = column.low ? 1 : -1;
  const value = (player) => column.value(player) ?? null;
  const known = players.filter((player) => value(player) !== null);
  known.sort((a, b) => (value(a) === value(b) ? byName(a, b) : sign * (value(a) < value(b) ? -1 : 1)));
  // What reads the same is a tie.
  const texts = known.map((player) => column.show(player).text);
  const placed = known.map((player, at) => {
    const place = texts.indexOf(texts[at]) + 1;
    return { player, place: `${place}${texts.lastIndexOf(texts[at]) + 1 > place ? "=" : ""}` };
  });
  const unknown = players.filter((player) => value(player) === null).sort(byName);
  return [...placed, ...unknown.map((player) => ({ player, place: "" }))];
}
