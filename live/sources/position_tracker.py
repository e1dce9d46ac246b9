"""Games that sources send other than as PGN: as lists of moves that go on from an
illegal one, and position by position. Pure.

Of positions (FEN, or a board, and maybe the last move) missed ones are found again
where possible: one or two moves by trying, a takeback or a correction by looking back.
Where that fails, the game goes on from the position sent.
"""

from collections.abc import Generator, Iterable, Sequence

import chess
from msgspec.structs import replace

from live.messages.from_sources import STANDS, GameReport, GameReports, Move
from live.sources.game_line import MAX_PLIES, GameLine, ListedMove
from live.sources.movetext import Movetext
from live.sources.san import UnplayableMove, board_after_illegal

#: Moves after an illegal one that show that the game went on from it.
PROOF_PLIES = 2


def split_continuations(
    report: GameReport, who: str, rests: Iterable[GameLine | Movetext]
) -> GameReports:
    """Return the game, and what follows each illegal move in it as a game of its own.

    The laws let such a move stand when the game went on (FIDE Laws 7.5 and A.4), and
    :data:`PROOF_PLIES` more moves that fit the position behind it show that it did.
    Engines and ratings need games in which every move is legal, so the game is two.

    Args:
        report: up to the first illegal move, with the ``problem`` that names it.
        who: names the game among those of its source, where the report has no key.
        rests: the moves behind each.
    """
    reports = [report]
    for rest in rests:
        if len(rest.moves) < PROOF_PLIES:
            break
        last = reports.pop()
        others = tuple(part for part in last.unread if part != "moves")
        reports.append(replace(last, problem=f"{last.problem} {STANDS}", unread=others))
        following = replace(
            last,
            key=f"{last.key or who} from ply {len(last.moves) + 1}",
            start_fen=rest.start.fen(),
            moves=tuple(rest.moves),
            start_eval=None,
            problem=rest.problem,
            unread=others if rest.problem is None else ("moves", *others),
        )
        reports.append(following)
    return tuple(reports)


def read_continuation(
    report: GameReport, line: GameLine, given: Sequence[ListedMove], *, who: str = ""
) -> Generator[None, None, GameReports]:
    """Do as :func:`split_continuations`, with control given back after each move.

    ``given`` are all moves as the source sent them, which ``line`` has taken.
    """
    plies = len(report.moves)
    if report.problem is None or plies >= len(given):
        return (report,)
    after = board_after_illegal(line.board, given[plies].text)
    if after is None:
        return (report,)
    rest = GameLine(after)
    yield from rest.play_moves(given[plies + 1 :])
    return split_continuations(report, who, [rest])


#: A game of so many moves that suddenly stands at the start is over, and the next
#: begins.
NEW_GAME_PLIES = 4
#: Bounds of what is tried for a missed or corrected move; one that has a name may be
#: further back.
MAX_TRIES = 60
CORRECTED_PLIES = 2
NAMED_PLIES = 8
#: A move changes so many squares at most: castling does.
MOVE_SQUARES = 4

_FIELDS = ("w", "-", "-", "0", "1")


def read_fen(text: str, *, chess960: bool = False) -> chess.Board | None:
    """Return the position of a FEN that may end after any field; None for what is no
    position.

    Castling rights that FEN's ordinary notation does not fit make it Chess960. Where
    they are left out, kings and rooks that stand at home may castle: a right too many
    costs nothing, one too few would end the game at its castling.
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
    """One game; give each position to :meth:`track_position`."""

    def __init__(self, start: chess.Board | None = None) -> None:
        """``start``: where it began; else the first position tells."""
        self.number = 1
        """Counts the games seen here."""
        self._line = GameLine()
        self._places: list[tuple[str, bool]] = []
        """Placement and side to move after each ply, the start first."""
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
        """The position now."""
        return self._line.board

    def track_position(
        self,
        now: chess.Board,
        move: str,
        white_s: float | None = None,
        black_s: float | None = None,
    ) -> None:
        """Take the position after ``move`` (SAN or UCI; may be empty), with both clocks
        then, seconds.

        A FEN without side to move reads like one where White moves: always give the
        side.
        """
        move, met = move.strip(), not self._places
        if met:  # a game met at its first move began at the start
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
            begun or self._play_step(now, move) if met else self.resume_at(now, move)
        ):
            self._begin_at(now)
        self._set_clock(white_s, black_s)

    def resume_at(self, now: chess.Board, move: str = "") -> bool:
        """Take the position for one of this game, if it can be: the last one, the next
        or the one after it, one of before, or one that comes of a correction.
        """
        return (
            _placement_key(now) == self._places[-1]
            or self._step_forward(now, move)
            or self._step_backward(now, move)
        )

    def play_move(self, move: str) -> bool:
        """Play one more move, SAN or UCI; return False where it is none."""
        try:
            self._line.add_move(move)
        except UnplayableMove:
            return False
        self._places.append(_placement_key(self._line.board))
        return True

    def _begin_at(self, board: chess.Board) -> None:
        self._line = GameLine(board.copy(stack=False))
        self._places = [_placement_key(board)]

    def _step_forward(self, now: chess.Board, move: str) -> bool:
        """Go on by one move, or by two of which one was not sent; return whether it
        fits.
        """
        if self._play_step(now, move):
            return True
        board = self._line.board
        # The reply is the other side's, so what moved first is gone from its square.
        mask = find_changed_squares(board, now)
        apart = board.turn != now.turn or mask.bit_count() > 2 * MOVE_SQUARES
        if apart or len(self.moves) + 2 > MAX_PLIES:
            return False
        for missed in list(board.generate_legal_moves(from_mask=mask))[:MAX_TRIES]:
            # Tried apart: to take a move back costs as much as all before it.
            after = board.copy(stack=False)
            after.push(missed)
            reply = PositionTracker(after)
            if reply._play_step(now, move, guess=not move):
                return self.play_move(missed.uci()) and self.play_move(
                    reply.moves[0].uci
                )
        return False

    def _step_backward(self, now: chess.Board, move: str) -> bool:
        """Go back to an earlier position, or play another move from one; return whether
        it fits.
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
        for again in before_now[len(self.moves) :]:
            self.play_move(again.uci)
            self.moves[-1] = again
        return False

    def _play_step(self, now: chess.Board, move: str, *, guess: bool = True) -> bool:
        """Play the one move that leads to ``now``: the one named, else any."""
        board = self._line.board
        if board.turn == now.turn or len(self.moves) >= MAX_PLIES:
            return False
        if move and self.play_move(move):
            if find_changed_squares(self._line.board, now) == 0:
                return True
            self._truncate(len(self.moves) - 1)
        found = find_single_move(self._line.board, now) if guess else None
        return found is not None and self.play_move(found.uci())

    def _truncate(self, plies: int) -> None:
        self._line.truncate(plies)
        del self._places[plies + 1 :]

    def _set_clock(self, white_s: float | None, black_s: float | None) -> None:
        """Give the last move its clock: that of the side that has just moved stands
        still.
        """
        if not self.moves:
            return
        clock_s = black_s if self._places[-1][1] == chess.WHITE else white_s
        if clock_s is not None and clock_s != self.moves[-1].clock_s:
            self.moves[-1] = replace(self.moves[-1], clock_s=clock_s)


def find_single_move(board: chess.Board, now: chess.BaseBoard) -> chess.Move | None:
    """Return a move that leads to the pieces as they stand ``now``."""
    mask = find_changed_squares(board, now)
    if mask.bit_count() > MOVE_SQUARES:  # pieces in the air: not worth a try
        return None
    for move in list(board.generate_legal_moves(from_mask=mask)):
        board.push(move)
        there = find_changed_squares(board, now) == 0
        board.pop()
        if there:
            return move
    return None


def _placement_key(board: chess.Board) -> tuple[str, bool]:
    return board.board_fen(), board.turn


def find_changed_squares(one: chess.BaseBoard, other: chess.BaseBoard) -> int:
    """Return the squares on which two positions differ, as a mask."""
    mask = (one.occupied_co[True] ^ other.occupied_co[True]) | (
        one.occupied_co[False] ^ other.occupied_co[False]
    )
    for kind in ("pawns", "knights", "bishops", "rooks", "queens", "kings"):
        mask |= getattr(one, kind) ^ getattr(other, kind)
    return mask
