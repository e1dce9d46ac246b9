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
    return Standings(model).percentile(elo, own, len(own), opponent, over=over)


class _Sums(NamedTuple):
    """After some of the player's own turns."""

    total: float
    variance: float
    """Of the own losses by chance."""
    told: float
    """How the opponent has fared up to the last of them: summed, standardised."""
    at: int
    """How many of the opponent's turns that is."""
    last: Surprise | None
    """The last of these."""


_BEFORE = _Sums(0.0, 0.0, 0.0, 0, None)


class Standings:
    """The same of one growing game: sums are kept after each own turn for as long as what they rest
    on stands, so that one more turn costs O(1).

    ``own`` must be truncated here too when turns are taken back; the opponent's turns may be others
    at each call, as long as a turn is replaced by another object.
    """

    __slots__ = ("_model", "_sums")

    def __init__(self, model: LossModel) -> None:
        self._model = model
        self._sums = [_BEFORE]

    def truncate(self, moves: int) -> None:
        """Only the first so many own turns stand."""
        del self._sums[moves + 1 :]

    def percentile(
        self,
        elo: float,
        own: Sequence[Surprise],
        moves: int,
        opponent: Sequence[Surprise],
        *,
        over: bool = False,
    ) -> float | None:
        """After the first ``moves`` of the ``own`` turns; as :func:`percentile`."""
        if moves < LEAST_MOVES or not self._model.ranks:
            return None
        found = self._after(own, moves, opponent)
        return rank(self._model, elo, moves, found.total, found.variance, over=over)

    def _after(self, own: Sequence[Surprise], moves: int, opponent: Sequence[Surprise]) -> _Sums:
        sums, shared = self._sums, self._model.shared
        known = min(moves, len(sums) - 1)
        while known and not _stands(sums[known], own[known - 1].ply, opponent):
            known -= 1
        if known < moves:
            del sums[known + 1 :]
        total, variance, told, at, _ = sums[known]
        for number in range(known, moves):
            turn = own[number]
            while at < len(opponent) and opponent[at].ply < turn.ply:
                told += opponent[at].standardised
                at += 1
            share = shared[stage_of(number)] if shared else 0.0
            total += turn.above - share * told / (at + OPPONENT_MOVES) * math.sqrt(turn.variance)
            variance += turn.variance
            sums.append(_Sums(total, variance, told, at, opponent[at - 1] if at else None))
        return sums[moves]


def _stands(held: _Sums, ply: int, opponent: Sequence[Surprise]) -> bool:
    """Whether the opponent's turns before ``ply`` are still those that were summed."""
    at = held.at
    if at > len(opponent) or (at and opponent[at - 1] is not held.last):
        return False
    return at == len(opponent) or opponent[at].ply > ply


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
    """Between the quantiles in a straight line; number i of k stands for (i + 1/2) / k."""
    found = ranks.quantiles
    above = bisect_right(found, at)
    if above in (0, len(found)):
        return (min(above, len(found) - 1) + 0.5) / len(found)
    along = (at - found[above - 1]) / (found[above] - found[above - 1])
    return (above - 0.5 + along) / len(found)
