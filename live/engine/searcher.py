"""Base class of engines on this machine and on a cluster: it runs one search at a time,
measures the speed, and derives deadlines from the speed.
"""

from __future__ import annotations

import abc
import asyncio
from collections.abc import Callable
from typing import Any

from live.engine.search import Limit, SearchProgress, SearchResult
from live.engine.search_key import SearchKey
from live.engine.uci import SearchFinished
from live.errors import EngineFault
from live.messages.values import Value


class EngineTimeouts(Value):
    """Times in seconds after which an engine counts as hung, and its memory limit."""

    handshake_s: float = 60.0
    """Time from the start to the first ``readyok``: enough for a cold disk, a large
    neural network and a busy machine.
    """
    floor_s: float = 10.0
    """Least deadline of any search."""
    slack: float = 20.0
    """Factor from the expected time of a search to its deadline, because the machine
    can be busy.
    """
    unknown_depth_s: float = 120.0
    """Deadline of a search to a depth that has not been timed yet."""
    cluster_s: float = 30.0
    """Additional time for a search on a cluster."""
    stop_s: float = 5.0
    """Time from ``stop`` to ``bestmove``; 1 ms was measured."""
    quit_s: float = 0.5
    """Time from ``quit`` until a process that still runs is killed."""
    memory_mb: int = 4096
    """Memory in MB that an engine can use beyond its hash and its threads (Linux). Node
    reserves 1800 MB for the embedded engine, and never uses most of it.
    """


#: Factor applied to the slowest time at each later search, so that a slow search counts
#: for about sixty searches. Otherwise, after one search that got no processor time for
#: a minute, every hang of that day could last twenty minutes.
_FADE = 0.95


class EnginePace:
    """Speed of one engine so far, and deadline of its next search. Reads no clock."""

    def __init__(self, patience: EngineTimeouts) -> None:
        self._patience = patience
        self.knodes_per_s: float | None = None
        # Slowest time of a search under each limit, seconds, reduced by ``_FADE`` at
        # each later search.
        self._slowest: dict[Limit, float] = {}

    def record_search(self, limit: Limit, seconds: float, result: SearchResult) -> None:
        """Record a search that reached its limit."""
        self._slowest[limit] = max(self._slowest.get(limit, 0.0) * _FADE, seconds)
        if result.nodes > 1000 and seconds > 0.005:
            speed = result.nodes / seconds / 1000
            old = self.knodes_per_s
            self.knodes_per_s = speed if old is None else old + 0.1 * (speed - old)

    def compute_deadline_s(self, limit: Limit) -> float:
        """Return the deadline of a search under ``limit``, in seconds."""
        patience = self._patience
        if limit.movetime_ms is not None:
            return limit.movetime_ms / 1000 + patience.floor_s
        slowest = self._slowest.get(limit)
        if limit.nodes is not None:
            # 50 knodes/s is a tenth of the speed of the slowest engine measured.
            expected = slowest or limit.nodes / 1000 / (self.knodes_per_s or 50.0)
            return max(patience.floor_s, expected * patience.slack)
        # One position can take a hundred times as long as another to the same depth.
        return max(patience.unknown_depth_s, (slowest or 0.0) * patience.slack)


def retrieve_exception(future: asyncio.Future[Any]) -> None:
    """Retrieve the exception, so that asyncio does not warn when nobody awaits it."""
    if not future.cancelled():
        future.exception()


OnProgress = Callable[[SearchProgress], None]


class Searcher(abc.ABC):
    """One engine that runs one search at a time, on this machine or elsewhere.

    ``on_lost`` is called once with the reason, when the engine ends or is given up,
    unless :meth:`close` was called before.
    """

    def __init__(self, patience: EngineTimeouts) -> None:
        self.on_lost: Callable[[EngineFault], None] | None = None
        # Reason why the engine can no longer be used; None while it can. Set only once,
        # in :meth:`give_up`.
        self.lost: EngineFault | None = None
        self.pace = EnginePace(patience)
        self._patience = patience
        self._loop = asyncio.get_running_loop()
        self._outcome: asyncio.Future[SearchFinished] | None = None

    @property
    def is_searching(self) -> bool:
        return self._outcome is not None and not self._outcome.done()

    def begin_search(
        self, search_key: SearchKey, on_progress: OnProgress | None = None
    ) -> asyncio.Future[SearchFinished]:
        """Start a search at once, and return a future for its end.

        The future raises EngineFault for an engine that died, hung or printed an
        impossible answer, and has already been killed. ``on_progress`` is called with
        every exact score of a new depth, if the engine reports any.
        """
        if self.is_searching:
            raise RuntimeError("one search at a time")
        self._outcome = self._loop.create_future()
        self._outcome.add_done_callback(retrieve_exception)
        if self.lost is not None:
            self._outcome.set_exception(self.lost)
        else:
            self._send_search(search_key, on_progress)
        return self._outcome

    def give_up(self, fault: EngineFault) -> None:
        """End the engine, fail its running search with ``fault``, and report the loss.
        Does nothing if the engine is already lost.
        """
        if self.lost is not None:
            return
        self.lost = fault
        self._end_engine(fault)
        if self._outcome is not None and not self._outcome.done():
            self._outcome.set_exception(fault)
        if self.on_lost is not None:
            self.on_lost(fault)

    def prepare_next_search(self) -> None:  # noqa: B027  # most need none
        """Prepare an idle engine for its next search."""

    @abc.abstractmethod
    def stop_search(self) -> None:
        """End the running search now; its outcome is then ``stopped``."""

    @abc.abstractmethod
    async def close(self) -> None:
        """End the engine. Never raises."""

    @abc.abstractmethod
    def _send_search(
        self, search_key: SearchKey, on_progress: OnProgress | None
    ) -> None:
        """Start a search; :meth:`_set_outcome` is called when it ends."""

    @abc.abstractmethod
    def _end_engine(self, fault: EngineFault) -> None:
        """End the engine's running work."""

    def _set_outcome(self, finished: SearchFinished) -> None:
        if self._outcome is not None and not self._outcome.done():
            self._outcome.set_result(finished)
