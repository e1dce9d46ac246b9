"""How long an engine may take before it counts as hung."""

from __future__ import annotations

from typing import Final

import msgspec

from live.engine.search import Limit, SearchResult

#: What is left of the slowest search at each later one. One that was starved for a minute would
#: else have every hang of that day go unseen for twenty; so it counts for some sixty searches.
_FADE: Final = 0.95


class EngineTimeouts(msgspec.Struct, frozen=True):
    """How long an engine may take, in seconds, before it counts as hung."""

    uciok_s: float = 30.0
    """From start to ``uciok``: a program that is silent for longer is no engine."""
    handshake_s: float = 30.0
    """From start to the first ``readyok``: a cold disk, a big network, a busy machine."""
    floor_s: float = 10.0
    """The least any search may take."""
    slack: float = 20.0
    """How many times longer than expected a search may take: the machine may be busy."""
    unknown_depth_s: float = 120.0
    """A search to a depth nobody has timed yet."""
    cluster_s: float = 30.0
    """What a cluster may take beyond the search itself."""
    stop_s: float = 5.0
    """From ``stop`` to ``bestmove``; measured: 1 ms."""
    quit_s: float = 0.5
    """From ``quit`` to the end of the process, before it is killed."""
    memory_mb: int = 2048
    """Resident memory an engine may grow to beyond its hash."""


class EnginePace:
    """How fast one engine has been, and so how long its next search may take. No clock of its
    own.
    """

    def __init__(self, patience: EngineTimeouts) -> None:
        self._patience = patience
        self.knodes_per_s: float | None = None
        # Slowest search seen under each limit, seconds, as far as it still counts.
        self._slowest: dict[Limit, float] = {}

    def took(self, limit: Limit, seconds: float, result: SearchResult) -> None:
        """Learn from a search that reached its limit."""
        self._slowest[limit] = max(self._slowest.get(limit, 0.0) * _FADE, seconds)
        if result.nodes > 1000 and seconds > 0.005:
            speed = result.nodes / seconds / 1000
            old = self.knodes_per_s
            self.knodes_per_s = speed if old is None else old + 0.1 * (speed - old)

    def longest_s(self, limit: Limit) -> float:
        """The longest a search under ``limit`` may take, seconds."""
        patience = self._patience
        if limit.movetime_ms is not None:
            return limit.movetime_ms / 1000 + patience.floor_s
        slowest = self._slowest.get(limit)
        if limit.nodes is not None:
            # 50 knodes/s is a tenth of the slowest engine measured.
            expected = slowest or limit.nodes / 1000 / (self.knodes_per_s or 50.0)
            return max(patience.floor_s, expected * patience.slack)
        # One position takes a hundred times as long as another to the same depth.
        return max(patience.unknown_depth_s, (slowest or 0.0) * patience.slack)
