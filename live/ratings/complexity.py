"""Indicators of the complexity of a position (Alliot 2017, section 3.1)."""

from collections.abc import Sequence
from itertools import pairwise

from live.messages.from_sources import Score
from live.messages.values import Value


class Complexity(Value):
    """Indicators that can be computed from a single search."""

    stability_cp: float
    """Mean change of the score from one depth to the next, centipawns."""
    jump_cp: int
    """Largest change of the score from one depth to the next, centipawns."""
    jump_depth: int | None
    """The depth n of the largest change, which was from n to n + 1. The smallest n if
    there are several; None if the score never changed.
    """
    changes: int
    """Number of pairs of successive depths that both had a score."""


def measure_complexity(by_depth: Sequence[Score | None]) -> Complexity | None:
    """Return the indicators of a search from its exact score after each depth (section
    3.1).

    ``by_depth`` begins with depth 1. Only changes between successive depths count, so a
    pair is omitted if either depth has no score. Return None if no pair remains. A mate
    counts as ±3900 centipawns.
    """
    changes = [
        (abs(after.cp - before.cp), depth)
        for depth, (before, after) in enumerate(pairwise(by_depth), 1)
        if before is not None and after is not None
    ]
    if not changes:
        return None
    # The largest change; of equal changes, the one at the smallest depth.
    jump_cp, depth = max(changes, key=lambda change: (change[0], -change[1]))
    mean = sum(change for change, _ in changes) / len(changes)
    return Complexity(mean, jump_cp, depth if jump_cp else None, len(changes))
