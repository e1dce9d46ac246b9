"""Searches, what they find, the options that shape the searches of an event, and search
keys: a search as it is sent to an engine and under which its result is stored.

Two searches that must find the same have one key: same position, same limit, same root
moves. What of a game's past can change a search is the fifty-move counter and the
positions that have stood twice already; a position that stood once before cannot,
because an engine takes a repetition for a draw when it happens inside its own search,
or for the third time. So the moves are sent only where a position has been repeated
since the last pawn move or capture, and else the position alone. Transpositions and
boards that share an opening then share searches, and a score does not depend on which
board came first. The move number says nothing to a search and is sent as 1.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Protocol, TypeVar

import chess

from live.messages.from_sources import Score
from live.messages.values import Value

K = TypeVar("K")
V = TypeVar("V")


class LruDict(OrderedDict[K, V]):
    """A dictionary of at most ``most`` items that evicts the one set longest ago."""

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
    """One search: a position, whole or restricted to one move. Equal searches are made
    once.
    """

    position: Position
    only: str | None = None
    """UCI of the move the root is restricted to (``searchmoves``), for the move played.
    """
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
    """White's side. A whole search: the last **exact** info line (a line marked
    ``lowerbound`` or ``upperbound`` belongs to an unfinished iteration). A restricted
    search: the last info line, bound or not (that is what the calibrations were learned
    from). With several lines: that of ``lines[0]``."""
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
    """First move of the last exact line: the move ``score`` belongs to. Differs from
    ``best`` for about one search in fifty under a node limit, when the iteration that
    was cut short had just found a better move."""
    lines: tuple[Line, ...] = ()
    """Best first, when more than one line was searched: all from the last depth at
    which every one was searched to the end."""
    seldepth: int = 0
    """Deepest line looked at (``seldepth``), as reported last; 0 where the engine says
    nothing."""
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
    """Best moves searched of each position (Multi-PV). A move among them needs no
    search of its own."""
    same_depth: bool = False
    """Search the move played to the depth the best move was searched to, whatever that
    takes (Alliot 2017, section 2.3), instead of under the limit."""

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


#: Positions kept parsed. A hundred boards of a live round need a few each.
MAX_PARSED_POSITIONS = 1024


class SearchKey(Value, gc=False):
    """One search as it goes over the wire. Searches with equal keys are made once."""

    fen: str
    """Where the moves begin: halfmove clock kept, en passant only where legal, move
    number 1."""
    moves: tuple[str, ...]
    """UCI. Empty unless a position was repeated since the last pawn move or capture."""
    limit: Limit
    only: str | None = None
    lines: int = 1
    chess960: bool = False

    def build_board(self) -> chess.Board:
        """Return the board that the search begins from."""
        board = chess.Board(self.fen, chess960=self.chess960)
        for move in self.moves:
            board.push(chess.Move.from_uci(move))
        return board

    def can_be_best(self, uci: str) -> bool:
        """Return whether ``uci`` can be the best move: it is legal, and the one move
        that the search is restricted to.
        """
        return (
            uci == self.only
            if self.only is not None
            else _is_legal(self.build_board(), uci)
        )


class _ReachedPosition(Value):
    """A position reached in a game, with the part of its past that can change a
    search.
    """

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
    def from_start(cls, fen: str, chess960: bool) -> _ReachedPosition:
        """Return the position that a game begins with. Raises ValueError for an invalid
        position.
        """
        board = chess.Board(fen, chess960=chess960)
        status = board.status()
        if status != chess.STATUS_VALID:
            # An empty board kills Stockfish 15.1 with a segmentation fault (measured).
            flags = (flag for flag in chess.Status if flag & status and flag.name)
            wrong = ", ".join(str(flag.name).lower() for flag in flags)
            raise ValueError(f"not a chess position ({wrong}): {fen}")
        return cls.from_past(None, board, "")

    @classmethod
    def from_past(
        cls, before: _ReachedPosition | None, board: chess.Board, move: str
    ) -> _ReachedPosition:
        """Return a position that follows ``before``; None starts a new past."""
        # What must be equal for a position to count as repeated (FIDE Laws 9.2.3), as
        # sent: Shredder castling letters in Chess960.
        epd = board.epd(shredder=board.chess960, en_passant="legal")
        fen = f"{epd} {board.halfmove_clock} 1"
        if before is None:
            return cls(board, fen, fen, (), (epd,))
        return cls(
            board, fen, before.zeroed_fen, (*before.moves, move), (*before.past, epd)
        )

    def push_move(self, uci: str) -> _ReachedPosition:
        """Return the position after a move. Raises ValueError for an illegal move."""
        board = self.board.copy(stack=False)
        move = board.parse_uci(uci)
        if not move:
            raise ValueError(f"no move: {uci}")
        zeroing = board.is_zeroing(move)
        board.push(move)
        board.clear_stack()
        return _ReachedPosition.from_past(None if zeroing else self, board, uci)


class SearchKeys:
    """Builds the keys of searches. Remembers parsed positions, so a game read in ply
    order costs one pushed move a ply.
    """

    def __init__(self, limit: Limit) -> None:
        self._limit = limit
        self._parsed: LruDict[tuple[str, bool, tuple[str, ...]], _ReachedPosition] = (
            LruDict(MAX_PARSED_POSITIONS)
        )

    def build_key(self, search: Search) -> SearchKey | SearchFailure:
        """Return the key, or the reason why no engine may search this.

        Invalid positions are refused because they crash engines, finished ones because
        the rules score them.
        """
        position = search.position
        try:
            stand = self._parse_position(
                position.start_fen, position.chess960, position.moves
            )
        except ValueError as error:
            return SearchFailure(reason=str(error))
        board = stand.board
        if search.only is not None:
            if not _is_legal(board, search.only):
                return SearchFailure(
                    reason=f"{search.only} is not legal in {board.fen()}"
                )
        elif not any(board.legal_moves):
            return SearchFailure(
                reason=f"the game is over in {board.fen()}: the rules score it"
            )
        repeated = len(set(stand.past)) < len(stand.past)
        return SearchKey(
            fen=stand.zeroed_fen if repeated else stand.fen,
            moves=stand.moves if repeated else (),
            limit=search.limit or self._limit,
            only=search.only,
            lines=search.lines,
            chess960=position.chess960,
        )

    def _parse_position(
        self, start_fen: str, chess960: bool, moves: tuple[str, ...]
    ) -> _ReachedPosition:
        """Return the position after ``moves``, from the longest prefix already parsed.
        Raises ValueError for an illegal move or an invalid start.
        """
        stand = None
        known = len(moves)
        while stand is None and known >= 0:
            stand = self._parsed.get((start_fen, chess960, moves[:known]))
            known -= stand is None
        if stand is None:
            stand = _ReachedPosition.from_start(start_fen, chess960)
            known = 0
            self._parsed[start_fen, chess960, ()] = stand
        for ply in range(known + 1, len(moves) + 1):
            try:
                stand = stand.push_move(moves[ply - 1])
            except ValueError:
                raise ValueError(
                    f"illegal move {moves[ply - 1]} at ply {ply}"
                ) from None
            self._parsed[start_fen, chess960, moves[:ply]] = stand
        return stand


def _is_legal(board: chess.Board, uci: str) -> bool:
    try:
        return board.is_legal(chess.Move.from_uci(uci))
    except ValueError:
        return False


class ResultCache(Protocol):
    """A store of results, read before an engine searches and written when it has
    finished.

    Both are called on the event loop and must return at once.
    """

    problem: str
    """For people: what is wrong with it; empty when nothing is."""

    def find_result(self, identity: str, search_key: SearchKey) -> SearchResult | None:
        """Return the result, or None. ``identity`` is the engine's name and options."""

    def store_result(
        self, identity: str, search_key: SearchKey, result: SearchResult
    ) -> None:
        """Store the result of a search that reached its limit."""


class MemoryResultCache:
    """Keeps the results used last, up to ``capacity`` (about 1.5 kB each)."""

    problem = ""

    def __init__(self, capacity: int = 50_000) -> None:
        self._results: LruDict[tuple[str, SearchKey], SearchResult] = LruDict(capacity)

    def __len__(self) -> int:
        return len(self._results)

    def find_result(self, identity: str, search_key: SearchKey) -> SearchResult | None:
        result = self._results.get((identity, search_key))
        if result is not None:
            self._results.move_to_end((identity, search_key))
        return result

    def store_result(
        self, identity: str, search_key: SearchKey, result: SearchResult
    ) -> None:
        self._results[identity, search_key] = result
