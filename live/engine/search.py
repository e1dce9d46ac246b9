"""A search, what it finds, and the options that shape the searches of an event."""

from __future__ import annotations

import msgspec

from live.events import Score


class Position(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """A position with the moves that led to it, so that repetitions count."""

    start_fen: str
    moves: tuple[str, ...] = ()
    """UCI, from ``start_fen``."""
    chess960: bool = False


class Limit(msgspec.Struct, frozen=True, gc=False):
    """When a search ends. Exactly one field is set."""

    nodes: int | None = None
    depth: int | None = None
    movetime_ms: int | None = None

    def __str__(self) -> str:
        if self.nodes is not None:
            return f"{self.nodes} nodes"
        if self.depth is not None:
            return f"depth {self.depth}"
        return f"{self.movetime_ms} ms"


class Search(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """One search: a position, whole or restricted to one move. Equal searches are made once."""

    position: Position
    only: str | None = None
    """UCI of the move the root is restricted to (``searchmoves``), for the move played."""
    lines: int = 1
    """How many best moves are searched with their scores (Multi-PV)."""
    limit: Limit | None = None
    """When it ends; None is the limit of the pool."""


class Line(msgspec.Struct, frozen=True, gc=False):
    """One of the best moves of a Multi-PV search."""

    move: str
    """UCI."""
    score: Score
    """White's side, last exact line of this move's rank."""
    depth: int


class SearchResult(msgspec.Struct, frozen=True):
    """What a search found when its limit was reached."""

    score: Score
    """White's side. A whole search: the last **exact** info line (a line marked ``lowerbound``
    or ``upperbound`` belongs to an unfinished iteration). A restricted search: the last info
    line, bound or not (that is what the calibrations were learned from). With several lines:
    that of ``lines[0]``."""
    best: str
    """``bestmove``, UCI; with several lines that of ``lines[0]``."""
    depth: int
    by_depth: tuple[Score | None, ...] = ()
    """Exact score after each depth from 1; None where there was none."""
    nodes: int = 0
    """Searched, as the engine counts."""
    time_ms: int = 0
    """By the engine's own clock."""
    exact_best: str = ""
    """First move of the last exact line: the move ``score`` belongs to. Differs from ``best``
    for about one search in fifty under a node limit, when the iteration that was cut short had
    just found a better move."""
    lines: tuple[Line, ...] = ()
    """Best first, when more than one line was searched: all from the last depth at which every
    one was searched to the end."""
    seldepth: int = 0
    """Deepest line looked at (``seldepth``), as reported last; 0 where the engine says nothing."""
    tbhits: int = 0
    """Positions found in the engine's own tables of endgames."""


class SearchFailure(msgspec.Struct, frozen=True):
    """A position given up, and why, for people."""

    reason: str


class SearchProgress(msgspec.Struct, frozen=True):
    """A provisional score while a search deepens."""

    score: Score
    depth: int
    source: str = ""
    """For people: who found it, where that was not this event's engine."""


class SearchOptions(msgspec.Struct, frozen=True):
    """How positions and moves are searched; the same for all figures of one event."""

    lines: int = 1
    """Best moves searched of each position (Multi-PV). A move among them needs no search of its
    own."""
    same_depth: bool = False
    """Search the move played to the depth the best move was searched to, whatever that takes
    (Alliot 2017, section 2.3), instead of under the limit."""

    def whole(self, position: Position) -> Search:
        """Of a position."""
        return Search(position, lines=self.lines)

    def played(self, position: Position, move: str, depth: int | None) -> Search:
        """Of the move played in a position whose own search reached ``depth``."""
        limit = Limit(depth=depth) if self.same_depth and depth else None
        return Search(position, only=move, limit=limit)
