"""The position of a board, move by move, and what the rules say of it. Pure.

A move costs the same however long the game is: of the past only the positions since the last
capture or pawn move are kept, since none before can come back.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property

import chess

#: Turns without capture or pawn move, in plies (FIDE Laws 9.3 and 9.6.2).
FIFTY_PLIES = 100
SEVENTY_FIVE_PLIES = 150


def position_key(board: chess.Board) -> Hashable:
    """Equal for positions that are the same by FIDE Laws 9.2.3: the same player to move, pieces,
    castling rights, and captures en passant that can be made.
    """
    return (
        board.turn,
        board.occupied_co[chess.WHITE],
        board.pawns,
        board.knights,
        board.bishops,
        board.rooks,
        board.queens,
        board.kings,
        board.clean_castling_rights(),
        board.ep_square if board.has_legal_en_passant() else None,
    )


class PositionTrack:
    """Follows one game. O(1) a move; a move replaced or taken back costs the game once more."""

    def __init__(self, start_fen: str, *, chess960: bool) -> None:
        self._start = chess.Board(start_fen, chess960=chess960)
        self._start_over()

    def _start_over(self) -> None:
        self.board = self._start.copy(stack=False)
        self.plies = 0
        self._seen: dict[Hashable, int] = {}
        self._stand()

    def _stand(self) -> None:
        if self.board.halfmove_clock == 0:
            self._seen.clear()
        key = position_key(self.board)
        self.times = self._seen.get(key, 0) + 1
        self._seen[key] = self.times
        for known in ("third_time", "mated", "drawn"):
            self.__dict__.pop(known, None)

    def follow(self, moves: Sequence[str]) -> None:
        """Make the moves (UCI) after those made already."""
        for uci in moves[self.plies :]:
            self.board.push(chess.Move.from_uci(uci))
            self.board.clear_stack()
            self.plies += 1
            self._stand()

    def cut(self, to_ply: int) -> None:
        """Only the first ``to_ply`` plies stand: all have to be followed again."""
        if to_ply < self.plies:
            self._start_over()

    @cached_property
    def third_time(self) -> chess.Move | None:
        """A move after which the position has stood three times or more; None if there is none."""
        if all(times < 2 for times in self._seen.values()):
            return None
        for move in self.board.legal_moves:
            if self.board.is_zeroing(move):
                continue
            self.board.push(move)
            key = position_key(self.board)
            self.board.pop()
            if self._seen.get(key, 0) >= 2:
                return move
        return None

    @cached_property
    def mated(self) -> bool:
        return self.board.is_check() and not any(self.board.generate_legal_moves())

    @cached_property
    def drawn(self) -> str:
        """Why the game is drawn by the rules whatever anybody claims; empty if it is not.

        (FIDE Laws 5.2.1 stalemate, 5.2.2 dead position, 9.6.1 fivefold repetition, 9.6.2 75 moves.)
        """
        if self.board.is_insufficient_material():
            return "neither side can mate"
        if self.times >= 5:
            return "the position has stood five times"
        if not any(self.board.generate_legal_moves()):
            return "" if self.board.is_check() else "it is stalemate"
        if self.board.halfmove_clock >= SEVENTY_FIVE_PLIES:
            return "75 moves were made without a capture or a pawn move"
        return ""
