/** Which of the moves played a figure does not rest on yet. Pure. */

/** How many moves of one side were played since the last that its figure rests on. */
export function unratedMoves(game, color) {
  const rated = game.curves[color].at(-1)?.ply ?? 0;
  const blackFirst = game.start_fen.split(" ")[1] === "b";
  // White moves at odd plies unless Black began.
  const odd = (color === "white") !== blackFirst;
  let missing = 0;
  for (let ply = rated + 1; ply <= game.plies.length; ply += 1) missing += (ply % 2 === 1) === odd;
  return missing;
}

/** Of both sides together. */
export const unratedOf = (game) => unratedMoves(game, "white") + unratedMoves(game, "black");
