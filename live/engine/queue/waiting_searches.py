"""Searches that wait, and whose turn it is."""

from __future__ import annotations

import heapq
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator
from typing import Final, Generic, Literal, TypeVar

from live.engine.queue.search_priority import YIELDS, SearchKind, SearchPriority
from live.engine.search import Search

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
