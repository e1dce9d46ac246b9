/** Standings by points, with the scoring and the tie-breaks of the event. Pure. */

import { pointsText, RESULT_POINTS } from "../../client/event_rounds.js";
import { SCORINGS } from "../options.js";

/** What each side gets of a result; null where it counts for nothing. */
function pointsOf(result, [win, draw, loss]) {
  const worth = { 1: win, 0.5: draw, 0: loss };
  return RESULT_POINTS[result]?.map((points) => worth[points]) ?? null;
}

/** A player wherever it plays: by FIDE id, else by name. */
export const keyOf = ({ fide_id, name }) => (fide_id ? String(fide_id) : name);

/**
 * `2½ / 4` of one side of a game, or null where that is not known. `players` are those of the
 * service: theirs are over the whole event, while a stream holds only the games that were asked for.
 * They count 1, ½, 0; what they would be with another scoring does not follow from them.
 */
export function eventPoints(players, side, scoring = "1-half-0") {
  const player = players.find(({ id, name }) => id === keyOf(side) || name === side.name);
  if (scoring !== "1-half-0" || (player?.points ?? null) === null) return null;
  return `${pointsText(player.points)} / ${player.finished}`;
}

/**
 * Everybody who plays, best first: `{id, player, place, tied, points, games, playing, ties}`. `ties`
 * holds the values of the tie-breaks asked for, in their order; games that still run count nothing.
 */
export function roundTable(games, { scoring = "1-half-0", ties = [] } = {}) {
  const worth = SCORINGS[scoring];
  const rows = new Map();
  const rowOf = (player) => {
    const id = keyOf(player);
    if (!rows.has(id)) {
      rows.set(id, { id, player, points: 0, games: 0, wins: 0, blackGames: 0, playing: false, met: [] });
    }
    return rows.get(id);
  };
  for (const { white, black, result, plies } of games) {
    if (!white.name || !black.name) continue;
    const sides = [rowOf(white), rowOf(black)];
    const points = pointsOf(result, worth);
    if (points === null) {
      if (result === "*" && plies.length > 0) for (const row of sides) row.playing = true;
      continue;
    }
    sides.forEach((row, at) => {
      row.points += points[at];
      row.games += 1;
      row.wins += points[at] === worth[0];
      row.blackGames += at === 1;
      row.met.push({ id: sides[1 - at].id, points: points[at] });
    });
  }
  const all = [...rows.values()];
  for (const row of all) row.ties = ties.map((name) => (name === "direct" ? null : TIE[name](row, rows, worth)));
  if (ties.includes("direct")) {
    // Among those level on points, what they scored against one another.
    for (const row of all) {
      const level = new Set(all.filter((other) => other !== row && other.points === row.points).map(({ id }) => id));
      const direct = row.met.filter(({ id }) => level.has(id));
      row.ties[ties.indexOf("direct")] = direct.reduce((sum, { points }) => sum + points, 0);
    }
  }
  const apart = (a, b) => b.points - a.points || b.ties.reduce((found, value, at) => found || value - a.ties[at], 0);
  all.sort((a, b) => apart(a, b) || a.player.name.localeCompare(b.player.name) || (a.id < b.id ? -1 : 1));
  const placed = [];
  all.forEach((row, at) => {
    const level = at > 0 && apart(all[at - 1], row) === 0;
    const place = level ? placed[at - 1].place : at + 1;
    const { id, player, points, games: played, playing } = row;
    placed.push({ id, player, points, games: played, playing, ties: row.ties, place, tied: false });
  });
  for (const row of placed) row.tied = placed.filter(({ place }) => place === row.place).length > 1;
  return placed;
}

const TIE = {
  wins: (row) => row.wins,
  black: (row) => row.blackGames,
  buchholz: (row, rows) => row.met.reduce((sum, { id }) => sum + rows.get(id).points, 0),
  /** Whole points of those beaten, half of those drawn with. */
  sonneborn: (row, rows, [win, draw]) =>
    row.met.reduce((sum, { id, points }) => sum + (points === win ? 1 : points === draw ? 0.5 : 0) * rows.get(id).points, 0),
};
