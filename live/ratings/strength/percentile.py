"""How well a game was played, beside games of players of the same rating in positions as hard.

The mean ``log(1 + loss)`` of a player's moves, less what players of his Elo lose in such positions,
is ranked among games never learned from. What is expected also knows how the opponent has fared up
to each move: hard games are hard for both, and figures that leave that out show which game it was.
The share of it is set so that the ranks of the two players of a game do not go together
(``LossModel.shared``). The rank describes what was seen; it claims nothing about strength.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from live.ratings.strength.loss_model import LossModel, Ranks, between

#: Fewer moves of a player have no rank.
LEAST_MOVES = 5
#: The share of the opponent's losses changes after so many of the player's own moves.
STAGES_MOVES = (10, 20, 40)
#: So many moves without any surprise are added to those of the opponent.
OPPONENT_MOVES = 3.0


class Surprise(NamedTuple):
    """One turn beside what players of the mover's Elo lose there."""

    ply: int
    above: float
    """``log(1 + loss)``, less its mean."""
    variance: float

    @property
    def standardised(self) -> float:
        return self.above / math.sqrt(self.variance)


def stage_of(moves: int) -> int:
    """Index of the stage in which a player with so many moves is."""
    return bisect_right(STAGES_MOVES, moves)


def percentile(
    model: LossModel,
    elo: float,
    own: Sequence[Surprise],
    opponent: Sequence[Surprise],
    *,
    over: bool = False,
) -> float | None:
    """Per cent of games like this that were played worse, 0 to 100, after the player's ``own``
    turns; both sides in order of plies. A game that is ``over`` is ranked among finished ones. None
    under five moves, and where the model holds no ranks.
    """
    if len(own) < LEAST_MOVES or not model.ranks:
        return None
    total = variance = told = 0.0
    at = 0
    for number, turn in enumerate(own):
        while at < len(opponent) and opponent[at].ply < turn.ply:
            told += opponent[at].standardised
            at += 1
        shared = model.shared[stage_of(number)] if model.shared else 0.0
        total += turn.above - shared * told / (at + OPPONENT_MOVES) * math.sqrt(turn.variance)
        variance += turn.variance
    return rank(model, elo, len(own), total, variance, over=over)


def rank(
    model: LossModel, elo: float, moves: int, total: float, variance: float, *, over: bool = False
) -> float:
    """The percentile of a sum of losses beside what was expected, and of its variance by chance."""
    nodes = model.final_ranks if over and model.final_ranks else model.ranks
    low, high, share = between([each.moves for each in nodes], moves)
    z = min(max(model.z(elo), model.z(model.elo_range[0])), model.z(model.elo_range[1]))
    below = [
        _share_below(each, distance(each, moves, total, variance) - each.by_elo * z)
        for each in (nodes[low], nodes[high])
    ]
    return 100 * (1 - (below[0] + (below[1] - below[0]) * share))


def distance(ranks: Ranks, moves: int, total: float, variance: float) -> float:
    """The sum standardised by chance and by how games differ."""
    return total / math.sqrt(variance * (1 + ranks.spread * moves))


def _share_below(ranks: Ranks, at: float) -> float:
    k = len(ranks.quantiles)
    return float(np.interp(at, ranks.quantiles, (np.arange(k) + 0.5) / k))
