"""Gains of moves, and histograms of gains.

The gain of a move is the number of centipawns that the mover won or lost by playing it.
There are two definitions, and every result names the one it was computed with
(``live.messages.figures.GainKind``):

* ``same-search`` (Alliot 2017, section 3.3): the score of the move played minus the
  score of the engine's first choice, both searched from the position before the move.
  It is 0 for the first choice itself and never above 0.
* ``successive`` (Ferreira 2012, Algorithm 1, step 2): the score of the position after
  the move minus the score of the position before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from live.messages.from_sources import MATE_CP, Score
from live.messages.values import Color

#: Largest gain, centipawns: from being mated to giving mate (Ferreira 2012, section 3).
MAX_GAIN_CP = 2 * MATE_CP
Counts = npt.NDArray[np.int64]


def compute_same_search_gain(best: Score, played: Score, mover: Color) -> int:
    """Return the gain in centipawns from the mover's side, at most 0.

    ``best`` and ``played`` are the scores, from White's side, of two moves in the same
    position. A move that scores better than the first choice does so by search noise,
    and counts 0 (Alliot 2017, section 3.3).

    >>> from live.messages.from_sources import Score
    >>> compute_same_search_gain(Score(30), Score(-25), "white")
    -55
    >>> compute_same_search_gain(Score(-25), Score(30), "black")
    -55
    """
    return min(0, compute_successive_gain(best, played, mover))


def compute_successive_gain(before: Score, after: Score, mover: Color) -> int:
    """Return the gain in centipawns from the mover's side.

    It is ``after - before`` for White, and ``before - after`` for Black. Scores are
    White's (Ferreira 2012, Algorithm 1, step 2). Raises ValueError if the gain exceeds
    the difference of two mates, which means that a score was not clamped to ±3900.

    >>> from live.messages.from_sources import Score
    >>> compute_successive_gain(Score(30), Score(55), "white")
    25
    >>> compute_successive_gain(Score(30), Score(55), "black")
    -25
    """
    rise_cp = after.cp - before.cp
    return _check_gain(rise_cp if mover == "white" else -rise_cp)


def _check_gain(gain_cp: int) -> int:
    if not -MAX_GAIN_CP <= gain_cp <= MAX_GAIN_CP:
        raise ValueError(
            f"gain {gain_cp} cp is outside ±{MAX_GAIN_CP}: clamp the scores first"
        )
    return gain_cp


class GainHistogram:
    """Counts of gains per whole centipawn in [-7800, 7800].

    Only gains that occur are stored, because a game has only some forty distinct gains
    and a service stores many games.

    >>> gains = GainHistogram([0, -12, 0, -40])
    >>> gains.n, gains.mean
    (4, -13.0)
    """

    def __init__(self, gains_cp: Iterable[int] = ()) -> None:
        """Count these gains, in centipawns. Raises ValueError for a gain
        out of range.
        """
        self._counts = Counter(map(_check_gain, gains_cp))

    def add(self, gain_cp: int) -> None:
        """Count one more move. Raises ValueError for a gain out of range."""
        self._counts[_check_gain(gain_cp)] += 1

    def merge(self, other: GainHistogram) -> None:
        """Add the counts of ``other``."""
        self._counts.update(other._counts)

    @property
    def n(self) -> int:
        """Return the number of moves counted."""
        return self._counts.total()

    @property
    def mean(self) -> float | None:
        """Return the mean gain in centipawns; None while no move is counted."""
        n = self.n
        return (
            sum(gain_cp * count for gain_cp, count in self._counts.items()) / n
            if n
            else None
        )

    def __getitem__(self, gain_cp: int) -> int:
        return self._counts[gain_cp]

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Yield pairs of a gain in centipawns and its count, in ascending order of
        gains.
        """
        return iter(sorted(self._counts.items()))

    def to_columns(self) -> tuple[Counts, Counts]:
        """Return the distinct gains (centipawns, ascending) and their counts.

        Both are arrays of shape (k,).
        """
        table = np.array(list(self), dtype=np.int64).reshape(-1, 2)
        return table[:, 0], table[:, 1]


def cross_correlate(x: GainHistogram, y: GainHistogram) -> tuple[int, Counts]:
    """Return the distribution of differences between a gain of ``x`` and a gain of
    ``y``.

    See Ferreira 2012, Eq. 1. The result is ``(lowest, pairs)``: ``pairs[i]`` of the
    ``x.n * y.n`` pairs have a difference X - Y of ``lowest + i`` centipawns. All
    numbers are integers, so nothing is rounded. Both histograms must have gains.
    """
    (x_cp, x_count) = x.to_columns()
    (y_cp, y_count) = y.to_columns()
    lowest = int(x_cp[0] - y_cp[-1])
    pairs = np.zeros(int(x_cp[-1] - y_cp[0]) - lowest + 1, dtype=np.int64)
    np.add.at(pairs, np.subtract.outer(x_cp, y_cp) - lowest, np.outer(x_count, y_count))
    return lowest, pairs
