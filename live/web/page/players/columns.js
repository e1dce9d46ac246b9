/** The figures that a player or one side of a game has, method by method. Pure. */

import { ratingFigure } from "../../drawing/number_format.js";

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

function rating(value, low, high) {
  return {
    value: (each) => {
      if (each[value] !== null) return each[value];
      return each[high] !== null ? -Infinity : each[low] !== null ? Infinity : null;
    },
    show: (each) => {
      const { text, interval } = ratingFigure(each[value], each[low], each[high]);
      const note = value === "calibrated" ? (each.calibration_note ?? "") : "";
      return interval ? figure(text, interval, note) : none("no move rated yet, or no calibration fits");
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
  { id: "elo", label: "Elo", explain: "elo", ...number((player) => player.elo, 0, "no rating told by the source") },
  { id: "calibrated", label: "Plays like", explain: "calibrated", ...rating("calibrated", "calibrated_low", "calibrated_high") },
  {
    id: "form", label: "Form", explain: "form",
    value: (player) => player.form,
    show: ({ form }) => (form === null ? none("needs the player's own rating and a calibration") : figure(signed(form))),
  },
  { id: "a4", label: "Algorithm 4", explain: "a4", ...rating("rating", "low", "high") },
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
  { id: "moves", label: "Moves", explain: "moves", ...number((player) => player.moves) },
  { id: "games", label: "Games", explain: "games", ...number((player) => player.games) },
];

/** What is shown to whoever has chosen nothing. */
export const USUAL = ["elo", "calibrated", "form", "a4", "accuracy", "loss", "moves", "games"];

/** The figures of one side of a game, for the table below the board. */
export const SIDE_COLUMNS = [
  ...METHOD_COLUMNS,
  {
    id: "gain", label: "Mean gain, cp", explain: "gain",
    ...number(({ methods }) => methods.mean_gain_cp, 1, "no move rated yet"),
  },
];

/** The columns that a place names: known ones in the table's order, or the usual ones. */
export function chosenColumns(text) {
  const ids = text ? text.split(",") : USUAL;
  const chosen = PLAYER_COLUMNS.filter((column) => ids.includes(column.id));
  return chosen.length ? chosen : PLAYER_COLUMNS.filter((column) => USUAL.includes(column.id));
}

/** Players as a place wants them: sorted by a column, best first, those without a figure last. */
export function rankedPlayers(players, sort, down) {
  const column = PLAYER_COLUMNS.find((each) => each.id === sort);
  const byName = (a, b) => a.name.localeCompare(b.name) || (a.id < b.id ? -1 : 1);
  const sign = (column?.low ? 1 : -1) * (down ? -1 : 1);
  const value = sort === "name" ? null : (column ?? { value: bestKnown }).value;
  if (value === null) return [...players].sort((a, b) => (down ? -1 : 1) * byName(a, b));
  return [...players].sort((a, b) => {
    const [left, right] = [value(a) ?? null, value(b) ?? null];
    if (left === null || right === null) return (left === null) - (right === null) || byName(a, b);
    return left === right ? byName(a, b) : sign * (left < right ? -1 : 1);
  });
}

/** Algorithm 4 ranks as its expected score does, which is finite also where it is unbounded. */
function bestKnown(player) {
  return player.calibrated ?? player.expected_score;
}
