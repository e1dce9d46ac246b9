"""A board in a playing hall: the moves on it, and their effect on its game. No I/O."""

from collections import deque
from collections.abc import Generator, Iterable, Sequence
from math import inf
from typing import Literal, NamedTuple

import chess
from msgspec.structs import replace

from live.messages.from_sources import GameReport, Move
from live.sources.game_identity import count_shared_plies
from live.sources.game_line import MAX_PLIES, GameLine
from live.sources.pgn_headers import clean_text
from live.sources.placements import count_plies_before
from live.sources.san import UnplayableMove

#: Least number of plies in a game for which an empty line means that the board was
#: cleared. In a shorter game, the first moves might have been taken back one by one.
NEW_GAME_PLIES = 4
#: Greatest number of plies taken back in a game, or while the service was not
#: connected.
BACK_PLIES = 8

Stage = Literal["free", "playing", "met", "ending", "over"]
"""Stage of a board: ``free``: it has no pairing; ``playing``: its game is in progress;
``met``: the result has just come, and the board has sent nothing in this run before;
``ending``: the result has just come; ``over``: the result came long ago.
"""


def may_continue(game_moves: Sequence[Move], line: Sequence[Move]) -> bool:
    """Return whether a game in progress can have changed from ``game_moves`` to the
    moves in ``line``.
    """
    if len(line) >= len(game_moves):
        return True
    shared = count_shared_plies(game_moves, line)
    return len(game_moves) - shared <= (BACK_PLIES if shared else NEW_GAME_PLIES - 1)


def is_new_game_on_board(game_moves: Sequence[Move], line: Sequence[Move]) -> bool:
    """Return whether a board without a pairing now has another game on it."""
    shared = count_shared_plies(game_moves, line)
    if not line:
        return len(game_moves) >= NEW_GAME_PLIES
    # If the new game began while the service was not connected, most of its moves
    # differ, or it has hardly any moves.
    return len(game_moves) - shared > BACK_PLIES and (
        shared < len(line) or shared < NEW_GAME_PLIES
    )


def is_line_of_game(game_moves: Sequence[Move], line: Sequence[Move]) -> bool:
    """Return whether a line belongs to the game with these moves, or to an analysis
    that begins near its end.
    """
    return bool(game_moves) and 2 * count_shared_plies(game_moves, line) >= len(
        game_moves
    )


def is_line_valid(
    stage: Stage, game_moves: Sequence[Move], line: Sequence[Move]
) -> bool:
    """Return whether the line on a board was played in its game."""
    match stage:
        case "free":
            return True
        case "playing":
            return may_continue(game_moves, line)
        case "met":
            return (
                len(line) >= len(game_moves)
                and len(game_moves) - count_shared_plies(game_moves, line) <= BACK_PLIES
            )
        case "ending":
            return count_shared_plies(game_moves, line) == len(game_moves)
        case "over":
            return False


#: Number of plies read at once. Checking whether a move is legal takes about 50 µs.
READ_PLIES = 64
#: Number of placements remembered of a board that is first seen in the middle of its
#: game. A capture causes three or four placements.
SEEN = 6


class Clocks(NamedTuple):
    """Present times on the clock of a board."""

    white_s: float | None = None
    black_s: float | None = None
    is_whites_running: bool | None = None
    """True if White's clock runs, False if Black's does, None if neither does."""


class HallBoard:
    """A board of a playing hall, and the moves on it."""

    def __init__(self, serial: str, number: int) -> None:
        self.serial = serial
        self.number = number
        """Number of this board among all boards, also used as the id of its
        subscription.
        """
        self.is_subscribed = False
        self.is_set_up = False
        """Whether, as far as is known, LiveChess follows the moves on the board."""
        self.is_silent = True
        """Whether no moves of the board have been received in this run."""
        self.is_paired = False
        self.is_set_back = False
        """Whether its pieces were set back since the last move that counted."""
        self.key = ""
        """Key of the game at this board; empty if there is none."""
        self.before: GameReport | None = None
        """Game played at this board before the present one."""
        self.lost_s = inf
        """Clock time since which the position of its pieces is unknown; infinity if it
        is known.
        """
        self.clocks = Clocks()
        self.start_fen = chess.STARTING_FEN
        self.moves: list[Move] = []
        """All moves on the board, with the clocks that were received with them."""
        self.problem: str | None = None
        """Reason why not all moves could be read."""
        self.seen: deque[str] = deque(maxlen=SEEN)
        """Last placements of a board that was first seen in the middle of its game."""
        self._line = GameLine()
        self._from_fen = ""
        """FEN of the position from which LiveChess follows the moves."""
        self._played: tuple[Move, ...] = ()
        """Moves of the game before the position ``_from_fen``."""
        self._start = chess.Board()
        """Starting position of the moves ``_played``."""

    @property
    def name(self) -> str:
        """The serial number in the form with which keys of games begin."""
        return clean_text(self.serial, 40).replace("/", "-")

    @property
    def is_first_seen_in_progress(self) -> bool:
        """Whether LiveChess started to follow the game after its first move."""
        return bool(self._played)

    def set_position(self, fen: str, start_fen: str, played: tuple[Move, ...]) -> None:
        """Record that LiveChess is sent position ``fen``, which is reached from
        ``start_fen`` by the moves ``played``.
        """
        self._from_fen = fen
        self._played = played
        self._start = chess.Board(start_fen)

    def read_line(
        self, start: chess.Board | None, san: Sequence[str], games: Iterable[GameReport]
    ) -> Generator[None, None, None]:
        """Read all moves that LiveChess sends, from the position where it started to
        follow. If that position occurs in one of ``games``, that game's earlier moves
        are put before them. Known moves keep their clocks. Yields between pieces of
        work; the moves of the board change only after the last one.
        """
        if start is not None and (fen := start.fen()) != self._from_fen:
            self._set_start(start, games)
            self._from_fen = fen
        played = [move.san for move in self._played]
        line = self._line
        line.restart(self._start)
        problem = None
        for ply, text in enumerate([*played, *san[: MAX_PLIES - len(played)]]):
            if ply % READ_PLIES == 0:
                yield
            try:
                line.compare_or_play(text)
            except UnplayableMove as error:
                problem = line.describe_error(error)
                break
        before = self.moves
        self.moves = list(line.moves)
        self.start_fen = line.start.fen()
        self.problem = problem
        shared = count_shared_plies(before, self.moves)
        # Clocks of another game must not be copied to this one.
        if not is_new_game_on_board(before, self.moves):
            self.moves[:shared] = before[:shared]
        newest = len(played) + len(san) - 1
        # A clock comes only with the newest move.
        if shared <= newest < len(self.moves):
            self._set_clock(newest)

    def _set_start(self, start: chess.Board, games: Iterable[GameReport]) -> None:
        self._played = ()
        self._start = start
        for game in games:
            plies = count_plies_before(game.start_fen, game.moves, start)
            if plies is not None:
                self._played = game.moves[:plies]
                self._start = chess.Board(game.start_fen)
                return

    def update_last_clock(self) -> bool:
        """Record the clock of the last mover after it was pressed. Return whether it
        changed the clock of the last move. A move is sensed before the clock is
        pressed; only then does the clock stop and show the increment.
        """
        is_white_to_move = self._is_whites_move(len(self.moves))
        if not self.moves or self.clocks.is_whites_running is not is_white_to_move:
            return False
        before = self.moves[-1]
        self._set_clock(len(self.moves) - 1)
        return self.moves[-1] != before

    def _is_whites_move(self, ply: int) -> bool:
        """Return whether the move after ``ply`` plies is White's."""
        return (" w " in self.start_fen) == (ply % 2 == 0)

    def _set_clock(self, ply: int) -> None:
        """Set the clock of the move after ``ply`` plies to its player's present clock,
        if known.
        """
        clock_s = (
            self.clocks.white_s if self._is_whites_move(ply) else self.clocks.black_s
        )
        if clock_s is not None:
            self.moves[ply] = replace(self.moves[ply], clock_s=clock_s)
