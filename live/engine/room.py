"""The engine room: wants in, answers out; ties the queue, the cache and n engine processes.

One task owns each engine, from start to restart to end. What to search next is decided by
:mod:`live.engine.queue` alone; an engine gets its next search in the very turn of the event loop
in which its last one ended.

Loss policy game → engine: every search wanted and not dropped is answered once, with a result or
with a failure. Progress may be skipped.
"""

from __future__ import annotations

import asyncio
import math
import os
import random
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Literal, Protocol, Self

import msgspec

from live.engine.cache import Cache, MemoryCache
from live.engine.discovery import EngineCommand
from live.engine.process import EngineProcess, Patience
from live.engine.question import Question, Questioner
from live.engine.queue import Answer, Instruction, Priority, SearchQueue, Start, Stop
from live.engine.search import Limit, Progress, Search, SearchFailure, SearchResult
from live.engine.uci import Finished, Settings
from live.errors import EngineFault, NotAnEngine
from live.events import EngineHealth, EngineState

#: Least time between two provisional scores of one search, seconds.
PROGRESS_S = 0.1
#: Answers given in one turn of the event loop; the rest follow in the next.
_ANSWERS_A_TURN = 32
#: Consecutive starts that failed before people are told ``failed``; it is still tried again.
_FAILED_AFTER = 3


class Listener(Protocol):
    """Who is told. Called on the event loop, never from inside ``want`` or ``drop``; may call
    both.
    """

    def searched(
        self, owner: Hashable, search: Search, result: SearchResult | SearchFailure
    ) -> None:
        """``search`` is over; ``owner`` is not told of it again."""

    def progressed(self, owner: Hashable, progress: Progress) -> None:
        """The search of a live head's position (not of the move played) has come so far."""


class Identity(msgspec.Struct, frozen=True):
    """What a result depends on besides the question."""

    name: str
    """``id name``."""
    options: tuple[str, ...]

    def __str__(self) -> str:
        """One text, for cache keys and export."""
        return "; ".join((self.name, *self.options))


class _Slot:
    """One place for an engine."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.process: EngineProcess | None = None
        self.question: Question | None = None
        self.state: Literal["starting", "idle", "restarting", "failed"] = "starting"
        # Set when the owner task has something to look at.
        self.news = asyncio.Event()
        self.knodes_per_s: float | None = None
        # Progress of the running search: when last told, and what waits to be told.
        self.told_at = 0.0
        self.untold: Progress | None = None
        self.telling: asyncio.TimerHandle | None = None


class EngineRoom:
    """n engines that answer searches.

    Use as an async context manager: entering starts the first engine and raises
    :class:`live.errors.NotAnEngine` when it does not speak UCI; the others start when the first
    search is wanted. All methods are for the event loop's thread.
    """

    def __init__(
        self,
        command: EngineCommand,
        limit: Limit,
        *,
        listener: Listener,
        engines: int = 0,
        hash_mb: int = 16,
        threads: int = 1,
        reproducible: bool = True,
        nice: int = 5,
        cache: Cache | None = None,
        patience: Patience | None = None,
        clock: Callable[[], float] = time.monotonic,
        rng: random.Random | None = None,
    ) -> None:
        """``engines`` 0 means :func:`engines_for_machine`."""
        self.limit = limit
        self._command = command
        self._listener = listener
        self._settings = Settings(threads=threads, hash_mb=hash_mb, reproducible=reproducible)
        self._nice = nice
        self._patience = patience or Patience()
        self._cache: Cache = MemoryCache() if cache is None else cache
        self._clock = clock
        self._rng = rng or random.Random()
        count = engines or engines_for_machine(threads)
        self._slots = [_Slot(index) for index in range(count)]
        self._queue: SearchQueue[Question] = SearchQueue(count)
        self._questioner = Questioner(limit)
        self._identity: Identity | None = None
        self._identity_text = ""
        self._chess960 = False
        # Set by the first want: until then one engine is enough.
        self._needed = asyncio.Event()
        # Instructions and answers not carried out yet; listeners may add to it.
        self._todo: deque[Instruction[Question] | _Reply] = deque()
        self._working = False
        self._later: asyncio.Handle | None = None
        self._searches = 0
        self._cache_hits = 0
        self._restarts = 0
        self._group = asyncio.TaskGroup()
        self._owners: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        first = self._slots[0]
        first.process = await self._start()
        self._identity = Identity(
            name=first.process.name,
            options=(
                *first.process.options,
                "hash cleared" if self._settings.reproducible else "hash kept",
            ),
        )
        self._identity_text = str(self._identity)
        self._chess960 = first.process.chess960
        await self._group.__aenter__()
        for slot in self._slots:
            self._owners.append(
                self._group.create_task(self._own(slot), name=f"engine[{slot.index}]")
            )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._later is not None:
            self._later.cancel()
        for task in self._owners:
            task.cancel()
        # An error of the body stays itself and is not wrapped into a group; a cancellation is
        # handed on because it may be the group's own, for an owner task that failed.
        if isinstance(error, asyncio.CancelledError):
            await self._group.__aexit__(kind, error, trace)
        else:
            await self._group.__aexit__(None, None, None)

    @property
    def identity(self) -> Identity:
        """Which engine answers. Known once entered."""
        assert self._identity is not None, "enter the room first"
        return self._identity

    def want(self, search: Search, owner: Hashable, priority: Priority) -> None:
        """Have ``search`` answered to ``owner``; wanting it again only changes its priority.

        Never blocks and never answers from inside: also what is known already is told in the
        next turn of the event loop.
        """
        question = self._questioner.question(search)
        if isinstance(question, SearchFailure):
            self._reply(_Reply(owner, search, question))
            return
        if question.chess960 and not self._chess960:
            reason = f"{self.identity.name} does not play Chess960"
            self._reply(_Reply(owner, search, SearchFailure(reason)))
            return
        known = self._cache.get(self._identity_text, question)
        if known is not None:
            self._cache_hits += 1
            self._reply(_Reply(owner, search, known))
            return
        self._needed.set()
        self._obey(self._queue.want(owner, search, question, priority, self._clock()))

    def drop(self, owner: Hashable) -> None:
        """Forget all that ``owner`` wants; it is told nothing any more."""
        self._todo = deque(
            item for item in self._todo if not (isinstance(item, _Reply) and item.owner == owner)
        )
        self._obey(self._queue.drop(owner))

    def known(self, search: Search) -> SearchResult | None:
        """The result, if it is known already; asks no engine."""
        question = self._questioner.question(search)
        if isinstance(question, SearchFailure):
            return None
        return self._cache.get(self._identity_text, question)

    def health(self) -> EngineHealth:
        """How the engines are doing. Costs a look at every waiting search."""
        return EngineHealth(
            engines=tuple(self._state(slot) for slot in self._slots),
            queued=self._queue.queued,
            oldest_wait_s=self._queue.oldest_wait_s(self._clock()),
            searches=self._searches,
            cache_hits=self._cache_hits,
            restarts=self._restarts,
            set_aside=self._queue.set_aside,
        )

    # One engine's life.

    async def _start(self) -> EngineProcess:
        return await EngineProcess.start(
            self._command, self._settings, nice=self._nice, patience=self._patience
        )

    async def _own(self, slot: _Slot) -> None:
        delays = restart_delays(self._rng)
        failed_starts = 0
        try:
            if slot.process is None:
                await self._needed.wait()
            while True:
                try:
                    if slot.process is None:
                        slot.process = await self._start()
                        self._compare(slot.process)
                except NotAnEngine:
                    # It was one when the service started: the machine is short of something,
                    # or somebody is replacing the program.
                    failed_starts += 1
                    slot.state = "failed" if failed_starts >= _FAILED_AFTER else "restarting"
                else:
                    failed_starts = 0
                    if await self._serve(slot, slot.process):
                        delays = restart_delays(self._rng)
                    slot.state = "restarting"
                if slot.process is not None:
                    await slot.process.close()
                    slot.process = None
                self._restarts += 1
                await asyncio.sleep(next(delays))
        finally:
            self._hush(slot)
            if slot.process is not None:
                await slot.process.close()

    def _compare(self, process: EngineProcess) -> None:
        """Refuse an engine that is not the one whose scores are out already."""
        assert self._identity is not None
        if process.name != self._identity.name:
            raise NotAnEngine(
                self._command.argv[-1],
                f"was {self._identity.name} and is now {process.name}",
                "Restart live-rate to use it",
            )

    async def _serve(self, slot: _Slot, process: EngineProcess) -> bool:
        """Search until the engine is lost; whether it ever answered."""
        answered = False
        if process.lost is not None:
            return answered
        process.on_lost = lambda fault: self._lose(slot, fault)
        slot.state = "idle"
        self._obey(self._queue.up(slot.index))
        while process.lost is None:
            if not process.searching:
                slot.news.clear()
                await slot.news.wait()
                continue
            try:
                finished = await process.outcome()
            except EngineFault:
                break
            if process.lost is not None:
                # It died right after its answer, and the search has gone back to the queue.
                break
            answered = answered or not finished.stopped
            self._finish(slot, process, finished)
        return answered

    def _lose(self, slot: _Slot, fault: EngineFault) -> None:
        """Told by the process in the moment it is lost, so that no search is sent to it."""
        self._hush(slot)
        slot.question = None
        slot.news.set()
        self._obey(self._queue.lost(slot.index, fault.problem))

    def _finish(self, slot: _Slot, process: EngineProcess, finished: Finished) -> None:
        self._hush(slot)
        slot.knodes_per_s = process.knodes_per_s
        question, slot.question = slot.question, None
        assert question is not None
        if not finished.stopped:
            self._searches += 1
            self._cache.put(self._identity_text, question, finished.result)
        self._obey(
            self._queue.finished(slot.index, stopped=finished.stopped), result=finished.result
        )

    # Carrying out what the queue says.

    def _obey(
        self, instructions: list[Instruction[Question]], result: SearchResult | None = None
    ) -> None:
        """Start and stop engines at once; answers wait for :meth:`_work`."""
        answers = False
        for instruction in instructions:
            if isinstance(instruction, Start):
                self._begin(self._slots[instruction.engine], instruction.key)
            elif isinstance(instruction, Stop):
                process = self._slots[instruction.engine].process
                assert process is not None
                process.stop()
            elif isinstance(instruction, Answer):
                told = instruction.failure or result
                assert told is not None
                self._todo.append(_Reply(instruction.owner, instruction.search, told))
                answers = True
            else:
                self._todo.append(instruction)
                answers = True
        if answers and not self._working:
            if result is not None:
                self._work()
            else:
                self._schedule()

    def _reply(self, reply: _Reply) -> None:
        self._todo.append(reply)
        if not self._working:
            self._schedule()

    def _schedule(self) -> None:
        if self._later is None:
            self._later = asyncio.get_running_loop().call_soon(self._work)

    def _work(self) -> None:
        """Give answers, a bounded number a turn; listeners may add to the work."""
        if self._later is not None:
            self._later.cancel()
            self._later = None
        self._working = True
        try:
            for _ in range(_ANSWERS_A_TURN):
                if not self._todo:
                    break
                item = self._todo.popleft()
                if isinstance(item, _Reply):
                    self._listener.searched(item.owner, item.search, item.result)
                else:
                    self._obey(self._queue.assign())
        finally:
            self._working = False
            if self._todo:
                self._schedule()

    def _begin(self, slot: _Slot, question: Question) -> None:
        assert slot.process is not None
        slot.question = question
        slot.told_at = self._clock()
        slot.process.begin(question, lambda progress: self._deepened(slot, progress))
        slot.news.set()

    # Provisional scores.

    def _deepened(self, slot: _Slot, progress: Progress) -> None:
        """Tell it if the last one is long enough ago, else in time."""
        slot.untold = progress
        if slot.telling is not None:
            return
        wait_s = slot.told_at + PROGRESS_S - self._clock()
        if wait_s <= 0:
            self._tell(slot)
        else:
            loop = asyncio.get_running_loop()
            slot.telling = loop.call_later(wait_s, self._tell, slot)

    def _tell(self, slot: _Slot) -> None:
        progress, slot.untold = slot.untold, None
        self._hush(slot)
        if progress is None:
            return
        slot.told_at = self._clock()
        for owner in self._queue.watchers(slot.index):
            self._listener.progressed(owner, progress)

    def _hush(self, slot: _Slot) -> None:
        slot.untold = None
        if slot.telling is not None:
            slot.telling.cancel()
            slot.telling = None

    def _state(self, slot: _Slot) -> EngineState:
        subject = self._queue.subject(slot.index)
        searching = slot.process is not None and slot.process.searching
        return EngineState(
            index=slot.index,
            state="searching" if searching else slot.state,
            knodes_per_s=slot.knodes_per_s,
            searching=f"{subject.board} ply {subject.ply}" if subject is not None else "",
        )


class _Reply(msgspec.Struct, frozen=True):
    """An answer ready to be told."""

    owner: Hashable
    search: Search
    result: SearchResult | SearchFailure


def restart_delays(
    rng: random.Random, first_s: float = 0.1, cap_s: float = 30.0
) -> Iterator[float]:
    """Waits before each restart in seconds: random, so that engines killed together do not come
    back together; doubling, up to a cap.
    """
    bound = first_s
    while True:
        yield rng.uniform(0.0, bound)
        bound = min(cap_s, bound * 2)


def engines_for_machine(threads: int = 1) -> int:
    """How many engines of so many threads: one a core, less one for every eight cores, which
    the rest of the service needs. A container's CPU quota counts like cores.
    """
    if hasattr(os, "sched_getaffinity"):
        cores = float(len(os.sched_getaffinity(0)))
    else:
        cores = float(os.cpu_count() or 1)
    quota = _quota(Path("/sys/fs/cgroup/cpu.max"))
    usable = math.floor(cores if quota is None else min(cores, max(1.0, quota)))
    return max(1, (usable - usable // 8) // threads)


def _quota(file: Path) -> float | None:
    """Cores a container may use (cgroup v2 ``cpu.max``: quota and period in µs, or ``max``)."""
    try:
        quota, period = file.read_text().split()
        return int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return None
