"""The gain of a move: how many centipawns the mover won or lost by playing it.

Two definitions, and every result names the one it used (``live.events.GainKind``):

* ``same-search`` (Alliot 2017, section 3.3): the score of the move played minus the score of the
  engine's first choice, both searched from the position before the move. It is 0 for the first
  choice itself and never above 0.
* ``successive`` (Ferreira 2012, Algorithm 1, step 2): the score of the position after the move
  minus the score of the position before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from live.events import MATE_CP, Color, Score

#: The largest gain: from being mated to mating (Ferreira 2012, section 3).
MAX_GAIN_CP = 2 * MATE_CP

Counts = npt.NDArray[np.int64]


def same_search_gain(best: Score, played: Score, mover: Color) -> int:
    """Gain in centipawns, mover's side, at most 0.

    ``best`` and ``played`` are scores of two moves from the same position, White's side. A move
    that scores better than the first choice did so by search noise, and counts 0
    (Alliot 2017, section 3.3).

    >>> from live.events import Score
    >>> same_search_gain(Score(30), Score(-25), "white")
    -55
    >>> same_search_gain(Score(-25), Score(30), "black")
    -55
    """
    return min(0, successive_gain(best, played, mover))


def successive_gain(before: Score, after: Score, mover: Color) -> int:
    """Gain in centipawns, mover's side: ``after - before`` for White, the negative for Black.

    Scores are White's side (Ferreira 2012, Algorithm 1, step 2). Raises ValueError when a score
    lies outside ±3900, since then it was never clamped.

    >>> from live.events import Score
    >>> successive_gain(Score(30), Score(55), "white")
    25
    >>> successive_gain(Score(30), Score(55), "black")
    -25
    """
    rise_cp = after.cp - before.cp
    return checked_gain(rise_cp if mover == "white" else -rise_cp)


def checked_gain(gain_cp: int) -> int:
    """Give back ``gain_cp`` if it is a whole number of centipawns in [-7800, 7800].

    Raises ValueError for anything else, NaN and fractions included: one such value in a histogram
    would spoil every figure drawn from it.
    """
    if isinstance(gain_cp, bool) or not isinstance(gain_cp, int):
        raise ValueError(f"gain {gain_cp!r} is not a whole number of centipawns")
    if not -MAX_GAIN_CP <= gain_cp <= MAX_GAIN_CP:
        raise ValueError(f"gain {gain_cp} cp is outside ±{MAX_GAIN_CP}: clamp the scores first")
    return gain_cp


# --- gain histogram -----------------------------------------------------------------------------

# A player's gains as counts per centipawn, and the exact comparison of two such histograms.
#
# Source: Ferreira 2012, section 4: the normalised histogram at a resolution of one centipawn stands
# for the distribution of gain, and the cross-correlation of two of them (Eq. 1) gives the expected
# score between two players (Eq. 2).


class GainHistogram:
    """Counts per whole centipawn in [-7800, 7800].

    Kept sparse, since a game has some forty distinct gains and a service holds many games.

    >>> gains = GainHistogram([0, -12, 0, -40])
    >>> gains.n, gains.mean
    (4, -13.0)
    """

    __slots__ = ("_counts",)

    def __init__(self, gains_cp: Iterable[int] = ()) -> None:
        self._counts: dict[int, int] = {}
        for gain_cp in gains_cp:
            self.add(gain_cp)

    def add(self, gain_cp: int, moves: int = 1) -> None:
        """Count so many more moves; below 0 takes moves back. Raises ValueError for what is no
        gain, and for a move that was never added.
        """
        count = self._counts.get(checked_gain(gain_cp), 0) + moves
        if count < 0:
            raise ValueError(f"gain {gain_cp} cp was never added, so it cannot be taken back")
        self._counts[gain_cp] = count
        if not count:
            del self._counts[gain_cp]

    def merge(self, other: GainHistogram) -> None:
        """Count all moves of ``other`` too, as if each had been added."""
        for gain_cp, count in other:
            self.add(gain_cp, count)

    @property
    def n(self) -> int:
        """Moves counted."""
        return sum(self._counts.values())

    @property
    def mean(self) -> float | None:
        """Mean gain in centipawns; None while empty."""
        n = self.n
        return sum(gain_cp * count for gain_cp, count in self._counts.items()) / n if n else None

    def __getitem__(self, gain_cp: int) -> int:
        return self._counts.get(gain_cp, 0)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Pairs of gain in centipawns and its count, gains ascending."""
        return iter(sorted(self._counts.items()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GainHistogram) and self._counts == other._counts

    __hash__ = None  # type: ignore[assignment]  # it changes, so it is no key

    def columns(self) -> tuple[Counts, Counts]:
        """Distinct gains (centipawns, ascending) and their counts, both of shape (k,)."""
        table = np.array(list(self), dtype=np.int64).reshape(-1, 2)
        return table[:, 0], table[:, 1]


def cross_correlation(x: GainHistogram, y: GainHistogram) -> tuple[int, Counts]:
    """How many pairs of a gain of ``x`` and one of ``y`` differ by how much (Ferreira 2012, Eq. 1).

    Gives ``(lowest, pairs)``: ``pairs[i]`` of the ``x.n * y.n`` pairs have a difference X - Y of
    ``lowest + i`` centipawns. Whole numbers, so nothing is rounded. Raises ValueError when either
    is empty.
    """
    if not x.n or not y.n:
        raise ValueError("an empty histogram of gains has no distribution to compare")
    (x_cp, x_count), (y_cp, y_count) = x.columns(), y.columns()
    lowest = int(x_cp[0] - y_cp[-1])
    pairs = np.zeros(int(x_cp[-1] - y_cp[0]) - lowest + 1, dtype=np.int64)
    np.add.at(pairs, np.subtract.outer(x_cp, y_cp) - lowest, np.outer(x_count, y_count))
    return lowest, pairs


def expected_score_between(x: GainHistogram, y: GainHistogram) -> float | None:
    """Algorithm 1: the expected score of X against Y, ``P(X > Y) + 0.5 P(X = Y)`` over all pairs
    of a gain of each (Ferreira 2012, section 4, Eq. 2); None while either has none.

    >>> expected_score_between(GainHistogram([0, -10]), GainHistogram([-35, 0]))
    0.625
    """
    (x_cp, x_count), (y_cp, y_count) = x.columns(), y.columns()
    if not len(x_cp) or not len(y_cp):
        return None
    below = np.concatenate([[0], np.cumsum(y_count)])
    halves = below[np.searchsorted(y_cp, x_cp)] + below[np.searchsorted(y_cp, x_cp, "right")]
    return int(x_count @ halves) / (2 * x.n * y.n)
