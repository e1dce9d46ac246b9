/** Gains of moves, counted in classes that people can read. Pure. */

/** Sizes of what a move wins or loses, centipawns, both ends included. */
const SIZES = [[1, 10], [11, 25], [26, 50], [51, 100], [101, 200], [201, Infinity]];

const named = (verb, [from, to]) => `${verb} ${to === Infinity ? "over 200" : `${from}\u2013${to}`}`;

/**
 * The classes under a definition of gain, worst first: `{name, from, to}`, both ends included.
 * Same-search gains are never above 0 (Alliot 2017, section 3.3).
 */
export function gainClasses(kind) {
  const lost = SIZES.map((size) => ({ name: named("lost", size), from: -size[1], to: -size[0] }));
  const won = SIZES.map((size) => ({ name: named("won", size), from: size[0], to: size[1] }));
  const level = { name: "0", from: 0, to: 0 };
  return kind === "successive" ? [...lost.reverse(), level, ...won] : [...lost.reverse(), level];
}

/** How many of the gains fall into each class. */
export function countGains(classes, gains) {
  const counts = classes.map(() => 0);
  for (const gain of gains) {
    const at = classes.findIndex(({ from, to }) => gain >= from && gain <= to);
    if (at >= 0) counts[at] += 1;
  }
  return counts;
}

/** The gains in a player's histogram: those of its curve. */
export function gainsOf(game, color) {
  return game.curves[color].map((point) => point.gain_cp);
}

/**
 * What the engine itself gains, in a list; null with same-search gains, where all are 0 by
 * construction. Successive ones are those of moves that were its own first choice (Ferreira 2012,
 * sections 7 and 10 leave that open; Algorithms 3 and 4 take a single peak at 0).
 */
export function measuredGains(kind, games) {
  if (kind !== "successive") return null;
  const gains = [];
  for (const game of games) {
    for (const ply of game.plies) {
      if (ply.best !== null && ply.best === ply.uci && ply.gain_successive_cp !== null) {
        gains.push(ply.gain_successive_cp);
      }
    }
  }
  return gains;
}

/** The engine's gains by class, `{shares, note}`. */
export function engineGains(classes, kind, games) {
  const gains = measuredGains(kind, games);
  if (gains === null) {
    return {
      shares: classes.map(({ name }) => (name === "0" ? 1 : 0)),
      note: "The engine's own gain is 0 by construction: it plays its first choice.",
    };
  }
  if (gains.length === 0) return { shares: null, note: "The engine's own gains are not known yet." };
  const counts = countGains(classes, gains);
  return {
    shares: counts.map((count) => count / gains.length),
    note:
      `The engine's own gains, measured in ${gains.length} moves of this event that were its first ` +
      "choice. Algorithm 4 takes them as a single peak at 0.",
  };
}
