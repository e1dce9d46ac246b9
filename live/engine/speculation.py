"""While a player thinks: what the most likely replies will need, searched ahead.

A scout, one search of the live position for its best few moves under a quarter of the limit,
orders the replies. Each then needs its restricted search (the gain) and the position after it
(the score), under the very same limit as if it had been played, so that the results are those
that would be found then. All at the lowest priority: a head takes the engine away at once.

Stands between the room and whoever listens to it; leaving it out switches speculation off.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator
from typing import Final, Protocol

import msgspec

from live.engine.asking import Asking
from live.engine.priority import Kind, Priority
from live.engine.replies import Listener
from live.engine.search import Limit, Position, Progress, Search, SearchFailure, SearchResult
from live.events import (
    Change,
    GameId,
    GameMessage,
    GoneMessage,
    MoveMessage,
    SpeculationFigures,
)

#: Replies searched ahead for each live position.
REPLIES: Final = 8
_PLAIN: Final = Asking()
#: Guessed searches remembered until they come true.
_KEPT: Final = 10_000


class Desk(Protocol):
    """Where searches are asked for: the room."""

    def want(self, search: Search, owner: Hashable, priority: Priority) -> None: ...

    def drop(self, owner: Hashable) -> None: ...


class Guess(msgspec.Struct, frozen=True):
    """Who wants a speculative search: a live position."""

    board: str
    ply: int


class Figures(msgspec.Struct):
    """What speculation was good for so far; :meth:`told` is what people see of it."""

    searches: int = 0
    hits: int = 0
    """Searches that were wanted later, and were ready."""
    misses: int = 0
    """Searches of heads that were not ready when wanted."""
    nodes: int = 0
    """Spent in all, scouts included."""
    nodes_hit: int = 0
    """Spent on searches that came true; the rest is wasted."""

    def told(self) -> SpeculationFigures:
        return SpeculationFigures(self.hits, self.misses, self.nodes - self.nodes_hit)


class Speculation:
    """A desk for its owner, and the listener of the room behind it."""

    def __init__(
        self,
        listener: Listener,
        limit: Limit,
        replies: int = REPLIES,
        asking: Asking = _PLAIN,
    ) -> None:
        self.figures = Figures()
        # The room; known only after it was made with us as its listener.
        self.desk: Desk
        self._listener = listener
        self._limit = limit
        self._replies = replies
        self._asking = asking
        # The newest position of each live board, its guess's owner.
        self._live: dict[str, Guess] = {}
        # Whole searches of heads under way, by owner: what a scout may follow.
        self._heads: dict[Hashable, tuple[Search, Priority]] = {}
        # Scouts on their way, with what was found in the position they look at.
        self._scouts: dict[Guess, tuple[Search, SearchResult]] = {}
        # Guessed searches that were made, with their nodes.
        self._made: OrderedDict[Search, int] = OrderedDict()

    def want(self, search: Search, owner: Hashable, priority: Priority) -> None:
        """As the room's own; a board's new head ends the guesses of its last (a takeback ends them
        by :meth:`over`: an older ply's head may just be late).
        """
        nodes = self._made.pop(search, None)
        if nodes is not None:
            self.figures.hits += 1
            self.figures.nodes_hit += nodes
        elif priority.kind is Kind.HEAD and not self._asking.is_quick(search):
            self.figures.misses += 1
        # After a first, quick look it is the full search that a scout follows.
        full = Kind.HEAD if self._asking.quick is None else Kind.DEEPEN
        if priority.kind is full and search.only is None:
            self._heads[owner] = (search, priority)
        # First the head, then the drop: a guess under way that comes true goes on.
        self.desk.want(search, owner, priority)
        old = self._live.get(priority.board)
        over = priority.kind is Kind.FINISHED
        if old is not None and (over or (priority.kind is Kind.HEAD and priority.ply > old.ply)):
            self._forget(old)

    def drop(self, owner: Hashable) -> None:
        """As the room's own."""
        self._heads.pop(owner, None)
        self.desk.drop(owner)

    def over(self, board: str) -> None:
        """The board's last position stands no more, or nobody will move there: guess no more."""
        old = self._live.get(board)
        if old is not None:
            self._forget(old)

    def searched(
        self, owner: Hashable, search: Search, result: SearchResult | SearchFailure
    ) -> None:
        """As the listener's own; guesses are not told on."""
        if isinstance(owner, Guess):
            if isinstance(result, SearchResult):
                self._guessed(owner, search, result)
            return
        head = self._heads.get(owner)
        self._listener.searched(owner, search, result)
        if head is not None and head[0] == search:
            self._heads.pop(owner, None)
            if isinstance(result, SearchResult):
                self._scout(search, head[1], result)

    def progressed(self, owner: Hashable, progress: Progress) -> None:
        self._listener.progressed(owner, progress)

    def _scout(self, search: Search, priority: Priority, result: SearchResult) -> None:
        """A live position has its score: find out what may be played there."""
        newest = self._live.get(priority.board)
        if newest is not None:
            if newest.ply > priority.ply:
                return
            self._forget(newest)
        guess = Guess(priority.board, priority.ply)
        self._live[priority.board] = guess
        scout = Search(search.position, lines=self._replies, limit=scout_limit(self._limit))
        self._scouts[guess] = (scout, result)
        self.desk.want(scout, guess, _speculative(guess, 0))

    def _guessed(self, guess: Guess, search: Search, result: SearchResult) -> None:
        self.figures.searches += 1
        self.figures.nodes += result.nodes
        if guess in self._scouts and self._scouts[guess][0] == search:
            _, found = self._scouts.pop(guess)
            for rank, each in enumerate(needed(search.position, found, result, self._asking)):
                self.desk.want(each, guess, _speculative(guess, rank + 1))
            return
        self._made[search] = result.nodes
        if len(self._made) > _KEPT:
            self._made.popitem(last=False)

    def _forget(self, guess: Guess) -> None:
        self._live.pop(guess.board, None)
        self._scouts.pop(guess, None)
        self.desk.drop(guess)


def needed(
    position: Position, found: SearchResult, scout: SearchResult, asking: Asking = _PLAIN
) -> list[Search]:
    """What the likely replies need, likeliest first; the gain of a move that was found already,
    as first choice or among the lines, needs nothing.
    """
    wanted: list[Search] = []
    told = {found.best, *(line.move for line in found.lines)}
    best = found.best
    for move in (best, *(line.move for line in scout.lines if line.move != best)):
        if move not in told:
            wanted.append(asking.played(position, move, found.depth))
        moves = (*position.moves, move)
        wanted.append(asking.whole(Position(position.start_fen, moves, position.chess960)))
    return wanted


def boards_over(changes: Iterable[Change]) -> Iterator[GameId]:
    """Games whose last position stands no more, or in which nobody will move."""
    for change in changes:
        if isinstance(change, GameMessage) and change.game.result != "*":
            yield change.game.id
        elif isinstance(change, GoneMessage) or (
            isinstance(change, MoveMessage) and change.move is None
        ):
            yield change.game


def scout_limit(limit: Limit) -> Limit:
    """About a quarter of the effort."""
    if limit.nodes is not None:
        return Limit(nodes=max(1, limit.nodes // 4))
    if limit.depth is not None:
        return Limit(depth=max(1, limit.depth - 3))
    return Limit(movetime_ms=max(1, (limit.movetime_ms or 0) // 4))


def _speculative(guess: Guess, rank: int) -> Priority:
    return Priority(Kind.SPECULATE, guess.board, guess.ply, rank)
