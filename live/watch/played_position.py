"""The position of a game, and how the FIDE Laws apply to it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from functools import cached_property
from typing import NamedTuple

import chess

#: Number of plies without a capture or a pawn move after which a player can claim a
#: draw (FIDE Laws 9.3), and after which the game is drawn without a claim (9.6.2).
FIFTY_PLIES = 100
SEVENTY_FIVE_PLIES = 150
#: Number of occurrences of a position at which a player can claim a draw (FIDE Laws
#: 9.2), and at which the game is drawn without a claim (9.6.1).
CLAIMED_TIMES = 3
DRAWN_TIMES = 5

#: The reasons for which a game is drawn without a claim, each with its text (FIDE Laws
#: 5.2.1, 5.2.2, 9.6.1, 9.6.2).
DRAWS_WITHOUT_CLAIM: dict[chess.Termination, str] = {
    chess.Termination.INSUFFICIENT_MATERIAL: "neither side can mate",
    chess.Termination.FIVEFOLD_REPETITION: "the position has occurred five times",
    chess.Termination.STALEMATE: "stalemate",
    chess.Termination.SEVENTYFIVE_MOVES: (
        "75 moves were made without a capture or a pawn move"
    ),
}


class GameEnd(NamedTuple):
    """The end of a game by the rules, without a claim: at which ply, and why."""

    ply: int
    termination: chess.Termination


class PlayedPosition:
    """The position after a list of moves, which are in UCI notation.

    Repetitions are counted incrementally, so the time to add a move does not grow with
    the length of the game.
    """

    def __init__(
        self, start_fen: str, moves: Iterable[str] = (), *, chess960: bool = False
    ) -> None:
        self.board = chess.Board(start_fen, chess960=chess960)
        self.plies = 0
        self.times = 1
        """Number of occurrences of the present position, including this one."""
        self._times = Counter([self._build_key()])
        # The first position at which the game ended by the rules, if more moves
        # followed.
        self._passed: GameEnd | None = None
        for uci in moves:
            self.play(uci)

    def play(self, uci: str) -> None:
        """Add one move (UCI) and count the new position."""
        if self._passed is None and self.plies:
            drawn = self._find_automatic_draw()
            if drawn is not None:
                self._passed = GameEnd(self.plies, drawn)
        self.board.push(chess.Move.from_uci(uci))
        self.plies += 1
        if self.board.halfmove_clock == 0:
            # After a capture or a pawn move, no earlier position can occur again.
            self.board.clear_stack()
            self._times.clear()
        key = self._build_key()
        self._times[key] += 1
        self.times = self._times[key]
        self.__dict__.pop("move_to_third_occurrence", None)
        self.__dict__.pop("ending", None)

    def _build_key(self) -> Hashable:
        """Return a hashable value that is equal for positions that count as repeated.

        FIDE Laws 9.2.3 define when two positions are the same.
        """
        board = self.board
        return (
            board.pawns,
            board.knights,
            board.bishops,
            board.rooks,
            board.queens,
            board.kings,
            board.occupied_co[chess.WHITE],
            board.turn,
            board.clean_castling_rights(),
            board.ep_square if board.has_legal_en_passant() else None,
        )

    def _find_automatic_draw(self) -> chess.Termination | None:
        """Return the reason for a draw without a claim in this position.

        Stalemate is not considered. Return None if the game is not drawn.
        """
        if self.board.is_insufficient_material():
            return chess.Termination.INSUFFICIENT_MATERIAL
        if self.board.halfmove_clock >= SEVENTY_FIVE_PLIES:
            return chess.Termination.SEVENTYFIVE_MOVES
        if self.times >= DRAWN_TIMES:
            return chess.Termination.FIVEFOLD_REPETITION
        return None

    @cached_property
    def move_to_third_occurrence(self) -> chess.Move | None:
        """A legal move that leads to a third or later occurrence of a position.

        None if there is no such move.
        """
        if max(self._times.values()) < CLAIMED_TIMES - 1:
            return None
        for move in self.board.legal_moves:
            self.board.push(move)
            times = self._times[self._build_key()] + 1
            self.board.pop()
            if times >= CLAIMED_TIMES:
                return move
        return None

    @cached_property
    def ending(self) -> chess.Termination | None:
        """The reason why the game ends at the present position without a claim.

        None if the game does not end here.
        """
        if self.board.is_checkmate():
            return chess.Termination.CHECKMATE
        drawn = self._find_automatic_draw()
        is_dead = drawn is chess.Termination.INSUFFICIENT_MATERIAL
        if not is_dead and self.board.is_stalemate():
            return chess.Termination.STALEMATE
        return drawn

    @property
    def end(self) -> GameEnd | None:
        """The first position at which the game ended by the rules; None if it did not
        end.
        """
        if self._passed is None and self.plies and self.ending is not None:
            return GameEnd(self.plies, self.ending)
        return self._passed
