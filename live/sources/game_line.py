"""The moves of one game, which sources send from its start again at every move. Pure.

Those sent before are only compared, so a resend costs little more than its new moves.
"""

from collections.abc import Generator, Iterable
from typing import NamedTuple

import chess

from live.messages.from_sources import Move, Score
from live.sources.san import UnplayableMove, play_san, quote_move

#: The longest game that is followed, in plies; the rest is left out.
MAX_PLIES = 1200


class ListedMove(NamedTuple):
    """One move as sent: SAN or UCI, with the mover's clock after it and the time it
    took.
    """

    text: str
    clock_s: float | None = None
    spent_s: float | None = None


class GameLine:
    """The moves of one game, given from its start again and again: :meth:`restart`,
    then :meth:`add` each. Those given before are only compared.
    """

    def __init__(self, start: chess.Board | None = None) -> None:
        self.start = start or chess.Board()
        self.moves: list[Move] = []
        self.problem: str | None = None
        """Why the last list of :meth:`play_moves` could not be played to its end."""
        self._texts: list[str] = []
        self._known: list[Move] = []
        """What the texts mean; it and ``moves`` begin alike."""
        self._board = self.start.copy(stack=False)
        self._stands = 0
        """Plies after which the board stands, or -1."""

    def restart(self, start: chess.Board | None = None) -> None:
        """Begin again, from the start or from this one."""
        if start is not None and (
            start != self.start or start.chess960 != self.start.chess960
        ):
            self.start, self._texts, self._known, self._stands = start, [], [], -1
        self.moves, self.problem = [], None

    def add_move(self, text: str) -> None:
        """Play the next move. Raises :class:`UnplayableMove`; then it is left out."""
        ply = len(self.moves)
        if ply >= len(self._texts) or self._texts[ply] != text:
            board = self._board_at(ply)
            try:
                uci, san = play_san(board, text)
            except UnplayableMove:
                raise
            except Exception as error:  # python-chess on a position it did not foresee
                self._stands = -1
                raise UnplayableMove("cannot read", quote_move(text)) from error
            board.clear_stack()
            self._stands += 1
            del self._texts[ply:], self._known[ply:]
            self._texts.append(san if san == text else text)
            self._known.append(Move(uci, san))
        self.moves.append(self._known[ply])

    def annotate_last(
        self, clock_s: float | None, spent_s: float | None, eval: Score | None = None
    ) -> None:
        """Take what is said of the last move; the first word on a thing counts."""
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
        self, given: Iterable[ListedMove], start: chess.Board | None = None
    ) -> Generator[None, None, None]:
        """Take all moves so far, from the start or from this one. An illegal one ends
        the game there. Gives back control after each move, which costs up to some 50
        us.
        """
        self.restart(start)
        for each in given:
            if len(self.moves) >= MAX_PLIES:
                return
            try:
                self.add_move(each.text)
            except UnplayableMove as error:
                self.problem = self.describe_error(error)
                return
            self.annotate_last(each.clock_s, each.spent_s)
            yield

    @property
    def has_bare_pawns(self) -> bool:
        """Whether some move of a pawn was given without a ``P``."""
        return any(text[0] in "abcdefgh" for text in self._texts[: len(self.moves)])

    def describe_error(self, error: UnplayableMove) -> str:
        """Return what is said of a next move that is none, with its number as on a
        scoresheet.
        """
        turns = len(self.moves) + (self.start.turn == chess.BLACK)
        number = self.start.fullmove_number + turns // 2
        return f"{error.why} {number}{'...' if turns % 2 else '.'}{error.text}"

    def truncate(self, plies: int) -> None:
        """Keep only so many moves."""
        del self.moves[plies:]

    @property
    def board(self) -> chess.Board:
        """The position after the moves; to be left as it is."""
        return self._board_at(len(self.moves))

    def _board_at(self, plies: int) -> chess.Board:
        if self._stands != plies:
            self._board = self.start.copy(stack=False)
            for move in self._known[:plies]:
                self._board.push(chess.Move.from_uci(move.uci))
            self._board.clear_stack()
            self._stands = plies
        return self._board
