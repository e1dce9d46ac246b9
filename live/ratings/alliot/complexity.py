"""Complexity of a position, from what the engine reported while it searched.

Source: Alliot 2017, section 3.1. Five indicators, which the paper correlates with the size of the
error made in the position (section 4.1, Table 4): the mean and the largest change of the score
between successive depths, the depth of the largest, the product of both, and the depth reached for
the time taken. Needs the score after each depth (``SearchResult.by_depth``).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec

from live.events import Score


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

    @property
    def jump_by_depth(self) -> int:
        """Largest change times its depth, centipawn plies; 0 if nothing changed."""
        return self.jump_cp * (self.jump_depth or 0)


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

    A search costs O(1) to add or take back and O(depths) to judge.
    """

    __slots__ = ("_depths", "edges_ms")

    def __init__(self, edges_ms: Sequence[int] = TIME_EDGES_MS) -> None:
        self.edges_ms = tuple(edges_ms)
        self._depths: dict[int, Counter[int]] = {}

    def add(self, depth: int, time_ms: int) -> None:
        """One more search. Raises ValueError for a negative depth or time."""
        self._at(depth, time_ms)[depth] += 1

    def remove(self, depth: int, time_ms: int) -> None:
        """Take a search back. Raises ValueError when there is none such."""
        depths = self._at(depth, time_ms)
        if not depths[depth]:
            raise ValueError(f"no search of depth {depth} in {time_ms} ms to take back")
        depths[depth] -= 1
        if not depths[depth]:
            del depths[depth]

    def share(self, depth: int, time_ms: int) -> float | None:
        """``p(d, t)``: share of searches of about that time that reached that depth; None when
        there was none of that time.
        """
        depths = self._at(depth, time_ms)
        n = depths.total()
        return depths[depth] / n if n else None

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
