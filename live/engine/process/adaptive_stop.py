"""When a search has seen enough before its limit (Alliot 2017, section 2.3).

His limit was four minutes; here the times are shares of whatever the limit is. Under a limit of
nodes the answer depends on what the engine prints alone, so that it is the same every time.

His second condition, a game decided for three turns, is left out: a position's score would depend
on the scores of the positions before it, and could not be shared by boards, cached, or searched
before theirs are known.
"""

from __future__ import annotations

from collections.abc import Sequence

from live.engine.search import Limit
from live.events import Score


def used_share(limit: Limit, nodes: int, time_ms: int) -> float:
    """How much of the limit is used up, 0 to 1; nothing of a limit of depth."""
    if limit.nodes is not None:
        return nodes / limit.nodes
    return time_ms / limit.movetime_ms if limit.movetime_ms is not None else 0.0


def enough(by_depth: Sequence[Score | None], used: float) -> bool:
    """Whether to stop now, at the end of an iteration.

    Args:
        by_depth: exact score after each depth from 1, the one just finished last.
        used: share of the limit, 0 to 1.

    Always after three quarters; else after a quarter plus a fortieth for each centipawn by which
    the scores of the last three depths differ (there: 4 x (10 + max |difference|) / 40 minutes of
    four, the scores seen from alternating sides).
    """
    if used >= 0.75:
        return True
    last = [score.cp for score in by_depth[-3:] if score is not None]
    if len(last) < 3:
        return False
    return used > (10 + max(last) - min(last)) / 40
