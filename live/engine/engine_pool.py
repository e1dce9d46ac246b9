"""The engine pool: requests in, results out; ties the queue, the cache and n engine processes.

One task owns each engine, from start to restart to end. What to search next is decided by
:mod:`live.engine.search_queue` alone; an engine gets its next search in the very turn of the
event loop in which its last one ended.

Loss policy game → engine: every search submitted and not dropped is answered once, with a result or
with a failure. Progress may be skipped.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections import deque
from collections.abc import Callable, Coroutine, Hashable, Iterable, Iterator
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from live.engine.engine_process import (
    EngineCommand,
    EngineProcess,
    EngineTimeouts,
    Searcher,
    check_load,
    engines_for_machine,
)
from live.engine.search import (
    Limit,
    MemoryResultCache,
    ResultCache,
    Search,
    SearchFailure,
    SearchKey,
    SearchKeys,
    SearchProgress,
    SearchResult,
)
from live.engine.search_queue import (
    DeliverResult,
    Instruction,
    ResultListener,
    SearchKind,
    SearchPriority,
    SearchQueue,
    StartSearch,
    StopSearch,
)
from live.engine.uci import EngineIdentity, SearchFinished, UciSettings
from live.errors import EngineFault, EngineKilled, EngineMoved, NotAnEngine
from live.events import EngineHealth, EngineState, QueueLengths
from live.feeds.retry import doubling

if TYPE_CHECKING:
    from live.engine.cluster import DaskCluster

log = logging.getLogger(__name__)

#: Results delivered in one turn of the event loop; the rest follow in the next.
_A_TURN = 32
#: Least time between two provisional scores of one search, seconds.
PROGRESS_S = 0.1
#: Consecutive starts that failed before ``failed`` is shown; it is still tried again.
_FAILED_AFTER = 3


class ResultDeliveries:
    """Calls what is to be called, in order, with a bounded number of calls a turn, never one inside
    another: a listener that submits a known search gets its result after it has returned.
    """

    def __init__(self) -> None:
        # Whom it is for, if somebody's result, and the call.
        self._todo: deque[tuple[Hashable, Callable[[], object]]] = deque()
        self._calling = False
        self._later: asyncio.Handle | None = None

    def add(self, call: Callable[[], object], owner: Hashable = None) -> None:
        """Call this after what was added before; in the next turn of the loop unless
        :meth:`deliver` is called.
        """
        self._todo.append((owner, call))
        if self._later is None and not self._calling:
            self._later = asyncio.get_running_loop().call_soon(self.deliver)

    def drop(self, owner: Hashable) -> None:
        """Forget what was not yet delivered to ``owner``."""
        self._todo = deque(each for each in self._todo if each[0] != owner)

    def deliver(self) -> None:
        """Deliver what one turn allows, now; nothing if called from inside a listener."""
        if self._calling:
            return
        self.close()
        self._calling = True
        try:
            for _ in range(_A_TURN):
                if self._todo:
                    self._todo.popleft()[1]()
        finally:
            self._calling = False
            if self._todo:
                self._later = asyncio.get_running_loop().call_soon(self.deliver)

    def close(self) -> None:
        """Call off what was put on the loop."""
        if self._later is not None:
            self._later.cancel()
            self._later = None


class EngineSlot:
    """One engine's life, whichever process lives it."""

    def __init__(self, index: int, pool: EnginePool) -> None:
        self.index = index
        self.process: Searcher | None = None
        # Engines lost, and starts that failed.
        self.restarts = 0
        self._pool = pool
        self._state: Literal["starting", "idle", "restarting", "failed"] = "starting"
        self._depth: int | None = None
        # Whether the engine that is up has ever answered; set when it is up no more.
        self._answered = False
        self._down = asyncio.Event()
        # Progress of the running search that waits to be reported, and when it is.
        self._unreported: SearchProgress | None = None
        self._reporting: asyncio.TimerHandle | None = None

    async def own(self, needed: asyncio.Event) -> None:
        """Keep an engine alive until cancelled; the first one starts when it is ``needed``. Whoever
        cancels this has to :meth:`close`.

        A fault of ours costs this slot its engine, and its search goes back to the queue.
        """
        if self.process is None:
            await needed.wait()
        delays, failed_starts = _delays(), 0
        while True:
            self._answered = False
            try:
                if self.process is None:
                    self.process = await self._pool.start_engine(self.index)
                failed_starts = 0
                if self.process.lost is None:
                    self._state = "idle"
                    self._down.clear()
                    self.process.on_lost = self._lose
                    self._pool.up(self.index)
                    self._tidy()
                    await self._down.wait()
            except NotAnEngine:
                # It was one when the service started: the machine is short of something,
                # or somebody is replacing the program.
                failed_starts += 1
                self.restarts += 1
            except Exception as error:
                self._blame_ourselves(error)
            if self._answered:
                delays = _delays()
            self._state = "failed" if failed_starts >= _FAILED_AFTER else "restarting"
            await self.close()
            await asyncio.sleep(next(delays))

    async def close(self) -> None:
        """End its engine."""
        self._discard_progress()
        if self.process is not None:
            # Kept until it is closed: who is cancelled meanwhile closes it once more.
            await self.process.close()
            self.process = None

    def begin(self, search_key: SearchKey) -> None:
        """Search this, now."""
        assert self.process is not None
        self._report()
        outcome = self.process.begin(search_key, self._deepened)
        outcome.add_done_callback(partial(self._ended, self.process, search_key))

    def stop(self) -> None:
        """End the running search early."""
        assert self.process is not None
        self.process.stop()

    def state(self, subject: SearchPriority | None) -> EngineState:
        """For people; ``subject`` is what the search is for."""
        process = self.process
        return EngineState(
            index=self.index,
            state="searching" if process is not None and process.searching else self._state,
            knodes_per_s=None if process is None else process.pace.knodes_per_s,
            searching="" if subject is None else f"{subject.board} ply {subject.ply}",
            depth=self._depth,
        )

    def _ended(
        self, process: Searcher, search_key: SearchKey, outcome: asyncio.Future[SearchFinished]
    ) -> None:
        """Its search ended, and so the pool hears; the engine gets the next one at once.

        Where it was lost, maybe right after its answer, the search has gone back to the queue.
        """
        if process.lost is not None:
            return
        self._discard_progress()
        finished = outcome.result()
        try:
            self._pool.finished(self.index, search_key, finished)
        except Exception as error:
            self._blame_ourselves(error)
        else:
            self._answered = self._answered or not finished.stopped
            self._tidy()

    def _tidy(self) -> None:
        if self.process is not None and not self.process.searching:
            self.process.tidy()

    def _blame_ourselves(self, error: Exception) -> None:
        log.exception("engine %d: fault in its keeper", self.index)
        if self.process is not None:
            why = f"fault in our own code ({type(error).__name__})"
            self.process.give_up(EngineFault(f"engine {self.index}", why))

    def _lose(self, fault: EngineFault) -> None:
        """Called by the process in the moment it is lost, so that no search is sent to it."""
        self._discard_progress()
        self.restarts += not isinstance(fault, EngineMoved)
        self._down.set()
        self._pool.lost(self.index, fault)

    def _deepened(self, progress: SearchProgress) -> None:
        self._depth = progress.depth
        self._unreported = progress

    def _report(self) -> None:
        """Report how far it has come, and again after a while."""
        progress, self._unreported = self._unreported, None
        self._reporting = asyncio.get_running_loop().call_later(PROGRESS_S, self._report)
        if progress is not None:
            self._pool.deepened(self.index, progress)

    def _discard_progress(self) -> None:
        self._unreported = None
        if self._reporting is not None:
            self._reporting.cancel()
            self._reporting = None


def _delays() -> Iterator[float]:
    """Waits before each restart in seconds: random, so that engines killed together do not come
    back together; doubling, up to a cap.
    """
    return doubling(random.random, first_s=0.1, cap_s=30.0, least=0.0)


class EnginePool:
    """n engines that answer searches.

    Use as an async context manager: entering starts the first engine and raises
    :class:`live.errors.NotAnEngine` when it does not speak UCI; the others start when the first
    search is submitted. All methods are for the event loop's thread.
    """

    def __init__(
        self,
        command: EngineCommand,
        limit: Limit,
        *,
        listener: ResultListener,
        settings: UciSettings = UciSettings(),  # noqa: B008  # frozen
        engines: int,
        nice: int,
        cache: ResultCache | None = None,
        cluster: DaskCluster | None = None,
        patience: EngineTimeouts | None = None,
    ) -> None:
        """``engines`` 0 means :func:`live.engine.engine_process.engines_for_machine`.

        Raises:
            ConfigError: the hash tables do not fit this machine.
        """
        self._command = command
        self._listener = listener
        self._deliveries = ResultDeliveries()
        self._start = partial(EngineProcess.start, command, settings, nice=nice, patience=patience)
        self._cache: ResultCache = MemoryResultCache() if cache is None else cache
        self._cluster = cluster
        # Seats that may have an engine of this machine; those after them need a cluster.
        self._local = engines or engines_for_machine(settings.threads)
        check_load(self._local, settings.threads, settings.hash_mb)
        self._engine_slots: list[EngineSlot] = []
        self._queue = SearchQueue(0)
        self._search_keys = SearchKeys(limit)
        self._identity: EngineIdentity | None = None
        # Set by the first request: until then one engine is enough.
        self._needed = asyncio.Event()
        self._searches = 0
        self._cache_hits = 0
        self._group = asyncio.TaskGroup()
        self._owners: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        first = await self._start_here()
        self._identity = first.identity
        if self._cluster is not None:
            await self._cluster.look(str(self.identity))
        await self._group.__aenter__()
        self._grow(self._local)
        self._engine_slots[0].process = first
        if self._cluster is not None:
            self._cluster_changed()
            self._run(self._cluster.watch(self._cluster_changed), "cluster")
        return self

    def _run(self, work: Coroutine[None, None, None], name: str) -> None:
        self._owners.append(self._group.create_task(work, name=name))

    def _grow(self, number: int) -> None:
        """Have so many slots, each with a task that owns it."""
        for index in range(len(self._engine_slots), number):
            self._queue.add()
            self._engine_slots.append(EngineSlot(index, self))
            self._run(self._engine_slots[-1].own(self._needed), f"engine[{index}]")

    def _cluster_changed(self) -> None:
        """Leave our engines for as many as the cluster has now, and come back to them."""
        assert self._cluster is not None
        self._grow(self._cluster.slots)
        for slot in self._engine_slots:
            here = isinstance(slot.process, EngineProcess)
            if slot.process is not None and here is (slot.index < self._cluster.slots):
                slot.process.give_up(EngineMoved(f"engine {slot.index}", "the cluster changed"))

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._deliveries.close()
        for task in self._owners:
            task.cancel()
        # An error of the body stays itself and is not wrapped into a group; a cancellation is
        # handed on because it may be the group's own, for an owner task that failed.
        cancelled = isinstance(error, asyncio.CancelledError)
        try:
            await self._group.__aexit__(*((kind, error, trace) if cancelled else (None,) * 3))
        finally:
            # Not by their owners: one that is cancelled before it has begun does nothing at all.
            await asyncio.gather(*(slot.close() for slot in self._engine_slots))
            if self._cluster is not None:
                await self._cluster.close()

    @property
    def identity(self) -> EngineIdentity:
        """Which engine answers. Known once entered."""
        assert self._identity is not None, "enter the pool first"
        return self._identity

    @property
    def slots(self) -> int:
        """How many searches can run at a time, with every engine up."""
        # Slots beyond wait for a larger cluster.
        return max(self._local, self._cluster.slots if self._cluster is not None else 0)

    def submit(self, search: Search, owner: Hashable, priority: SearchPriority) -> None:
        """Have ``search`` made for ``owner``; the same again only changes its priority.

        Never blocks and never delivers from inside: also a known result is delivered in the
        next turn of the event loop.
        """
        search_key = self._search_keys.key_of(search)
        found: SearchResult | SearchFailure | None
        if isinstance(search_key, SearchFailure):
            found = search_key
        elif search_key.chess960 and not self.identity.chess960:
            found = SearchFailure(f"{self.identity.name} does not play Chess960")
        elif found := self._cache.get(str(self.identity), search_key):
            self._cache_hits += priority.kind is not SearchKind.SPECULATE
        else:
            self._needed.set()
            now = time.monotonic()
            self._obey(self._queue.submit(owner, search, search_key, priority, now))
            return
        self._deliver(owner, search, found)

    def put_on_air(self, boards: Iterable[str]) -> None:
        """From now on these boards are searched before all others."""
        self._queue.put_on_air(boards)

    def drop(self, owner: Hashable) -> None:
        """Forget all requests of ``owner``; it gets nothing more."""
        self._deliveries.drop(owner)
        self._obey(self._queue.drop(owner))

    def known(self, search: Search) -> SearchResult | None:
        """The result, if it is known already; starts no search."""
        search_key = self._search_keys.key_of(search)
        if isinstance(search_key, SearchFailure):
            return None
        return self._cache.get(str(self.identity), search_key)

    def health(self) -> EngineHealth:
        """How the engines are doing."""
        waiting, parts = self._queue.waiting(), (self._cluster, self._cache)
        return EngineHealth(
            engines=tuple(
                slot.state(self._queue.subject(slot.index))
                for slot in self._engine_slots[: self.slots]
            ),
            queued=waiting.total() - waiting[SearchKind.SPECULATE],
            asked=self._queue.asked + self._cache_hits,
            waiting=QueueLengths(**{kind.name.lower(): waiting[kind] for kind in SearchKind}),
            oldest_wait_s=self._queue.oldest_wait_s(time.monotonic()),
            searches=self._searches,
            cache_hits=self._cache_hits,
            restarts=sum(slot.restarts for slot in self._engine_slots),
            set_aside=self._queue.set_aside,
            problem="; ".join(each.problem for each in parts if each and each.problem),
        )

    # What slots need and report, on the event loop; they may begin or stop a search from inside.

    async def start_engine(self, index: int) -> Searcher:
        """An engine of the cluster, or else of this machine. Raises NotAnEngine."""
        cluster = self._cluster
        if cluster is not None:
            if index >= self._local:
                await cluster.place(index)
            if index < cluster.slots:
                return cluster.engine(lambda: self._urgency(index))
        return await self._start_here()

    async def _start_here(self) -> EngineProcess:
        """A process like the first one. Raises NotAnEngine, also where it is another engine
        than the one whose scores are out already.
        """
        process = await self._start()
        if self._identity is not None and process.identity.name != self._identity.name:
            await process.close()
            raise NotAnEngine(
                self._command.argv[-1],
                f"was {self._identity.name} and is now {process.identity.name}",
                "Restart live-rate to use it",
            )
        return process

    def up(self, index: int) -> None:
        """It can be given a search."""
        self._obey(self._queue.up(index))

    def finished(self, index: int, search_key: SearchKey, finished: SearchFinished) -> None:
        """Its search ended; it can be given the next."""
        if not finished.stopped:
            self._searches += 1
            self._cache.put(str(self.identity), search_key, finished.result)
        self._obey(self._queue.finished(index, stopped=finished.stopped), result=finished.result)

    def deepened(self, index: int, progress: SearchProgress) -> None:
        """Its search has come so far; at most every ``PROGRESS_S``."""
        for owner in self._queue.watchers(index):
            self._listener.progressed(owner, progress)

    def lost(self, index: int, fault: EngineFault) -> None:
        """Its engine is gone, with the search it had; ``up`` follows when there is a new one."""
        moved, killed = isinstance(fault, EngineMoved), isinstance(fault, EngineKilled)
        self._obey(self._queue.lost(index, fault.problem, blame=not moved, killed=killed))

    def _urgency(self, index: int) -> SearchKind:
        subject = self._queue.subject(index)
        return SearchKind.SPECULATE if subject is None else subject.kind

    # Carrying out what the queue says.

    def _obey(self, instructions: list[Instruction], result: SearchResult | None = None) -> None:
        """Start and stop engines at once; deliver results in order."""
        for instruction in instructions:
            if isinstance(instruction, StartSearch):
                self._engine_slots[instruction.engine].begin(instruction.key)
            elif isinstance(instruction, StopSearch):
                self._engine_slots[instruction.engine].stop()
            elif isinstance(instruction, DeliverResult):
                found = instruction.failure or result
                assert found is not None
                self._deliver(instruction.owner, instruction.search, found)
            else:
                self._deliveries.add(lambda: self._obey(self._queue.assign()))
        if result is not None:
            self._deliveries.deliver()

    def _deliver(
        self, owner: Hashable, search: Search, found: SearchResult | SearchFailure
    ) -> None:
        self._deliveries.add(partial(self._listener.searched, owner, search, found), owner)
