"""A search, what it finds, and the options that shape the searches of an event; and its key, a
search as it is sent to an engine, under which results are stored, too.

Two searches that must find the same have one key: same position, same limit, same root moves. What
of a game's past can change a search is the fifty-move counter and the positions that have stood
twice already; a position that stood once before cannot, because an engine takes a repetition for a
draw when it happens inside its own search, or for the third time. So the moves are sent only where
a position has been repeated since the last pawn move or capture, and else the position alone.
Transpositions and boards that share an opening then share searches, and a score does not depend on
which board came first. The move number says nothing to a search and is sent as 1.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Protocol, TypeVar

import chess

from live.events import Score, Value

K = TypeVar("K")
V = TypeVar("V")


class Recent(OrderedDict[K, V]):
    """What was set last, up to a number of items."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > self._most:
            self.popitem(last=False)


class Position(Value, gc=False, cache_hash=True):
    """A position with the moves that led to it, so that repetitions count."""

    start_fen: str
    moves: tuple[str, ...] = ()
    """UCI, from ``start_fen``."""
    chess960: bool = False


class Limit(Value, gc=False):
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


class Search(Value, gc=False, cache_hash=True):
    """One search: a position, whole or restricted to one move. Equal searches are made once."""

    position: Position
    only: str | None = None
    """UCI of the move the root is restricted to (``searchmoves``), for the move played."""
    lines: int = 1
    """How many best moves are searched with their scores (Multi-PV)."""
    limit: Limit | None = None
    """When it ends; None is the limit of the pool."""


class Line(Value, gc=False):
    """One of the best moves of a Multi-PV search."""

    move: str
    """UCI."""
    score: Score
    """White's side, last exact line of this move's rank."""
    depth: int


class SearchResult(Value):
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


class SearchFailure(Value):
    """A position given up, and why, for people."""

    reason: str


class SearchProgress(Value):
    """A provisional score while a search deepens."""

    score: Score
    depth: int


class SearchOptions(Value):
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


#: Positions kept parsed. A hundred boards of a live round need a few each.
STANDS = 1024


class SearchKey(Value, gc=False):
    """One search as it goes over the wire. Searches with equal keys are made once."""

    fen: str
    """Where the moves begin: halfmove clock kept, en passant only where legal, move number 1."""
    moves: tuple[str, ...]
    """UCI. Empty unless a position was repeated since the last pawn move or capture."""
    limit: Limit
    only: str | None = None
    lines: int = 1
    chess960: bool = False

    def board(self) -> chess.Board:
        board = chess.Board(self.fen, chess960=self.chess960)
        for move in self.moves:
            board.push(chess.Move.from_uci(move))
        return board

    def allows(self, uci: str) -> bool:
        """Whether ``uci`` may be the best move: legal, and the one the search is restricted to."""
        return uci == self.only if self.only is not None else _legal(self.board(), uci)


class _Stand(Value):
    """A position reached, and what of its past matters."""

    board: chess.Board
    fen: str
    """As sent."""
    zeroed_fen: str
    """The position after the last pawn move or capture (or the start), as sent."""
    moves: tuple[str, ...]
    """Moves since then."""
    past: tuple[str, ...]
    """Every position since then, this one last."""

    @classmethod
    def start(cls, fen: str, chess960: bool) -> _Stand:
        """The position that a game begins with. Raises ValueError where it is none."""
        board = chess.Board(fen, chess960=chess960)
        status = board.status()
        if status != chess.STATUS_VALID:
            # An empty board kills Stockfish 15.1 with a segmentation fault (measured).
            flags = (flag for flag in chess.Status if flag & status and flag.name)
            wrong = ", ".join(str(flag.name).lower() for flag in flags)
            raise ValueError(f"not a chess position ({wrong}): {fen}")
        return cls.after(None, board, "")

    @classmethod
    def after(cls, before: _Stand | None, board: chess.Board, move: str) -> _Stand:
        """A position whose past is ``before``; None where that does not matter."""
        # What must be equal for a position to count as repeated (FIDE Laws 9.2.3), as sent:
        # Shredder castling letters in Chess960.
        epd = board.epd(shredder=board.chess960, en_passant="legal")
        fen = f"{epd} {board.halfmove_clock} 1"
        if before is None:
            return cls(board, fen, fen, (), (epd,))
        return cls(board, fen, before.zeroed_fen, (*before.moves, move), (*before.past, epd))

    def push(self, uci: str) -> _Stand:
        """The position after a move. Raises ValueError where it is none, or not legal."""
        board = self.board.copy(stack=False)
        move = board.parse_uci(uci)
        if not move:
            raise ValueError(f"no move: {uci}")
        zeroing = board.is_zeroing(move)
        board.push(move)
        board.clear_stack()
        return _Stand.after(None if zeroing else self, board, uci)


class SearchKeys:
    """Makes the keys of searches; remembers parsed positions, so that a game read in ply
    order costs one pushed move a ply. Pure but for that memory.
    """

    def __init__(self, limit: Limit) -> None:
        self._limit = limit
        self._stands: Recent[tuple[str, bool, tuple[str, ...]], _Stand] = Recent(STANDS)

    def key_of(self, search: Search) -> SearchKey | SearchFailure:
        """The key, or why no engine may search this.

        Invalid positions are refused because they crash engines, finished ones because the rules
        score them.
        """
        position = search.position
        try:
            stand = self._stand(position.start_fen, position.chess960, position.moves)
        except ValueError as error:
            return SearchFailure(reason=str(error))
        board = stand.board
        if search.only is not None:
            if not _legal(board, search.only):
                return SearchFailure(reason=f"{search.only} is not legal in {board.fen()}")
        elif not any(board.legal_moves):
            return SearchFailure(reason=f"the game is over in {board.fen()}: the rules score it")
        repeated = len(set(stand.past)) < len(stand.past)
        return SearchKey(
            fen=stand.zeroed_fen if repeated else stand.fen,
            moves=stand.moves if repeated else (),
            limit=search.limit or self._limit,
            only=search.only,
            lines=search.lines,
            chess960=position.chess960,
        )

    def _stand(self, start_fen: str, chess960: bool, moves: tuple[str, ...]) -> _Stand:
        stand, known = None, len(moves)
        while stand is None and known >= 0:
            stand = self._stands.get((start_fen, chess960, moves[:known]))
            known -= stand is None
        if stand is None:
            stand, known = _Stand.start(start_fen, chess960), 0
            self._stands[start_fen, chess960, ()] = stand
        for ply in range(known + 1, len(moves) + 1):
            try:
                stand = stand.push(moves[ply - 1])
            except ValueError:
                raise ValueError(f"illegal move {moves[ply - 1]} at ply {ply}") from None
            self._stands[start_fen, chess960, moves[:ply]] = stand
        return stand


def _legal(board: chess.Board, uci: str) -> bool:
    try:
        return board.is_legal(chess.Move.from_uci(uci))
    except ValueError:
        return False


class ResultCache(Protocol):
    """Where results are looked up before an engine searches, and stored when it has finished.

    Both are called on the event loop and must return at once.
    """

    problem: str
    """For people: what is wrong with it; empty when nothing is."""

    def get(self, identity: str, search_key: SearchKey) -> SearchResult | None:
        """The result, or None. ``identity`` is the engine's name and options."""

    def put(self, identity: str, search_key: SearchKey, result: SearchResult) -> None:
        """Remember a result whose limit was reached."""


class MemoryResultCache:
    """The results used last, up to a number of them (about 1.5 kB each)."""

    problem = ""

    def __init__(self, capacity: int = 50_000) -> None:
        self._results: Recent[tuple[str, SearchKey], SearchResult] = Recent(capacity)

    def __len__(self) -> int:
        return len(self._results)

    def get(self, identity: str, search_key: SearchKey) -> SearchResult | None:
        result = self._results.get((identity, search_key))
        if result is not None:
            self._results.move_to_end((identity, search_key))
        return result

    def put(self, identity: str, search_key: SearchKey, result: SearchResult) -> None:
        self._results[identity, search_key] = result
