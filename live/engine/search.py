"""Searches, their results, and the settings for all searches of an event."""

from __future__ import annotations

from live.messages.from_sources import Score
from live.messages.values import Value


class Position(Value, gc=False, cache_hash=True):
    """A position with the moves that led to it, so that repetitions count."""

    start_fen: str
    moves: tuple[str, ...] = ()
    """UCI moves from ``start_fen``."""
    chess960: bool = False


class Limit(Value, gc=False):
    """Limit at which a search ends. Exactly one field is set."""

    nodes: int | None = None
    depth: int | None = None
    movetime_ms: int | None = None

    def __str__(self) -> str:
        if self.nodes is not None:
            return f"{self.nodes} nodes"
        if self.depth is not None:
            return f"depth {self.depth}"
        return f"{self.movetime_ms} ms"


class Search(Value, gc=False, cache_hash=True):
    """A search of a position, either whole or restricted to one move. Equal searches
    are made once.
    """

    position: Position
    only: str | None = None
    """UCI of the move that the root is restricted to (``searchmoves``); None for a
    whole search.
    """
    lines: int = 1
    """Number of best moves that are searched with their scores (Multi-PV)."""
    limit: Limit | None = None
    """Limit of this search; None for the limit of the pool."""


class Line(Value, gc=False):
    """One of the best moves found by a Multi-PV search."""

    move: str
    """The move, UCI."""
    score: Score
    """White's score, from the last exact line of this move's rank."""
    depth: int


class SearchResult(Value):
    """Result of a search when its limit was reached."""

    score: Score
    """White's score. A whole search takes it from the last **exact** info line (a line
    marked ``lowerbound`` or ``upperbound`` belongs to an unfinished iteration). A
    restricted search takes it from the last info line, exact or not, because the
    calibrations were learned from such scores. A search of several lines takes it from
    ``lines[0]``.
    """
    best: str
    """The engine's ``bestmove``, UCI; with several lines, the move of ``lines[0]``."""
    depth: int
    by_depth: tuple[Score | None, ...] = ()
    """Exact score after each depth from 1; None where there was none."""
    nodes: int = 0
    """Number of nodes searched, as the engine counts."""
    time_ms: int = 0
    """Duration by the engine's own clock."""
    exact_best: str = ""
    """First move of the last exact line, to which ``score`` belongs. It differs from
    ``best`` for about one search in fifty under a node limit, if the unfinished
    iteration had just found a better move.
    """
    lines: tuple[Line, ...] = ()
    """Lines of a search of several lines, best move first. All are of the last depth at
    which every line was completed.
    """
    seldepth: int = 0
    """Greatest depth of any line (``seldepth``), as last reported; 0 if the engine
    reports none.
    """
    tbhits: int = 0
    """Number of positions found in the engine's own endgame tables."""


class SearchFailure(Value):
    """A search that was given up, with the reason as text for display."""

    reason: str


class SearchProgress(Value):
    """A provisional score while a search is running."""

    score: Score
    depth: int


class SearchOptions(Value):
    """Options of the searches of positions and moves, the same for all figures of one
    event.
    """

    lines: int = 1
    """Number of best moves searched for each position (Multi-PV). A move among them
    needs no separate search.
    """
    same_depth: bool = False
    """True to search the move played to the same depth as the best move, however long
    that takes (Alliot 2017, section 2.3), instead of under the limit.
    """

    def search_of_position(self, position: Position) -> Search:
        """Return the search of a position."""
        return Search(position, lines=self.lines)

    def search_of_move(
        self, position: Position, move: str, depth: int | None
    ) -> Search:
        """Return the search of the move played in a position whose own search reached
        ``depth``.
        """
        limit = Limit(depth=depth) if self.same_depth and depth else None
        return Search(position, only=move, limit=limit)
