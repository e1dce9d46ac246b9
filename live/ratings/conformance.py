"""Conformance: how far a move falls short of the engine's, and what a game's worth of it says.

Source: Alliot 2017, "Who is the Master?", ICGA Journal 39(1), sections 3.2 and 4.2. The
conformance of a move is ``δ = v_best - v_played``, both scores from one search of the position
before it, so it is never negative and is the same-search gain (``live.ratings.gain``) without its
sign. Three kinds:

* raw: δ itself;
* Guid and Bratko's: δ, where the best score lies within two pawns of level;
* ponderated: δ / (1 + v/k), smaller the more one side is ahead.

The indicator of a player is ``p(x)``, the share of his counted moves with a conformance of at most
x. Needs the score of the position before each move and the same-search gain; an engine at one
line gives both. Scores are from the mover's side throughout.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Literal

import msgspec

from live.events import MATE_CP, Score
from live.ratings.gain import checked_gain
from live.ratings.prediction import Prediction
from live.ratings.score_interval import score_interval

# --- conformance --------------------------------------------------------------------------------

# Conformance: how far a move falls short of the engine's, and what a game's worth of it says.
#
# Source: Alliot 2017, "Who is the Master?", ICGA Journal 39(1), sections 3.2 and 4.2. The
# conformance of a move is ``δ = v_best - v_played``, both scores from one search of the position
# before it, so it is never negative and is the same-search gain (``live.ratings.gain``) without
# its sign. Three kinds:
#
# * raw: δ itself;
# * Guid and Bratko's: δ, where the best score lies within two pawns of level;
# * ponderated: δ / (1 + v/k), smaller the more one side is ahead.
#
# The indicator of a player is ``p(x)``, the share of his counted moves with a conformance of at
# most x. Needs the score of the position before each move and the same-search gain; an engine at
# one line gives both. Scores are from the mover's side throughout.


#: The first nine game turns count as opening knowledge (Alliot 2017, section 2.4).
FIRST_COUNTED_PLY = 19

#: Guid and Bratko leave out positions above or below this (Alliot 2017, section 3.2.2).
DECIDED_CP = 200

CENTIPAWNS = 100


class ScoreWeighting(msgspec.Struct, frozen=True):
    """How the weight of a shortfall falls with the evaluation (Alliot 2017, section 3.2.3)."""

    k1_pawns: float
    """Above 0: used where the mover is level or ahead."""
    k2_pawns: float
    """Below 0: used where the mover is behind."""

    def divisor(self, best_cp: int) -> float:
        """``1 + v/k``, at least 1."""
        k_pawns = self.k1_pawns if best_cp >= 0 else self.k2_pawns
        return 1 + best_cp / (CENTIPAWNS * k_pawns)


#: From the mean error over the evaluation (section 3.2.3). The paper divides the slope of its line
#: a·v + b by its offset; the offset divided by the slope is what would level that line (0.69 and
#: -0.28). The constants are kept as published, since its figures rest on them.
REGRESSION = ScoreWeighting(1.44, -3.53)

#: Best correlation of p(0.3) with the outcome of games (section 4.2.1).
BEST_CORRELATION = ScoreWeighting(0.75, -3.30)


class ConformanceLine(msgspec.Struct, frozen=True):
    """The line from a difference of indicators to a game's result: ``r = β·d + α``, where r is
    -1 for a loss, 0 for a draw, +1 for a win (Alliot 2017, section 4.2.1 with its note 25).
    """

    alpha: float
    beta: float

    def result(self, difference: float) -> float:
        """``r``, which may lie beyond ±1."""
        return self.beta * difference + self.alpha

    def expected_score(self, difference: float) -> float:
        """``r`` as a score of White, cut to [0, 1]."""
        return min(1.0, max(0.0, (1 + self.result(difference)) / 2))


class Conformance(msgspec.Struct, frozen=True):
    """One way to measure how far a move falls short, with what the paper found for it."""

    name: Literal["raw", "guid-bratko", "ponderated"]
    x_cp: int
    """The x at which p(x) goes best with results, centipawns."""
    fit: ConformanceLine | None = None
    """The line at that x; None where the paper gives none."""
    ponderation: ScoreWeighting | None = None

    def of(self, best_cp: int, gain_cp: int) -> float | None:
        """Conformance in centipawns, at least 0; None where this kind leaves the move out.

        ``best_cp`` is the score of the best move, ``gain_cp`` the same-search gain. Raises
        ValueError for what is neither.
        """
        shortfall_cp = -checked_shortfall(best_cp, gain_cp)
        if self.ponderation is not None:
            return shortfall_cp / self.ponderation.divisor(best_cp)
        if self.name == "guid-bratko" and abs(best_cp) > DECIDED_CP:
            return None
        return float(shortfall_cp)


#: The three kinds with x, α and β of section 4.2.1.
RAW = Conformance("raw", 30, ConformanceLine(4.3e-2, 4.00))
GUID_BRATKO = Conformance("guid-bratko", 20, ConformanceLine(6.7e-2, 3.37))
PONDERATED = Conformance("ponderated", 30, ConformanceLine(-7.0e-3, 3.64), BEST_CORRELATION)
#: The other constants; the paper gives no line for them.
PONDERATED_BY_REGRESSION = Conformance("ponderated", 30, None, REGRESSION)


def checked_shortfall(best_cp: int, gain_cp: int) -> int:
    """Give back ``gain_cp`` if it is a same-search gain from ``best_cp``.

    Raises ValueError for anything else, successive gains above 0 included.
    """
    if isinstance(best_cp, bool) or not isinstance(best_cp, int) or abs(best_cp) > MATE_CP:
        raise ValueError(f"score {best_cp!r} is not a whole number within ±{MATE_CP} cp")
    if checked_gain(gain_cp) > 0:
        raise ValueError(f"gain {gain_cp} cp is above 0: conformance needs the same-search gain")
    return gain_cp


def is_counted(ply: int, *, forced: bool = False) -> bool:
    """Whether a move counts: not in the first nine game turns, and not the only legal one
    (Alliot 2017, section 4.2.1). ``ply`` counts from 1.
    """
    return ply >= FIRST_COUNTED_PLY and not forced


class AccumulatedConformance:
    """One player's moves as the indicator p(x) (Alliot 2017, section 4.2.1).

    >>> moves = AccumulatedConformance()
    >>> for ply, gain_cp in ((21, 0), (23, -40), (25, -10), (27, 0)):
    ...     moves.add(15, gain_cp, ply=ply)
    >>> moves.n, moves.share
    (4, 0.75)
    """

    def __init__(self, kind: Conformance = RAW) -> None:
        self.kind = kind
        # By the whole centipawn that it is at most: weighed ones are hardly ever the same twice.
        self._counts: Counter[int] = Counter()
        self.n = 0
        """Moves counted."""
        self.within = 0
        """Counted moves with a conformance of at most the kind's own x."""

    def add(self, best_cp: int, gain_cp: int, *, ply: int, forced: bool = False) -> None:
        """One more move of the player, which counts or not. Raises ValueError for no gain."""
        conformance_cp = self.kind.of(best_cp, gain_cp)
        if conformance_cp is None or not is_counted(ply, forced=forced):
            return
        self._counts[math.ceil(conformance_cp)] += 1
        self.n += 1
        self.within += conformance_cp <= self.kind.x_cp

    @property
    def share(self) -> float | None:
        """``p(x)`` at the kind's own x; None while no move counts."""
        return self.within / self.n if self.n else None

    def within_cp(self, x_cp: int) -> int:
        """Counted moves with a conformance of at most ``x_cp``; O(distinct centipawns)."""
        return sum(count for value, count in self._counts.items() if value <= x_cp)

    def share_at(self, x_cp: int) -> float | None:
        """``p(x)`` at any whole x, centipawns; None while no move counts."""
        return self.within_cp(x_cp) / self.n if self.n else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 % interval of ``share``; None while no move counts."""
        return score_interval(self.n, self.within, self.within) if self.n else None


def remembered_share(
    newest_first: Iterable[AccumulatedConformance], x_cp: int | None = None
) -> float | None:
    """``Q``: p(x) over periods, each counting half as much as the next newer one (Alliot 2017,
    section 3.2.1). None when no move counts. Raises ValueError for different kinds.
    """
    kind: Conformance | None = None
    within = n = 0.0
    for age, period in enumerate(newest_first):
        if kind is not None and period.kind != kind:
            raise ValueError(f"{kind.name} and {period.kind.name} conformance do not add up")
        kind = period.kind
        weight = 0.5**age
        within += weight * (period.within if x_cp is None else period.within_cp(x_cp))
        n += weight * period.n
    return within / n if n else None


def predict_by_conformance(
    white: AccumulatedConformance, black: AccumulatedConformance
) -> Prediction:
    """``β (p_w - p_b) + α`` with the published constants (Alliot 2017, section 4.2).

    The interval is that of a difference of shares (Newcombe 1998, method 10, with the ends of
    ``live.ratings.score_interval``); the line itself is taken as known. Raises ValueError for
    different kinds.
    """
    if white.kind != black.kind:
        raise ValueError(f"{white.kind.name} and {black.kind.name} conformance do not compare")
    return predict_by_shares((white.n, white.within), (black.n, black.within), white.kind)


def predict_by_shares(
    white: tuple[int, int], black: tuple[int, int], kind: Conformance = RAW
) -> Prediction:
    """:func:`predict_by_conformance` from moves counted, and how many of them conform."""
    fit = kind.fit
    if fit is None:
        return Prediction(missing="no line to results is published for this ponderation")
    if not white[0] or not black[0]:
        who = " and ".join(name for name, n in (("White", white[0]), ("Black", black[0])) if not n)
        return Prediction(missing=f"no counted move of {who} yet")
    ends = [score_interval(n, within, within) for n, within in (white, black)]
    difference = white[1] / white[0] - black[1] / black[0]
    shares = white[1] / white[0], black[1] / black[0]
    below = math.hypot(shares[0] - ends[0][0], ends[1][1] - shares[1])
    above = math.hypot(ends[0][1] - shares[0], shares[1] - ends[1][0])
    return Prediction(
        expected_score=fit.expected_score(difference),
        low=fit.expected_score(difference - below),
        high=fit.expected_score(difference + above),
    )


# --- complexity ---------------------------------------------------------------------------------

# Complexity of a position, from what the engine reported while it searched.
#
# Source: Alliot 2017, section 3.1. Five indicators, which the paper correlates with the size of
# the error made in the position (section 4.1, Table 4): the mean and the largest change of the
# score between successive depths, the depth of the largest, the product of both, and the depth
# reached for the time taken. Needs the score after each depth (``SearchResult.by_depth``).


class Complexity(msgspec.Struct, frozen=True):
    """The indicators of one search that need nothing but that search."""

    stability_cp: float
    """Mean change of the score between depths n and n + 1."""
    jump_cp: int
    """Largest such change."""
    jump_depth: int | None
    """The n of the largest change, the least if there are several; None if nothing changed."""
    changes: int
    """Pairs of successive depths that both had a score."""


def complexity(by_depth: Sequence[Score | None]) -> Complexity | None:
    """The indicators of a search from its exact score after each depth from 1 (section 3.1).

    A change is counted between successive depths only, so one with no score at either depth is
    left out. None when no two successive depths have scores. A mate is ±3900, as everywhere.
    """
    changes = [
        (abs(after.cp - before.cp), depth)
        for depth, (before, after) in enumerate(pairwise(by_depth), 1)
        if before is not None and after is not None
    ]
    if not changes:
        return None
    # Largest change first; among equals the least depth.
    jump_cp, depth = max(changes, key=lambda change: (change[0], -change[1]))
    mean = sum(change for change, _ in changes) / len(changes)
    return Complexity(mean, jump_cp, depth if jump_cp else None, len(changes))


#: Times are distinguished by these, milliseconds: from 1 ms to some seventeen minutes, each a half
#: longer than the one before. (The paper's searches took 60 to 240 s, in steps of 30 s.)
TIME_EDGES_MS = tuple(sorted({round(1.5**step) for step in range(35)}))


class DepthsByTime:
    """Which depths searches of about the same time reached: ``p(d, t)`` of section 3.1, Fig. 1.

    A search costs O(1) to add and O(depths) to judge.
    """

    __slots__ = ("_depths", "edges_ms")

    def __init__(self, edges_ms: Sequence[int] = TIME_EDGES_MS) -> None:
        self.edges_ms = tuple(edges_ms)
        self._depths: dict[int, Counter[int]] = {}

    def add(self, depth: int, time_ms: int) -> None:
        """One more search. Raises ValueError for a negative depth or time."""
        self._at(depth, time_ms)[depth] += 1

    def depth_against_time(self, depth: int, time_ms: int) -> float | None:
        """``C(m)``, from -1 (shallower than usual for its time) to 1 (deeper): the distance of
        p(d, t) from the share of the most usual depth, relative to the latter (section 3.1).

        To the letter of the formula a position that is complex, so that the engine gets less deep,
        has a value below 0. None when no search of about that time is known. Of several most
        usual depths the least counts.
        """
        depths = self._at(depth, time_ms)
        if not depths:
            return None
        usual, most = max(depths.items(), key=lambda item: (item[1], -item[0]))
        distance = (most - depths[depth]) / most
        return -distance if depth <= usual else distance

    def shares(self) -> Iterator[tuple[int, int | None, int, int, float]]:
        """Every class of time, from and below which milliseconds, with each depth reached in it,
        how often, and that as a share: the points of the paper's Figure 1, in their order.
        """
        edges = (0, *self.edges_ms, None)
        for at in sorted(self._depths):
            depths = self._depths[at]
            for depth, count in sorted(depths.items()):
                yield edges[at] or 0, edges[at + 1], depth, count, count / depths.total()

    def _at(self, depth: int, time_ms: int) -> Counter[int]:
        if depth < 0 or time_ms < 0:
            raise ValueError(f"no search has depth {depth} and takes {time_ms} ms")
        return self._depths.setdefault(bisect_right(self.edges_ms, time_ms), Counter())
