/** Which figure leads on the page: what there is to choose from, and what a view needs to show it. Pure. */

/** Which figure leads: as somebody chose here, else as the service is set. */
export function leadingIn(held, { figure }) {
  return figure || (held.hello?.figure ?? "perceived");
}

/** Whether nobody here may see scores and ratings. */
export const withheldIn = ({ engine }) => engine?.rating_source === "withheld";

/** Everybody who plays, so that two of one family are told apart; made anew when games come or go. */
const everybody = new WeakMap();

export function everybodyIn({ games }) {
  const known = everybody.get(games);
  if (known?.games === games.size) return known.names;
  const names = [...new Set([...games.values()].flatMap(({ white, black }) => [white.name, black.name]))];
  everybody.set(games, { games: games.size, names });
  return names;
}

/**
 * How figures are shown: which leads, what Algorithm 4 adds to, whether they are withheld here; and
 * who else plays, for names.
 */
export function basisIn(held, place) {
  return {
    choice: leadingIn(held, place),
    engineRating: held.engine?.rating ?? null,
    withheld: withheldIn(held),
    everybody: everybodyIn(held),
  };
}
