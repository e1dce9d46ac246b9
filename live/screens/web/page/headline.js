/** The headline of the boards: their round, and the most important sentence about it now. Pure. */

import { eloText, settledFigure } from "../client/figures.js";
import { COLORS, inRound, leadingRound, roundsOf } from "../client/games.js";
import { isolated, shortName } from "../drawing/player_names.js";
import { momentText, say, words } from "./language.js";
import { newestMoments } from "./moments_list.js";
import { roundWords } from "./round_picker.js";

/** The headline is the weightiest of this many newest moments. */
const NEWEST = 5;

/** Smallest percentile and number of counted moves of a player who can be called the best so far. */
const BEST = { percentile: 80, moves: 15 };
/** Elo difference from which a win of the weaker player is an upset; same as UPSET_ELO in live/watch. */
const UPSET_ELO = 100;

/**
 * Return the headline of the boards, `[round, sentence, moment]`: the leading round with its progress, a sentence, and
 * the moment that the sentence is about, or null. Once the round is over, the sentence sums it up. Before that it is
 * about the weightiest of the newest moments or, without one, about the best player. If the games are only a part of
 * their round (`isPart`), progress and sums are left out, since they are not known.
 */
export function writeHeadline(allGames, moments, feeds, isPart = false) {
  const leading = leadingRound(roundsOf(allGames, feeds));
  const round = leading === null ? "" : roundWords(leading, isPart);
  const games = leading === null ? allGames : inRound(allGames, leading);
  const ids = new Set(games.map(({ id }) => id));
  const ownMoments = moments.filter(({ game }) => ids.has(game));
  const isOver = games.length > 0 && games.every(({ result }) => result !== "*");
  if (isOver && !isPart) {
    const highest = ownMoments.find(({ kind }) => kind === "highest") ?? null;
    return [round, [countedResults(games), highest && bestOfRound(games, highest)].filter(Boolean).join(" "), highest];
  }
  const [weightiest = null] = newestMoments(ownMoments, NEWEST).sort((a, b) => b.weight - a.weight);
  if (weightiest !== null) return [round, momentText(weightiest), weightiest];
  const hasBegun = games.some(({ plies }) => plies.length > 0);
  if (isPart || !hasBegun) return [round, "", null];
  const results = games.some(({ result }) => result !== "*") ? countedResults(games) : "";
  return [round, bestSoFar(games) ?? results, null];
}

/** Return a sentence about the player with the round's highest percentile, shorter than the moment's own text. */
function bestOfRound(games, { game: id, color, figures }) {
  const [name, elo] = sideOf(games, games.find((game) => game.id === id)[color]);
  const { value } = figures.find((figure) => figure.name === "perceived");
  return say("Best of the round: {}, played like {} (Elo {}).", name, eloText({ value }), elo);
}

/** Return a side's short name, distinct among these games and isolated for right-to-left scripts, with its Elo. */
function sideOf(games, { name, elo }) {
  const names = games.flatMap(({ white, black }) => [white.name, black.name]);
  return [isolated(shortName(name || "?", names)), elo];
}

/** Return the counts of the games' results: `Games: 10, decided: 7. Upsets: 3.` */
function countedResults(games) {
  const decided = games.filter(({ result }) => result === "1-0" || result === "0-1");
  const upsets = decided.filter(({ white, black, result, plies }) => {
    const [winner, loser] = result === "1-0" ? [white, black] : [black, white];
    return plies.length > 1 && winner.elo && loser.elo && loser.elo - winner.elo >= UPSET_ELO;
  });
  const sentences = [say("Games: {}, decided: {}.", games.length, decided.length)];
  if (upsets.length > 0) sentences.push(say("Upsets: {}.", upsets.length));
  return sentences.join(" ");
}

/** Return a sentence about the best player so far; null if nobody stands out or most boards have no settled figures yet. */
function bestSoFar(games) {
  const sides = games.flatMap((game) => COLORS.map((color) => ({ game, side: game[color], figure: settledFigure(game.curves[color].at(-1)) })));
  const settled = sides.filter(({ figure }) => figure !== null && figure.counted >= BEST.moves);
  if (2 * new Set(settled.map(({ game }) => game)).size < games.length) return null;
  const rated = settled.filter(({ side, figure }) => side.elo && (figure.percentile ?? 0) >= BEST.percentile);
  const best = rated.sort((a, b) => b.figure.percentile - a.figure.percentile)[0];
  if (best === undefined) return null;
  const [name, elo] = sideOf(games, best.side);
  return say("Best so far: {}, playing like {}{}.", name, eloText(best.figure), ` (${words.elo} ${elo})`);
}
