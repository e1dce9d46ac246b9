"""One board in a playing hall: what stands on it, what that means for its game, and who
sits there. Pure.
"""

from collections import deque
from collections.abc import Generator, Iterable, Mapping, Sequence
from math import inf
from typing import Literal, NamedTuple

import chess
from msgspec.structs import replace

from live.messages.from_sources import GameReport, Headers, Move, Player, Result
from live.messages.values import Value
from live.sources.game_identity import count_shared_plies
from live.sources.game_line import MAX_PLIES, GameLine
from live.sources.pgn_headers import clean_text
from live.sources.placements import count_plies_before
from live.sources.san import UnplayableMove

#: The first moves may be taken back one by one; where a longer game has lost them all,
#: its board was cleared.
NEW_GAME_PLIES = 4
#: Moves taken back in a game, or while nobody listened, at most.
BACK_PLIES = 8

Stage = Literal["free", "playing", "met", "ending", "over"]
"""Of a board: it has no pairing; its game goes on; the result has just come, before the
board said anything in this run; it has just come; it is past.
"""


def may_continue(held: Sequence[Move], line: Sequence[Move]) -> bool:
    """Return whether a game that goes on may have come from the moves held to this
    line.
    """
    if len(line) >= len(held):
        return True
    kept = count_shared_plies(held, line)
    return len(held) - kept <= (BACK_PLIES if kept else NEW_GAME_PLIES - 1)


def is_another_game(held: Sequence[Move], line: Sequence[Move]) -> bool:
    """Return whether a board without a pairing has another game on it now."""
    kept = count_shared_plies(held, line)
    if not line:
        return len(held) >= NEW_GAME_PLIES
    # Nobody listened when it began: its moves are others, or hardly any.
    return len(held) - kept > BACK_PLIES and (kept < len(line) or kept < NEW_GAME_PLIES)


def is_line_of_game(held: Sequence[Move], line: Sequence[Move]) -> bool:
    """Return whether this line is that game's, or analysis of its end."""
    return bool(held) and 2 * count_shared_plies(held, line) >= len(held)


def is_line_valid(stage: Stage, held: Sequence[Move], line: Sequence[Move]) -> bool:
    """Return whether the line on a board is what was played in its game."""
    match stage:
        case "free":
            return True
        case "playing":
            return may_continue(held, line)
        case "met":
            return (
                len(line) >= len(held)
                and len(held) - count_shared_plies(held, line) <= BACK_PLIES
            )
        case "ending":
            return count_shared_plies(held, line) == len(held)
        case "over":
            return False


# Who plays at a board, and whether that is the game before.


class Seat(Value):
    """What the pairings say of one board in one round."""

    headers: Headers
    """With the round as ``2.14``: round and table."""
    result: Result = "*"
    is_begun: bool = True
    """Whether it is being played, or has a result."""


Seats = Mapping[str, tuple[Seat, ...]]
"""By the serial number of the board, rounds in order."""


def _is_person(one: Player, other: Player) -> bool:
    if one.fide_id is not None and one.fide_id == other.fide_id:
        return True
    return one.name.casefold() == other.name.casefold() != "?"


def count_same_players(one: Headers, other: Headers) -> int:
    """Return how many players sit where they sat: 0 to 2."""
    return _is_person(one.white, other.white) + _is_person(one.black, other.black)


def shares_player(one: Headers, other: Headers) -> bool:
    """Return whether one of the players is the same, of either colour."""
    swapped = _is_person(one.white, other.black) or _is_person(one.black, other.white)
    return swapped or count_same_players(one, other) > 0


def is_same_round(one: Headers, other: Headers) -> bool:
    """Return whether both are of the same round, at any table: tables are exchanged."""
    rounds = [headers.round.partition(".")[0] for headers in (one, other)]
    return rounds[0] == rounds[1] and (
        one.event == other.event or shares_player(one, other)
    )


def is_same_pairing(game: GameReport, seat: Seat, *, is_on_board: bool) -> bool:
    """Return whether a paired game is the one that is now called by this pairing of its
    board.

    ``is_on_board``: its moves still stand there.
    """
    if not is_same_round(game.headers, seat.headers):
        return False
    if game.result == "*":
        return True  # whatever is changed while it goes on
    alike = count_same_players(game.headers, seat.headers)
    if seat.result == "*":  # the result is taken back, or the next two have sat down
        return alike == 2 or (alike == 1 and is_on_board)
    return is_on_board or shares_player(game.headers, seat.headers)


# What stands there.

#: Moves that are read in one go: to tell whether one is legal takes some 50 us.
READ_PLIES = 64
#: Placements remembered of a board met in the middle of its game: a capture is three or
#: four.
SEEN = 6


class Clocks(NamedTuple):
    """What the clock of a board shows."""

    white_s: float | None = None
    black_s: float | None = None
    is_whites_running: bool | None = None
    """Black's runs where it is false, none where it is None."""


class HallBoard:
    """One board, and what stands on it."""

    def __init__(self, serial: str, number: int) -> None:
        self.serial = serial
        self.number = number
        """Among all boards, and of what is subscribed to for it."""
        self.is_subscribed = False
        self.is_set_up = False
        """Whether LiveChess follows moves on it, as far as we know."""
        self.is_silent = True
        """No moves have been heard of it in this run."""
        self.is_paired = False
        self.is_set_back = False
        """Its pieces were set back since the last move that counted."""
        self.key = ""
        """Of the game here; empty where there is none."""
        self.before: GameReport | None = None
        """The game that was here before it."""
        self.lost_s = inf
        """Since when its pieces stand as nothing tells, by the clock of the caller."""
        self.clocks = Clocks()
        self.start_fen = chess.STARTING_FEN
        self.moves: list[Move] = []
        """All that stands here, and with which clocks it was seen."""
        self.problem: str | None = None
        """Why not all of it could be read."""
        self.seen: deque[str] = deque(maxlen=SEEN)
        """Placements of a board met in the middle of its game."""
        self._line = GameLine()
        self._from_fen = ""
        """Where LiveChess began to follow."""
        self._played: tuple[Move, ...] = ()
        """What was played before that."""
        self._start = chess.Board()
        """Where that began."""

    @property
    def name(self) -> str:
        """The serial number as keys of games begin with it."""
        return clean_text(self.serial, 40).replace("/", "-")

    @property
    def is_met_later(self) -> bool:
        """Whether LiveChess follows its game from after its beginning."""
        return bool(self._played)

    def set_position(self, fen: str, start_fen: str, played: tuple[Move, ...]) -> None:
        """Note that LiveChess is sent this position, which these moves lead to."""
        self._from_fen = fen
        self._played = played
        self._start = chess.Board(start_fen)

    def read_line(
        self, start: chess.Board | None, san: Sequence[str], games: Iterable[GameReport]
    ) -> Generator[None, None, None]:
        """Take all moves so far, as sent, from where LiveChess began to follow, which
        may be in the middle of one of these games. Moves already known keep their
        clocks. Yields between pieces of work; until the last nothing has changed.
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
                line.add_move(text)
            except UnplayableMove as error:
                problem = line.describe_error(error)
                break
        before = self.moves
        self.moves = list(line.moves)
        self.start_fen = line.start.fen()
        self.problem = problem
        kept = count_shared_plies(before, self.moves)
        # The clocks of another game are not this one's.
        if not is_another_game(before, self.moves):
            self.moves[:kept] = before[:kept]
        newest = len(played) + len(san) - 1
        # Only the newest move is sent with its clock.
        if kept <= newest < len(self.moves):
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
        """Take the clock of the newest move's player once it is pressed; return whether
        it shows another time: a move is sensed before, and only then the clock stands
        still, with the increment on it.
        """
        is_white_to_move = self._is_whites_move(len(self.moves))
        if not self.moves or self.clocks.is_whites_running is not is_white_to_move:
            return False
        before = self.moves[-1]
        self._set_clock(len(self.moves) - 1)
        return self.moves[-1] != before

    def _is_whites_move(self, ply: int) -> bool:
        """Return whether White makes the move after ``ply`` others."""
        return (" w " in self.start_fen) == (ply % 2 == 0)

    def _set_clock(self, ply: int) -> None:
        """Give the move after ``ply`` others what its player's clock shows now, if
        anything.
        """
        clock_s = (
            self.clocks.white_s if self._is_whites_move(ply) else self.clocks.black_s
        )
        if clock_s is not None:
            self.moves[ply] = replace(self.moves[ply], clock_s=clock_s)
