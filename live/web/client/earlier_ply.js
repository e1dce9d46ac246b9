/** What a link to an earlier ply shows: nothing that later plies brought. Pure. */

/** Figures of a whole game, each as where it is not known. */
function unknown(value) {
  if (Array.isArray(value)) return [];
  if (value !== null && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, unknown(each)]));
  }
  return typeof value === "string" ? "" : null;
}

/** A game as it stood after a ply; null, and a ply that is not reached, mean as it is. */
export function asOf(game, ply) {
  if (ply === null || ply >= game.plies.length) return game;
  const before = (points) => points.filter((point) => point.ply <= ply);
  const curves = { white: before(game.curves.white), black: before(game.curves.black) };
  return {
    ...game,
    plies: game.plies.slice(0, ply),
    curves,
    result: "*",
    plies_played: ply,
    /** So many there are by now. */
    whole_plies: game.plies.length,
    plies_scored: Math.min(ply, game.plies_scored ?? 0),
    // Of these nobody knows how they stood then.
    head_to_head: unknown(game.head_to_head ?? null),
    methods: unknown(game.methods ?? null),
    problem: null,
    dispute: "",
    eco: "",
    opening: "",
  };
}

/**
 * All that is held, with each game (`only` one, where it is named) as it stood after a ply. What
 * rests on several games (figures and points of players, moments of nobody) is left out where a game
 * that it may rest on went on.
 */
export function heldAsOf(held, ply, only = null) {
  if (ply === null) return held;
  const cut = new Set();
  const games = new Map(held.games);
  for (const [id, game] of held.games) {
    const then = only === null || id === only ? asOf(game, ply) : game;
    if (then !== game) cut.add(id);
    games.set(id, then);
  }
  if (cut.size === 0) return held;
  const then = Object.create(held);
  const known = ([, moment]) => moment.color !== null && (!cut.has(moment.game) || moment.ply <= ply);
  then.games = games;
  then.players = new Map();
  then.gains = new Map();
  then.moments = new Map([...held.moments].filter(known));
  return then;
}
