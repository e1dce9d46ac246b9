"""Conformance (Alliot 2017, sections 3.2 and 4.2): the loss of a player's moves against
the engine's choices, and the score that it predicts.
"""

import math
from collections import Counter
from collections.abc import Iterable
from typing import Literal, NamedTuple

from live.ratings.predictions import Prediction, explain_no_data
from live.ratings.score_interval import compute_score_interval, subtract_shares

#: First ply that counts: the first nine moves are opening knowledge (Alliot 2017,
#: section 2.4).
FIRST_COUNTED_PLY = 19
#: Positions with a score beyond plus or minus this are omitted, centipawns (Guid and
#: Bratko, as quoted in Alliot 2017, section 3.2.2).
GUID_BRATKO_LIMIT_CP = 200
CENTIPAWNS = 100


class ScoreWeighting(NamedTuple):
    """Decrease of a loss's weight with the evaluation (Alliot 2017, section 3.2.3)."""

    k1_pawns: float
    """Constant for a mover who is equal or ahead; above 0."""
    k2_pawns: float
    """Constant for a mover who is behind; below 0."""

    def compute_divisor(self, best_cp: int) -> float:
        """Return ``1 + v/k``, which is at least 1; ``v`` is ``best_cp`` in pawns."""
        k_pawns = self.k1_pawns if best_cp >= 0 else self.k2_pawns
        return 1 + best_cp / (CENTIPAWNS * k_pawns)


#: Constants from the regression of the mean error on the evaluation (section 3.2.3).
#: The paper divides the slope of its line a·v + b by the offset. Dividing the offset by
#: the slope would make the line level (0.69 and -0.28). The published constants are
#: used, because the paper's figures are computed with them.
REGRESSION = ScoreWeighting(1.44, -3.53)
#: Constants with the best correlation of p(0.3) with the results of games (section
#: 4.2.1).
BEST_CORRELATION = ScoreWeighting(0.75, -3.30)


class ConformanceLine(NamedTuple):
    """A line from a difference of indicators to the expected result of a game.

    It is ``r = β·d + α``, where r is -1 for a loss, 0 for a draw and +1 for a win
    (Alliot 2017, section 4.2.1 with its note 25).
    """

    alpha: float
    beta: float

    def predict_score(self, difference: float) -> float:
        """Return ``r`` as a score of White, limited to [0, 1]."""
        return min(1.0, max(0.0, (1 + self.beta * difference + self.alpha) / 2))


class Conformance(NamedTuple):
    """A kind of conformance, with the constants that the paper found for it."""

    name: Literal["raw", "guid-bratko", "ponderated"]
    x_cp: int
    """The x at which p(x) correlates best with results, centipawns."""
    fit: ConformanceLine | None = None
    """Line to results at that x; None if the paper gives none."""
    ponderation: ScoreWeighting | None = None

    def measure_move(self, best_cp: int, gain_cp: int) -> float | None:
        """Return the conformance of a move, in centipawns, at least 0.

        Return None if this kind of conformance omits the move. ``best_cp`` is the score
        of the best move, ``gain_cp`` the same-search gain.
        """
        shortfall_cp = -gain_cp
        if self.ponderation is not None:
            return shortfall_cp / self.ponderation.compute_divisor(best_cp)
        if self.name == "guid-bratko" and abs(best_cp) > GUID_BRATKO_LIMIT_CP:
            return None
        return float(shortfall_cp)


def build_ponderated(k1_pawns: float, k2_pawns: float) -> Conformance:
    """Return weighted ("ponderated") conformance with constants for which the paper
    gives no line.
    """
    return Conformance("ponderated", 30, None, ScoreWeighting(k1_pawns, k2_pawns))


#: The three kinds of conformance, with x, α and β from section 4.2.1.
RAW = Conformance("raw", 30, ConformanceLine(4.3e-2, 4.00))
GUID_BRATKO = Conformance("guid-bratko", 20, ConformanceLine(6.7e-2, 3.37))
PONDERATED = Conformance(
    "ponderated", 30, ConformanceLine(-7.0e-3, 3.64), BEST_CORRELATION
)
#: Weighted ("ponderated") conformance with the constants of the regression. The paper
#: gives no line for it.
PONDERATED_BY_REGRESSION = build_ponderated(*REGRESSION)


def is_counted(ply: int, *, forced: bool = False) -> bool:
    """Return whether a move counts (Alliot 2017, section 4.2.1).

    A move counts unless it is one of the first nine or the only legal one; ``ply``
    counts from 1.
    """
    return ply >= FIRST_COUNTED_PLY and not forced


class AccumulatedConformance:
    """Counts of one player's moves by conformance, for the indicator p(x) (Alliot 2017,
    section 4.2.1).

    >>> moves = AccumulatedConformance()
    >>> for ply, gain_cp in ((21, 0), (23, -40), (25, -10), (27, 0)):
    ...     moves.add(15, gain_cp, ply=ply)
    >>> moves.n, moves.share
    (4, 0.75)
    """

    def __init__(self, kind: Conformance = RAW) -> None:
        self.kind = kind
        # Number of moves by conformance, which is rounded up to whole centipawns
        # because exact weighted values hardly ever repeat.
        self._counts: Counter[int] = Counter()

    def add(
        self, best_cp: int, gain_cp: int, *, ply: int, forced: bool = False
    ) -> None:
        """Add one move of the player; ignore a move that does not count."""
        conformance_cp = self.kind.measure_move(best_cp, gain_cp)
        if conformance_cp is not None and is_counted(ply, forced=forced):
            self._counts[math.ceil(conformance_cp)] += 1

    @property
    def n(self) -> int:
        """Return the number of moves counted."""
        return self._counts.total()

    @property
    def within_count(self) -> int:
        """Return the number of counted moves with at most the x of this kind."""
        return self.count_within(self.kind.x_cp)

    @property
    def share(self) -> float | None:
        """Return ``p(x)`` for the x of this kind; None while no move counts."""
        return self.compute_share_at(self.kind.x_cp)

    def count_within(self, x_cp: int) -> int:
        """Return the number of counted moves with a conformance of at most ``x_cp``.

        This takes time proportional to the number of distinct values.
        """
        return sum(count for value, count in self._counts.items() if value <= x_cp)

    def compute_share_at(self, x_cp: int) -> float | None:
        """Return ``p(x)`` at any whole x in centipawns; None while no move counts."""
        return self.count_within(x_cp) / self.n if self.n else None

    def compute_interval_at(self, x_cp: int) -> tuple[float | None, float | None]:
        """Return the 95 % interval of :meth:`compute_share_at`; None while no move
        counts.
        """
        within = self.count_within(x_cp)
        return (
            compute_score_interval(self.n, within, within) if self.n else (None, None)
        )


def average_periods(newest_first: Iterable[AccumulatedConformance]) -> float | None:
    """Return ``Q``, the weighted mean of p(x) over periods (Alliot 2017, section
    3.2.1).

    Each period has half the weight of the next newer one. All periods must be of one
    kind of conformance. Return None if no move counts.
    """
    within = n = 0.0
    for age, period in enumerate(newest_first):
        weight = 0.5**age
        within += weight * period.within_count
        n += weight * period.n
    return within / n if n else None


def predict_by_conformance(
    white: AccumulatedConformance, black: AccumulatedConformance
) -> Prediction:
    """Return ``β (p_w - p_b) + α`` with the published constants (Alliot 2017, section
    4.2).

    The interval is that of a difference of two shares. It ignores the uncertainty of
    the line. White and Black must have the same kind of conformance.
    """
    fit = white.kind.fit
    if fit is None:
        return Prediction(
            missing="no line to results is published for this ponderation"
        )
    if missing := explain_no_data(white.n, black.n, "counted move"):
        return missing
    differences = subtract_shares(
        white.within_count, white.n, black.within_count, black.n
    )
    score, low, high = map(fit.predict_score, differences)
    return Prediction(expected_score=score, low=low, high=high)
