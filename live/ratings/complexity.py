"""Indicators of the complexity of a position (Alliot 2017, section 3.1)."""

from collections.abc import Sequence
from itertools import pairwise

from live.messages.from_sources import Score
from live.messages.values import Value


class Complexity(Value):
    """Indicators that can be computed from one search alone."""

    stability_cp: float
    """Mean change of the score between depths n and n + 1."""
    jump_cp: int
    """Largest change between two successive depths."""
    jump_depth: int | None
    """The n of the largest change, the least if there are several; None if nothing
    changed.
    """
    changes: int
    """Number of pairs of successive depths that both had a score."""


def measure_complexity(by_depth: Sequence[Score | None]) -> Complexity | None:
    """Return the indicators of a search from its exact score after each depth (section
    3.1).

    ``by_depth`` begins with depth 1. Only changes between successive depths count, so a
    pair is omitted if either depth has no score. None if no two successive depths have
    scores. A mate is ±3900, as everywhere.
    """
    changes = [
        (abs(after.cp - before.cp), depth)
        for depth, (before, after) in enumerate(pairwise(by_depth), 1)
        if before is not None and after is not None
    ]
    if not changes:
        return None
    # The largest change comes first; of equal changes, the one at the least depth.
    jump_cp, depth = max(changes, key=lambda change: (change[0], -change[1]))
    mean = sum(change for change, _ in changes) / len(changes)
    return Complexity(mean, jump_cp, depth if jump_cp else None, len(changes))
