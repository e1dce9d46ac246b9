"""Which search runs next on which engine: events in, instructions out, no asyncio, no clock.

Order of kinds: heads of live games and games that have just ended by turns, backlog of live games,
games that were over before, speculation. Boards on air come before all others with
whatever they need but the last two. Among heads and within the backlog the board that has waited
longest since it was last served comes first, so that a bullet game cannot starve the others; within
a board the newest head, the earliest backlog ply. Finished games are taken whole, in the order they
were requested.

Equal searches are made once and delivered to all who requested them. A search that has killed three
engines is set aside. After every method, the shell must carry out the returned instructions in
order.

How urgent a search is.

Searches that wait, and whose turn it is.
"""

from __future__ import annotations

import heapq
from collections import Counter, OrderedDict, deque
from collections.abc import Hashable, Iterable, Iterator
from enum import IntEnum
from typing import Final, Generic, Literal, Protocol, TypeVar

import msgspec

from live.engine.search import Search, SearchFailure, SearchProgress, SearchResult


class SearchKind(IntEnum):
    """Classes of searches, most urgent first."""

    HEAD = 0
    """The newest position of a live game, and what its last move's gain needs."""
    CLOSING = 1
    """A game that has just ended: screens wait for its last scores, so heads take turns with it."""
    BACKLOG = 2
    """Earlier positions of a live game."""
    FINISHED = 3
    """A game that was over when it was first seen."""
    SPECULATE = 4
    """What the most likely replies will need."""


#: Given up at once when a head waits: nobody waits for these.
YIELDS: Final = (SearchKind.SPECULATE,)


class SearchPriority(msgspec.Struct, frozen=True, gc=False):
    """How urgent a search is, and for whom."""

    kind: SearchKind
    board: str = ""
    """Whose turn it uses up: the game's id."""
    ply: int = 0
    """The move it is for, counted from 1 (0: the starting position). Both the position after
    ply p and the restricted search of the move at ply p carry p. A board's heads before
    ``newest head - 1`` become backlog by themselves."""
    rank: int = 0
    """Lower first, among speculation of all boards."""


Owner = Hashable
Key = TypeVar("Key", bound=Hashable)

#: Boards whose last turn is remembered.
_BOARDS_KEPT: Final = 4_096
#: Entries that no longer count which may pile up before the heaps are cleaned.
_DEAD_KEPT: Final = 1_000
_CLOSING_FIRST: Final = sorted(SearchKind, key=lambda kind: kind is not SearchKind.CLOSING)


class QueuedRequest(Generic[Key]):
    """One owner's request for one search."""

    __slots__ = ("alive", "job", "owner", "priority", "requested_at", "search")

    def __init__(
        self,
        owner: Owner,
        search: Search,
        job: SearchJob[Key],
        priority: SearchPriority,
        requested_at: float,
    ) -> None:
        self.owner = owner
        self.search = search
        self.job = job
        self.priority = priority
        self.requested_at = requested_at
        # False when answered, dropped or replaced by one of another priority.
        self.alive = True

    @property
    def waits(self) -> bool:
        """Whether it still waits for an engine."""
        return self.alive and self.job.engine is None

    def counts(self, kind: SearchKind) -> bool:
        """Whether it waits, and as this kind."""
        return self.waits and self.priority.kind is kind


class SearchJob(Generic[Key]):
    """One search and all requests for it."""

    __slots__ = ("deaths", "engine", "key", "kills", "requests", "started")

    def __init__(self, key: Key) -> None:
        self.key = key
        self.requests: dict[tuple[Owner, Search], QueuedRequest[Key]] = {}
        # The engine that runs it; None while it waits.
        self.engine: int | None = None
        # How many searches had been started when this one was; 0 while it never was.
        self.started = 0
        # Why each engine died that ran it, and how many were killed from outside meanwhile.
        self.deaths: list[str] = []
        self.kills = 0

    @property
    def kind(self) -> SearchKind:
        return min(request.priority.kind for request in self.requests.values())


class QueueSlot(Generic[Key]):
    """An engine, and what it works on."""

    __slots__ = ("job", "state")

    def __init__(self) -> None:
        self.state: Literal["down", "idle", "busy", "stopping"] = "down"
        self.job: SearchJob[Key] | None = None


_Entry = tuple[int, int, QueuedRequest[Key]]


class WaitingSearches(Generic[Key]):
    """Requests by kind and board. Entries that no longer count stay in their heap until they come
    up or the heaps are cleaned.
    """

    def __init__(self) -> None:
        self._heaps: dict[SearchKind, dict[str, list[_Entry[Key]]]] = {
            kind: {} for kind in SearchKind
        }
        self.on_air: frozenset[str] = frozenset()
        """Boards that come before all others, with all that somebody waits for."""
        # When (in starts) each board was last served, per kind.
        self._served: OrderedDict[tuple[SearchKind, str], int] = OrderedDict()
        self._starts = 0
        # Whether the search that came up last was a head's.
        self._after_head = False
        # Breaks ties by order of requests.
        self._asked = 0
        # Entries in all heaps, also those that no longer count, and how many there may be before
        # those are removed.
        self._entries = 0
        self._entries_bound = _DEAD_KEPT
        # All that was pushed, oldest request first.
        self._ages: list[tuple[float, int, QueuedRequest[Key]]] = []
        self._ages_bound = _DEAD_KEPT

    def push(self, request: QueuedRequest[Key]) -> None:
        """A request begins to wait (again), or waits now under another kind."""
        priority = request.priority
        if priority.kind is SearchKind.SPECULATE:
            order = priority.rank
        elif priority.kind is SearchKind.HEAD:
            order = -priority.ply
        else:
            order = priority.ply
        self._asked += 1
        heap = self._heaps[priority.kind].setdefault(priority.board, [])
        heapq.heappush(heap, (order, self._asked, request))
        self._entries += 1
        if self._entries > self._entries_bound:
            self._clear()
        if priority.kind in YIELDS:
            return
        heapq.heappush(self._ages, (request.requested_at, self._asked, request))
        if len(self._ages) > self._ages_bound:
            # Behind one that waits long, those that came and went pile up.
            self._ages = [age for age in self._ages if age[2].waits]
            heapq.heapify(self._ages)
            self._ages_bound = _DEAD_KEPT + 2 * len(self._ages)

    def _clear(self) -> None:
        """Remove entries that no longer count. Only the top of a heap is checked when it is read,
        so others would stay for as long as something more urgent keeps coming.
        """
        self._entries = 0
        for kind, heaps in self._heaps.items():
            for board, heap in list(heaps.items()):
                heap[:] = [entry for entry in heap if entry[2].counts(kind)]
                heapq.heapify(heap)
                self._entries += len(heap)
                if not heap:
                    del heaps[board]
        self._entries_bound = _DEAD_KEPT + 2 * self._entries

    def _top(self, kind: SearchKind, board: str) -> _Entry[Key] | None:
        """The board's first entry that still counts; empty heaps are taken away."""
        heap = self._heaps[kind][board]
        while heap:
            request = heap[0][2]
            # A request is pushed again when its kind changes or its job comes back.
            if request.counts(kind):
                return heap[0]
            heapq.heappop(heap)
            self._entries -= 1
        del self._heaps[kind][board]
        return None

    def pop(self) -> SearchJob[Key] | None:
        """The search whose turn it is; its requests stay known to their owners."""
        if self.on_air:
            waited_for = [kind for kind in SearchKind if kind not in YIELDS]
            job = self._first(waited_for, self.on_air)
            if job is not None:
                return job
        # Heads that never end would keep a game that has ended waiting for its last scores.
        kinds = _CLOSING_FIRST if self._after_head else SearchKind
        return self._first(kinds, None)

    def _first(
        self, kinds: Iterable[SearchKind], boards: frozenset[str] | None
    ) -> SearchJob[Key] | None:
        """The first search of these kinds, of these boards or (None) of all."""
        for kind in kinds:
            best: tuple[tuple[int, int], QueuedRequest[Key]] | None = None
            heaps = self._heaps[kind]
            for board in list(heaps) if boards is None else boards & heaps.keys():
                top = self._top(kind, board)
                if top is None:
                    continue
                turn = (self._turn(kind, board, top), top[1])
                if best is None or turn < best[0]:
                    best = (turn, top[2])
            if best is not None:
                request = best[1]
                heapq.heappop(self._heaps[kind][request.priority.board])
                self._entries -= 1
                self._starts += 1
                self._after_head = kind is SearchKind.HEAD
                request.job.started = self._starts
                self._served[kind, request.priority.board] = self._starts
                self._served.move_to_end((kind, request.priority.board))
                if len(self._served) > _BOARDS_KEPT:
                    self._served.popitem(last=False)
                return request.job
        return None

    def _turn(self, kind: SearchKind, board: str, top: _Entry[Key]) -> int:
        """What boards are chosen by: when they were last served, if anybody waits there and not
        for the game as a whole; whoever speculates has weighed the boards himself.
        """
        if kind is SearchKind.SPECULATE:
            return top[0]
        return 0 if kind is SearchKind.FINISHED else self._served.get((kind, board), 0)

    def oldest(self) -> float | None:
        """When the request that waits longest was made."""
        while self._ages and not self._ages[0][2].waits:
            heapq.heappop(self._ages)
        return self._ages[0][0] if self._ages else None

    def heads(self, board: str | None = None) -> Iterator[QueuedRequest[Key]]:
        """Heads that wait, of one board or of all."""
        heaps = self._heaps[SearchKind.HEAD]
        chosen = list(heaps.values()) if board is None else [heaps.get(board, [])]
        for heap in chosen:
            for _, _, request in list(heap):
                if request.counts(SearchKind.HEAD):
                    yield request

    def holds(self, request: QueuedRequest[Key]) -> bool:
        """Whether ``want`` can still come up. Costs a look at all waiting requests of the board."""
        heap = self._heaps[request.priority.kind].get(request.priority.board, [])
        return any(entry[2] is request for entry in heap)


class StartSearch(msgspec.Struct, Generic[Key], frozen=True):
    """Have this engine search this, now."""

    engine: int
    key: Key


class StopSearch(msgspec.Struct, frozen=True):
    """End this engine's search early; then report :meth:`SearchQueue.finished`, stopped."""

    engine: int


class DeliverResult(msgspec.Struct, frozen=True):
    """Give the result to its owner, or ``failure``."""

    owner: Owner
    search: Search
    failure: SearchFailure | None = None


class AssignSearches(msgspec.Struct, frozen=True):
    """Call :meth:`SearchQueue.assign`, after the results before this: their owners may request
    something more urgent next.
    """


Instruction = StartSearch[Key] | StopSearch | DeliverResult | AssignSearches


#: Engines a search may kill before it is set aside.
MAX_KILLS: Final = 3
#: Engines that may be killed from outside while they run it: a machine short of memory does so,
#: too, and it may be this search that fills it.
MAX_KILLED: Final = 10
#: Set-aside searches remembered, so that a second request kills no engine.
_ASIDE_KEPT: Final = 1_000
#: Transitions kept for error messages.
_STORY_KEPT: Final = 200


class InvalidTransition(RuntimeError):
    """A bug in the shell or here; carries the story of recent transitions."""


class SearchQueue(Generic[Key]):
    """The scheduling state. Changed through its methods only; has one caller."""

    def __init__(self, engines: int) -> None:
        self._engines = [QueueSlot[Key]() for _ in range(engines)]
        self._jobs: dict[Key, SearchJob[Key]] = {}
        self._owned: dict[Owner, dict[Search, QueuedRequest[Key]]] = {}
        self._waiting: WaitingSearches[Key] = WaitingSearches()
        self._aside: OrderedDict[Key, SearchFailure] = OrderedDict()
        self._story: deque[str] = deque(maxlen=_STORY_KEPT)
        self.set_aside = 0
        # Searches requested, speculation not counted.
        self.asked = 0

    # Events.

    def submit(
        self, owner: Owner, search: Search, key: Key, priority: SearchPriority, now: float
    ) -> list[Instruction[Key]]:
        """``owner`` requests ``search``; a second request with another priority replaces it.

        Args:
            owner: answered once; what :meth:`drop` names.
            search: handed back with the answer.
            key: what makes searches equal.
            priority: how urgent.
            now: seconds on any steady clock; only waiting times follow from it.
        """
        aside = self._aside.get(key)
        if aside is not None:
            return [DeliverResult(owner, search, aside)]
        mine = self._owned.setdefault(owner, {})
        old = mine.get(search)
        requested_at = now
        if old is None:
            self.asked += priority.kind is not SearchKind.SPECULATE
        else:
            if old.priority == priority:
                return []
            old.alive = False
            requested_at = old.requested_at
        job = self._jobs.get(key)
        if job is None:
            job = self._jobs[key] = SearchJob(key)
        request = QueuedRequest(owner, search, job, priority, requested_at)
        mine[search] = request
        job.requests[owner, search] = request
        if job.engine is None:
            self._waiting.push(request)
        if priority.kind is SearchKind.HEAD:
            self._demote(priority)
        self._story.append(
            f"request {priority.kind.name} {priority.board} {priority.ply} by {owner!r}"
        )
        return self.assign()

    def drop(self, owner: Owner) -> list[Instruction[Key]]:
        """Drop all requests of ``owner``; a running search without a request is stopped."""
        instructions: list[Instruction[Key]] = []
        for search, request in self._owned.pop(owner, {}).items():
            request.alive = False
            job = request.job
            del job.requests[owner, search]
            if job.requests:
                continue
            del self._jobs[job.key]
            if job.engine is not None:
                instructions.append(self._stop(job.engine))
        self._story.append(f"drop {owner!r}")
        # What was a head's may be mere speculation now, with other heads waiting.
        return [*instructions, *self._pre_empt()]

    def up(self, engine: int) -> list[Instruction[Key]]:
        """An engine is ready."""
        slot = self._engines[engine]
        self._expect(slot.state == "down", f"engine {engine} up while {slot.state}")
        slot.state = "idle"
        self._story.append(f"engine {engine} up")
        return self.assign()

    def finished(self, engine: int, *, stopped: bool = False) -> list[Instruction[Key]]:
        """An engine's search ended, by itself or (``stopped``) because of :class:`StopSearch`."""
        slot = self._engines[engine]
        job, slot.job = slot.job, None
        self._story.append(f"engine {engine} finished{' stopped' if stopped else ''}")
        if slot.state == "stopping":
            slot.state = "idle"
            return self.assign()
        self._expect(slot.state == "busy" and not stopped, f"engine {engine} {slot.state}")
        assert job is not None
        slot.state = "idle"
        urgent = job.kind <= SearchKind.CLOSING
        answers: list[Instruction[Key]] = list(self._answer(job, None))
        # Whoever waits for a head may need one more search for its gain, and that comes first;
        # anything else is better delivered while the engine already works on the next.
        return [*answers, AssignSearches()] if urgent else [*self.assign(), *answers]

    def put_on_air(self, boards: Iterable[str]) -> None:
        """From now on these boards come first."""
        self._waiting.on_air = frozenset(boards)
        self._story.append(f"on air {', '.join(sorted(self._waiting.on_air))}")

    def add(self) -> None:
        """One more engine, down until :meth:`up`."""
        self._engines.append(QueueSlot())

    def lost(
        self, engine: int, reason: str, *, blame: bool = True, killed: bool = False
    ) -> list[Instruction[Key]]:
        """An engine died; its search goes back, or aside after three deaths it is to ``blame``
        for, or ten by which somebody ``killed`` an engine.
        """
        slot = self._engines[engine]
        self._expect(slot.state != "down", f"engine {engine} lost while down")
        busy = slot.state == "busy"
        job, slot.job, slot.state = slot.job, None, "down"
        self._story.append(f"engine {engine} lost: {reason}")
        if not busy:
            return []
        assert job is not None
        job.kills += killed
        if blame and not killed:
            job.deaths.append(reason)
        if len(job.deaths) < MAX_KILLS and job.kills < MAX_KILLED:
            self._requeue(job)
            return self.assign()
        why = "; ".join(job.deaths) or reason
        count = len(job.deaths) + job.kills
        failure = SearchFailure(reason=f"given up after {count} engine failures: {why}")
        self._aside[job.key] = failure
        if len(self._aside) > _ASIDE_KEPT:
            self._aside.popitem(last=False)
        self.set_aside += 1
        return list(self._answer(job, failure))

    def assign(self) -> list[Instruction[Key]]:
        """Give idle engines work, and take speculation off engines that heads wait for."""
        instructions: list[Instruction[Key]] = []
        for index, slot in enumerate(self._engines):
            if slot.state != "idle":
                continue
            job = self._waiting.pop()
            if job is None:
                break
            slot.state, slot.job, job.engine = "busy", job, index
            self._story.append(f"engine {index} starts")
            instructions.append(StartSearch(index, job.key))
        instructions.extend(self._pre_empt())
        return instructions

    # Questions.

    def watchers(self, engine: int) -> list[Owner]:
        """Who follows this engine's search as it deepens: who requested a live head's own score."""
        job = self._engines[engine].job
        if job is None:
            return []
        return [
            owner
            for (owner, search), request in job.requests.items()
            if request.priority.kind is SearchKind.HEAD and search.only is None
        ]

    def subject(self, engine: int) -> SearchPriority | None:
        """The most urgent of what this engine's search is for."""
        job = self._engines[engine].job
        if job is None or not job.requests:
            return None
        return min((w.priority for w in job.requests.values()), key=lambda p: p.kind)

    def waiting(self) -> Counter[SearchKind]:
        """How many searches wait, by kind. Costs a look at each."""
        return Counter(job.kind for job in self._jobs.values() if job.engine is None)

    def oldest_wait_s(self, now: float) -> float:
        """The longest wait of a search that somebody waits for."""
        oldest = self._waiting.oldest()
        return 0.0 if oldest is None else max(0.0, now - oldest)

    def check(self) -> None:
        """Raise AssertionError where the state contradicts itself."""
        for index, slot in enumerate(self._engines):
            if slot.state == "busy":
                assert slot.job is not None, f"engine {index} busy with nothing"
                assert self._jobs.get(slot.job.key) is slot.job, f"engine {index}: stale job"
                assert slot.job.engine == index, f"engine {index}: job believes otherwise"
            else:
                assert slot.job is None, f"engine {index} holds a job while {slot.state}"
        waiting = [job for job in self._jobs.values() if job.engine is None]
        for job in self._jobs.values():
            assert job.requests, "a job without a request"
            assert len(job.deaths) < MAX_KILLS, "a job that should be aside"
            assert job.kills < MAX_KILLED, "a job that should be aside"
            assert job.key not in self._aside, "a job set aside"
            if job.engine is not None:
                assert self._engines[job.engine].job is job, "a job on an engine that knows not"
            for (owner, search), request in job.requests.items():
                assert request.alive and request.job is job, "a dead request"
                assert self._owned[owner][search] is request, "a request unknown to its owner"
        assert sum(len(mine) for mine in self._owned.values()) == sum(
            len(job.requests) for job in self._jobs.values()
        ), "a request without a job"
        for job in waiting:
            assert all(map(self._waiting.holds, job.requests.values())), "a lost request"
        idle = any(slot.state == "idle" for slot in self._engines)
        assert not (idle and waiting), "an idle engine while a search waits"
        asked = [
            request.requested_at
            for job in waiting
            for request in job.requests.values()
            if request.priority.kind not in YIELDS
        ]
        assert self._waiting.oldest() == min(asked, default=None), "a wrong oldest wait"

    # Inside.

    def _demote(self, newest: SearchPriority) -> None:
        """Heads that are no longer the newest of their board become backlog.

        The position one ply before stays a head: the last move's gain needs its score.
        """
        for request in self._waiting.heads(newest.board):
            if request.priority.ply < newest.ply - 1:
                request.priority = msgspec.structs.replace(
                    request.priority, kind=SearchKind.BACKLOG
                )
                self._waiting.push(request)

    def _pre_empt(self) -> list[Instruction[Key]]:
        # Of those nobody waits for, what began last has the least to lose.
        yielding = [
            (slot.job.kind, slot.job.started, index)
            for index, slot in enumerate(self._engines)
            if slot.state == "busy" and slot.job is not None and slot.job.kind in YIELDS
        ]
        if not yielding:
            return []
        heads = {id(request.job) for request in self._waiting.heads()}
        coming = sum(slot.state == "stopping" for slot in self._engines)
        instructions: list[Instruction[Key]] = []
        for *_, index in sorted(yielding, reverse=True)[: max(0, len(heads) - coming)]:
            job = self._engines[index].job
            assert job is not None
            instructions.append(self._stop(index))
            self._requeue(job)
        return instructions

    def _stop(self, engine: int) -> StopSearch:
        slot = self._engines[engine]
        slot.state, slot.job = "stopping", None
        self._story.append(f"engine {engine} stops")
        return StopSearch(engine)

    def _requeue(self, job: SearchJob[Key]) -> None:
        job.engine = None
        for request in job.requests.values():
            self._waiting.push(request)

    def _answer(self, job: SearchJob[Key], failure: SearchFailure | None) -> list[DeliverResult]:
        del self._jobs[job.key]
        answers = []
        for (owner, search), request in job.requests.items():
            request.alive = False
            mine = self._owned[owner]
            del mine[search]
            if not mine:
                del self._owned[owner]
            answers.append(DeliverResult(owner, search, failure))
        return answers

    def _expect(self, right: bool, what: str) -> None:
        if not right:
            raise InvalidTransition(f"{what}; before that: {' | '.join(list(self._story)[-20:])}")


class ResultListener(Protocol):
    """Gets the results. Called on the event loop, never from inside ``submit`` or ``drop``; may
    call both.
    """

    def searched(
        self, owner: Hashable, search: Search, result: SearchResult | SearchFailure
    ) -> None:
        """``search`` is over; ``owner`` gets nothing more for it."""

    def progressed(self, owner: Hashable, progress: SearchProgress) -> None:
        """The search of a live head's position (not of the move played) has come so far."""


class SearchDesk(Protocol):
    """Where searches are requested."""

    def submit(self, search: Search, owner: Hashable, priority: SearchPriority) -> None: ...

    def drop(self, owner: Hashable) -> None: ...

    def known(self, search: Search) -> SearchResult | None: ...
