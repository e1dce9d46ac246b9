"""Algorithm 1 as the game goes on: how the two players of a game compare by their gains.

Source: Ferreira 2012, section 4, Algorithm 1. The cross-correlation is never formed. One gain more
only adds the pairs it makes with the gains of the other player, and a Fenwick tree (Fenwick 1994)
per player counts those in O(log bins).
"""

from __future__ import annotations

from live.events import Color
from live.ratings.expected_score import difference_of
from live.ratings.gain import MAX_GAIN_CP, checked_gain
from live.ratings.gain_histogram import GainHistogram


class RankedGains:
    """One player's gains, with the number of them below any gain in O(log bins).

    The Fenwick tree is sparse (a dict of its non-zero nodes): a full array of 15,601 bins for
    each player of each game would cost a large event a hundred megabytes.
    """

    __slots__ = ("_nodes", "histogram")

    def __init__(self) -> None:
        self.histogram = GainHistogram()
        self._nodes: dict[int, int] = {}

    def add(self, gain_cp: int) -> None:
        """Raises ValueError for what is no gain."""
        self.histogram.add(gain_cp)
        self._shift(gain_cp, 1)

    def remove(self, gain_cp: int) -> None:
        """Raises ValueError when no such gain is counted."""
        self.histogram.remove(gain_cp)
        self._shift(gain_cp, -1)

    def below(self, gain_cp: int) -> int:
        """How many gains lie below ``gain_cp``."""
        checked_gain(gain_cp)
        nodes = self._nodes
        index = gain_cp + MAX_GAIN_CP
        count = 0
        while index > 0:
            count += nodes.get(index, 0)
            index &= index - 1
        return count

    def half_points_of(self, gain_cp: int) -> int:
        """What a move of ``gain_cp`` scores against all gains here: 2 for each it beats, 1 for
        each it equals (Ferreira 2012, Eq. 2, doubled to stay whole).
        """
        return 2 * self.below(gain_cp) + self.histogram[gain_cp]

    def _shift(self, gain_cp: int, by: int) -> None:
        nodes = self._nodes
        index = gain_cp + MAX_GAIN_CP + 1
        while index <= 2 * MAX_GAIN_CP + 1:
            count = nodes.get(index, 0) + by
            if count:
                nodes[index] = count
            else:
                del nodes[index]
            index += index & -index


class Algorithm1:
    """White against Black over all gains so far (Ferreira 2012, Algorithm 1).

    >>> game = Algorithm1()
    >>> for color, gain_cp in (("white", 0), ("black", -35), ("white", -10), ("black", 0)):
    ...     game.add(color, gain_cp)
    >>> game.expected_score
    0.625
    >>> round(game.difference, 1)
    90.1
    """

    __slots__ = ("_half_points", "black", "white")

    def __init__(self) -> None:
        self.white = RankedGains()
        self.black = RankedGains()
        # White's score over all pairs of gains, in half points: an integer, so that removing
        # undoes adding exactly.
        self._half_points = 0

    def add(self, color: Color, gain_cp: int) -> None:
        """One more move of ``color``; O(log bins). Raises ValueError for what is no gain."""
        self._side(color).add(gain_cp)
        self._half_points += self._half_points_with(color, gain_cp)

    def remove(self, color: Color, gain_cp: int) -> None:
        """Take a move of ``color`` back; O(log bins). Raises ValueError when it is not counted."""
        self._side(color).remove(gain_cp)
        self._half_points -= self._half_points_with(color, gain_cp)

    @property
    def expected_score(self) -> float | None:
        """White's expected score (Eq. 2); None while either player has no gain."""
        pairs = self.white.histogram.n * self.black.histogram.n
        return self._half_points / (2 * pairs) if pairs else None

    @property
    def difference(self) -> float | None:
        """Elo by which White is the stronger; None while unknown or unbounded."""
        score = self.expected_score
        return None if score is None else difference_of(score)

    def _side(self, color: Color) -> RankedGains:
        return self.white if color == "white" else self.black

    def _half_points_with(self, color: Color, gain_cp: int) -> int:
        if color == "white":
            return self.black.half_points_of(gain_cp)
        return 2 * self.white.histogram.n - self.white.half_points_of(gain_cp)
