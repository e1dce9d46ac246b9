"""One place for an engine: start it, hand it searches, replace it when it is lost."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Iterator
from typing import Final, Literal, Protocol

from live.engine.process.engine_timeouts import EnginePace
from live.engine.process.uci_conversation import SearchFinished
from live.engine.search import SearchProgress
from live.engine.search_key import SearchKey
from live.errors import EngineFault, EngineMoved, NotAnEngine
from live.events import EngineState
from live.network.retry import doubling


class Searcher(Protocol):
    """One engine, one search at a time; see
    :class:`live.engine.process.engine_process.EngineProcess`.
    """

    on_lost: Callable[[EngineFault], None] | None
    """Called once when it can be used no more, unless :meth:`close` was called before."""
    lost: EngineFault | None
    pace: EnginePace

    @property
    def searching(self) -> bool: ...

    def begin(
        self, search_key: SearchKey, on_progress: Callable[[SearchProgress], None] | None = None
    ) -> None: ...

    async def outcome(self) -> SearchFinished: ...

    def stop(self) -> None: ...

    def tidy(self) -> None: ...

    def give_up(self, fault: EngineFault) -> None:
        """Let it be lost for this reason, now."""

    async def close(self) -> None: ...


log = logging.getLogger(__name__)

#: Least time between two provisional scores of one search, seconds.
PROGRESS_S: Final = 0.1
#: Consecutive starts that failed before ``failed`` is shown; it is still tried again.
_FAILED_AFTER: Final = 3


class SlotOwner(Protocol):
    """Gets the reports of a slot: the pool. Called on the event loop; may begin or stop a search
    from inside.
    """

    async def start_engine(self, slot: int) -> Searcher:
        """A new engine. Raises NotAnEngine."""

    def up(self, slot: EngineSlot) -> None:
        """It can be given a search."""

    def finished(self, slot: EngineSlot, search_key: SearchKey, finished: SearchFinished) -> None:
        """Its search ended; it can be given the next."""

    def deepened(self, slot: EngineSlot, progress: SearchProgress) -> None:
        """Its search has come so far; at most every ``PROGRESS_S``."""

    def lost(self, slot: EngineSlot, fault: EngineFault) -> None:
        """Its engine is gone, with the search it had; ``up`` follows when there is a new one."""


class EngineSlot:
    """One engine's life, whichever process lives it."""

    def __init__(
        self, index: int, owner: SlotOwner, rng: random.Random, clock: Callable[[], float]
    ) -> None:
        self.index = index
        self.process: Searcher | None = None
        # Engines lost, and starts that failed.
        self.restarts = 0
        self._owner = owner
        self._rng = rng
        self._clock = clock
        self._state: Literal["starting", "idle", "restarting", "failed"] = "starting"
        self._search_key: SearchKey | None = None
        # The owner counts on an engine here.
        self._up = False
        self._depth: int | None = None
        self._knodes_per_s: float | None = None
        # Set when the owner task has something to look at.
        self._news = asyncio.Event()
        # Progress of the running search: when last reported, what waits, and its timer.
        self._reported_at = 0.0
        self._unreported: SearchProgress | None = None
        self._reporting: asyncio.TimerHandle | None = None

    async def own(self, needed: asyncio.Event) -> None:
        """Keep an engine alive until cancelled; the first one starts when it is ``needed``.

        A fault of ours costs this slot its engine, and its search goes back to the queue.
        """
        delays = restart_delays(self._rng, first_s=1.0)
        while True:
            try:
                await self._own(needed)
            except Exception as error:
                log.exception("engine %d: fault in its keeper", self.index)
                if self._up:
                    why = f"fault in our own code ({type(error).__name__})"
                    self._lose(EngineFault(f"engine {self.index}", why))
            self._state = "restarting"
            await asyncio.sleep(next(delays))

    async def _own(self, needed: asyncio.Event) -> None:
        delays = restart_delays(self._rng)
        failed_starts = 0
        try:
            if self.process is None:
                await needed.wait()
            while True:
                try:
                    if self.process is None:
                        self.process = await self._owner.start_engine(self.index)
                except NotAnEngine:
                    # It was one when the service started: the machine is short of something,
                    # or somebody is replacing the program.
                    failed_starts += 1
                    self.restarts += 1
                    self._state = "failed" if failed_starts >= _FAILED_AFTER else "restarting"
                else:
                    failed_starts = 0
                    if await self._serve(self.process):
                        delays = restart_delays(self._rng)
                    self._state = "restarting"
                    await self.process.close()
                    self.process = None
                await asyncio.sleep(next(delays))
        finally:
            self._discard_progress()
            if self.process is not None:
                await self.process.close()
                self.process = None

    def begin(self, search_key: SearchKey) -> None:
        """Search this, now."""
        assert self.process is not None
        self._search_key = search_key
        self._reported_at = self._clock()
        self.process.begin(search_key, self._deepened)
        self._news.set()

    def stop(self) -> None:
        """End the running search early."""
        assert self.process is not None
        self.process.stop()

    def state(self, searching: str) -> EngineState:
        """For people; ``searching`` is what the search is for."""
        busy = self.process is not None and self.process.searching
        return EngineState(
            index=self.index,
            state="searching" if busy else self._state,
            knodes_per_s=self._knodes_per_s,
            searching=searching,
            depth=self._depth,
        )

    async def _serve(self, process: Searcher) -> bool:
        """Search until the engine is lost; whether it ever answered."""
        answered = False
        if process.lost is not None:
            return answered
        process.on_lost = self._lose
        self._state = "idle"
        self._up = True
        self._owner.up(self)
        while process.lost is None:
            if not process.searching:
                process.tidy()
                self._news.clear()
                await self._news.wait()
                continue
            try:
                finished = await process.outcome()
            except EngineFault:
                break
            if process.lost is not None:
                # It died right after its answer, and the search has gone back to the queue.
                break
            answered = answered or not finished.stopped
            self._finish(process, finished)
        return answered

    def _finish(self, process: Searcher, finished: SearchFinished) -> None:
        self._discard_progress()
        self._knodes_per_s = process.pace.knodes_per_s
        search_key, self._search_key = self._search_key, None
        assert search_key is not None
        self._owner.finished(self, search_key, finished)

    def _lose(self, fault: EngineFault) -> None:
        """Called by the process in the moment it is lost, so that no search is sent to it."""
        self._discard_progress()
        self._search_key = None
        self._up = False
        self.restarts += not isinstance(fault, EngineMoved)
        self._news.set()
        self._owner.lost(self, fault)

    def _deepened(self, progress: SearchProgress) -> None:
        """Report it if the last one is long enough ago, else later."""
        self._depth = progress.depth
        self._unreported = progress
        if self._reporting is not None:
            return
        wait_s = self._reported_at + PROGRESS_S - self._clock()
        if wait_s <= 0:
            self._report()
        else:
            self._reporting = asyncio.get_running_loop().call_later(wait_s, self._report)

    def _report(self) -> None:
        progress = self._unreported
        self._discard_progress()
        if progress is not None:
            self._reported_at = self._clock()
            self._owner.deepened(self, progress)

    def _discard_progress(self) -> None:
        self._unreported = None
        if self._reporting is not None:
            self._reporting.cancel()
            self._reporting = None


def restart_delays(
    rng: random.Random, first_s: float = 0.1, cap_s: float = 30.0
) -> Iterator[float]:
    """Waits before each restart in seconds: random, so that engines killed together do not come
    back together; doubling, up to a cap.
    """
    return doubling(rng.random, first_s=first_s, cap_s=cap_s, least=0.0)
