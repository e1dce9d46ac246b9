"""Markov predictor: a game as a chain of evaluations, which each player's own moves can
only worsen.

Source: Alliot 2017, sections 3.4 and 4.4. A player's transition matrix gives, for each
class of evaluation before a move (the engine's best), the frequency of each class after
the move played. The product of White's and Black's matrices, both from White's side,
represents one pair of moves. Its stationary vector has White's losses at one end, wins
at the other end, and draws between them.

The input is the score of the position before each move and the move's gain, from an
engine with one line. The paper requires 500 moves of each player.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from live.messages.values import Color, Value
from live.ratings.ferreira import Floats
from live.ratings.gains import Counts
from live.ratings.predictions import Prediction, compute_bounded_interval
from live.ratings.stationary_vector import (
    check_stochastic,
    compute_sensitivities,
    find_closed_classes,
    solve_stationary_vector,
)


class EvaluationClasses(Value):
    """Division of evaluations, from the mover's side, into classes from lost to won."""

    lower_cp: tuple[int, ...]
    """Lowest evaluation of each class except the first, centipawns, ascending."""

    def __len__(self) -> int:
        return len(self.lower_cp) + 1

    def find_class(self, score_cp: int) -> int:
        """Return the index of the class of an evaluation."""
        return bisect_right(self.lower_cp, score_cp)

    @property
    def level(self) -> Floats:
        """Return the distribution at the start of a game, shape (classes,).

        All probability is in the middle class, or half of it in each of the two middle
        classes.
        """
        distribution = np.zeros(len(self))
        for middle in ((len(self) - 1) // 2, len(self) // 2):
            distribution[middle] += 0.5
        return distribution


#: Ten classes with a width of 0.4 pawns in [-2, 2], of which the outer ones are open
#: (section 3.4, Tables 2 and 3). Zero is the border of the two middle classes. It
#: belongs to the upper class, seen from the mover's side.
TEN = EvaluationClasses(tuple(range(-160, 161, 40)))

#: Widths of the classes from zero to two pawns, centipawns. According to the paper they
#: grow logarithmically, scaled by ``f = (e^(-v/100) - e^-2) / (1 - e^-2)``, from 10 cp
#: to 50 cp (section 4.4.1). Eight equal steps of v put the edges at 200·f, which gives
#: 8.9, 11.4, 14.7, 18.8, 24.2, 31.0, 39.8 and 51.2 cp. The values here are the nearest
#: whole centipawns with the first and last width given in the paper.
NINETEEN_WIDTHS_CP = (10, 12, 15, 19, 24, 31, 39, 50)

_EDGES = tuple(accumulate(NINETEEN_WIDTHS_CP))

#: One class for zero, one class for each end (two pawns and more), and eight classes on
#: either side (section 4.4.1). An edge belongs to the class further from zero, so that
#: Black's classes mirror White's.
NINETEEN = EvaluationClasses((*(1 - edge for edge in reversed(_EDGES)), 0, 1, *_EDGES))


#: Minimum number of moves in a period for a player to count as active (Alliot 2017,
#: section 4.4.1).
ENOUGH_MOVES = 500

#: Number of moves that are added in each class of evaluation for the interval, because
#: a transition that was never observed can still happen. They do not enter the
#: estimate. With a quarter of a move, the interval has its nominal coverage for the
#: matrices of real players.
_UNSEEN_MOVES = 0.25

#: An expected score that is closer to 0 or 1 than this counts as 0 or 1.
_CERTAIN = 1e-9


class Chain(NamedTuple):
    """One player's transition matrix with one colour, from White's side."""

    color: Color
    classes: EvaluationClasses
    matrix: Floats
    """Transition probabilities, shape (classes, classes). A class without a known move
    leads to itself, as after the best move.
    """
    support: Floats
    """Effective number of moves from which each row is computed, shape (classes,). Old
    periods have less weight.
    """
    moves: int
    """Number of moves; with several periods, the number in the newest one."""


class Transitions:
    """One player's moves by evaluation before and after, by colour and period.

    Evaluations are from the mover's side. A period is a whole number that increases
    with time: a year in the paper. For one event a single period is enough.
    """

    def __init__(self, classes: EvaluationClasses = NINETEEN) -> None:
        self.classes = classes
        shape = len(classes), len(classes)
        self._counts: defaultdict[tuple[int, Color], Counts] = defaultdict(
            lambda: np.zeros(shape, dtype=np.int64)
        )

    def add(self, color: Color, best_cp: int, gain_cp: int, period: int = 0) -> None:
        """Add one move: its gain, and the score before it from the mover's side,
        centipawns.
        """
        before = self.classes.find_class(best_cp)
        after = self.classes.find_class(best_cp + gain_cp)
        self._counts[period, color][before, after] += 1

    def merge(self, other: Transitions) -> None:
        """Add the counts of ``other``, which must have the same classes."""
        for key, counts in other._counts.items():
            self._counts[key] += counts

    def build_chain(self, color: Color, *, own_color: bool = False) -> Chain:
        """Return the player's matrix with ``color``, from White's side.

        It is computed from moves with both colours, reversing both indices for the
        other colour (section 3.4). With ``own_color``, it is computed only from moves
        with that colour (note 16). The n-th period before the newest has the weight
        2^-n (section 4.4.1).
        """
        counted = {
            key: counts
            for key, counts in self._counts.items()
            if not own_color or color in key
        }
        newest = max((period for period, _ in counted), default=0)
        n = len(self.classes)
        weighted = np.zeros((n, n))
        squares = np.zeros(n)
        moves = 0
        for (period, _), counts in counted.items():
            weighted += counts * 0.5 ** (newest - period)
            squares += counts.sum(axis=1) * 0.25 ** (newest - period)
            moves += int(counts.sum()) if period == newest else 0
        rows = weighted.sum(axis=1)
        has_moves = rows > 0
        matrix = np.eye(n)
        matrix[has_moves] = weighted[has_moves] / rows[has_moves, None]
        # Kish's effective number of moves with unequal weights.
        support = np.divide(rows**2, squares, out=np.zeros(n), where=has_moves)
        if color == "black":
            # The same moves seen from the other side: M_B(i, j) = M_W(n-1-i, n-1-j)
            # (section 3.4).
            matrix = matrix[::-1, ::-1].copy()
            support = support[::-1].copy()
        return Chain(color, self.classes, matrix, support, moves)


def build_outcome_vector(n: int) -> Floats:
    """Return ``e = (0, 0.5, …, 0.5, 1)``: lost, drawn with more or less material, won
    (section 4.4.1).
    """
    vector = np.full(n, 0.5)
    vector[0] = 0
    vector[-1] = 1
    return vector


def solve_chain(white: Floats, black: Floats, start: Floats | None = None) -> Floats:
    """Return the stationary vector of ``white @ black``, a pair of moves that begins
    with White's move (section 3.4).

    Both matrices are from White's side, shape (n, n). ``start`` is the initial
    distribution of evaluations, by default uniform. It matters only for chains whose
    long-run distribution depends on the start.
    """
    return solve_stationary_vector(
        check_stochastic(white) @ check_stochastic(black), start
    )


def predict_by_markov(white: Chain, black: Chain) -> Prediction:
    """Return White's chances from the chains of both players (Alliot 2017, section 3.4
    and note 17).

    The interval is computed by the delta method: each row is a multinomial estimate. A
    change of a row changes the score by what the chain gains later from the states that
    the row leads to.
    """
    empty = [side.color for side in (white, black) if not side.support.any()]
    if empty:
        return Prediction(missing=f"no moves of {' and '.join(empty)} yet")
    chain = check_stochastic(white.matrix @ black.matrix)
    shares = solve_stationary_vector(chain, white.classes.level)
    values = build_outcome_vector(len(shares))
    score = float(shares @ values)
    cautions = [
        f"{side.color} has {side.moves} moves, fewer than {ENOUGH_MOVES}"
        for side in (white, black)
        if side.moves < ENOUGH_MOVES
    ]
    ends = find_closed_classes(chain)
    low = high = None
    if len(ends) > 1:
        cautions.append(
            f"the chain ends in one of {len(ends)} parts, so the start decides"
        )
    elif _CERTAIN < score < 1 - _CERTAIN:
        low, high = _compute_chain_interval(white, black, white.matrix, black.matrix)
    else:
        # No observed move leads back from a decided position, although such moves are
        # possible. So the interval is computed with the unseen moves added, and
        # extended to include the estimate.
        cautions.append("no move seen leads back from a decided position")
        low, high = _compute_chain_interval(
            white, black, _add_unseen(white), _add_unseen(black)
        )
        low = min(low, score)
        high = max(high, score)
    return Prediction(
        expected_score=score,
        low=low,
        high=high,
        win=float(shares[-1]),
        draw=float(shares[1:-1].sum()),
        loss=float(shares[0]),
        caution="; ".join(cautions),
    )


def _compute_chain_interval(
    white: Chain, black: Chain, of_white: Floats, of_black: Floats
) -> tuple[float, float]:
    """Return the interval by the delta method, for a chain with one closed class."""
    chain = check_stochastic(of_white @ of_black)
    shares = solve_stationary_vector(chain, white.classes.level)
    values = build_outcome_vector(len(shares))
    gathered = compute_sensitivities(chain, shares, values)
    variance = _compute_variance(white, shares, of_black @ gathered)
    variance += _compute_variance(black, shares @ of_white, gathered)
    return compute_bounded_interval(float(shares @ values), variance)


def _add_unseen(side: Chain) -> Floats:
    """Return the player's matrix with the possible moves that were not observed."""
    n = len(side.support)
    # A move preserves or worsens the evaluation: White's moves lead to lower classes,
    # and Black's moves to higher classes.
    possible = np.tri(n) if side.color == "white" else np.tri(n).T
    unseen = _UNSEEN_MOVES * possible / possible.sum(axis=1, keepdims=True)
    support = side.support[:, None]
    rows: Floats = (side.matrix * support + unseen) / (support + _UNSEEN_MOVES)
    return rows


def _compute_variance(side: Chain, visits: Floats, gathered: Floats) -> float:
    """Return the variance of the score due to the uncertainty of one player's rows.

    ``visits`` is the frequency of each class when that player moves. ``gathered`` is
    the score that the chain gains later from each class after the move.
    """
    rows = _add_unseen(side)
    spread = rows @ gathered**2 - (rows @ gathered) ** 2
    return float((visits**2 * spread / (side.support + _UNSEEN_MOVES)).sum())
