"""By how much one figure lies nearer to the truth than another on the same player-games.

Games of one player are alike, so the interval is that of a bootstrap which draws players, each with
all of his games (Efron and Tibshirani 1993, *An Introduction to the Bootstrap*, 8.2).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

#: Draws of an interval.
DRAWS = 4000


class ErrorPair(NamedTuple):
    """One player-game judged in two ways; absolute errors, Elo."""

    player: str
    one: float
    other: float


class PairedErrors(NamedTuple):
    """Mean absolute errors over the same player-games, Elo."""

    games: int
    players: int
    one: float
    other: float
    difference: float
    """``other`` less ``one``."""
    low: float
    """Of the 95 % interval of the difference."""
    high: float


def paired_errors(pairs: Iterable[ErrorPair]) -> PairedErrors | None:
    """None with fewer than two players, who say nothing of how players differ."""
    by_player: dict[str, list[tuple[float, float]]] = {}
    for player, one, other in pairs:
        by_player.setdefault(player, []).append((one, other))
    if len(by_player) < 2:
        return None
    # Of each player: games, and the sums of both errors.
    sums = np.array([(len(held), *np.sum(held, axis=0)) for held in by_player.values()])
    games, one, other = sums.sum(axis=0).tolist()
    drawn = np.random.default_rng(3).integers(len(sums), size=(DRAWS, len(sums)))
    of_draw = sums[drawn].sum(axis=1)
    low, high = np.quantile((of_draw[:, 2] - of_draw[:, 1]) / of_draw[:, 0], (0.025, 0.975))
    return PairedErrors(
        int(games),
        len(sums),
        one / games,
        other / games,
        (other - one) / games,
        float(low),
        float(high),
    )
