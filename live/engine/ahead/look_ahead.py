"""While a player thinks: what the next moves will need, searched ahead.

Every live board has a :class:`live.engine.ahead.move_forecast.MoveForecast`, which says what is
worth searching.
Of all boards the search goes first that is worth most (that a player who has just begun to think
moves sooner than one who has thought for long was tried as a weight, and gained nothing). Searches
are made under the very same limit as if the moves had been played, so the results are those that
would be found then, and all at the lowest priority: a head takes the engine away at once. No more
of them are requested than keep the engines busy, so that each choice is made late and knows what
has happened.

Stands between the pool and its listener; leaving it out switches speculation off.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator
from typing import Final, Protocol

import msgspec

from live.engine.ahead.move_forecast import (
    Chances,
    ForecastNeed,
    ForecastPolicy,
    Likely,
    MoveForecast,
    nobody,
    speculative_rank,
    usual,
)
from live.engine.queue.search_priority import SearchKind, SearchPriority
from live.engine.result_delivery import ResultListener
from live.engine.search import (
    Limit,
    Position,
    Search,
    SearchFailure,
    SearchOptions,
    SearchProgress,
    SearchResult,
)
from live.events import (
    Change,
    GameId,
    GameMessage,
    GoneMessage,
    MoveMessage,
    SpeculationFigures,
)

_PLAIN: Final = SearchOptions()
_POLICY: Final = ForecastPolicy()
#: Guessed searches remembered until they come true.
_KEPT: Final = 2_000
#: Open requests for each engine: one runs, one is at hand, so that no
#: engine waits for the next.
_EACH: Final = 2


class SearchDesk(Protocol):
    """Where searches are requested."""

    def submit(self, search: Search, owner: Hashable, priority: SearchPriority) -> None: ...

    def drop(self, owner: Hashable) -> None: ...

    def known(self, search: Search) -> SearchResult | None: ...


class LookAheadPool(SearchDesk, Protocol):
    """Where they are made: the pool."""

    @property
    def slots(self) -> int:
        """How many can run at a time."""


class GuessedMove(msgspec.Struct, frozen=True):
    """The owner of a speculative search."""

    search: Search


class LookAheadFigures(msgspec.Struct):
    """What speculation has gained so far; :meth:`told` gives the figures that people see."""

    searches: int = 0
    hits: int = 0
    """Searches that were requested later, and were ready."""
    misses: int = 0
    """Searches of heads that were not ready when requested."""
    nodes: int = 0
    """Spent in all, scouts included."""
    nodes_hit: int = 0
    """Spent on searches that came true; the rest is wasted."""

    def told(self) -> SpeculationFigures:
        return SpeculationFigures(self.hits, self.misses, self.nodes - self.nodes_hit)


class LookAhead:
    """A desk for its owner, and the listener of the pool behind it."""

    def __init__(
        self,
        listener: ResultListener,
        limit: Limit,
        search_options: SearchOptions = _PLAIN,
        *,
        chances: Chances = usual,
        likely: Likely = nobody,
        policy: ForecastPolicy = _POLICY,
    ) -> None:
        self.figures = LookAheadFigures()
        # The pool; known only after it was made with us as its listener.
        self.desk: LookAheadPool
        self._listener = listener
        self._limit = limit
        self._search_options = search_options
        self._chances = chances
        self._likely = likely
        self._policy = policy
        # Of each live board.
        self._forecasts: dict[str, MoveForecast] = {}
        # Whole searches of heads under way, with their board, by owner: forecasts begin with what
        # they find.
        self._heads: dict[Hashable, tuple[Search, str]] = {}
        # Asked for and not yet answered, with the boards it is for.
        self._pending: dict[Search, list[str]] = {}
        # Guessed searches that were made, with their nodes.
        self._made: OrderedDict[Search, int] = OrderedDict()

    def submit(self, search: Search, owner: Hashable, priority: SearchPriority) -> None:
        """As the pool's own. A board's new head moves its forecast on (a takeback ends it by
        :meth:`over`: an older ply's head may just be late).
        """
        self._count(search, priority)
        if priority.kind is SearchKind.HEAD and search.only is None:
            self._heads[owner] = (search, priority.board)
        if priority.kind in (SearchKind.CLOSING, SearchKind.FINISHED):
            self._end(priority.board)
        elif priority.kind is SearchKind.HEAD and search.only is None:
            # What is no longer needed gives its engines back before the head would take one.
            self._advance(search.position, priority)
        came_true = self._pending.pop(search, None) is not None
        self.desk.submit(search, owner, priority)
        if came_true:
            # After it was requested, so that it is not stopped: it is the owner's from now on.
            self.desk.drop(GuessedMove(search))
        self._fill()

    def drop(self, owner: Hashable) -> None:
        """As the pool's own."""
        self._heads.pop(owner, None)
        self.desk.drop(owner)

    def known(self, search: Search) -> SearchResult | None:
        """As the pool's own."""
        return self.desk.known(search)

    def over(self, board: str) -> None:
        """The board's last position stands no more, or nobody will move there: guess no more."""
        self._end(board)
        self._fill()

    def people_known(self, board: str) -> None:
        """It has become known what people would play in the live position of this board."""
        if board in self._forecasts:
            self._forecasts[board].people_known()
            self._fill()

    def searched(
        self, owner: Hashable, search: Search, result: SearchResult | SearchFailure
    ) -> None:
        """As the listener's own; guesses are not passed on."""
        if isinstance(owner, GuessedMove):
            self._guessed(search, result)
        else:
            head = self._heads.get(owner)
            self._listener.searched(owner, search, result)
            if head is not None and head[0] == search:
                self._heads.pop(owner, None)
                self._learn([head[1]], search, result)
        self._fill()

    def progressed(self, owner: Hashable, progress: SearchProgress) -> None:
        self._listener.progressed(owner, progress)

    def _advance(self, position: Position, priority: SearchPriority) -> None:
        forecast = self._forecasts.get(priority.board)
        if forecast is None:
            self._forecasts[priority.board] = MoveForecast(
                priority.board,
                position,
                priority.ply,
                limit=self._limit,
                search_options=self._search_options,
                policy=self._policy,
                chances=self._chances,
                likely=self._likely,
            )
        elif priority.ply > forecast.ply:
            forecast.advance(position, priority.ply)
            self._tidy()

    def _end(self, board: str) -> None:
        if self._forecasts.pop(board, None) is not None:
            self._tidy()

    def _tidy(self) -> None:
        """Drop what no game can come to any more."""
        for search, boards in list(self._pending.items()):
            boards[:] = [
                name
                for name in boards
                if name in self._forecasts and self._forecasts[name].concerns(search)
            ]
            if not boards:
                del self._pending[search]
                self.desk.drop(GuessedMove(search))

    def _guessed(self, search: Search, result: SearchResult | SearchFailure) -> None:
        if isinstance(result, SearchResult):
            self.figures.searches += 1
            self.figures.nodes += result.nodes
            self._made[search] = result.nodes
            if len(self._made) > _KEPT:
                self._made.popitem(last=False)
        self._learn(self._pending.pop(search, ()), search, result)

    def _learn(
        self, boards: Iterable[str], search: Search, result: SearchResult | SearchFailure
    ) -> None:
        for name in boards:
            if name in self._forecasts:
                self._forecasts[name].learn(search, result)

    def _count(self, search: Search, priority: SearchPriority) -> None:
        nodes = self._made.pop(search, None)
        if nodes is not None:
            self.figures.nodes_hit += nodes
            # What is asked of the scouts of people's moves is no gain and no score.
            self.figures.hits += priority.kind is not SearchKind.SPECULATE
        elif priority.kind is SearchKind.HEAD:
            self.figures.misses += 1

    def _fill(self) -> None:
        """Ask for what is worth most, until the engines have enough at hand."""
        while len(self._pending) < _EACH * self.desk.slots:
            best: tuple[ForecastNeed, str] | None = None
            for name, forecast in self._forecasts.items():
                need = self._first(name, forecast)
                if need is not None and (best is None or need.worth > best[0].worth):
                    best = (need, name)
            if best is None:
                return
            need, name = best
            search = need.search
            known = self.desk.known(search)
            if known is not None:
                self._forecasts[name].learn(search, known)
                continue
            self._pending[search] = [name]
            rank = speculative_rank(need.worth)
            ply = len(search.position.moves) + (search.only is not None)
            self.desk.submit(
                search, GuessedMove(search), SearchPriority(SearchKind.SPECULATE, name, ply, rank)
            )

    def _first(self, name: str, forecast: MoveForecast) -> ForecastNeed | None:
        """What the board needs most of what is not requested yet."""
        for need in forecast.needs():
            boards = self._pending.get(need.search)
            if boards is None:
                return need
            if name not in boards:
                boards.append(name)
        return None


def boards_over(changes: Iterable[Change]) -> Iterator[GameId]:
    """Games whose last position stands no more, or in which nobody will move."""
    for change in changes:
        if isinstance(change, GameMessage) and change.game.result != "*":
            yield change.game.id
        elif isinstance(change, GoneMessage) or (
            isinstance(change, MoveMessage) and change.move is None
        ):
            yield change.game
