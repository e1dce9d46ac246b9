"""95 % intervals for the ratings of Algorithm 2, which the paper gives as points only.

Algorithm 2 (Ferreira 2012, section 5) rates players by their comparisons with each other. To first
order an error of one player's gains shifts all that player's comparisons alike, by ``η_i`` Elo, so
that ``b = L η`` in Eq. 3, and the least-squares ratings err by ``η_i`` less the mean of ``η`` over
those whose mean is kept. So each player's own uncertainty is all that is needed: that of an
expected score against usual gains, clustered by game (``live.ratings.score_interval``), on the Elo
scale. That is O(1) a move and O(players) for the intervals of all.

Ends are put together as those of independent estimates (Zou and Donner 2008, *Construction of
confidence limits about effect measures*, section 2), so they need not be symmetric.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from live.events import GainKind
from live.ratings.expected_score import difference_of
from live.ratings.score_interval import ClusteredScores, GameScores

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

#: A score is counted in so many parts of one point.
SCALE = 10_000

_NO_MOVES = GameScores(0, 0, 0)


class UsualGains(NamedTuple):
    """How usual players' gains are distributed: what share of them a gain beats, ties halved.

    Only the rank of a gain matters to Algorithm 2, and its interval needs to know that only
    roughly, so classes do.
    """

    edges_cp: tuple[int, ...]
    """A gain equal to an edge belongs below it."""
    parts: tuple[int, ...]
    """Of ``SCALE``, one more than edges."""

    def of(self, gain_cp: int) -> int:
        return self.parts[bisect_left(self.edges_cp, gain_cp)]

    @property
    def ceiling(self) -> int:
        """The most that a move can score."""
        return self.parts[-1]


# fmt: off
#: From the player-games that the calibrations ``classical`` and ``blitz`` were learned from.
USUAL: dict[GainKind, UsualGains] = {
    "same-search": UsualGains(
        (-1000, -500, -300, -200, -150, -110, -80, -60, -45, -35, -27, -20, -15, -11, -8, -5, -3,
         -1),
        (16, 44, 90, 183, 316, 500, 762, 1065, 1404, 1749, 2079, 2427, 2765, 3073, 3319, 3561,
         3775, 3929, 7004),
    ),
    "successive": UsualGains(
        (-1000, -500, -300, -200, -140, -100, -75, -55, -40, -30, -22, -16, -11, -7, -4, -2, -1, 0,
         1, 3, 6, 10, 15, 22, 32, 50, 100, 300),
        (2, 38, 174, 410, 731, 1153, 1631, 2168, 2777, 3379, 3969, 4569, 5182, 5812, 6398, 6861,
         7155, 7403, 7649, 7923, 8318, 8749, 9139, 9452, 9682, 9835, 9934, 9985, 9999),
    ),
}
# fmt: on


class RatingMargins(NamedTuple):
    """How far a player's true strength may lie below and above the estimate, Elo; squared."""

    below: float
    above: float


class PlayerMargins:
    """One player's gains by game. Adding and removing a gain are O(1) and exact."""

    __slots__ = ("_games", "_margins", "_scores", "_usual")

    def __init__(self, gain: GainKind) -> None:
        self._usual = USUAL[gain]
        self._games: dict[str, GameScores] = {}
        self._scores = ClusteredScores()
        self._margins: RatingMargins | None = None

    def add(self, game: str, gain_cp: int) -> None:
        self._count(game, gain_cp, 1)

    def remove(self, game: str, gain_cp: int) -> None:
        """Raises ValueError when the game has no gain to take back."""
        if game not in self._games:
            raise ValueError(f"no gain of game {game!r} to take back")
        self._count(game, gain_cp, -1)

    def forget_games(self) -> None:
        """What was added stays, and no move of it can be taken back any more."""
        self._games.clear()

    def _count(self, game: str, gain_cp: int, sign: int) -> None:
        old = self._games.get(game, _NO_MOVES)
        parts = self._usual.of(gain_cp)
        new = GameScores(old.n + sign, old.total + sign * parts, old.squares + sign * parts * parts)
        self._scores.remove(old)
        self._scores.add(new)
        if new.n:
            self._games[game] = new
        else:
            del self._games[game]
        self._margins = None

    @property
    def margins(self) -> RatingMargins | None:
        """None without a move."""
        if self._margins is None:
            ends = self._scores.interval(SCALE, self._usual.ceiling)
            if ends is None:
                return None
            score = self._scores.total / (self._scores.n * SCALE)
            # No move scores nothing at all, and one that scores all is not possible.
            at, low, high = (
                difference_of(min(max(each, 1 / SCALE), 1 - 1 / SCALE)) for each in (score, *ends)
            )
            assert at is not None and low is not None and high is not None
            self._margins = RatingMargins((at - low) ** 2, (high - at) ** 2)
        return self._margins


def distances(margins: Sequence[RatingMargins] | Floats, kept: Bools) -> tuple[Floats, Floats]:
    """How far below and above each rating of Algorithm 2 the truth may lie with 95 %, Elo.

    For the players of one connected part: ``margins`` and ``kept``, who of them make the mean that
    is kept, have a row for each, and so have both answers. They are NaN for one who makes that
    mean alone: that rating is the player's own, by construction.
    """
    below, above = np.asarray(margins).reshape(-1, 2).T
    n = int(kept.sum())
    if not n:
        nothing = np.full(len(below), np.nan)
        return nothing, nothing
    own = np.where(kept, (1 - 1 / n) ** 2, 1.0)
    if n == 1:
        own = np.where(kept, np.nan, own)
    # When those who make the mean are better than they seem, all others are worse.
    others_below = (below[kept].sum() - np.where(kept, below, 0.0)) / n**2
    others_above = (above[kept].sum() - np.where(kept, above, 0.0)) / n**2
    return (
        np.sqrt(own * below + np.maximum(0.0, others_above)),
        np.sqrt(own * above + np.maximum(0.0, others_below)),
    )
