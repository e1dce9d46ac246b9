/**
 * Gains at one centipawn, as Ferreira's figures have them (2012, section 4): one histogram upwards,
 * one downwards, the engine's own as a thin line. The spike at 0 holds most moves, so heights are
 * square roots of shares: what is rare can still be seen.
 */

import { countedMoves } from "../score_words.js";

/** What lies beyond is drawn here, centipawns. */
export const MOST_CP = 200;
/** Shares that the axis names. */
const SHARES = [0.05, 0.2, 0.5, 1];

/** Sizes of what a move wins or loses, centipawns, both ends included. */
const SIZES = [[1, 10], [11, 25], [26, 50], [51, 100], [101, 200], [201, Infinity]];

/** The classes that people read gains in, worst first, `{name, from, to}`; only some gains are above 0 (`both`). Pure. */
export function gainClasses(both) {
  const size = ([from, to]) => (to === Infinity ? "over 200" : `${from}\u2013${to}`);
  const lost = SIZES.map((each) => ({ name: `lost ${size(each)}`, from: -each[1], to: -each[0] })).reverse();
  const won = SIZES.map((each) => ({ name: `won ${size(each)}`, from: each[0], to: each[1] }));
  return [...lost, { name: "0", from: 0, to: 0 }, ...(both ? won : [])];
}

/** The gains in a player's histogram: those of its curve. */
export const gainsOf = (game, color) => game.curves[color].map((point) => point.gain_cp);

/**
 * What the engine itself gains, in a list; null with same-search gains, where all are 0 by
 * construction. Successive ones are those of moves that were its own first choice (Ferreira 2012,
 * sections 7 and 10 leave that open; Algorithms 3 and 4 take a single peak at 0).
 */
export function measuredGains(kind, games) {
  if (kind !== "successive") return null;
  const own = ({ best, uci, gain_successive_cp: gain }) => best !== null && best === uci && gain !== null;
  return [...games].flatMap(({ plies }) => plies.filter(own).map((ply) => ply.gain_successive_cp));
}

/** Moves by gain, `[[centipawns, moves], …]`, gains ascending. Pure. */
export function countAtOne(gains) {
  const counts = new Map();
  for (const gain of gains) counts.set(gain, (counts.get(gain) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => a - b);
}

export const movesOf = (counts) => counts.reduce((sum, [, moves]) => sum + moves, 0);

/** Shares by gain from -200 to `to`, what lies beyond at the ends; null where no move is. Pure. */
export function sharesAtOne(counts, to) {
  const shares = new Array(MOST_CP + to + 1).fill(null);
  const all = movesOf(counts);
  for (const [gain, moves] of counts) {
    const at = Math.max(-MOST_CP, Math.min(to, gain)) + MOST_CP;
    shares[at] = (shares[at] ?? 0) + moves / all;
  }
  return shares;
}

/** `62 % of 40 moves lose nothing`; empty without a move. Pure. */
export function spikeWords(name, counts) {
  const all = movesOf(counts);
  if (all === 0) return "";
  const kept = counts.find(([gain]) => gain === 0)?.[1] ?? 0;
  return `${name}: ${Math.round((100 * kept) / all)} % of ${countedMoves(all)} at 0`;
}

/**
 * The chart, for a {@link Chart} that is given `{up, down, engine, both}`: two sides as
 * `{name, color, counts}`, with `said` where their spike is no news; the engine's counts or null;
 * and whether gains above 0 there are.
 */
export function gainChart(uPlot) {
  const spikes = ({ up, down }) =>
    [up, down].map(({ name, counts, said = spikeWords(name, counts) }) => said).filter(Boolean).join("; ");
  const bars = uPlot.paths.bars({ size: [0.9, 8, 1] });
  const thin = uPlot.paths.bars({ size: [0.2, 1, 1] });
  const height = (sign) => (share) => (share === null ? null : sign * Math.sqrt(share));
  let shown = null;
  return {
    name: "gain-chart",
    title: "Gains, centipawn by centipawn",
    explain: "histogram",
    height: 200,
    empty: "No move is counted yet.",
    series(subject) {
      shown = subject;
      const { up, down, engine, both } = subject;
      if (movesOf(up.counts) + movesOf(down.counts) === 0) return { data: null };
      const to = both ? MOST_CP : 0;
      const gains = Array.from({ length: MOST_CP + to + 1 }, (_, at) => at - MOST_CP);
      const of = (counts, sign) => sharesAtOne(counts, to).map(height(sign));
      const own = engine ?? [];
      return {
        data: [gains, of(up.counts, 1), of(down.counts, -1), of(own, 1), of(own, -1)],
        note: `${spikes(subject)}. Heights are square roots of shares; ${MOST_CP} and more stand at the end${engine ? "; thin line: the engine's own" : ""}.`,
      };
    },
    options(color) {
      const marks = [...SHARES.map((share) => -share).reverse(), 0, ...SHARES];
      const at = (share) => Math.sign(share) * Math.sqrt(Math.abs(share));
      const side = (name) => ({ stroke: color(name), fill: color(name), width: 0, fillTo: 0, paths: bars, points: { show: false } });
      const line = { stroke: color("--text"), fill: color("--text"), width: 0, fillTo: 0, paths: thin, points: { show: false } };
      return {
        scales: { x: { time: false, range: (plot, low, high) => [low - 2, high + 2] }, y: { range: [-1.04, 1.04] } },
        axes: [
          { size: 22, incrs: [20, 50, 100], values: (plot, splits) => splits.map((gain) => (gain === 0 ? "0" : `${gain < 0 ? "\u2212" : "+"}${Math.abs(gain)}`)) },
          { size: 42, splits: () => marks.map(at), values: () => marks.map((share) => `${Math.round(100 * Math.abs(share))} %`) },
        ],
        series: [{}, side(shown.up.color), side(shown.down.color), line, { ...line }],
      };
    },
    says: (subject) => `Gains. ${spikes(subject)}.`,
    table({ up, down, engine, both }) {
      const sides = [up, down, ...(engine ? [{ name: "Engine", counts: engine }] : [])];
      const row = ({ name, from, to }) => [name, ...sides.map(({ counts }) => {
        const moves = movesOf(counts.filter(([gain]) => gain >= from && gain <= to));
        return moves ? `${moves} (${Math.round((100 * moves) / movesOf(counts))}\u00a0%)` : "";
      })];
      return { head: ["Gain, cp", ...sides.map(({ name }) => name)], rows: gainClasses(both).map(row) };
    },
  };
}
