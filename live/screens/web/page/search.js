/** The search of boards and players. Pure. */

/** Return a text without case and accents, so that `muller` finds Müller. */
export const fold = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/** Return a function that tells whether a text has all words of a search, in any order. */
export function buildMatcher(search) {
  const words = fold(search).split(/\s+/).filter(Boolean);
  return (text) => {
    const folded = fold(text);
    return words.every((word) => folded.includes(word));
  };
}
