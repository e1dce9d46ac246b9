"""Order of searches: decides which search runs next on which engine. Events come in and
instructions go out; no asyncio, no clock.

Order of kinds: heads of live games, alternating with games that have just ended;
backlog of live games; games that had ended when first seen; speculation. Boards on air
come before all others, except with speculation.

Within heads and within backlog, the board that was served longest ago comes first, so
that a bullet game cannot block the others. Within a board, once the search of a
position has begun, the other searches for the gain of its last move come first, then
the newest head, then the earliest backlog ply. If moves come faster than searches, some
moves get no score, but every curve continues to grow. Finished games are searched one
after another, in the order of request. :meth:`SearchQueue._rank_turn` and
:meth:`SearchQueue._rank_request` implement these rules.

Equal searches run once and are delivered to every owner. A search that has killed three
engines is abandoned. After every method, the caller must carry out the returned
instructions in order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from enum import IntEnum
from typing import Literal, Protocol

import msgspec

from live.engine.lru_dict import LruDict
from live.engine.search import Search, SearchFailure, SearchProgress, SearchResult
from live.engine.search_key import SearchKey
from live.messages.values import Value

Owner = Hashable


class SearchKind(IntEnum):
    """Kinds of searches, most urgent first."""

    HEAD = 0
    """The newest position of a live game, and the searches for its last move's gain."""
    CLOSING = 1
    """A position of a game that has just ended. Screens wait for its last scores, so
    these searches alternate with heads.
    """
    BACKLOG = 2
    """Earlier positions of a live game."""
    FINISHED = 3
    """A position of a game that had ended when it was first seen."""
    SPECULATE = 4
    """Searches that the next moves will need, the most likely first; stopped at once
    when a head is waiting.
    """


class SearchPriority(Value, gc=False):
    """Urgency of a search, and the board it is for."""

    kind: SearchKind
    board: str = ""
    """Id of the game whose turn this search uses up."""
    ply: int = 0
    """Ply of the move that the search is for, counted from 1 (0: the starting
    position). The position after ply p and the restricted search of the move at ply p
    both have the ply p. A board's heads before ``newest head - 1`` automatically become
    backlog.
    """
    rank: int = 0
    """Order among speculation of all boards, lower first."""


class StartSearch(Value):
    """Instruction to start this search on this engine now."""

    engine: int
    key: SearchKey


class StopSearch(Value):
    """Instruction to end this engine's search early, and then to report it to
    :meth:`SearchQueue.on_search_finished` with ``stopped``.
    """

    engine: int


class DeliverResult(Value):
    """Instruction to deliver the result, or ``failure``, to its owner."""

    owner: Owner
    search: Search
    failure: SearchFailure | None = None


class AssignSearches(Value):
    """Instruction to call :meth:`SearchQueue.assign_searches` once the results before
    it are delivered, because their owners can request something more urgent.
    """


Instruction = StartSearch | StopSearch | DeliverResult | AssignSearches


#: Number of engines that a search can kill before it is abandoned.
MAX_DEATHS = 3
#: Number of engines that can be killed from outside during one search before it is
#: abandoned: a machine short of memory kills engines, and this search can be the cause.
MAX_OUTSIDE_KILLS = 10
#: Number of abandoned searches remembered, so that a second request kills no engine.
_MAX_ABANDONED = 1_000
#: Number of boards whose last turn is remembered.
_MAX_BOARDS = 4_096


class _Request(msgspec.Struct, eq=False):
    """One owner's request for one search."""

    owner: Owner
    search: Search
    job: _Job
    priority: SearchPriority
    requested_at: float


class _Job(msgspec.Struct, eq=False):
    """One search with all requests for it."""

    key: SearchKey
    requests: dict[tuple[Owner, Search], _Request] = {}
    engine: int | None = None
    """Index of the engine that runs it; None while it waits."""
    started: int = 0
    """Ordinal number of the job's start among the starts of all jobs; 0 if it was never
    started.
    """
    deaths: list[str] = []
    """Reason of death of each engine that died during this search."""
    kills: int = 0
    """Number of engines killed from outside during this search."""

    @property
    def priority(self) -> SearchPriority:
        """Return the most urgent priority of its requests."""
        return min(
            (request.priority for request in self.requests.values()),
            key=lambda priority: priority.kind,
        )


class _Engine(msgspec.Struct, eq=False):
    """One engine and the job it runs."""

    state: Literal["down", "idle", "busy", "stopping"] = "down"
    job: _Job | None = None


_Turn = tuple[SearchKind, str]


class SearchQueue:
    """Requests for searches, and the engines that run them. A single caller uses its
    methods.
    """

    def __init__(self, engines: int) -> None:
        self._engines = [_Engine() for _ in range(engines)]
        self._jobs: dict[SearchKey, _Job] = {}
        self._owned: dict[Owner, dict[Search, _Request]] = {}
        # Requests of jobs that no engine runs, in the order they came: ordered sets, by
        # kind and board.
        self._waiting: dict[_Turn, dict[_Request, None]] = {}
        self._on_air: frozenset[str] = frozenset()
        # For each board and kind, the number of starts when it was last served.
        # ``_after_head`` is true if a head was served last.
        self._served: LruDict[_Turn, int] = LruDict(_MAX_BOARDS)
        self._starts = 0
        self._after_head = False
        # For each board, the newest ply whose search was started as a head.
        self._begun: LruDict[str, int] = LruDict(_MAX_BOARDS)
        self._abandoned: LruDict[SearchKey, SearchFailure] = LruDict(_MAX_ABANDONED)
        self.set_aside = 0
        # Number of searches requested, without speculation.
        self.asked = 0

    # Events that change the queue.

    def submit(
        self,
        owner: Owner,
        search: Search,
        key: SearchKey,
        priority: SearchPriority,
        now: float,
    ) -> list[Instruction]:
        """Add a request of ``owner`` for ``search``; another priority replaces that of
        an earlier request.

        Args:
            owner: gets one answer; :meth:`drop` identifies requests by it.
            search: returned with the answer.
            key: identifies equal searches.
            priority: urgency of the request.
            now: seconds on any steady clock, used only for waiting times.
        """
        aside = self._abandoned.get(key)
        if aside is not None:
            return [DeliverResult(owner, search, aside)]
        if priority.kind is SearchKind.BACKLOG and self._is_for_begun_move(priority):
            priority = msgspec.structs.replace(priority, kind=SearchKind.HEAD)
        own_requests = self._owned.setdefault(owner, {})
        request = own_requests.get(search)
        if request is None:
            self.asked += priority.kind is not SearchKind.SPECULATE
            job = self._jobs.setdefault(key, _Job(key))
            request = _Request(owner, search, job, priority, now)
            own_requests[search] = job.requests[owner, search] = request
            self._add_waiting(request)
        elif request.priority == priority:
            return []
        else:
            self._change_priority(request, priority)
        if priority.kind is SearchKind.HEAD:
            self._demote_heads(priority)
        return self.assign_searches()

    def drop(self, owner: Owner) -> list[Instruction]:
        """Drop all requests of ``owner``; stop each running search that has no request
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
        # A running search that only a dropped head needed can now be speculation. It
        # must not delay other heads.
        return [*instructions, *self._pre_empt_speculation()]

    def on_engine_ready(self, engine: int) -> list[Instruction]:
        """Assign a search to an engine that has become ready."""
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
        is_expected = state == "stopping" or (state == "busy" and not stopped)
        assert is_expected, f"engine {engine} finished while {state}"
        slot.state = "idle"
        slot.job = None
        if job is None:
            return self.assign_searches()
        urgent = job.priority.kind <= SearchKind.CLOSING
        answers: list[Instruction] = list(self._answer_requests(job, None))
        # The owner of a head can request one more search for its gain, which comes
        # first. Any other result is delivered after the engine's next search was
        # started.
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
        """Requeue the search of an engine that died.

        The search is abandoned after three deaths that it caused (``blame``), or after
        ten kills from outside (``killed``).
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
        reasons = "; ".join(job.deaths) or reason
        count = len(job.deaths) + job.kills
        failure = SearchFailure(
            reason=f"given up after {count} engine failures: {reasons}"
        )
        self._abandoned[job.key] = failure
        self.set_aside += 1
        return list(self._answer_requests(job, failure))

    def assign_searches(self) -> list[Instruction]:
        """Assign searches to idle engines, and stop speculative searches for waiting
        heads.
        """
        instructions: list[Instruction] = []
        for index, slot in enumerate(self._engines):
            if slot.state == "idle" and self._waiting:
                turn = min(self._waiting, key=self._rank_turn)
                request = min(self._waiting[turn], key=self._rank_request)
                job = request.job
                for waiting in job.requests.values():
                    self._remove_waiting(waiting)
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

    # Queries, which change nothing.

    def list_progress_owners(self, engine: int) -> list[Owner]:
        """Return the owners who requested the score of the live position that this
        engine searches. They receive its progress.
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
        """Return the number of waiting searches by kind, in O(number of searches)."""
        return Counter(
            job.priority.kind for job in self._jobs.values() if job.engine is None
        )

    def measure_oldest_wait_s(self, now: float) -> float:
        """Return the longest wait of a search that is not speculation, in seconds.

        O(number of waiting requests).
        """
        oldest = now
        for (kind, _), requests in self._waiting.items():
            if kind is not SearchKind.SPECULATE:
                oldest = min(oldest, *(request.requested_at for request in requests))
        return max(0.0, now - oldest)

    # Order of requests.

    def _rank_turn(self, turn: _Turn) -> tuple[bool, int, int]:
        """Return the rank of a board's requests of one kind. The lowest rank is served
        next; of equal ranks, the first.
        """
        kind, board = turn
        # Look-ahead has already ranked the speculation of all boards.
        on_air = board in self._on_air and kind is not SearchKind.SPECULATE
        urgency = int(kind)
        if kind is SearchKind.CLOSING and self._after_head and not on_air:
            # If new heads always came first, a finished game could wait for ever for
            # its last scores.
            urgency = -1
        if kind is SearchKind.SPECULATE:
            last = min(request.priority.rank for request in self._waiting[turn])
        else:
            # No one waits for a single position of a game that had ended when first
            # seen, so such games are searched one after another.
            last = 0 if kind is SearchKind.FINISHED else self._served.get(turn, 0)
        return not on_air, urgency, last

    def _rank_request(self, request: _Request) -> tuple[bool, int]:
        """Return the rank of a request within its board and kind. The lowest rank is
        served next; of equal ranks, the first.
        """
        priority = request.priority
        if priority.kind is SearchKind.HEAD:
            return not self._is_for_begun_move(priority), -priority.ply
        return (
            False,
            priority.rank if priority.kind is SearchKind.SPECULATE else priority.ply,
        )

    def _is_for_begun_move(self, priority: SearchPriority) -> bool:
        """Return whether a search is for the ply that was last started as a head on its
        board, or for the ply before.
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
        """Turn heads that are no longer the newest of their board into backlog.

        The position one ply before stays a head, because the last move's gain needs its
        score. Searches for the move last begun stay heads, too, unless that move was
        taken back.
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

    # State changes of engines.

    def _pre_empt_speculation(self) -> list[Instruction]:
        """Stop one speculative search for each head that waits for an engine."""
        yielding = [
            (job.started, index, job)
            for index, slot in enumerate(self._engines)
            if (job := slot.job) is not None
            and job.priority.kind is SearchKind.SPECULATE
        ]
        if not yielding:
            return []
        # The search that began last is stopped first, because it has done the least
        # work.
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
        """Remove a job; return the instructions to answer all its owners."""
        del self._jobs[job.key]
        for owner, search in job.requests:
            own_requests = self._owned[owner]
            del own_requests[search]
            if not own_requests:
                del self._owned[owner]
        return [DeliverResult(owner, search, failure) for owner, search in job.requests]


class ResultListener(Protocol):
    """Receiver of results. Its methods are called on the event loop, never from inside
    ``submit`` or ``drop``, and can call both.
    """

    def on_result(
        self, owner: Hashable, search: Search, result: SearchResult | SearchFailure
    ) -> None:
        """Accept the result of ``search``. No further call for this search and
        ``owner`` follows.
        """

    def on_progress(self, owner: Hashable, progress: SearchProgress) -> None:
        """Accept a provisional score of a live head's position (not of the move
        played).
        """


class SearchDesk(Protocol):
    """Object that accepts requests for searches."""

    def submit(
        self, search: Search, owner: Hashable, priority: SearchPriority
    ) -> None: ...

    def drop(self, owner: Hashable) -> None: ...

    def find_known_result(self, search: Search) -> SearchResult | None: ...
