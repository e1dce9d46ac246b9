"""Which search runs next on which engine: events in, instructions out, no asyncio, no clock.

Order of kinds: heads of live games and games that have just ended by turns, backlog of live games,
games that were over before, speculation. Boards on air come before all others with
whatever they need but the last. Among heads and within the backlog the board that has waited
longest since it was last served comes first, so that a bullet game cannot starve the others; within
a board first what the gain of the move last begun still needs, then the newest head, the earliest
backlog ply: where moves come faster than searches some are left out, and every curve goes on
growing. Finished games are taken whole, in the order they were requested. All of this is
:meth:`SearchQueue._order_of_boards` and :meth:`SearchQueue._order_within_board`.

Equal searches are made once and delivered to all who requested them. A search that has killed three
engines is set aside. After every method, the shell must carry out the returned instructions in
order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from enum import IntEnum
from typing import Literal, Protocol

import msgspec

from live.engine.search import (
    Recent,
    Search,
    SearchFailure,
    SearchKey,
    SearchProgress,
    SearchResult,
)
from live.events import Value

Owner = Hashable


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
    """What the next moves will need, the likeliest first: given up at once when a head waits."""


class SearchPriority(Value, gc=False):
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


class StartSearch(Value):
    """Have this engine search this, now."""

    engine: int
    key: SearchKey


class StopSearch(Value):
    """End this engine's search early; then report :meth:`SearchQueue.finished`, stopped."""

    engine: int


class DeliverResult(Value):
    """Give the result to its owner, or ``failure``."""

    owner: Owner
    search: Search
    failure: SearchFailure | None = None


class AssignSearches(Value):
    """Call :meth:`SearchQueue.assign`, after the results before this: their owners may request
    something more urgent next.
    """


Instruction = StartSearch | StopSearch | DeliverResult | AssignSearches


#: Engines a search may kill before it is set aside.
MAX_DEATHS = 3
#: Engines that may be killed from outside while they run it: a machine short of memory does so,
#: too, and it may be this search that fills it.
MAX_OUTSIDE_KILLS = 10
#: Set-aside searches remembered, so that a second request kills no engine.
_ASIDE_KEPT = 1_000
#: Boards whose last turn is remembered.
_BOARDS_KEPT = 4_096


class _Request(msgspec.Struct, eq=False):
    """One owner's request for one search."""

    owner: Owner
    search: Search
    job: _Job
    priority: SearchPriority
    requested_at: float


class _Job(msgspec.Struct, eq=False):
    """One search and all requests for it."""

    key: SearchKey
    requests: dict[tuple[Owner, Search], _Request] = {}
    engine: int | None = None
    """That runs it; None while it waits."""
    started: int = 0
    """How many searches had been started when this one was; 0 while it never was."""
    deaths: list[str] = []
    """Why each engine died that ran it."""
    kills: int = 0
    """Engines killed from outside meanwhile."""

    @property
    def priority(self) -> SearchPriority:
        """The most urgent of its requests'."""
        return min((each.priority for each in self.requests.values()), key=lambda p: p.kind)


class _Engine(msgspec.Struct, eq=False):
    """An engine, and what it works on."""

    state: Literal["down", "idle", "busy", "stopping"] = "down"
    job: _Job | None = None


_Turn = tuple[SearchKind, str]


class SearchQueue:
    """The scheduling state. Changed through its methods only; has one caller."""

    def __init__(self, engines: int) -> None:
        self._engines = [_Engine() for _ in range(engines)]
        self._jobs: dict[SearchKey, _Job] = {}
        self._owned: dict[Owner, dict[Search, _Request]] = {}
        # Requests of jobs that no engine runs, in the order they came: sets, by kind and board.
        self._waiting: dict[_Turn, dict[_Request, None]] = {}
        self._on_air: frozenset[str] = frozenset()
        # When (in starts) each board was last served, per kind, and whether a head was last.
        self._served: Recent[_Turn, int] = Recent(_BOARDS_KEPT)
        self._starts = 0
        self._after_head = False
        # The newest ply of each board whose position was begun as a head.
        self._begun: Recent[str, int] = Recent(_BOARDS_KEPT)
        self._aside: Recent[SearchKey, SearchFailure] = Recent(_ASIDE_KEPT)
        self.set_aside = 0
        # Searches requested, speculation not counted.
        self.asked = 0

    # Events.

    def submit(
        self, owner: Owner, search: Search, key: SearchKey, priority: SearchPriority, now: float
    ) -> list[Instruction]:
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
        if priority.kind is SearchKind.BACKLOG and self._completes(priority):
            priority = msgspec.structs.replace(priority, kind=SearchKind.HEAD)
        mine = self._owned.setdefault(owner, {})
        request = mine.get(search)
        if request is None:
            self.asked += priority.kind is not SearchKind.SPECULATE
            job = self._jobs.setdefault(key, _Job(key))
            request = _Request(owner, search, job, priority, now)
            mine[search] = job.requests[owner, search] = request
            self._wait(request)
        elif request.priority == priority:
            return []
        else:
            self._change(request, priority)
        if priority.kind is SearchKind.HEAD:
            self._demote(priority)
        return self.assign()

    def drop(self, owner: Owner) -> list[Instruction]:
        """Drop all requests of ``owner``; a running search without a request is stopped."""
        instructions: list[Instruction] = []
        for search, request in self._owned.pop(owner, {}).items():
            job = request.job
            del job.requests[owner, search]
            self._leave(request)
            if not job.requests:
                del self._jobs[job.key]
                if job.engine is not None:
                    instructions.append(self._stop(job.engine))
        # What was a head's may be mere speculation now, with other heads waiting.
        return [*instructions, *self._pre_empt()]

    def up(self, engine: int) -> list[Instruction]:
        """An engine is ready."""
        slot = self._engines[engine]
        assert slot.state == "down", f"engine {engine} up while {slot.state}"
        slot.state = "idle"
        return self.assign()

    def finished(self, engine: int, *, stopped: bool = False) -> list[Instruction]:
        """An engine's search ended, by itself or (``stopped``) because of :class:`StopSearch`."""
        slot = self._engines[engine]
        state, job = slot.state, slot.job
        right = state == "stopping" or (state == "busy" and not stopped)
        assert right, f"engine {engine} finished while {state}"
        slot.state, slot.job = "idle", None
        if job is None:
            return self.assign()
        urgent = job.priority.kind <= SearchKind.CLOSING
        answers: list[Instruction] = list(self._answer(job, None))
        # Whoever waits for a head may need one more search for its gain, and that comes first;
        # anything else is better delivered while the engine already works on the next.
        return [*answers, AssignSearches()] if urgent else [*self.assign(), *answers]

    def put_on_air(self, boards: Iterable[str]) -> None:
        """From now on these boards come first."""
        self._on_air = frozenset(boards)

    def add(self) -> None:
        """One more engine, down until :meth:`up`."""
        self._engines.append(_Engine())

    def lost(
        self, engine: int, reason: str, *, blame: bool = True, killed: bool = False
    ) -> list[Instruction]:
        """An engine died; its search goes back, or aside after three deaths it is to ``blame``
        for, or ten by which somebody ``killed`` an engine.
        """
        slot = self._engines[engine]
        assert slot.state != "down", f"engine {engine} lost while down"
        job, slot.job, slot.state = slot.job, None, "down"
        if job is None:
            return []
        job.kills += killed
        if blame and not killed:
            job.deaths.append(reason)
        if len(job.deaths) < MAX_DEATHS and job.kills < MAX_OUTSIDE_KILLS:
            self._requeue(job)
            return self.assign()
        why = "; ".join(job.deaths) or reason
        count = len(job.deaths) + job.kills
        failure = SearchFailure(reason=f"given up after {count} engine failures: {why}")
        self._aside[job.key] = failure
        self.set_aside += 1
        return list(self._answer(job, failure))

    def assign(self) -> list[Instruction]:
        """Give idle engines work, and take speculation off engines that heads wait for."""
        instructions: list[Instruction] = []
        for index, slot in enumerate(self._engines):
            if slot.state == "idle" and self._waiting:
                turn = min(self._waiting, key=self._order_of_boards)
                request = min(self._waiting[turn], key=self._order_within_board)
                job = request.job
                for each in job.requests.values():
                    self._leave(each)
                slot.state, slot.job, job.engine = "busy", job, index
                self._starts += 1
                self._served[turn] = job.started = self._starts
                self._after_head = turn[0] is SearchKind.HEAD
                if self._after_head and not self._completes(request.priority):
                    self._begun[turn[1]] = request.priority.ply
                instructions.append(StartSearch(index, job.key))
        return [*instructions, *self._pre_empt()]

    # Questions.

    def watchers(self, engine: int) -> list[Owner]:
        """Who follows this engine's search as it deepens: who requested a live head's own score."""
        job = self._engines[engine].job
        return [
            owner
            for (owner, search), request in (job.requests.items() if job is not None else ())
            if request.priority.kind is SearchKind.HEAD and search.only is None
        ]

    def subject(self, engine: int) -> SearchPriority | None:
        """The most urgent of what this engine's search is for."""
        job = self._engines[engine].job
        return None if job is None else job.priority

    def waiting(self) -> Counter[SearchKind]:
        """How many searches wait, by kind. Costs a look at each."""
        return Counter(job.priority.kind for job in self._jobs.values() if job.engine is None)

    def oldest_wait_s(self, now: float) -> float:
        """The longest wait of a search that somebody waits for. Costs a look at each."""
        asked = (
            request.requested_at
            for (kind, _), requests in self._waiting.items()
            for request in requests
            if kind is not SearchKind.SPECULATE
        )
        return max(0.0, now - min(asked, default=now))

    # Whose turn it is.

    def _order_of_boards(self, turn: _Turn) -> tuple[bool, int, int]:
        """Among what waits by kind and board, the lowest is served next; of equals the first."""
        kind, board = turn
        # Whoever speculates has weighed the boards himself.
        on_air = board in self._on_air and kind is not SearchKind.SPECULATE
        urgency = int(kind)
        if kind is SearchKind.CLOSING and self._after_head and not on_air:
            # Heads that never end would keep a game that has ended waiting for its last scores.
            urgency = -1
        if kind is SearchKind.SPECULATE:
            last = min(each.priority.rank for each in self._waiting[turn])
        else:
            # Nobody waits for a single position of a game that was over.
            last = 0 if kind is SearchKind.FINISHED else self._served.get(turn, 0)
        return not on_air, urgency, last

    def _order_within_board(self, request: _Request) -> tuple[bool, int]:
        """Among what one board needs of one kind, the lowest is served next; of equals the
        first.
        """
        priority = request.priority
        if priority.kind is SearchKind.HEAD:
            return not self._completes(priority), -priority.ply
        return False, priority.rank if priority.kind is SearchKind.SPECULATE else priority.ply

    def _completes(self, priority: SearchPriority) -> bool:
        """Whether a search of its board is for the move last begun, or the position before it."""
        begun = self._begun.get(priority.board)
        return begun is not None and begun - 1 <= priority.ply <= begun

    def _wait(self, request: _Request) -> None:
        if request.job.engine is None:
            turn = (request.priority.kind, request.priority.board)
            self._waiting.setdefault(turn, {})[request] = None

    def _leave(self, request: _Request) -> None:
        if request.job.engine is None:
            turn = (request.priority.kind, request.priority.board)
            del self._waiting[turn][request]
            if not self._waiting[turn]:
                del self._waiting[turn]

    def _change(self, request: _Request, priority: SearchPriority) -> None:
        self._leave(request)
        request.priority = priority
        self._wait(request)

    def _demote(self, newest: SearchPriority) -> None:
        """Heads that are no longer the newest of their board become backlog.

        The position one ply before stays a head: the last move's gain needs its score. So does what
        the move last begun needs, unless it was taken back.
        """
        if newest.ply < self._begun.get(newest.board, 0) - 1:
            del self._begun[newest.board]
        for request in list(self._waiting.get((SearchKind.HEAD, newest.board), ())):
            if request.priority.ply < newest.ply - 1 and not self._completes(request.priority):
                backlog = msgspec.structs.replace(request.priority, kind=SearchKind.BACKLOG)
                self._change(request, backlog)

    # What engines do.

    def _pre_empt(self) -> list[Instruction]:
        yielding = [
            (job.started, index, job)
            for index, slot in enumerate(self._engines)
            if (job := slot.job) is not None and job.priority.kind is SearchKind.SPECULATE
        ]
        if not yielding:
            return []
        # Of those nobody waits for, what began last has the least to lose.
        coming = sum(slot.state == "stopping" for slot in self._engines)
        heads = {
            request.job.key
            for (kind, _), requests in self._waiting.items()
            if kind is SearchKind.HEAD
            for request in requests
        }
        instructions: list[Instruction] = []
        for _, index, job in sorted(yielding, reverse=True)[: max(0, len(heads) - coming)]:
            instructions.append(self._stop(index))
            self._requeue(job)
        return instructions

    def _stop(self, engine: int) -> StopSearch:
        slot = self._engines[engine]
        slot.state, slot.job = "stopping", None
        return StopSearch(engine)

    def _requeue(self, job: _Job) -> None:
        job.engine = None
        for request in job.requests.values():
            self._wait(request)

    def _answer(self, job: _Job, failure: SearchFailure | None) -> list[DeliverResult]:
        del self._jobs[job.key]
        for owner, search in job.requests:
            mine = self._owned[owner]
            del mine[search]
            if not mine:
                del self._owned[owner]
        return [DeliverResult(owner, search, failure) for owner, search in job.requests]


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
