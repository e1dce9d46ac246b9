"""Reconstruction of games from positions, and of games that continued after an illegal
move. No I/O.

Some sources send positions (a FEN or a placement, with or without the last move)
instead of PGN. Missed moves are reconstructed if possible: one or two moves by trying,
a takeback or correction by looking at earlier positions. If that fails, the game starts
again from the position that was sent.
"""

from collections.abc import Generator, Iterable, Sequence

import chess
from msgspec.structs import replace

from live.messages.from_sources import STANDS, GameReport, GameReports, Move
from live.sources.game_line import MAX_PLIES, GameLine, ListedMove
from live.sources.movetext import Movetext
from live.sources.san import UnplayableMove, board_after_illegal

#: Least number of moves after an illegal move that prove that the game continued from
#: it.
PROOF_PLIES = 2


def split_continuations(
    report: GameReport, name: str, rests: Iterable[GameLine | Movetext]
) -> GameReports:
    """Return the game, and the moves after each illegal move in it as a further game.

    An illegal move is accepted if the game continued (FIDE Laws 7.5 and A.4). At least
    :data:`PROOF_PLIES` further moves that fit the position after it prove that. Engines
    and ratings need games in which every move is legal, so the game is split.

    Args:
        report: the game up to the first illegal move, with a ``problem`` that names it.
        name: name of the game among those of its source, used if the report has no key.
        rests: the moves after each illegal move.
    """
    reports = [report]
    for rest in rests:
        if len(rest.moves) < PROOF_PLIES:
            break
        last = reports.pop()
        other_unread = tuple(part for part in last.unread if part != "moves")
        reports.append(
            replace(last, problem=f"{last.problem} {STANDS}", unread=other_unread)
        )
        following = replace(
            last,
            key=f"{last.key or name} from ply {len(last.moves) + 1}",
            start_fen=rest.start.fen(),
            moves=tuple(rest.moves),
            start_eval=None,
            problem=rest.problem,
            unread=other_unread if rest.problem is None else ("moves", *other_unread),
        )
        reports.append(following)
    return tuple(reports)


def read_continuation(
    report: GameReport, line: GameLine, moves: Sequence[ListedMove], *, name: str = ""
) -> Generator[None, None, GameReports]:
    """Split a game as :func:`split_continuations` does, but yield after each move.

    ``moves`` are all moves as the source sent them, the same ones that ``line`` was
    given.
    """
    plies = len(report.moves)
    if report.problem is None or plies >= len(moves):
        return (report,)
    after = board_after_illegal(line.board, moves[plies].text)
    if after is None:
        return (report,)
    rest = GameLine(after)
    yield from rest.play_moves(moves[plies + 1 :])
    return split_continuations(report, name, [rest])


#: If a game with at least this many moves suddenly has the starting position, it has
#: ended and the next one has begun.
NEW_GAME_PLIES = 4
#: Limits on the search for a missed or corrected move: the number of moves tried, the
#: plies to go back, and the plies to go back if the source names the move.
MAX_TRIES = 60
CORRECTED_PLIES = 2
NAMED_PLIES = 8
#: Greatest number of squares that a move changes (castling).
MOVE_SQUARES = 4

_FIELDS = ("w", "-", "-", "0", "1")


def read_fen(text: str, *, chess960: bool = False) -> chess.Board | None:
    """Return the position of a FEN, which can end after any field; None if it is not a
    valid position.

    Castling rights that ordinary FEN cannot express make the position Chess960. Without
    castling rights in the FEN, kings and rooks on their original squares are allowed to
    castle: a wrong right does no harm, but a missing one would end the game at
    castling.
    """
    fields = text.split()
    if not fields or len(fields) > 6 or len(text) > 100:
        return None
    try:
        board = chess.Board(
            " ".join([*fields, *_FIELDS[len(fields) - 1 :]]), chess960=True
        )
    except ValueError:
        return None
    if board.king(chess.WHITE) is None or board.king(chess.BLACK) is None:
        return None
    board.chess960 = chess960 or board.has_chess960_castling_rights()
    if len(fields) < 3:
        board.castling_rights = board.rooks & (chess.BB_RANK_1 | chess.BB_RANK_8)
    board.castling_rights = board.clean_castling_rights()
    return board


class PositionTracker:
    """Reconstructs games; pass each position to :meth:`track_position`."""

    def __init__(self, start: chess.Board | None = None) -> None:
        """Create the tracker. ``start`` is the position in which the game began;
        without it, the first tracked position decides.
        """
        self.number = 1
        """Number of the present game among those seen here, from 1."""
        self._line = GameLine()
        self._places: list[tuple[str, bool]] = []
        """Placement and side to move at the start and after each ply."""
        if start is not None:
            self._begin_at(start)

    @property
    def start_fen(self) -> str:
        return self._line.start.fen()

    @property
    def chess960(self) -> bool:
        return self._line.start.chess960

    @property
    def moves(self) -> list[Move]:
        return self._line.moves

    @property
    def board(self) -> chess.Board:
        """The present position."""
        return self._line.board

    def track_position(
        self,
        now: chess.Board,
        move: str,
        white_s: float | None = None,
        black_s: float | None = None,
    ) -> None:
        """Add the position after ``move`` (SAN or UCI, can be empty), with the clocks
        of the two sides, seconds.

        ``now`` must have the right side to move: a FEN without that field is read as
        White to move.
        """
        move, is_first = move.strip(), not self._places
        if is_first:  # assume that the game began at the usual position
            self._begin_at(chess.Board())
        begun = _placement_key(now) == _placement_key(chess.Board())
        if (
            begun
            and len(self.moves) >= NEW_GAME_PLIES
            and self._places[-1] != _placement_key(now)
        ):
            self.number += 1
            self._begin_at(chess.Board())
        elif not (
            begun or self._play_step(now, move)
            if is_first
            else self.try_resume_at(now, move)
        ):
            self._begin_at(now)
        self._set_clock(white_s, black_s)

    def try_resume_at(self, now: chess.Board, move: str = "") -> bool:
        """Continue the game with this position, if possible. It can be the last
        position, one or two moves after it, an earlier one, or the result of a
        correction. Return whether that was possible.
        """
        return (
            _placement_key(now) == self._places[-1]
            or self._step_forward(now, move)
            or self._step_backward(now, move)
        )

    def play_move(self, move: str) -> bool:
        """Play one more move, SAN or UCI; return False if it is not legal."""
        try:
            self._line.compare_or_play(move)
        except UnplayableMove:
            return False
        self._places.append(_placement_key(self._line.board))
        return True

    def _begin_at(self, board: chess.Board) -> None:
        self._line = GameLine(board.copy(stack=False))
        self._places = [_placement_key(board)]

    def _step_forward(self, now: chess.Board, move: str) -> bool:
        """Play one move, or two of which the first was not sent, to reach the position.
        Return whether that was possible.
        """
        if self._play_step(now, move):
            return True
        board = self._line.board
        # The reply is a move of the other side, so the origin square of the missed move
        # differs between the two positions. Only moves from such squares are tried.
        mask = find_changed_squares(board, now)
        is_too_far = board.turn != now.turn or mask.bit_count() > 2 * MOVE_SQUARES
        if is_too_far or len(self.moves) + 2 > MAX_PLIES:
            return False
        for missed_move in list(board.generate_legal_moves(from_mask=mask))[:MAX_TRIES]:
            # Use a copy: taking back a move would cost as much as playing all moves
            # before it.
            after = board.copy(stack=False)
            after.push(missed_move)
            reply = PositionTracker(after)
            if reply._play_step(now, move, guess=not move):
                return self.play_move(missed_move.uci()) and self.play_move(
                    reply.moves[0].uci
                )
        return False

    def _step_backward(self, now: chess.Board, move: str) -> bool:
        """Go back to an earlier position, or replace a move by another one. Return
        whether that leads to ``now``.
        """
        place, plies = _placement_key(now), len(self.moves)
        for before in range(plies - 1, -1, -1):
            if self._places[before] == place:
                self._truncate(before)
                return True
        before_now = list(self.moves)
        for before in range(plies - 1, max(-1, plies - 1 - NAMED_PLIES), -1):
            if self._places[before][1] == now.turn:
                continue
            self._truncate(before)
            if self._play_step(
                now, move, guess=not move and plies - before <= CORRECTED_PLIES
            ):
                return True
        for replayed_move in before_now[len(self.moves) :]:
            self.play_move(replayed_move.uci)
            self.moves[-1] = replayed_move
        return False

    def _play_step(self, now: chess.Board, move: str, *, guess: bool = True) -> bool:
        """Play the move that leads to ``now``: ``move`` if it does, otherwise, if
        ``guess``, any legal move that does. Return whether there is one.
        """
        board = self._line.board
        if board.turn == now.turn or len(self.moves) >= MAX_PLIES:
            return False
        if move and self.play_move(move):
            if find_changed_squares(self._line.board, now) == 0:
                return True
            self._truncate(len(self.moves) - 1)
        step = find_single_move(self._line.board, now) if guess else None
        return step is not None and self.play_move(step.uci())

    def _truncate(self, plies: int) -> None:
        self._line.truncate(plies)
        del self._places[plies + 1 :]

    def _set_clock(self, white_s: float | None, black_s: float | None) -> None:
        """Set the clock of the last move from the clock of the side that has just
        moved, which has stopped.
        """
        if not self.moves:
            return
        clock_s = black_s if self._places[-1][1] == chess.WHITE else white_s
        if clock_s is not None and clock_s != self.moves[-1].clock_s:
            self.moves[-1] = replace(self.moves[-1], clock_s=clock_s)


def find_single_move(board: chess.Board, now: chess.BaseBoard) -> chess.Move | None:
    """Return a move that leads to the placement ``now``; None if there is none."""
    mask = find_changed_squares(board, now)
    if mask.bit_count() > MOVE_SQUARES:  # too many changes for one move
        return None
    for move in list(board.generate_legal_moves(from_mask=mask)):
        board.push(move)
        is_reached = find_changed_squares(board, now) == 0
        board.pop()
        if is_reached:
            return move
    return None


def _placement_key(board: chess.Board) -> tuple[str, bool]:
    return board.board_fen(), board.turn


def find_changed_squares(first: chess.BaseBoard, second: chess.BaseBoard) -> int:
    """Return the squares on which two positions differ, as a bit mask."""
    mask = (first.occupied_co[True] ^ second.occupied_co[True]) | (
        first.occupied_co[False] ^ second.occupied_co[False]
    )
    for kind in ("pawns", "knights", "bishops", "rooks", "queens", "kings"):
        mask |= getattr(first, kind) ^ getattr(second, kind)
    return mask
