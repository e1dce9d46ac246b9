"""Which search runs next on which engine: events in, instructions out, no asyncio, no
clock.

Order of kinds: heads of live games, in turn with games that have just ended; backlog of
live games; games that were over when first seen; speculation. Boards on air come before
all others, except with speculation.

Within heads and within backlog, the board that has waited longest since it was last
served comes first, so a bullet game cannot starve the others. Within a board, searches
for the gain of the move last begun come first, then the newest head, then the earliest
backlog ply. When moves come faster than searches, some moves get no score, but every
curve keeps growing. Finished games are searched whole, in the order of request. These
rules are :meth:`SearchQueue._rank_board` and :meth:`SearchQueue._rank_request`.

Equal searches run once and are delivered to every owner. A search that has killed three
engines is abandoned. After every method, the shell must carry out the returned
instructions in order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from enum import IntEnum
from typing import Literal, Protocol

import msgspec

from live.engine.search import (
    LruDict,
    Search,
    SearchFailure,
    SearchKey,
    SearchProgress,
    SearchResult,
)
from live.messages.values import Value

Owner = Hashable


class SearchKind(IntEnum):
    """Kinds of searches, most urgent first."""

    HEAD = 0
    """The newest position of a live game, and what its last move's gain needs."""
    CLOSING = 1
    """A game that has just ended: screens wait for its last scores, so heads take turns
    with it."""
    BACKLOG = 2
    """Earlier positions of a live game."""
    FINISHED = 3
    """A game that was over when it was first seen."""
    SPECULATE = 4
    """What the next moves will need, the likeliest first: given up at once when a head
    waits."""


class SearchPriority(Value, gc=False):
    """How urgent a search is, and for whom."""

    kind: SearchKind
    board: str = ""
    """The board whose turn this search uses up: the game's id."""
    ply: int = 0
    """The move it is for, counted from 1 (0: the starting position). Both the position
    after ply p and the restricted search of the move at ply p carry p. A board's heads
    before ``newest head - 1`` become backlog by themselves."""
    rank: int = 0
    """Lower first, among speculation of all boards."""


class StartSearch(Value):
    """Have this engine search this, now."""

    engine: int
    key: SearchKey


class StopSearch(Value):
    """End this engine's search early, then report it to
    :meth:`SearchQueue.on_search_finished` with ``stopped``.
    """

    engine: int


class DeliverResult(Value):
    """Give the result to its owner, or ``failure``."""

    owner: Owner
    search: Search
    failure: SearchFailure | None = None


class AssignSearches(Value):
    """Call :meth:`SearchQueue.assign_searches` once the results before this are
    delivered: their owners may request something more urgent.
    """


Instruction = StartSearch | StopSearch | DeliverResult | AssignSearches


#: Engines a search may kill before it is set aside.
MAX_DEATHS = 3
#: Engines that may be killed from outside while they run one search: a machine short of
#: memory kills engines, too, and this search may be what fills it.
MAX_OUTSIDE_KILLS = 10
#: Set-aside searches remembered, so that a second request kills no engine.
_MAX_ABANDONED = 1_000
#: Boards whose last turn is remembered.
_MAX_BOARDS = 4_096


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
        return min(
            (each.priority for each in self.requests.values()), key=lambda p: p.kind
        )


class _Engine(msgspec.Struct, eq=False):
    """An engine, and what it works on."""

    state: Literal["down", "idle", "busy", "stopping"] = "down"
    job: _Job | None = None


_Turn = tuple[SearchKind, str]


class SearchQueue:
    """The scheduling state. Only its methods change it, and only one caller calls
    them.
    """

    def __init__(self, engines: int) -> None:
        self._engines = [_Engine() for _ in range(engines)]
        self._jobs: dict[SearchKey, _Job] = {}
        self._owned: dict[Owner, dict[Search, _Request]] = {}
        # Requests of jobs that no engine runs, in the order they came: sets, by kind
        # and board.
        self._waiting: dict[_Turn, dict[_Request, None]] = {}
        self._on_air: frozenset[str] = frozenset()
        # When (in starts) each board was last served, per kind, and whether a head was
        # last.
        self._served: LruDict[_Turn, int] = LruDict(_MAX_BOARDS)
        self._starts = 0
        self._after_head = False
        # The newest ply of each board whose position was begun as a head.
        self._begun: LruDict[str, int] = LruDict(_MAX_BOARDS)
        self._abandoned: LruDict[SearchKey, SearchFailure] = LruDict(_MAX_ABANDONED)
        self.set_aside = 0
        # Searches requested, speculation not counted.
        self.asked = 0

    # Events.

    def submit(
        self,
        owner: Owner,
        search: Search,
        key: SearchKey,
        priority: SearchPriority,
        now: float,
    ) -> list[Instruction]:
        """Add a request of ``owner`` for ``search``; a second request with another
        priority replaces the first.

        Args:
            owner: answered once; what :meth:`drop` names.
            search: handed back with the answer.
            key: what makes searches equal.
            priority: how urgent.
            now: seconds on any steady clock; only waiting times follow from it.
        """
        aside = self._abandoned.get(key)
        if aside is not None:
            return [DeliverResult(owner, search, aside)]
        if priority.kind is SearchKind.BACKLOG and self._is_for_begun_move(priority):
            priority = msgspec.structs.replace(priority, kind=SearchKind.HEAD)
        mine = self._owned.setdefault(owner, {})
        request = mine.get(search)
        if request is None:
            self.asked += priority.kind is not SearchKind.SPECULATE
            job = self._jobs.setdefault(key, _Job(key))
            request = _Request(owner, search, job, priority, now)
            mine[search] = job.requests[owner, search] = request
            self._add_waiting(request)
        elif request.priority == priority:
            return []
        else:
            self._change_priority(request, priority)
        if priority.kind is SearchKind.HEAD:
            self._demote_heads(priority)
        return self.assign_searches()

    def drop(self, owner: Owner) -> list[Instruction]:
        """Drop all requests of ``owner``; stop a running search that has no request
        left.
        """
        instructions: list[Instruction] = []
        for search, request in self._owned.pop(owner, {}).items():
            job = request.job
            del job.requests[owner, search]
            self._remove_waiting(request)
            if not job.requests:
                del self._jobs[job.key]
                if job.engine is not None:
                    instructions.append(self._stop_engine(job.engine))
        # What a head needed may now be speculation only, while other heads wait.
        return [*instructions, *self._pre_empt_speculation()]

    def on_engine_ready(self, engine: int) -> list[Instruction]:
        """Give work to an engine that is ready."""
        slot = self._engines[engine]
        assert slot.state == "down", f"engine {engine} up while {slot.state}"
        slot.state = "idle"
        return self.assign_searches()

    def on_search_finished(
        self, engine: int, *, stopped: bool = False
    ) -> list[Instruction]:
        """Answer the requests for a search that ended by itself or, if ``stopped``,
        because of :class:`StopSearch`.
        """
        slot = self._engines[engine]
        state = slot.state
        job = slot.job
        right = state == "stopping" or (state == "busy" and not stopped)
        assert right, f"engine {engine} finished while {state}"
        slot.state = "idle"
        slot.job = None
        if job is None:
            return self.assign_searches()
        urgent = job.priority.kind <= SearchKind.CLOSING
        answers: list[Instruction] = list(self._answer_requests(job, None))
        # Whoever waits for a head may need one more search for its gain, and that comes
        # first; anything else is better delivered while the engine already works on the
        # next.
        return (
            [*answers, AssignSearches()]
            if urgent
            else [*self.assign_searches(), *answers]
        )

    def put_on_air(self, boards: Iterable[str]) -> None:
        """Search these boards before all others from now on."""
        self._on_air = frozenset(boards)

    def add_engine(self) -> None:
        """Add one more engine, which is down until :meth:`on_engine_ready`."""
        self._engines.append(_Engine())

    def on_engine_lost(
        self, engine: int, reason: str, *, blame: bool = True, killed: bool = False
    ) -> list[Instruction]:
        """Requeue the search of an engine that died. Abandon it after three deaths that
        it is to ``blame`` for, or ten from outside (``killed``).
        """
        slot = self._engines[engine]
        assert slot.state != "down", f"engine {engine} lost while down"
        job = slot.job
        slot.job = None
        slot.state = "down"
        if job is None:
            return []
        job.kills += killed
        if blame and not killed:
            job.deaths.append(reason)
        if len(job.deaths) < MAX_DEATHS and job.kills < MAX_OUTSIDE_KILLS:
            self._requeue_job(job)
            return self.assign_searches()
        why = "; ".join(job.deaths) or reason
        count = len(job.deaths) + job.kills
        failure = SearchFailure(reason=f"given up after {count} engine failures: {why}")
        self._abandoned[job.key] = failure
        self.set_aside += 1
        return list(self._answer_requests(job, failure))

    def assign_searches(self) -> list[Instruction]:
        """Give idle engines work, and stop speculation that heads wait for."""
        instructions: list[Instruction] = []
        for index, slot in enumerate(self._engines):
            if slot.state == "idle" and self._waiting:
                turn = min(self._waiting, key=self._rank_board)
                request = min(self._waiting[turn], key=self._rank_request)
                job = request.job
                for each in job.requests.values():
                    self._remove_waiting(each)
                slot.state = "busy"
                slot.job = job
                job.engine = index
                self._starts += 1
                self._served[turn] = job.started = self._starts
                self._after_head = turn[0] is SearchKind.HEAD
                if self._after_head and not self._is_for_begun_move(request.priority):
                    self._begun[turn[1]] = request.priority.ply
                instructions.append(StartSearch(index, job.key))
        return [*instructions, *self._pre_empt_speculation()]

    # Questions.

    def list_progress_owners(self, engine: int) -> list[Owner]:
        """Return the owners of a live head's own score that this engine searches: they
        follow its progress.
        """
        job = self._engines[engine].job
        return [
            owner
            for (owner, search), request in (
                job.requests.items() if job is not None else ()
            )
            if request.priority.kind is SearchKind.HEAD and search.only is None
        ]

    def find_running_priority(self, engine: int) -> SearchPriority | None:
        """Return the most urgent priority of the search that this engine runs; None if
        idle.
        """
        job = self._engines[engine].job
        return None if job is None else job.priority

    def count_waiting(self) -> Counter[SearchKind]:
        """Return the number of waiting searches by kind. Reads every search."""
        return Counter(
            job.priority.kind for job in self._jobs.values() if job.engine is None
        )

    def measure_oldest_wait_s(self, now: float) -> float:
        """Return the longest wait of a search that is not speculation, in seconds.
        Reads every waiting request.
        """
        oldest = now
        for (kind, _), requests in self._waiting.items():
            if kind is not SearchKind.SPECULATE:
                oldest = min(oldest, *(each.requested_at for each in requests))
        return max(0.0, now - oldest)

    # Whose turn it is.

    def _rank_board(self, turn: _Turn) -> tuple[bool, int, int]:
        """Return the rank of a board's requests of one kind: the lowest is served next,
        the first of equals.
        """
        kind, board = turn
        # Look-ahead has weighed the boards already.
        on_air = board in self._on_air and kind is not SearchKind.SPECULATE
        urgency = int(kind)
        if kind is SearchKind.CLOSING and self._after_head and not on_air:
            # If heads never end, a finished game would wait for ever for its last
            # scores.
            urgency = -1
        if kind is SearchKind.SPECULATE:
            last = min(each.priority.rank for each in self._waiting[turn])
        else:
            # Nobody waits for a single position of a game that was over.
            last = 0 if kind is SearchKind.FINISHED else self._served.get(turn, 0)
        return not on_air, urgency, last

    def _rank_request(self, request: _Request) -> tuple[bool, int]:
        """Return the rank of a request within its board and kind: the lowest is served
        next, the first of equals.
        """
        priority = request.priority
        if priority.kind is SearchKind.HEAD:
            return not self._is_for_begun_move(priority), -priority.ply
        return (
            False,
            priority.rank if priority.kind is SearchKind.SPECULATE else priority.ply,
        )

    def _is_for_begun_move(self, priority: SearchPriority) -> bool:
        """Return whether a search is for the move last begun on its board, or for the
        position before it.
        """
        begun = self._begun.get(priority.board)
        return begun is not None and begun - 1 <= priority.ply <= begun

    def _add_waiting(self, request: _Request) -> None:
        if request.job.engine is None:
            turn = (request.priority.kind, request.priority.board)
            self._waiting.setdefault(turn, {})[request] = None

    def _remove_waiting(self, request: _Request) -> None:
        if request.job.engine is None:
            turn = (request.priority.kind, request.priority.board)
            del self._waiting[turn][request]
            if not self._waiting[turn]:
                del self._waiting[turn]

    def _change_priority(self, request: _Request, priority: SearchPriority) -> None:
        self._remove_waiting(request)
        request.priority = priority
        self._add_waiting(request)

    def _demote_heads(self, newest: SearchPriority) -> None:
        """Make heads that are no longer the newest of their board backlog.

        The position one ply before stays a head: the last move's gain needs its score.
        So does what the move last begun needs, unless it was taken back.
        """
        if newest.ply < self._begun.get(newest.board, 0) - 1:
            del self._begun[newest.board]
        for request in list(self._waiting.get((SearchKind.HEAD, newest.board), ())):
            if request.priority.ply < newest.ply - 1 and not self._is_for_begun_move(
                request.priority
            ):
                backlog = msgspec.structs.replace(
                    request.priority, kind=SearchKind.BACKLOG
                )
                self._change_priority(request, backlog)

    # What engines do.

    def _pre_empt_speculation(self) -> list[Instruction]:
        """Stop as many speculative searches as heads wait for an engine."""
        yielding = [
            (job.started, index, job)
            for index, slot in enumerate(self._engines)
            if (job := slot.job) is not None
            and job.priority.kind is SearchKind.SPECULATE
        ]
        if not yielding:
            return []
        # Nobody waits for these searches; the one that began last has the least to
        # lose.
        coming = sum(slot.state == "stopping" for slot in self._engines)
        heads: set[SearchKey] = set()
        for (kind, _), requests in self._waiting.items():
            if kind is SearchKind.HEAD:
                heads.update(request.job.key for request in requests)
        instructions: list[Instruction] = []
        for _, index, job in sorted(yielding, reverse=True)[
            : max(0, len(heads) - coming)
        ]:
            instructions.append(self._stop_engine(index))
            self._requeue_job(job)
        return instructions

    def _stop_engine(self, engine: int) -> StopSearch:
        slot = self._engines[engine]
        slot.state = "stopping"
        slot.job = None
        return StopSearch(engine)

    def _requeue_job(self, job: _Job) -> None:
        job.engine = None
        for request in job.requests.values():
            self._add_waiting(request)

    def _answer_requests(
        self, job: _Job, failure: SearchFailure | None
    ) -> list[DeliverResult]:
        """Forget a job; return the deliveries to all its owners."""
        del self._jobs[job.key]
        for owner, search in job.requests:
            mine = self._owned[owner]
            del mine[search]
            if not mine:
                del self._owned[owner]
        return [DeliverResult(owner, search, failure) for owner, search in job.requests]


class ResultListener(Protocol):
    """Gets the results. Called on the event loop, never from inside ``submit`` or
    ``drop``, and may call both.
    """

    def on_result(
        self, owner: Hashable, search: Search, result: SearchResult | SearchFailure
    ) -> None:
        """Take the result of ``search``; ``owner`` gets nothing more for it."""

    def on_progress(self, owner: Hashable, progress: SearchProgress) -> None:
        """Take a provisional score of a live head's position (not of the move
        played).
        """


class SearchDesk(Protocol):
    """Accepts requests for searches."""

    def submit(
        self, search: Search, owner: Hashable, priority: SearchPriority
    ) -> None: ...

    def drop(self, owner: Hashable) -> None: ...

    def find_known_result(self, search: Search) -> SearchResult | None: ...
