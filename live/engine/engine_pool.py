"""The engine pool: accepts requests for searches and returns results. It connects the
queue, the cache and n engine processes.

Each engine slot has a task that starts its engine, restarts it and ends it. Only
:mod:`live.engine.search_queue` decides what to search next; an engine gets its next
search in the same turn of the event loop in which its previous search ended.

Each search that is submitted and not dropped is answered once, with a result or a
failure. Reports of progress can be skipped.
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

from live.engine.engine_process import EngineProcess
from live.engine.engine_programs import (
    EngineCommand,
    check_load,
    count_engines_for_machine,
)
from live.engine.result_cache import MemoryResultCache, ResultCache
from live.engine.search import (
    Limit,
    Search,
    SearchFailure,
    SearchProgress,
    SearchResult,
)
from live.engine.search_key import SearchKey, SearchKeys
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
from live.engine.searcher import EngineTimeouts, Searcher
from live.engine.uci import EngineIdentity, SearchFinished, UciSettings
from live.errors import EngineFault, EngineKilled, EngineMoved, NotAnEngine
from live.messages.health import EngineHealth, EngineState, QueueLengths
from live.process.backoff import generate_doubling_s

if TYPE_CHECKING:
    from live.engine.cluster import ClusterConnection

log = logging.getLogger(__name__)

#: Number of results delivered in one turn of the event loop; the rest follow in later
#: turns.
_BATCH_SIZE = 32
#: Least time between two provisional scores of one search, seconds.
PROGRESS_S = 0.1
#: Number of consecutive failed starts after which a slot is shown as ``failed``. Its
#: engine is still started again.
_FAILED_AFTER = 3


class ResultDeliveries:
    """Queue of calls that are made in order, a limited number in each turn of the event
    loop.

    No call is made inside another. If a listener submits a search whose result is
    known, the result is delivered after the listener has returned.
    """

    def __init__(self) -> None:
        # Each call, with the owner of the result that it delivers (None for other
        # calls).
        self._todo: deque[tuple[Hashable, Callable[[], object]]] = deque()
        self._calling = False
        self._later: asyncio.Handle | None = None

    def add_call(self, call: Callable[[], object], owner: Hashable = None) -> None:
        """Queue a call after all calls added before it.

        The call is made in the next turn of the event loop, or earlier by
        :meth:`deliver_batch`.
        """
        self._todo.append((owner, call))
        if self._later is None and not self._calling:
            self._later = asyncio.get_running_loop().call_soon(self.deliver_batch)

    def drop_calls(self, owner: Hashable) -> None:
        """Drop the calls for ``owner`` that have not been made yet."""
        self._todo = deque(
            waiting_call for waiting_call in self._todo if waiting_call[0] != owner
        )

    def deliver_batch(self) -> None:
        """Make up to ``_BATCH_SIZE`` calls now. Does nothing while another call
        runs.
        """
        if self._calling:
            return
        self.cancel_batch()
        self._calling = True
        try:
            for _ in range(_BATCH_SIZE):
                if self._todo:
                    self._todo.popleft()[1]()
        finally:
            self._calling = False
            if self._todo:
                self._later = asyncio.get_running_loop().call_soon(self.deliver_batch)

    def cancel_batch(self) -> None:
        """Cancel the batch that is scheduled on the event loop."""
        if self._later is not None:
            self._later.cancel()
            self._later = None


class EngineSlot:
    """Slot of the pool for one engine. An engine that ends is replaced."""

    def __init__(self, index: int, pool: EnginePool) -> None:
        self.index = index
        self.process: Searcher | None = None
        # Number of lost engines plus number of failed starts.
        self.restarts = 0
        self._pool = pool
        self._state: Literal["starting", "idle", "restarting", "failed"] = "starting"
        self._depth: int | None = None
        # True if the current engine has completed a search.
        self._answered = False
        self._down = asyncio.Event()
        # Progress of the running search that is not reported yet, and the timer for its
        # report.
        self._unreported: SearchProgress | None = None
        self._reporting: asyncio.TimerHandle | None = None

    async def keep_engine_alive(self, first_needed: asyncio.Event) -> None:
        """Keep an engine alive until cancelled. After cancelling, the caller must call
        :meth:`close_engine`.

        The first engine starts when ``first_needed`` is set. If our own code fails,
        only this slot loses its engine, and its search goes back to the queue.
        """
        if self.process is None:
            await first_needed.wait()
        delays = generate_restart_delays()
        failed_starts = 0
        while True:
            self._answered = False
            try:
                if self.process is None:
                    self.process = await self._pool.start_engine(self.index)
                failed_starts = 0
                if self.process.lost is None:
                    self._state = "idle"
                    self._down.clear()
                    self.process.on_lost = self._on_engine_lost
                    self._pool.on_engine_ready(self.index)
                    self._prepare_engine()
                    await self._down.wait()
            except NotAnEngine:
                # The program was an engine when the service started, so the machine
                # lacks some resource, or the program is being replaced.
                failed_starts += 1
                self.restarts += 1
            except Exception as error:
                self._give_up_after_bug(error)
            if self._answered:
                delays = generate_restart_delays()
            self._state = "failed" if failed_starts >= _FAILED_AFTER else "restarting"
            await self.close_engine()
            await asyncio.sleep(next(delays))

    async def close_engine(self) -> None:
        """End the engine of this slot."""
        self._discard_progress()
        if self.process is not None:
            # Keep the process until it is closed: if this call is cancelled, the next
            # call closes it.
            await self.process.close()
            self.process = None

    def begin_search(self, search_key: SearchKey) -> None:
        """Start a search on this slot's engine now."""
        assert self.process is not None
        self._report_progress()
        outcome = self.process.begin_search(search_key, self._keep_progress)
        outcome.add_done_callback(
            partial(self._on_search_ended, self.process, search_key)
        )

    def stop_search(self) -> None:
        """End the running search early."""
        assert self.process is not None
        self.process.stop_search()

    def describe_state(self, subject: SearchPriority | None) -> EngineState:
        """Return the state for display; ``subject`` is the priority of the running
        search, None if there is none.
        """
        process = self.process
        return EngineState(
            index=self.index,
            state="searching"
            if process is not None and process.is_searching
            else self._state,
            knodes_per_s=None if process is None else process.pace.knodes_per_s,
            searching="" if subject is None else f"{subject.board} ply {subject.ply}",
            depth=self._depth,
        )

    def _on_search_ended(
        self,
        process: Searcher,
        search_key: SearchKey,
        outcome: asyncio.Future[SearchFinished],
    ) -> None:
        """Report the end of a search to the pool, which starts the next one at once.

        If the engine was lost, even just after its answer, nothing is reported, because
        the search has gone back to the queue.
        """
        if process.lost is not None:
            return
        self._discard_progress()
        finished = outcome.result()
        try:
            self._pool.on_search_finished(self.index, search_key, finished)
        except Exception as error:
            self._give_up_after_bug(error)
        else:
            self._answered = self._answered or not finished.stopped
            self._prepare_engine()

    def _prepare_engine(self) -> None:
        """Let an idle engine prepare for the next search."""
        if self.process is not None and not self.process.is_searching:
            self.process.prepare_next_search()

    def _give_up_after_bug(self, error: Exception) -> None:
        """Log an error of our own code and give up the engine that was in use."""
        log.exception("engine %d: program fault in its supervisor", self.index)
        if self.process is not None:
            reason = f"program fault ({type(error).__name__})"
            self.process.give_up(EngineFault(f"engine {self.index}", reason))

    def _on_engine_lost(self, fault: EngineFault) -> None:
        """Report a lost engine to the pool at once, so that the engine gets no further
        search.
        """
        self._discard_progress()
        self.restarts += not isinstance(fault, EngineMoved)
        self._down.set()
        self._pool.on_engine_lost(self.index, fault)

    def _keep_progress(self, progress: SearchProgress) -> None:
        self._depth = progress.depth
        self._unreported = progress

    def _report_progress(self) -> None:
        """Report the newest progress, and do so again after ``PROGRESS_S``."""
        progress = self._unreported
        self._unreported = None
        self._reporting = asyncio.get_running_loop().call_later(
            PROGRESS_S, self._report_progress
        )
        if progress is not None:
            self._pool.on_progress(self.index, progress)

    def _discard_progress(self) -> None:
        self._unreported = None
        if self._reporting is not None:
            self._reporting.cancel()
            self._reporting = None


def generate_restart_delays() -> Iterator[float]:
    """Yield the wait before each restart, in seconds.

    Waits double up to 30 seconds. They are random, so that engines killed together do
    not restart together.
    """
    return generate_doubling_s(random.random, first_s=0.1, cap_s=30.0, least_share=0.0)


class EnginePool:
    """Pool of n engines that answer searches.

    Use as an async context manager. Entering starts the first engine, and raises
    :class:`live.errors.NotAnEngine` if it does not speak UCI; the others start when the
    first search is submitted. All methods must be called in the event loop's thread.
    """

    def __init__(
        self,
        command: EngineCommand,
        limit: Limit,
        *,
        listener: ResultListener,
        settings: UciSettings,
        engines: int,
        nice: int,
        cache: ResultCache | None = None,
        cluster: ClusterConnection | None = None,
        patience: EngineTimeouts | None = None,
    ) -> None:
        """Create the pool. ``engines`` 0 means as many as suit this machine
        (:func:`live.engine.engine_programs.count_engines_for_machine`).

        Raises:
            ConfigError: the hash tables do not fit this machine.
        """
        self._command = command
        self._listener = listener
        self._deliveries = ResultDeliveries()
        self._start_process = partial(
            EngineProcess.start, command, settings, nice=nice, patience=patience
        )
        self._cache: ResultCache = MemoryResultCache() if cache is None else cache
        self._cluster = cluster
        # Number of slots that can have an engine of this machine; later slots need a
        # cluster.
        self._local = engines or count_engines_for_machine(settings.threads)
        check_load(self._local, settings.threads, settings.hash_mb)
        self._engine_slots: list[EngineSlot] = []
        self._queue = SearchQueue(0)
        self._search_keys = SearchKeys(limit)
        self._identity: EngineIdentity | None = None
        # This event is set by the first request. Until then one engine is enough.
        self._first_needed = asyncio.Event()
        self._searches = 0
        self._cache_hits = 0
        self._group = asyncio.TaskGroup()
        self._owners: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        first = await self._start_local_engine()
        self._identity = first.identity
        if self._cluster is not None:
            await self._cluster.refresh_slots(str(self.identity))
        await self._group.__aenter__()
        self._add_slots(self._local)
        self._engine_slots[0].process = first
        if self._cluster is not None:
            self._on_cluster_changed()
            self._start_task(
                self._cluster.watch_slots(self._on_cluster_changed), "cluster"
            )
        return self

    def _start_task(self, work: Coroutine[None, None, None], name: str) -> None:
        self._owners.append(self._group.create_task(work, name=name))

    def _add_slots(self, number: int) -> None:
        """Add slots up to ``number``, each with a task that keeps its engine alive."""
        for index in range(len(self._engine_slots), number):
            self._queue.add_engine()
            self._engine_slots.append(EngineSlot(index, self))
            self._start_task(
                self._engine_slots[-1].keep_engine_alive(self._first_needed),
                f"engine[{index}]",
            )

    def _on_cluster_changed(self) -> None:
        """Give up each local engine that one of the cluster replaces, and each cluster
        engine whose slot the cluster has lost.
        """
        assert self._cluster is not None
        self._add_slots(self._cluster.slots)
        for slot in self._engine_slots:
            is_local = isinstance(slot.process, EngineProcess)
            if slot.process is not None and is_local is (
                slot.index < self._cluster.slots
            ):
                slot.process.give_up(
                    EngineMoved(f"engine {slot.index}", "the cluster changed")
                )

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._deliveries.cancel_batch()
        for task in self._owners:
            task.cancel()
        # The group would wrap an error of the body, so it does not receive the error.
        # It does receive a cancellation, which can come from the group itself after a
        # task failed.
        if not isinstance(error, asyncio.CancelledError):
            kind = error = trace = None
        try:
            await self._group.__aexit__(kind, error, trace)
        finally:
            # Engines are closed here and not in the tasks, because a task that is
            # cancelled before its first step runs no code.
            await asyncio.gather(*(slot.close_engine() for slot in self._engine_slots))
            if self._cluster is not None:
                await self._cluster.close()

    @property
    def identity(self) -> EngineIdentity:
        """Return the engine's identity, which is known once the pool is entered."""
        assert self._identity is not None, "enter the pool first"
        return self._identity

    @property
    def slots(self) -> int:
        """Return the number of searches that can run at a time when every engine is
        running.
        """
        # Slots beyond this number wait for a larger cluster.
        return max(self._local, self._cluster.slots if self._cluster is not None else 0)

    def submit(self, search: Search, owner: Hashable, priority: SearchPriority) -> None:
        """Request ``search`` for ``owner``; a repeated request only changes its
        priority.

        Never blocks. Even a known result is delivered later, in the next turn of the
        event loop.
        """
        search_key = self._search_keys.build_key(search)
        result: SearchResult | SearchFailure | None
        if isinstance(search_key, SearchFailure):
            result = search_key
        elif search_key.chess960 and not self.identity.chess960:
            result = SearchFailure(f"{self.identity.name} does not play Chess960")
        elif result := self._cache.find_result(str(self.identity), search_key):
            self._cache_hits += priority.kind is not SearchKind.SPECULATE
        else:
            self._first_needed.set()
            now = time.monotonic()
            self._carry_out(
                self._queue.submit(owner, search, search_key, priority, now)
            )
            return
        self._deliver_result(owner, search, result)

    def put_on_air(self, boards: Iterable[str]) -> None:
        """Search these boards before all others from now on."""
        self._queue.put_on_air(boards)

    def drop(self, owner: Hashable) -> None:
        """Drop all requests of ``owner``, which gets no more results."""
        self._deliveries.drop_calls(owner)
        self._carry_out(self._queue.drop(owner))

    def find_known_result(self, search: Search) -> SearchResult | None:
        """Return the result if it is known already, without starting a search."""
        search_key = self._search_keys.build_key(search)
        if isinstance(search_key, SearchFailure):
            return None
        return self._cache.find_result(str(self.identity), search_key)

    def report_health(self) -> EngineHealth:
        """Return the state of the engines and of the queue."""
        waiting = self._queue.count_waiting()
        return EngineHealth(
            engines=tuple(
                slot.describe_state(self._queue.find_running_priority(slot.index))
                for slot in self._engine_slots[: self.slots]
            ),
            queued=waiting.total() - waiting[SearchKind.SPECULATE],
            asked=self._queue.asked + self._cache_hits,
            waiting=QueueLengths(
                **{kind.name.lower(): waiting[kind] for kind in SearchKind}
            ),
            oldest_wait_s=self._queue.measure_oldest_wait_s(time.monotonic()),
            searches=self._searches,
            cache_hits=self._cache_hits,
            restarts=sum(slot.restarts for slot in self._engine_slots),
            set_aside=self._queue.set_aside,
            problem=self._cluster.problem if self._cluster else "",
        )

    # The slots call the following methods on the event loop. Each call can begin or
    # stop searches of any slot.

    async def start_engine(self, index: int) -> Searcher:
        """Return an engine for the slot ``index``: one of the cluster if the cluster
        has that slot, otherwise one of this machine.

        Raises:
            NotAnEngine: the program on this machine is not a usable engine.
        """
        cluster = self._cluster
        if cluster is not None:
            if index >= self._local:
                await cluster.wait_for_slot(index)
            if index < cluster.slots:
                return cluster.build_engine(lambda: self._find_running_kind(index))
        return await self._start_local_engine()

    async def _start_local_engine(self) -> EngineProcess:
        """Start a process on this machine, and return it.

        Raises:
            NotAnEngine: the program does not run or does not speak UCI, or it is no
                longer the engine that the pool started with.
        """
        process = await self._start_process()
        if self._identity is not None and process.identity.name != self._identity.name:
            await process.close()
            raise NotAnEngine(
                self._command.argv[-1],
                f"was {self._identity.name} and is now {process.identity.name}",
                "Restart live-rate to use it",
            )
        return process

    def on_engine_ready(self, index: int) -> None:
        """Assign a search to an engine that has become ready."""
        self._carry_out(self._queue.on_engine_ready(index))

    def on_search_finished(
        self, index: int, search_key: SearchKey, finished: SearchFinished
    ) -> None:
        """Store and deliver the result of a search that ended; start the engine's next
        search.
        """
        if not finished.stopped:
            self._searches += 1
            self._cache.store_result(str(self.identity), search_key, finished.result)
        self._carry_out(
            self._queue.on_search_finished(index, stopped=finished.stopped),
            result=finished.result,
        )

    def on_progress(self, index: int, progress: SearchProgress) -> None:
        """Pass a provisional score on to the owners of the search; called at most every
        ``PROGRESS_S`` seconds.
        """
        for owner in self._queue.list_progress_owners(index):
            self._listener.on_progress(owner, progress)

    def on_engine_lost(self, index: int, fault: EngineFault) -> None:
        """Requeue the search of an engine that is lost.

        :meth:`on_engine_ready` follows when there is a new engine.
        """
        moved = isinstance(fault, EngineMoved)
        killed = isinstance(fault, EngineKilled)
        self._carry_out(
            self._queue.on_engine_lost(
                index, fault.problem, blame=not moved, killed=killed
            )
        )

    def _find_running_kind(self, index: int) -> SearchKind:
        subject = self._queue.find_running_priority(index)
        return SearchKind.SPECULATE if subject is None else subject.kind

    # Execution of the queue's instructions.

    def _carry_out(
        self, instructions: list[Instruction], result: SearchResult | None = None
    ) -> None:
        """Start and stop searches at once; queue the deliveries of results in order."""
        for instruction in instructions:
            if isinstance(instruction, StartSearch):
                self._engine_slots[instruction.engine].begin_search(instruction.key)
            elif isinstance(instruction, StopSearch):
                self._engine_slots[instruction.engine].stop_search()
            elif isinstance(instruction, DeliverResult):
                answer = instruction.failure or result
                assert answer is not None
                self._deliver_result(instruction.owner, instruction.search, answer)
            else:
                self._deliveries.add_call(
                    lambda: self._carry_out(self._queue.assign_searches())
                )
        if result is not None:
            self._deliveries.deliver_batch()

    def _deliver_result(
        self, owner: Hashable, search: Search, result: SearchResult | SearchFailure
    ) -> None:
        self._deliveries.add_call(
            partial(self._listener.on_result, owner, search, result), owner
        )
