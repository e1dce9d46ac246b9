"""Speculative searches, made while a player thinks, whose results the next moves will
need.

Every live board has a :class:`~live.engine.move_forecast.MoveForecast`, which lists the
searches that are worth making. Of all boards, the most valuable search is made first.
(Weighting boards by the time that the player has already thought was tried, and gained
nothing.) Searches use the same limit as if the moves had been played, so their results
are the same, too. All have the lowest priority: the search of a live position (a head)
interrupts them at once. Only as many are requested as keep the engines busy, so that
each choice uses the latest information.

:class:`LookAhead` is placed between the pool and its listener.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Protocol

from live.engine.lru_dict import LruDict
from live.engine.move_forecast import (
    ForecastNeed,
    ForecastRules,
    MoveForecast,
    rank_speculation,
)
from live.engine.search import Search, SearchFailure, SearchProgress, SearchResult
from live.engine.search_queue import (
    ResultListener,
    SearchDesk,
    SearchKind,
    SearchPriority,
)
from live.messages.health import SpeculationFigures
from live.messages.to_clients import GameMessage, GoneMessage, MoveMessage
from live.messages.values import GameId

#: Number of speculative searches remembered until they are needed.
_MAX_REMEMBERED = 2_000
#: Number of open requests per engine: one is running and one is ready, so that no
#: engine waits for its next search.
_REQUESTS_PER_ENGINE = 2


class LookAheadPool(SearchDesk, Protocol):
    """Pool that speculative searches are requested from."""

    @property
    def slots(self) -> int:
        """Return the number of searches that can run at a time."""


class LookAhead:
    """Wrapper of the engine pool that adds speculative searches. The owner of a
    speculative search is the search itself.
    """

    def __init__(
        self, listener: ResultListener, rules: ForecastRules, desk: LookAheadPool
    ) -> None:
        """Create the wrapper of ``desk``, the engine pool."""
        self._desk = desk
        self._listener = listener
        # Number of requested searches that speculation had already made, and of head
        # searches that it had not.
        self._hits = self._misses = 0
        self._rules = rules
        # The forecast of each live board.
        self._forecasts: dict[str, MoveForecast] = {}
        # For each board, its most valuable need that is not requested yet; and the
        # boards for which this need must be found again.
        self._first_needs: dict[str, ForecastNeed | None] = {}
        self._changed: set[str] = set()
        # Running unrestricted searches of live positions (heads), with their boards, by
        # owner. Forecasts begin with their results.
        self._heads: dict[Hashable, tuple[Search, str]] = {}
        # Speculative searches requested and not answered yet, with the boards they are
        # for.
        self._pending: dict[Search, list[str]] = {}
        # Boards of completed speculative searches, by the hash of the search. (The
        # search itself would take a kilobyte.)
        self._searched: LruDict[int, str] = LruDict(_MAX_REMEMBERED)

    def get_speculation_figures(self) -> SpeculationFigures:
        """Return how many needed searches speculation had already made, and how many it
        had not.
        """
        return SpeculationFigures(self._hits, self._misses)

    def submit(self, search: Search, owner: Hashable, priority: SearchPriority) -> None:
        """Submit a search to the pool. A board's new live position (head) advances its
        forecast.

        A head of an older ply leaves the forecast as it is, because the request can be
        late. After a takeback, :meth:`end_forecast_of_board` is called.
        """
        self._count_hit(search, priority)
        if priority.kind in (SearchKind.CLOSING, SearchKind.FINISHED):
            self._end_forecast(priority.board)
        elif priority.kind is SearchKind.HEAD and search.only is None:
            board = priority.board
            self._heads[owner] = (search, board)
            # Unneeded searches are dropped first, so that the head can use their
            # engines.
            forecast = self._forecasts.get(board)
            if forecast is None:
                forecast = MoveForecast(
                    board, search.position, priority.ply, self._rules
                )
                self._forecasts[board] = forecast
                self._first_needs[board] = None
                self._changed.add(board)
            elif priority.ply > forecast.ply:
                forecast.advance_to(search.position, priority.ply)
                self._changed.add(board)
                self._drop_unneeded()
        boards = self._pending.pop(search, None)
        came_true = boards is not None
        self._changed.update(boards or ())
        self._desk.submit(search, owner, priority)
        if came_true:
            # The speculative request is dropped only after the owner's request was
            # added, so that the running search is not stopped.
            self._desk.drop(search)
        self._request_searches()

    def drop(self, owner: Hashable) -> None:
        """Drop all requests of ``owner`` from the pool."""
        self._heads.pop(owner, None)
        self._desk.drop(owner)

    def find_known_result(self, search: Search) -> SearchResult | None:
        """Return the result of a search if the pool knows it; otherwise None."""
        return self._desk.find_known_result(search)

    def on_progress(self, owner: Hashable, progress: SearchProgress) -> None:
        """Pass progress on to the listener."""
        self._listener.on_progress(owner, progress)

    def end_forecast_of_board(self, board: str) -> None:
        """End the forecast of a board: its last position was taken back, or its game
        has ended.
        """
        self._end_forecast(board)
        self._request_searches()

    def on_human_answer(self, board: str) -> None:
        """Compute the chances of this board's replies again, because human shares have
        arrived.
        """
        if board in self._forecasts:
            self._forecasts[board].update_human_shares()
            self._changed.add(board)
            self._request_searches()

    def on_result(
        self, owner: Hashable, search: Search, result: SearchResult | SearchFailure
    ) -> None:
        """Add a result to the forecasts, and pass it on to the listener unless the
        search was speculative.
        """
        if isinstance(owner, Search):
            boards = self._pending.pop(search, [])
            if boards and isinstance(result, SearchResult):
                self._searched[hash(search)] = boards[0]
        else:
            head_search, board = self._heads.get(owner, (None, ""))
            self._listener.on_result(owner, search, result)
            boards = [board] if head_search == search else []
            if boards:
                self._heads.pop(owner, None)
        self._changed.update(boards)
        for name in boards:
            if name in self._forecasts:
                self._forecasts[name].add_result(search, result)
        self._request_searches()

    def _end_forecast(self, board: str) -> None:
        if self._forecasts.pop(board, None) is not None:
            self._first_needs.pop(board, None)
            for search_hash in [
                search_hash
                for search_hash, name in self._searched.items()
                if name == board
            ]:
                del self._searched[search_hash]
            self._drop_unneeded()

    def _drop_unneeded(self) -> None:
        """Drop searches of positions that no game can reach any more."""
        for search, boards in list(self._pending.items()):
            boards[:] = [
                name
                for name in boards
                if name in self._forecasts and self._forecasts[name].has_search(search)
            ]
            if not boards:
                del self._pending[search]
                self._desk.drop(search)

    def _count_hit(self, search: Search, priority: SearchPriority) -> None:
        if self._searched.pop(hash(search), None) is not None:
            # A scout gives neither a gain nor a score, so it does not count as a hit.
            self._hits += priority.kind is not SearchKind.SPECULATE
        elif priority.kind is SearchKind.HEAD:
            self._misses += 1

    def _request_searches(self) -> None:
        """Request the most valuable searches until enough are ready for the engines."""
        while len(self._pending) < _REQUESTS_PER_ENGINE * self._desk.slots:
            for name in self._changed & self._forecasts.keys():
                self._first_needs[name] = self._find_first_need(name)
            self._changed.clear()
            name = max(self._first_needs, key=self._find_first_worth, default="")
            need = self._first_needs.get(name)
            if need is None:
                return
            self._changed.add(name)
            search = need.search
            if search in self._pending:
                # The search was requested for another board meanwhile.
                continue
            result = self._desk.find_known_result(search)
            if result is not None:
                self._forecasts[name].add_result(search, result)
                continue
            self._pending[search] = [name]
            rank = rank_speculation(need.worth)
            ply = len(search.position.moves) + (search.only is not None)
            priority = SearchPriority(SearchKind.SPECULATE, name, ply, rank)
            self._desk.submit(search, search, priority)

    def _find_first_worth(self, name: str) -> float:
        need = self._first_needs[name]
        return 0.0 if need is None else need.worth

    def _find_first_need(self, name: str) -> ForecastNeed | None:
        """Return the board's most valuable need that is not requested yet; None if
        there is none.

        If a more valuable search is already requested for another board, this board is
        registered for its result, too.
        """
        for need in self._forecasts[name].list_needs():
            boards = self._pending.get(need.search)
            if boards is None:
                return need
            if name not in boards:
                boards.append(name)
        return None


def list_ended_boards(changes: Iterable[object]) -> Iterator[GameId]:
    """Yield games whose last position was taken back or deleted, and games that have
    ended.
    """
    for change in changes:
        if isinstance(change, GameMessage) and change.game.result != "*":
            yield change.game.id
        elif isinstance(change, GoneMessage) or (
            isinstance(change, MoveMessage) and change.move is None
        ):
            yield change.game
