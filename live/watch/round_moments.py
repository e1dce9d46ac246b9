"""What stands out among the games of one round, once all are over. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from live.event.rate_game import COLORS
from live.games.game import LEAST_PLIES
from live.messages.figures import GameDetail
from live.messages.values import Color, GameId
from live.watch.expected_scores import Scores, expected_scores
from live.watch.moment_draft import MomentDraft
from live.watch.moment_rules import ABOVE_MOVES, is_whole, last_point
from live.watch.turning_points import find_turning_points

#: A round of fewer games has no best one.
ROUND_GAMES = 4
#: Counted moves of a player who is compared with the others of the round.
COMPARED_MOVES = 15
#: The best-played one is better than so many games in 100 on both sides, or it is not
#: told of.
WELL = 80.0
#: Better than so many games in 100 is what everybody is half of the time.
USUAL = 50.0
#: Points that the wildest game has to have moved by.
WILD = 1.5


class WholeSide(NamedTuple):
    """How one player has played a game that is over, beside what is usual for the
    rating.
    """

    elo: int
    perceived: int
    percentile: float
    counted: int
    """Moves that this rests on."""
    ply: int
    """Of the last of them."""


class WholeGame(NamedTuple):
    """A game that is over, as it is compared with the others of its round."""

    plies: int
    level: tuple[float, float] | None
    """Both percentiles at its end, White's first; None where one is unknown."""
    short: bool
    """It has too few moves to be compared by how well it was played, or not all can be
    read.
    """
    wild: float
    """How far White's expected score went up and down in all, in points."""
    turned: bool = False
    """One move turned or decided it, or would have if the reply had been better."""
    sides: tuple[WholeSide | None, WholeSide | None] = (None, None)
    """White's and Black's; None without a rating, or where its percentile is unknown.
    """
    peak: int = 0
    """The ply that changed the expected score most; 0 where none did."""


def read_whole_game(game: GameDetail) -> WholeGame | None:
    """Read off what its round is compared by; None while figures do not rest on all
    moves.
    """
    if not is_whole(game):
        return None
    last = [point for color in COLORS if (point := last_point(game, color))]
    level = [point.percentile for point in last if point.percentile is not None]
    has_few_moves = len(last) < 2 or any(point.n < ABOVE_MOVES for point in last)
    scores = expected_scores(game)
    known = [score for score in scores if score is not None]
    return WholeGame(
        plies=len(game.plies),
        level=(level[0], level[1]) if len(level) == 2 else None,
        short=bool(game.problem) or has_few_moves,
        wild=sum(abs(after - before) for before, after in pairwise(known)),
        turned=bool(find_turning_points(game)),
        sides=(read_side(game, "white"), read_side(game, "black")),
        peak=_find_peak(scores),
    )


def read_side(game: GameDetail, color: Color) -> WholeSide | None:
    """Read off how a player has played; None without a rating, or where it is not
    known.
    """
    elo, last = getattr(game, color).elo, last_point(game, color)
    if not elo or last is None or last.percentile is None or last.perceived is None:
        return None
    return WholeSide(elo, last.perceived, last.percentile, last.counted, last.ply)


def _find_peak(scores: Scores) -> int:
    peak, most = 0, 0.0
    for ply, (before, after) in enumerate(pairwise(scores), 1):
        if before is None or after is None or abs(after - before) <= most:
            continue
        peak, most = ply, abs(after - before)
    return peak


def find_round_moments(
    games: Mapping[GameId, WholeGame],
) -> dict[GameId, list[MomentDraft]]:
    """Find the best-played and the wildest game of a round, and who was furthest above
    and below what is usual for the own rating.
    """
    # Without a move of both nothing was played: a forfeit.
    played = {
        id: each for id, each in sorted(games.items()) if each.plies >= LEAST_PLIES
    }
    found = defaultdict[GameId, list[MomentDraft]](list)
    if len(played) >= ROUND_GAMES:
        for find in (_find_extremes, _find_best_played, _find_wildest):
            for id, draft in find(played):
                found[id].append(draft)
    return found


_Found = Iterator[tuple[GameId, MomentDraft]]


def _find_extremes(games: Mapping[GameId, WholeGame]) -> _Found:
    """Find whose percentile is the highest and whose the lowest, each with the game."""
    compared = []
    for id, game in games.items():
        for color, side in zip(COLORS, game.sides, strict=True):
            if side is not None and side.counted >= COMPARED_MOVES:
                compared.append((side.percentile, id, color, side))
    if not compared:
        return
    percentile, id, color, side = max(compared)
    if percentile > USUAL:
        yield id, MomentDraft("highest", side.ply, color, 0.75, _list_figures(side))
    percentile, id, color, side = min(compared)
    if percentile < USUAL:
        yield id, MomentDraft("lowest", side.ply, color, 0.55, _list_figures(side))


def _list_figures(side: WholeSide) -> dict[str, float]:
    """Return the figures that a sentence of a player names."""
    return {
        "perceived": float(side.perceived),
        "percentile": side.percentile,
        "elo": float(side.elo),
        "moves": float(side.counted),
    }


def _find_best_played(games: Mapping[GameId, WholeGame]) -> _Found:
    long = {id: each for id, each in games.items() if not each.short}
    levels = {id: each.level for id, each in long.items() if each.level is not None}
    # Of a game without a level nobody knows whether it was the best.
    if not len(levels) == len(long) >= ROUND_GAMES:
        return
    best = max(levels, key=lambda id: min(levels[id]))
    first, second = levels[best]
    # Where a slip is told of, nobody calls it well played, whatever the other moves
    # were.
    if min(first, second) >= WELL and not games[best].turned:
        figures = {"first": first, "second": second}
        yield best, MomentDraft("best-played", games[best].plies, None, 0.7, figures)


def _find_wildest(games: Mapping[GameId, WholeGame]) -> _Found:
    wildest = max(games, key=lambda id: games[id].wild)
    if games[wildest].wild >= WILD:
        figures = {"points": games[wildest].wild}
        yield wildest, MomentDraft("wildest", games[wildest].peak, None, 0.7, figures)
