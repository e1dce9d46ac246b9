"""Moments that compare the games of one finished round with each other. Pure."""

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
from live.watch.moment_rules import ABOVE_MOVES, find_last_point, is_finished_and_scored
from live.watch.turning_points import find_turning_points

#: Minimum number of games in a round whose games are compared.
ROUND_GAMES = 4
#: Minimum number of counted moves of a player who is compared with others of the round.
COMPARED_MOVES = 15
#: Minimum percentile of both players of the best-played game.
WELL = 80.0
#: The median percentile. The best side of a round must be above it, and the worst side
#: below it.
USUAL = 50.0
#: Minimum sum of the changes of the expected score in the wildest game, in points.
WILD = 1.5


class WholeSide(NamedTuple):
    """One player's performance in a finished game, compared with his rating."""

    elo: int
    perceived: int
    percentile: float
    counted: int
    """Number of moves from which the perceived rating and the percentile are computed.
    """
    ply: int
    """The ply of the last counted move."""


class WholeGame(NamedTuple):
    """The figures of a finished game that are compared with the rest of its round."""

    plies: int
    level: tuple[float, float] | None
    """White's and Black's final percentile; None if either of them is unknown."""
    short: bool
    """True if the game has unreadable moves, or too few moves for comparing its
    quality.
    """
    wild: float
    """Sum of all changes of White's expected score, up and down, in points."""
    turned: bool = False
    """True if a move turned the game, or would have turned it if the reply had been
    better.
    """
    sides: tuple[WholeSide | None, WholeSide | None] = (None, None)
    """White's and Black's figures; None without a rating or a percentile."""
    peak: int = 0
    """The ply that changed the expected score most; 0 if no ply changed it."""


def read_whole_game(game: GameDetail) -> WholeGame | None:
    """Return the figures by which a game is compared with its round.

    Return None while the game is in progress, or while some moves have no figures.
    """
    if not is_finished_and_scored(game):
        return None
    last = [point for color in COLORS if (point := find_last_point(game, color))]
    level = [point.percentile for point in last if point.percentile is not None]
    has_few_moves = len(last) < 2 or any(point.n < ABOVE_MOVES for point in last)
    scores = expected_scores(game)
    known_scores = [score for score in scores if score is not None]
    return WholeGame(
        plies=len(game.plies),
        level=(level[0], level[1]) if len(level) == 2 else None,
        short=bool(game.problem) or has_few_moves,
        wild=sum(abs(after - before) for before, after in pairwise(known_scores)),
        turned=bool(find_turning_points(game)),
        sides=(read_side(game, "white"), read_side(game, "black")),
        peak=_find_largest_swing(scores),
    )


def read_side(game: GameDetail, color: Color) -> WholeSide | None:
    """Return a player's performance in a game.

    Return None if the player has no rating, or the performance is unknown.
    """
    elo, last = getattr(game, color).elo, find_last_point(game, color)
    if not elo or last is None or last.percentile is None or last.perceived is None:
        return None
    return WholeSide(elo, last.perceived, last.percentile, last.counted, last.ply)


def _find_largest_swing(scores: Scores) -> int:
    peak, largest_change = 0, 0.0
    for ply, (before, after) in enumerate(pairwise(scores), 1):
        if before is None or after is None or abs(after - before) <= largest_change:
            continue
        peak, largest_change = ply, abs(after - before)
    return peak


def find_round_moments(
    games: Mapping[GameId, WholeGame],
) -> dict[GameId, list[MomentDraft]]:
    """Find the best-played game, the wildest game and the extreme players of a round.

    The extreme players have the highest and the lowest percentile among players of
    their own rating.

    Returns:
        Drafts of moments, by the id of their game.
    """
    # A game in which a side made no move is a forfeit.
    played = {
        id: game for id, game in sorted(games.items()) if game.plies >= LEAST_PLIES
    }
    drafts = defaultdict[GameId, list[MomentDraft]](list)
    if len(played) >= ROUND_GAMES:
        for find in (_find_extremes, _find_best_played, _find_wildest):
            for id, draft in find(played):
                drafts[id].append(draft)
    return drafts


_Found = Iterator[tuple[GameId, MomentDraft]]


def _find_extremes(games: Mapping[GameId, WholeGame]) -> _Found:
    """Yield moments about the highest and lowest percentile, with their game ids."""
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
    """Return the figures that a sentence about a player's performance contains."""
    return {
        "perceived": float(side.perceived),
        "percentile": side.percentile,
        "elo": float(side.elo),
        "moves": float(side.counted),
    }


def _find_best_played(games: Mapping[GameId, WholeGame]) -> _Found:
    long = {id: game for id, game in games.items() if not game.short}
    levels = {id: game.level for id, game in long.items() if game.level is not None}
    # A game with unknown percentiles might have been the round's best. Therefore all
    # long games must have percentiles.
    if not len(levels) == len(long) >= ROUND_GAMES:
        return
    best = max(levels, key=lambda id: min(levels[id]))
    first, second = levels[best]
    # A game with a reported blunder cannot be called well played, however good its
    # other moves were.
    if min(first, second) >= WELL and not games[best].turned:
        figures = {"first": first, "second": second}
        yield best, MomentDraft("best-played", games[best].plies, None, 0.7, figures)


def _find_wildest(games: Mapping[GameId, WholeGame]) -> _Found:
    wildest = max(games, key=lambda id: games[id].wild)
    if games[wildest].wild >= WILD:
        figures = {"points": games[wildest].wild}
        yield wildest, MomentDraft("wildest", games[wildest].peak, None, 0.7, figures)
