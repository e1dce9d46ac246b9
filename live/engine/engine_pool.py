"""The engine pool: requests in, results out; ties the queue, the cache and n engine processes.

One task owns each engine, from start to restart to end. What to search next is decided by
:mod:`live.engine.queue.search_queue` alone; an engine gets its next search in the very turn of the
event loop in which its last one ended.

Loss policy game → engine: every search submitted and not dropped is answered once, with a result or
with a failure. Progress may be skipped.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Hashable, Iterable
from types import TracebackType
from typing import Self

from live.engine.cluster.dask_cluster import DaskCluster
from live.engine.engine_discovery import EngineCommand
from live.engine.engine_slot import EngineSlot, Searcher
from live.engine.machine_capacity import check_load, engines_for_machine
from live.engine.process.engine_process import EngineIdentity, EngineProcess
from live.engine.process.engine_timeouts import EngineTimeouts
from live.engine.process.uci_conversation import SearchFinished, UciSettings
from live.engine.queue.search_priority import YIELDS, SearchKind, SearchPriority
from live.engine.queue.search_queue import (
    DeliverResult,
    Instruction,
    SearchQueue,
    StartSearch,
    StopSearch,
)
from live.engine.result_delivery import ResultDeliveries, ResultDelivery, ResultListener
from live.engine.results.result_cache import MemoryResultCache, ResultCache
from live.engine.results.syzygy_tables import SyzygyTables
from live.engine.search import Limit, Search, SearchFailure, SearchProgress, SearchResult
from live.engine.search_key import SearchKey, SearchKeys
from live.errors import EngineFault, EngineKilled, EngineMoved, NotAnEngine
from live.events import EngineHealth, EngineState, QueueLengths


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
        engines: int = 0,
        hash_mb: int = 16,
        threads: int = 1,
        reproducible: bool = True,
        adaptive: bool = False,
        nice: int = 5,
        cache: ResultCache | None = None,
        cluster: DaskCluster | None = None,
        tables: SyzygyTables | None = None,
        patience: EngineTimeouts | None = None,
        clock: Callable[[], float] = time.monotonic,
        rng: random.Random | None = None,
    ) -> None:
        """``engines`` 0 means :func:`live.engine.machine_capacity.engines_for_machine`.

        Raises:
            ConfigError: the hash tables do not fit this machine.
        """
        self.limit = limit
        self._command = command
        self._listener = listener
        self._deliveries = ResultDeliveries(listener)
        self._settings = UciSettings(
            threads=threads, hash_mb=hash_mb, reproducible=reproducible, adaptive=adaptive
        )
        self._nice = nice
        self._patience = patience or EngineTimeouts()
        self._cache: ResultCache = MemoryResultCache() if cache is None else cache
        self._cluster = cluster
        self._tables = tables
        self._clock = clock
        self._rng = rng or random.Random()
        # Seats that may have an engine of this machine; those after them need a cluster.
        self._local = count = engines or engines_for_machine(threads)
        check_load(count, threads, hash_mb)
        self._engine_slots = [EngineSlot(index, self, self._rng, clock) for index in range(count)]
        self._queue: SearchQueue[SearchKey] = SearchQueue(count)
        self._search_keys = SearchKeys(limit)
        self._identity: EngineIdentity | None = None
        self._identity_text = ""
        self._chess960 = False
        # Set by the first request: until then one engine is enough.
        self._needed = asyncio.Event()
        self._searches = 0
        self._cache_hits = 0
        self._group = asyncio.TaskGroup()
        self._owners: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        first = await self._start_here()
        self._identity = EngineIdentity.of(first, self._settings)
        self._identity_text = str(self._identity)
        self._chess960 = first.chess960
        if self._cluster is not None:
            await self._cluster.look(self._identity_text)
        if self._cluster is not None and self._cluster.slots:
            await first.close()
        else:
            self._engine_slots[0].process = first
        await self._group.__aenter__()
        for slot in self._engine_slots:
            self._own(slot)
        if self._cluster is not None:
            self._cluster_changed()
            watch = self._cluster.watch(self._cluster_changed)
            self._owners.append(self._group.create_task(watch, name="cluster"))
        return self

    def _own(self, slot: EngineSlot) -> None:
        self._owners.append(
            self._group.create_task(slot.own(self._needed), name=f"engine[{slot.index}]")
        )

    def _cluster_changed(self) -> None:
        """Leave our engines for as many as the cluster has now, and come back to them."""
        assert self._cluster is not None
        for index in range(len(self._engine_slots), self._cluster.slots):
            self._queue.add()
            self._engine_slots.append(EngineSlot(index, self, self._rng, self._clock))
            self._own(self._engine_slots[-1])
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
        if isinstance(error, asyncio.CancelledError):
            await self._group.__aexit__(kind, error, trace)
        else:
            await self._group.__aexit__(None, None, None)
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
        if isinstance(search_key, SearchFailure):
            self._deliveries.add(ResultDelivery(owner, search, search_key))
            return
        if search_key.chess960 and not self._chess960:
            reason = f"{self.identity.name} does not play Chess960"
            self._deliveries.add(ResultDelivery(owner, search, SearchFailure(reason)))
            return
        known = self._look_up(search_key)
        if known is not None:
            self._cache_hits += priority.kind is not SearchKind.SPECULATE
            self._deliveries.add(ResultDelivery(owner, search, known))
            return
        self._needed.set()
        self._obey(self._queue.submit(owner, search, search_key, priority, self._clock()))

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
        return self._look_up(search_key)

    def _look_up(self, search_key: SearchKey) -> SearchResult | None:
        """What is proven, or was found before."""
        proven = self._tables.result(search_key) if self._tables is not None else None
        return proven or self._cache.get(self._identity_text, search_key)

    def health(self) -> EngineHealth:
        """How the engines are doing."""
        waiting, parts = self._queue.waiting(), (self._cluster, self._cache)
        return EngineHealth(
            engines=tuple(self._state(slot) for slot in self._engine_slots[: self.slots]),
            queued=sum(number for kind, number in waiting.items() if kind not in YIELDS),
            asked=self._queue.asked + self._cache_hits,
            waiting=QueueLengths(**{kind.name.lower(): waiting[kind] for kind in SearchKind}),
            oldest_wait_s=self._queue.oldest_wait_s(self._clock()),
            searches=self._searches,
            cache_hits=self._cache_hits,
            restarts=sum(slot.restarts for slot in self._engine_slots),
            set_aside=self._queue.set_aside,
            problem="; ".join(each.problem for each in parts if each and each.problem),
        )

    # What slots need and report (:class:`live.engine.engine_slot.SlotOwner`).

    async def start_engine(self, slot: int) -> Searcher:
        """An engine of the cluster, or else of this machine."""
        cluster = self._cluster
        if cluster is not None:
            if slot >= self._local:
                await cluster.place(slot)
            if slot < cluster.slots:
                return cluster.engine(lambda: self._urgency(slot))
        return await self._start_here()

    async def _start_here(self) -> EngineProcess:
        """A process like the first one. Raises NotAnEngine, also where it is another engine
        than the one whose scores are out already.
        """
        process = await EngineProcess.start(
            self._command, self._settings, nice=self._nice, patience=self._patience
        )
        if self._identity is not None and process.name != self._identity.name:
            await process.close()
            raise NotAnEngine(
                self._command.argv[-1],
                f"was {self._identity.name} and is now {process.name}",
                "Restart live-rate to use it",
            )
        return process

    def up(self, slot: EngineSlot) -> None:
        self._obey(self._queue.up(slot.index))

    def finished(self, slot: EngineSlot, search_key: SearchKey, finished: SearchFinished) -> None:
        if not finished.stopped:
            self._searches += 1
            self._cache.put(self._identity_text, search_key, finished.result)
        self._obey(
            self._queue.finished(slot.index, stopped=finished.stopped), result=finished.result
        )

    def deepened(self, slot: EngineSlot, progress: SearchProgress) -> None:
        for owner in self._queue.watchers(slot.index):
            self._listener.progressed(owner, progress)

    def lost(self, slot: EngineSlot, fault: EngineFault) -> None:
        moved, killed = isinstance(fault, EngineMoved), isinstance(fault, EngineKilled)
        self._obey(self._queue.lost(slot.index, fault.problem, blame=not moved, killed=killed))

    def _urgency(self, slot: int) -> SearchKind:
        subject = self._queue.subject(slot)
        return SearchKind.SPECULATE if subject is None else subject.kind

    # Carrying out what the queue says.

    def _obey(
        self, instructions: list[Instruction[SearchKey]], result: SearchResult | None = None
    ) -> None:
        """Start and stop engines at once; deliver results in order."""
        for instruction in instructions:
            if isinstance(instruction, StartSearch):
                self._engine_slots[instruction.engine].begin(instruction.key)
            elif isinstance(instruction, StopSearch):
                self._engine_slots[instruction.engine].stop()
            elif isinstance(instruction, DeliverResult):
                found = instruction.failure or result
                assert found is not None
                self._deliveries.add(ResultDelivery(instruction.owner, instruction.search, found))
            else:
                self._deliveries.add(lambda: self._obey(self._queue.assign()))
        if result is not None:
            self._deliveries.deliver()

    def _state(self, slot: EngineSlot) -> EngineState:
        subject = self._queue.subject(slot.index)
        return slot.state("" if subject is None else f"{subject.board} ply {subject.ply}")
