"""The moves of one game, for sources that resend all moves with every new move. No I/O.

Moves sent before are only compared, so a resend costs little more than its new moves.
"""

from collections.abc import Generator, Iterable
from typing import NamedTuple

import chess

from live.messages.from_sources import Move, Score
from live.sources.san import UnplayableMove, play_san, shorten_move

#: Greatest number of plies read of a game; the rest is ignored.
MAX_PLIES = 1200


class ListedMove(NamedTuple):
    """A move as sent: its text (SAN or UCI), the mover's clock after it and the time
    spent on it, seconds.
    """

    text: str
    clock_s: float | None = None
    spent_s: float | None = None


class GameLine:
    """The moves of one game, which are given again from the start each time: call
    :meth:`restart`, then :meth:`compare_or_play` for each move.
    """

    def __init__(self, start: chess.Board | None = None) -> None:
        self.start = start or chess.Board()
        self.moves: list[Move] = []
        self.problem: str | None = None
        """Description of the move at which the last :meth:`play_moves` had to stop;
        None if it reached the end.
        """
        self._texts: list[str] = []
        self._played: list[Move] = []
        """The moves that ``_texts`` spell, without clocks. ``moves`` begins with the
        same moves, with clocks added.
        """
        self._board = self.start.copy(stack=False)
        self._board_plies = 0
        """Number of plies that have been played on ``_board``; -1 if unknown."""

    def restart(self, start: chess.Board | None = None) -> None:
        """Start the game again from the present starting position, or from
        ``start``.
        """
        if start is not None and (
            start != self.start or start.chess960 != self.start.chess960
        ):
            self.start, self._texts, self._played, self._board_plies = start, [], [], -1
        self.moves, self.problem = [], None

    def compare_or_play(self, text: str) -> None:
        """Add the next move: compare it with the move that was given before in this
        place, and play it only if it differs or is new. Raises
        :class:`UnplayableMove`, and then leaves the game unchanged.
        """
        ply = len(self.moves)
        if ply >= len(self._texts) or self._texts[ply] != text:
            board = self._board_at(ply)
            try:
                uci, san = play_san(board, text)
            except UnplayableMove:
                raise
            except Exception as error:  # a position that python-chess did not foresee
                self._board_plies = -1
                raise UnplayableMove("cannot read", shorten_move(text)) from error
            board.clear_stack()
            self._board_plies += 1
            del self._texts[ply:], self._played[ply:]
            self._texts.append(san if san == text else text)
            self._played.append(Move(uci, san))
        self.moves.append(self._played[ply])

    def annotate_last(
        self, clock_s: float | None, spent_s: float | None, eval: Score | None = None
    ) -> None:
        """Add clock, time spent and score to the last move; values it already has are
        kept.
        """
        if clock_s is None and spent_s is None and eval is None:
            return
        move = self.moves[-1]
        self.moves[-1] = Move(
            move.uci,
            move.san,
            clock_s if move.clock_s is None else move.clock_s,
            spent_s if move.spent_s is None else move.spent_s,
            eval if move.eval is None else move.eval,
        )

    def play_moves(
        self, moves: Iterable[ListedMove], start: chess.Board | None = None
    ) -> Generator[None, None, None]:
        """Play a game from its beginning, from the present starting position or
        ``start``. Stop at an illegal move and describe it in ``problem``. Yields after
        each move, which takes up to 50 µs.
        """
        self.restart(start)
        for move in moves:
            if len(self.moves) >= MAX_PLIES:
                return
            try:
                self.compare_or_play(move.text)
            except UnplayableMove as error:
                self.problem = self.describe_error(error)
                return
            self.annotate_last(move.clock_s, move.spent_s)
            yield

    @property
    def has_bare_pawns(self) -> bool:
        """Whether any pawn move was given without the letter ``P``."""
        return any(text[0] in "abcdefgh" for text in self._texts[: len(self.moves)])

    def describe_error(self, error: UnplayableMove) -> str:
        """Return the description of a move that could not be played, with its number as
        on a scoresheet.
        """
        turns = len(self.moves) + (self.start.turn == chess.BLACK)
        number = self.start.fullmove_number + turns // 2
        return f"{error.reason} {number}{'...' if turns % 2 else '.'}{error.text}"

    def truncate(self, plies: int) -> None:
        """Keep only the first ``plies`` moves."""
        del self.moves[plies:]

    @property
    def board(self) -> chess.Board:
        """The position after the moves. Do not change it."""
        return self._board_at(len(self.moves))

    def _board_at(self, plies: int) -> chess.Board:
        if self._board_plies != plies:
            self._board = self.start.copy(stack=False)
            for move in self._played[:plies]:
                self._board.push(chess.Move.from_uci(move.uci))
            self._board.clear_stack()
            self._board_plies = plies
        return self._board
