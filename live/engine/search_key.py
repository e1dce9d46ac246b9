"""Search keys: the form in which a search is sent to an engine, and under which its
result is stored.

Two searches that must have the same result have one key: same position, same limit,
same root moves. Of a game's past, only two things can change a search: the fifty-move
counter, and positions that have already occurred twice. A position that occurred once
cannot, because an engine treats a repetition as a draw if it happens inside its own
search, or for the third time. So the moves are sent only if a position was repeated
since the last pawn move or capture; otherwise only the position is sent. Transpositions
and boards with the same opening then share searches, and a score does not depend on
which board came first. The move number does not affect a search, and is sent as 1.
"""

from __future__ import annotations

import chess

from live.engine.lru_dict import LruDict
from live.engine.search import Limit, Search, SearchFailure
from live.messages.values import Value

#: Number of parsed positions kept. Each board of a live round needs a few.
MAX_PARSED_POSITIONS = 1024


class SearchKey(Value, gc=False):
    """A search in the form that is sent to an engine. Searches with equal keys are made
    once.
    """

    fen: str
    """Position from which the moves begin: with its halfmove clock, en passant only if
    legal, and move number 1.
    """
    moves: tuple[str, ...]
    """UCI moves; empty unless a position was repeated since the last pawn move or
    capture.
    """
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
        """Return whether ``uci`` can be the best move: the one that the search is
        restricted to or, without a restriction, any legal move.
        """
        return (
            uci == self.only
            if self.only is not None
            else _is_legal(self.build_board(), uci)
        )


class _ReachedPosition(Value):
    """A position reached in a game, with the part of its past that affects a search."""

    board: chess.Board
    fen: str
    """The position as sent to an engine."""
    zeroed_fen: str
    """The position after the last pawn move or capture (or the start), as sent to an
    engine.
    """
    moves: tuple[str, ...]
    """Moves since ``zeroed_fen``."""
    past: tuple[str, ...]
    """EPD of every position since ``zeroed_fen``, this one last."""

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
            errors = ", ".join(str(flag.name).lower() for flag in flags)
            raise ValueError(f"not a chess position ({errors}): {fen}")
        return cls.from_past(None, board, "")

    @classmethod
    def from_past(
        cls, before: _ReachedPosition | None, board: chess.Board, move: str
    ) -> _ReachedPosition:
        """Return the position of ``board``, reached from ``before`` by ``move``. If
        ``before`` is None, a new past begins.
        """
        # The EPD holds all that must be equal for a position to count as repeated (FIDE
        # Laws 9.2.3). In Chess960 it has Shredder castling letters, as engines expect.
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
    """Builder of search keys. It remembers parsed positions, so a game read in ply
    order costs one pushed move per ply.
    """

    def __init__(self, limit: Limit) -> None:
        self._limit = limit
        self._parsed: LruDict[tuple[str, bool, tuple[str, ...]], _ReachedPosition] = (
            LruDict(MAX_PARSED_POSITIONS)
        )

    def build_key(self, search: Search) -> SearchKey | SearchFailure:
        """Return the key, or the reason why this search must not be made.

        Invalid positions are refused because they crash engines; finished ones because
        they are scored by the rules.
        """
        position = search.position
        try:
            reached = self._parse_position(
                position.start_fen, position.chess960, position.moves
            )
        except ValueError as error:
            return SearchFailure(reason=str(error))
        board = reached.board
        if search.only is not None:
            if not _is_legal(board, search.only):
                return SearchFailure(
                    reason=f"{search.only} is not legal in {board.fen()}"
                )
        elif not any(board.legal_moves):
            return SearchFailure(
                reason=f"the game is over in {board.fen()}: the rules score it"
            )
        repeated = len(set(reached.past)) < len(reached.past)
        return SearchKey(
            fen=reached.zeroed_fen if repeated else reached.fen,
            moves=reached.moves if repeated else (),
            limit=search.limit or self._limit,
            only=search.only,
            lines=search.lines,
            chess960=position.chess960,
        )

    def _parse_position(
        self, start_fen: str, chess960: bool, moves: tuple[str, ...]
    ) -> _ReachedPosition:
        """Return the position after ``moves``, continuing from the longest prefix
        already parsed.

        Raises ValueError for an illegal move or an invalid start.
        """
        reached = None
        parsed_plies = len(moves)
        while reached is None and parsed_plies >= 0:
            reached = self._parsed.get((start_fen, chess960, moves[:parsed_plies]))
            parsed_plies -= reached is None
        if reached is None:
            reached = _ReachedPosition.from_start(start_fen, chess960)
            parsed_plies = 0
            self._parsed[start_fen, chess960, ()] = reached
        for ply in range(parsed_plies + 1, len(moves) + 1):
            try:
                reached = reached.push_move(moves[ply - 1])
            except ValueError:
                raise ValueError(
                    f"illegal move {moves[ply - 1]} at ply {ply}"
                ) from None
            self._parsed[start_fen, chess960, moves[:ply]] = reached
        return reached


def _is_legal(board: chess.Board, uci: str) -> bool:
    try:
        return board.is_legal(chess.Move.from_uci(uci))
    except ValueError:
        return False
