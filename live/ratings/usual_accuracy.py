"""Accuracy that knows how hard the positions were: a player's, beside that of players rated alike.

Accuracy per cent by lichess's formula says nothing of the positions: everybody is accurate in easy
ones. So each move is set beside the moves that players of the same rating choose in the same
position (:mod:`live.human`), all of them measured from the same score.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from scipy.special import stdtrit

from live.events import Score
from live.ratings.accuracy import move_accuracy

#: Fewer positions say nothing.
LEAST_POSITIONS = 5


class OneMove(NamedTuple):
    """Accuracies in one position, 0 to 100."""

    own: float
    usual: float
    """The mean over the moves that the others choose."""


class Compared(NamedTuple):
    """Mean accuracies over the same positions, 0 to 100."""

    positions: int
    own: float
    usual: float
    low: float
    """95 % interval of ``own - usual``."""
    high: float


def one_move(
    best_cp: int, own_loss_cp: float, chosen: Sequence[tuple[float, float]]
) -> OneMove | None:
    """``best_cp``: the position's score, the mover's side; ``chosen``: how many of the others
    choose a move, on any scale, and what it loses, centipawns. None where nobody chooses.
    """
    total = math.fsum(share for share, _ in chosen)
    if not total > 0:
        return None
    usual = math.fsum(share * _accuracy(best_cp, loss) for share, loss in chosen) / total
    return OneMove(_accuracy(best_cp, own_loss_cp), usual)


def compared(moves: Mapping[int, OneMove]) -> Compared | None:
    """Over the moves of one side, by ply; None below ``LEAST_POSITIONS``.

    The interval is Student's over the differences.
    """
    n = len(moves)
    if n < LEAST_POSITIONS:
        return None
    own = math.fsum(each.own for each in moves.values()) / n
    usual = math.fsum(each.usual for each in moves.values()) / n
    squares = math.fsum((each.own - each.usual - own + usual) ** 2 for each in moves.values())
    reach = float(stdtrit(n - 1, 0.975)) * math.sqrt(squares / (n - 1) / n)
    return Compared(n, own, usual, own - usual - reach, own - usual + reach)


def _accuracy(best_cp: int, loss_cp: float) -> float:
    after_cp = best_cp - max(0, round(loss_cp))
    return move_accuracy(Score(best_cp), Score(after_cp), "white")
