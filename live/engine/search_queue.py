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
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final, Generic, Literal, Protocol, TypeVar

import msgspec

from live.engine.search import Search, SearchFailure, SearchProgress, SearchResult

Owner = Hashable
Key = TypeVar("Key", bound=Hashable)


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
#: Boards whose last turn is remembered.
_BOARDS_KEPT: Final = 4_096
#: Transitions kept for error messages.
_STORY_KEPT: Final = 20
#: Where one kind goes first, once.
_CLOSING_FIRST: Final = sorted(SearchKind, key=lambda kind: kind is not SearchKind.CLOSING)


class InvalidTransition(RuntimeError):
    """A bug in the shell or here; carries the story of recent transitions."""


@dataclass(slots=True, eq=False)
class _Request(Generic[Key]):
    """One owner's request for one search."""

    owner: Owner
    search: Search
    job: _Job[Key]
    priority: SearchPriority
    requested_at: float


@dataclass(slots=True, eq=False)
class _Job(Generic[Key]):
    """One search and all requests for it."""

    key: Key
    requests: dict[tuple[Owner, Search], _Request[Key]] = field(default_factory=dict)
    engine: int | None = None
    """That runs it; None while it waits."""
    started: int = 0
    """How many searches had been started when this one was; 0 while it never was."""
    deaths: list[str] = field(default_factory=list)
    """Why each engine died that ran it."""
    kills: int = 0
    """Engines killed from outside meanwhile."""

    @property
    def kind(self) -> SearchKind:
        return min(request.priority.kind for request in self.requests.values())


@dataclass(slots=True, eq=False)
class _Engine(Generic[Key]):
    """An engine, and what it works on."""

    state: Literal["down", "idle", "busy", "stopping"] = "down"
    job: _Job[Key] | None = None


class SearchQueue(Generic[Key]):
    """The scheduling state. Changed through its methods only; has one caller."""

    def __init__(self, engines: int) -> None:
        self._engines = [_Engine[Key]() for _ in range(engines)]
        self._jobs: dict[Key, _Job[Key]] = {}
        self._owned: dict[Owner, dict[Search, _Request[Key]]] = {}
        # Requests of jobs that no engine runs, in the order they came: sets, by kind and board.
        self._waiting: dict[SearchKind, dict[str, dict[_Request[Key], None]]] = {
            kind: {} for kind in SearchKind
        }
        self._on_air: frozenset[str] = frozenset()
        # When (in starts) each board was last served, per kind, and whether a head was last.
        self._served: OrderedDict[tuple[SearchKind, str], int] = OrderedDict()
        self._starts = 0
        self._after_head = False
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
        request = mine.get(search)
        if request is None:
            self.asked += priority.kind is not SearchKind.SPECULATE
            job = self._jobs.setdefault(key, _Job(key))
            request = _Request(owner, search, job, priority, now)
            mine[search] = job.requests[owner, search] = request
            if job.engine is None:
                self._wait(request)
        elif request.priority == priority:
            return []
        else:
            self._change(request, priority)
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
            job = request.job
            del job.requests[owner, search]
            if job.engine is None:
                self._leave(request)
            if not job.requests:
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
        state, job = slot.state, slot.job
        self._story.append(f"engine {engine} finished{' stopped' if stopped else ''}")
        self._expect(
            state == "stopping" or (state == "busy" and not stopped), f"engine {engine} {state}"
        )
        slot.state, slot.job = "idle", None
        if job is None:
            return self.assign()
        urgent = job.kind <= SearchKind.CLOSING
        answers: list[Instruction[Key]] = list(self._answer(job, None))
        # Whoever waits for a head may need one more search for its gain, and that comes first;
        # anything else is better delivered while the engine already works on the next.
        return [*answers, AssignSearches()] if urgent else [*self.assign(), *answers]

    def put_on_air(self, boards: Iterable[str]) -> None:
        """From now on these boards come first."""
        self._on_air = frozenset(boards)
        self._story.append(f"on air {', '.join(sorted(self._on_air))}")

    def add(self) -> None:
        """One more engine, down until :meth:`up`."""
        self._engines.append(_Engine())

    def lost(
        self, engine: int, reason: str, *, blame: bool = True, killed: bool = False
    ) -> list[Instruction[Key]]:
        """An engine died; its search goes back, or aside after three deaths it is to ``blame``
        for, or ten by which somebody ``killed`` an engine.
        """
        slot = self._engines[engine]
        self._expect(slot.state != "down", f"engine {engine} lost while down")
        job, slot.job, slot.state = slot.job, None, "down"
        self._story.append(f"engine {engine} lost: {reason}")
        if job is None:
            return []
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
            request = self._next()
            if request is None:
                break
            job = request.job
            for each in job.requests.values():
                self._leave(each)
            slot.state, slot.job, job.engine = "busy", job, index
            self._count_turn(request)
            self._story.append(f"engine {index} starts")
            instructions.append(StartSearch(index, job.key))
        return [*instructions, *self._pre_empt()]

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
        if job is None:
            return None
        return min((each.priority for each in job.requests.values()), key=lambda p: p.kind)

    def waiting(self) -> Counter[SearchKind]:
        """How many searches wait, by kind. Costs a look at each."""
        return Counter(job.kind for job in self._jobs.values() if job.engine is None)

    def oldest_wait_s(self, now: float) -> float:
        """The longest wait of a search that somebody waits for. Costs a look at each."""
        waited_for = (kind for kind in SearchKind if kind not in YIELDS)
        asked = (each.requested_at for kind in waited_for for each in self._requests(kind))
        return max(0.0, now - min(asked, default=now))

    def check(self) -> None:
        """Raise AssertionError where the state contradicts itself."""
        for index, slot in enumerate(self._engines):
            assert (slot.job is not None) == (slot.state == "busy"), f"engine {index} {slot.state}"
            if slot.job is not None:
                assert self._jobs.get(slot.job.key) is slot.job, f"engine {index}: stale job"
                assert slot.job.engine == index, f"engine {index}: job believes otherwise"
        owned = [each for mine in self._owned.values() for each in mine.values()]
        waiting: list[_Request[Key]] = []
        for job in self._jobs.values():
            assert job.requests, "a job without a request"
            assert len(job.deaths) < MAX_KILLS, "a job that should be aside"
            assert job.kills < MAX_KILLED, "a job that should be aside"
            assert job.key not in self._aside, "a job set aside"
            assert all(each.job is job for each in job.requests.values()), "another's request"
            if job.engine is None:
                waiting += job.requests.values()
            else:
                assert self._engines[job.engine].job is job, "a job on an engine that knows not"
        assert set(owned) == {
            each for job in self._jobs.values() for each in job.requests.values()
        }, "a request without a job or owner"
        queued = [(kind, each) for kind in SearchKind for each in self._requests(kind)]
        assert all(kind is each.priority.kind for kind, each in queued), "a request misplaced"
        assert {each for _, each in queued} == set(waiting), "a lost request"
        idle = any(slot.state == "idle" for slot in self._engines)
        assert not (idle and waiting), "an idle engine while a search waits"

    # Whose turn it is.

    def _next(self) -> _Request[Key] | None:
        """What is searched next."""
        if self._on_air:
            for kind in SearchKind:
                boards = [board for board in self._waiting[kind] if board in self._on_air]
                if boards and kind not in YIELDS:
                    return self._first(kind, boards)
        # Heads that never end would keep a game that has ended waiting for its last scores.
        for kind in _CLOSING_FIRST if self._after_head else SearchKind:
            if self._waiting[kind]:
                return self._first(kind, self._waiting[kind])
        return None

    def _first(self, kind: SearchKind, boards: Iterable[str]) -> _Request[Key]:
        """The first request of a kind, of these boards."""
        waiting = self._waiting[kind]
        if kind is SearchKind.SPECULATE:
            # Whoever speculates has weighed the boards himself.
            return min(self._requests(kind), key=lambda each: each.priority.rank)
        if kind is SearchKind.FINISHED:
            # Nobody waits for a single position of these.
            board = next(iter(boards))
        else:
            board = min(boards, key=lambda board: self._served.get((kind, board), 0))
        newest_first = -1 if kind is SearchKind.HEAD else 1
        return min(waiting[board], key=lambda each: newest_first * each.priority.ply)

    def _count_turn(self, request: _Request[Key]) -> None:
        self._starts += 1
        kind = request.priority.kind
        self._after_head = kind is SearchKind.HEAD
        request.job.started = self._starts
        turn = (kind, request.priority.board)
        self._served[turn] = self._starts
        self._served.move_to_end(turn)
        if len(self._served) > _BOARDS_KEPT:
            self._served.popitem(last=False)

    def _requests(self, kind: SearchKind) -> Iterator[_Request[Key]]:
        return (request for waiting in self._waiting[kind].values() for request in waiting)

    def _wait(self, request: _Request[Key]) -> None:
        priority = request.priority
        self._waiting[priority.kind].setdefault(priority.board, {})[request] = None

    def _leave(self, request: _Request[Key]) -> None:
        boards, board = self._waiting[request.priority.kind], request.priority.board
        del boards[board][request]
        if not boards[board]:
            del boards[board]

    def _change(self, request: _Request[Key], priority: SearchPriority) -> None:
        waits = request.job.engine is None
        if waits:
            self._leave(request)
        request.priority = priority
        if waits:
            self._wait(request)

    def _demote(self, newest: SearchPriority) -> None:
        """Heads that are no longer the newest of their board become backlog.

        The position one ply before stays a head: the last move's gain needs its score.
        """
        for request in list(self._waiting[SearchKind.HEAD].get(newest.board, ())):
            if request.priority.ply < newest.ply - 1:
                backlog = msgspec.structs.replace(request.priority, kind=SearchKind.BACKLOG)
                self._change(request, backlog)

    # What engines do.

    def _pre_empt(self) -> list[Instruction[Key]]:
        # Of those nobody waits for, what began last has the least to lose.
        yielding = [
            (job.kind, job.started, index)
            for index, slot in enumerate(self._engines)
            if (job := slot.job) is not None and job.kind in YIELDS
        ]
        if not yielding:
            return []
        heads = {request.job for request in self._requests(SearchKind.HEAD)}
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

    def _requeue(self, job: _Job[Key]) -> None:
        job.engine = None
        for request in job.requests.values():
            self._wait(request)

    def _answer(self, job: _Job[Key], failure: SearchFailure | None) -> list[DeliverResult]:
        del self._jobs[job.key]
        for owner, search in job.requests:
            mine = self._owned[owner]
            del mine[search]
            if not mine:
                del self._owned[owner]
        return [DeliverResult(owner, search, failure) for owner, search in job.requests]

    def _expect(self, right: bool, what: str) -> None:
        if not right:
            raise InvalidTransition(f"{what}; before that: {' | '.join(self._story)}")


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
