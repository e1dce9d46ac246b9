/**
 * Which figure of a player stands first, and in which order players are listed. Pure.
 *
 * Where the Elo is known, the level leads while these moves say enough of it, else the percentile;
 * where it is not, the level by the field, else the Elo of the moves alone. Algorithm 4 leads
 * nowhere unless it is asked for: its scale is its own. The terminal follows the same rule
 * (live/ledger/players/leading_figure.py).
 */

export const CHOICES = ["auto", "level", "percentile", "alone", "algorithm4"];

/** The least share of the level that these moves must carry for it to lead. */
const LEAST_SHARE = 0.15;
/** With fewer counted moves nobody has a place. */
export const LEAST_MOVES = 5;

/** Fields of each figure: value, low end, high end. */
export const FIELDS = {
  level: ["level", "level_low", "level_high"],
  percentile: ["percentile", "", ""],
  alone: ["alone", "alone_low", "alone_high"],
  performance: ["performance", "performance_low", "performance_high"],
  algorithm4: ["rating", "low", "high"],
  // Services of before sent the posterior over the field under this name.
  calibrated: ["calibrated", "calibrated_low", "calibrated_high"],
};

/** A figure of a curve point or a player: `{kind, value, low, high, share}`; null without one. */
export function figureOf(held, kind) {
  if (held === null || held === undefined) return null;
  const [value, low, high] = FIELDS[kind].map((name) => held[name] ?? null);
  const nothing = value === null && low === null && high === null;
  // Nothing bounds it on either side: nothing is known.
  if (!nothing && kind !== "percentile" && low === null && high === null) return null;
  if (nothing) {
    if (kind !== "level") return null;
    const before = figureOf(held, "calibrated");
    return before === null ? null : { ...before, kind };
  }
  return { kind, value, low, high, share: kind === "level" ? (held.level_share ?? null) : null };
}

/** A percentile in whole points: nobody is better than all. */
export const percentText = (value) => String(Math.min(99, Math.round(value)));

/** Percentiles between which 8 of 10 games of a player lie. */
export const USUAL = [10, 90];
/** Percentiles up to which a game is far below, or below, what is usual; above the others beyond it. */
const UNUSUAL = [2.5, ...USUAL, 97.5];
/** With fewer counted moves a percentile still jumps about. */
export const SETTLED_MOVES = 15;

/**
 * How sure it is that a player plays better or worse than usual, by a percentile: 0 clearly worse,
 * 1 perhaps worse, 2 within the usual range, 3 perhaps better, 4 clearly better; null after too few moves.
 */
export function usualness({ value }, moves) {
  if (moves < SETTLED_MOVES) return null;
  const [least, low, high, most] = UNUSUAL;
  return value <= least ? 0 : value <= low ? 1 : value < high ? 2 : value < most ? 3 : 4;
}

/** What is seen before it is read: filled where it is clear, hollow where it is perhaps so. */
const MARKS = ["\u25bc", "\u25bd", "", "\u25b3", "\u25b2"];

/** The mark of a percentile beyond the usual range; empty within it, or of any other figure. */
export function usualMark(figure, moves) {
  return figure.kind === "percentile" ? (MARKS[usualness(figure, moves)] ?? "") : "";
}

/** Whether a percentile rests on too few moves to say more than that. */
export function isEarly(figure, moves) {
  return figure?.kind === "percentile" && usualness(figure, moves) === null;
}

/** These five words for how far a percentile is from what is usual, after its mark; empty while it is early. */
export function marked(figure, moves, words) {
  return [usualMark(figure, moves), words[usualness(figure, moves)]].filter(Boolean).join("\u00a0");
}

/** Whether a level is the Elo: one game says nothing beyond it. */
export function isElo(figure) {
  return figure.kind === "level" && figure.low !== null && figure.high !== null && figure.high - figure.low < 1;
}

/** The large figure and the one beneath it, `[large, beneath]`, null where there is none. */
export function leading(held, elo, choice = "auto") {
  if (held === null) return [null, null];
  const [level, percentile, alone] = ["level", "percentile", "alone"].map((kind) => figureOf(held, kind));
  const saysEnough = level !== null && (level.share === null || level.share >= LEAST_SHARE);
  if (choice !== "auto") {
    const beneath = { level: percentile ?? alone, percentile: level ?? alone, alone: level ?? percentile };
    return [figureOf(held, choice), beneath[choice] ?? null];
  }
  if (!elo) {
    const pair = saysEnough ? [level, alone] : [alone, level];
    return pair[0] === null ? [pair[1], null] : pair;
  }
  if (saysEnough) return [level, percentile ?? alone];
  const counted = held.n ?? held.moves;
  if (percentile === null && counted >= LEAST_MOVES) return level === null ? [alone, null] : [level, alone];
  return [percentile, level ?? alone];
}

/**
 * What curves of these points show: `level` where anybody has one, else `alone`, else
 * `algorithm4`.
 */
export function scaleOf(points, choice = "auto") {
  if (choice === "alone" || choice === "algorithm4") return choice;
  let best = "algorithm4";
  for (const point of points) {
    if (figureOf(point, "level") !== null || figureOf(point, "percentile") !== null) return "level";
    if (figureOf(point, "alone") !== null) best = "alone";
  }
  return best;
}

/** Whether the calibration was learned on another engine; `note` is that of the game. */
export function isTransferred(engine, note = "") {
  // A note may also say why nothing is transferred: then there is no calibration.
  if (!engine?.calibration) return false;
  return `${engine.calibration_note ?? ""} ${note ?? ""}`.toLowerCase().includes("transferred");
}

/** The figure that players are ranked by: one scale for all. */
export function rankedBy(players, choice = "auto") {
  if (choice !== "auto") return choice;
  const kinds = ["performance", "level", "alone", "algorithm4"];
  return kinds.find((kind) => players.some((player) => figureOf(player, kind) !== null)) ?? "level";
}

/**
 * Everybody by what is known: first who may be best, and among these the surest first, as
 * `{player, figure, place, tied}`. `place` is 1 + how many are certainly better (their interval
 * lies above); null where too little is known.
 */
export function standings(players, choice = "auto") {
  const kind = rankedBy(players, choice);
  const known = [];
  const unknown = [];
  for (const player of players) {
    const figure = figureOf(player, kind);
    if (figure === null || player.moves < LEAST_MOVES) unknown.push({ player, figure, place: null, tied: false });
    else {
      const exact = figure.kind === "percentile";
      known.push({
        player,
        figure,
        low: (exact ? figure.value : figure.low) ?? -Infinity,
        high: (exact ? figure.value : figure.high) ?? Infinity,
      });
    }
  }
  const lows = known.map(({ low }) => low).sort((a, b) => b - a);
  for (const each of known) each.place = 1 + above(lows, each.high);
  const held = new Map();
  for (const { place } of known) held.set(place, (held.get(place) ?? 0) + 1);
  known.sort((a, b) => a.place - b.place || (a.low === b.low ? byName(a, b) : b.low - a.low));
  unknown.sort(byName);
  const placed = known.map(({ player, figure, place }) => ({ player, figure, place, tied: held.get(place) > 1 }));
  return [...placed, ...unknown];
}

/** `3`, `3=` for a tie, or nothing. */
export function placeText({ place, tied }) {
  return place === null ? "" : `${place}${tied ? "=" : ""}`;
}

/** How many of these, greatest first, are above a value. */
function above(lows, value) {
  let [from, to] = [0, lows.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (lows[middle] > value) from = middle + 1;
    else to = middle;
  }
  return from;
}

function byName({ player: a }, { player: b }) {
  return a.name.localeCompare(b.name) || (a.id < b.id ? -1 : 1);
}
