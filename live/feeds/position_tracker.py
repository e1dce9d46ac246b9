"""Moves that a source sends as a list of texts, all of them each time. Pure.

A move sent before is only compared, so a resend costs little more than its new moves.

A game that a source sends position by position: FEN, or a board, and the last move. Pure.

Missed moves are found again where possible: one or two moves by trying, a takeback or a correction
by looking back. Where that fails, the game goes on from the position sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import chess
import msgspec

from live.events import STANDS, GameReport, Move
from live.feeds.movetext import MAX_PLIES, MoveReader, UnplayableMove, after_illegal

#: Moves after an illegal one that show that the game went on from it.
PROOF_PLIES = 2


class ListedMove(NamedTuple):
    """One move as sent: SAN or UCI, with the mover's clock after it and the time it took."""

    text: str
    clock_s: float | None = None
    spent_s: float | None = None


class ListedMoves:
    """The moves of one game; give each list to :meth:`set`."""

    def __init__(self) -> None:
        self.moves: list[Move] = []
        self.problem: str | None = None
        """Why the last list could not be played to its end."""
        self._texts: list[str] = []
        self._start: tuple[str, bool] | None = None
        self._mover = MoveReader(chess.Board())

    def set(self, start: chess.Board, told: Iterable[ListedMove]) -> None:
        """All moves so far from ``start``, which is left alone. An illegal one ends the game there.

        Moves sent before need O(1) legality checks, however many they are.
        """
        self.problem = None
        if (start.fen(), start.chess960) != self._start:
            self._start = (start.fen(), start.chess960)
            self._mover = MoveReader(start.copy(stack=False))
            self.moves, self._texts = [], []
        ply = 0
        for ply, each in enumerate(told, start=1):
            if ply > MAX_PLIES:
                return
            if ply <= len(self._texts) and self._texts[ply - 1] != each.text:
                self._back_to(ply - 1)
            if ply <= len(self._texts):
                held = self.moves[ply - 1]
                if (held.clock_s, held.spent_s) != each[1:]:
                    self.moves[ply - 1] = msgspec.structs.replace(
                        held, clock_s=each.clock_s, spent_s=each.spent_s
                    )
                continue
            try:
                uci, san = self._mover.play_san(each.text)
            except UnplayableMove as error:
                self.problem = f"{error} at ply {ply}"
                return
            self._texts.append(each.text)
            self.moves.append(Move(uci, san, each.clock_s, each.spent_s))
        self._back_to(ply)

    def _back_to(self, plies: int) -> None:
        if plies == len(self.moves):
            return
        board = self._mover.board
        for _ in range(len(self.moves) - plies):
            board.pop()
        self._mover = MoveReader(board)
        del self.moves[plies:], self._texts[plies:]


def gone_on(
    report: GameReport,
    who: str,
    after: chess.Board,
    moves: Sequence[Move],
    problem: str | None,
) -> tuple[GameReport, ...]:
    """The game, and what follows an illegal move in it as a game of its own.

    The laws let such a move stand when the game went on (FIDE Laws 7.5 and A.4), and
    :data:`PROOF_PLIES` more moves that fit the position behind it show that it did. Engines and
    ratings need games in which every move is legal, so the game is two.

    Args:
        report: up to the illegal move, with the ``problem`` that names it.
        who: names the game among those of its source, where the report has no key.
        after: the position behind the move.
        moves: those that fit it.
        problem: why they end before the game does.
    """
    if len(moves) < PROOF_PLIES:
        return (report,)
    rest = msgspec.structs.replace(
        report,
        key=f"{report.key or who} from ply {len(report.moves) + 1}",
        start_fen=after.fen(),
        moves=tuple(moves),
        start_eval=None,
        problem=problem,
    )
    return msgspec.structs.replace(report, problem=f"{report.problem} {STANDS}"), rest


def with_going_on(
    report: GameReport, told: Sequence[ListedMove], *, who: str = ""
) -> tuple[GameReport, ...]:
    """As :func:`gone_on`; ``told`` are all moves as the source sent them."""
    plies = len(report.moves)
    if report.problem is None or plies >= len(told):
        return (report,)
    board = chess.Board(report.start_fen, chess960=report.headers.variant == "chess960")
    for move in report.moves:
        board.push_uci(move.uci)
    after = after_illegal(board, told[plies].text)
    if after is None:
        return (report,)
    rest = ListedMoves()
    rest.set(after, told[plies + 1 :])
    return gone_on(report, who, after, rest.moves, rest.problem)


#: A game of so many moves that suddenly stands at the start is over, and the next begins.
NEW_GAME_PLIES = 4
#: Bounds of what is tried for a missed or corrected move.
MAX_TRIES = 60
CORRECTED_PLIES = 8

_FIELDS = ("w", "-", "-", "0", "1")


def whole_fen(text: str) -> str:
    """A FEN that may end after any field, with the rest of them."""
    fields = text.split()
    return " ".join([*fields, *_FIELDS[max(0, len(fields) - 1) :]])


def read_fen(text: str) -> chess.Board | None:
    """The position of a FEN that may end after any field; None for what is no position.

    Castling rights that FEN's ordinary notation does not fit make it Chess960.
    """
    fields = text.split()
    if not fields or len(fields) > 6 or len(text) > 100:
        return None
    try:
        board = chess.Board(whole_fen(text), chess960=True)
    except ValueError:
        return None
    if board.king(chess.WHITE) is None or board.king(chess.BLACK) is None:
        return None
    board.chess960 = board.has_chess960_castling_rights()
    return board


class PositionTracker:
    """One game; give each position to :meth:`see`."""

    def __init__(self) -> None:
        self.number = 1
        """Counts the games seen here."""
        self.start_fen = chess.STARTING_FEN
        self.chess960 = False
        self.moves: list[Move] = []
        self._mover = MoveReader(chess.Board())
        self._places: list[tuple[str, bool]] = []
        """Placement and side to move after each ply, the start first."""

    def see(
        self,
        now: chess.Board,
        move: str = "",
        white_s: float | None = None,
        black_s: float | None = None,
    ) -> None:
        """The position after ``move`` (SAN or UCI; may be empty), with both clocks then, seconds.

        A FEN without side to move reads like one where White moves: always give the side.
        """
        move = move.strip()
        place = _place(now)
        if not self._places:
            self._start(now, move)
        elif place == self._places[-1]:
            pass  # sent again
        elif place == _place(chess.Board()) and len(self.moves) >= NEW_GAME_PLIES:
            self.number += 1
            self._begin(chess.Board())
        elif not (self._forward(now, move) or self._backward(now, move)):
            self._begin(now)
        self._set_clock(white_s, black_s)

    def _start(self, now: chess.Board, move: str) -> None:
        """The first position sent: a game met at its first move began at the start."""
        self._begin(chess.Board())
        place = _place(now)
        if place != self._places[0] and not self._step(now, move):
            self._begin(now)

    def _begin(self, board: chess.Board) -> None:
        self.start_fen, self.chess960 = board.fen(), board.chess960
        self._mover = MoveReader(board.copy(stack=False))
        self.moves, self._places = [], [_place(board)]

    def _forward(self, now: chess.Board, move: str) -> bool:
        """One move on, or two of which one was not sent."""
        if self._step(now, move):
            return True
        board = self._mover.board
        if board.turn != now.turn:
            return False
        # The reply is the other side's, so what moved first is gone from its square.
        mask = changed(board, now)
        for missed in list(board.generate_legal_moves(from_mask=mask))[:MAX_TRIES]:
            self._play(missed.uci())
            if self._step(now, move, guess=not move):
                return True
            self._back_to(len(self.moves) - 1)
        return False

    def _backward(self, now: chess.Board, move: str) -> bool:
        """A position of before, or another move from one."""
        place = _place(now)
        for plies in range(len(self.moves) - 1, -1, -1):
            if self._places[plies] == place:
                self._back_to(plies)
                return True
            recent = len(self.moves) - plies <= CORRECTED_PLIES
            if move and recent and self._reaches(plies, place, move):
                self._back_to(plies)
                return self._step(now, move)
        return False

    def _reaches(self, plies: int, place: tuple[str, bool], move: str) -> bool:
        board = self._mover.board.copy()
        while len(board.move_stack) > plies:
            board.pop()
        mover = MoveReader(board)
        try:
            mover.play_san(move)
        except UnplayableMove:
            return False
        return _place(board) == place

    def _step(self, now: chess.Board, move: str, *, guess: bool = True) -> bool:
        """Play the one move that leads to ``now``: the one named, else any."""
        board = self._mover.board
        if board.turn == now.turn or len(self.moves) >= MAX_PLIES:
            return False
        if move and self._play(move):
            if changed(board, now) == 0:
                return True
            self._back_to(len(self.moves) - 1)
        if guess:
            for other in list(board.generate_legal_moves(from_mask=changed(board, now))):
                board.push(other)
                found = changed(board, now) == 0
                board.pop()
                if found:
                    return self._play(other.uci())
        return False

    def _play(self, move: str) -> bool:
        try:
            uci, san = self._mover.play_san(move)
        except UnplayableMove:
            return False
        self.moves.append(Move(uci, san))
        self._places.append(_place(self._mover.board))
        return True

    def _back_to(self, plies: int) -> None:
        board = self._mover.board
        for _ in range(len(self.moves) - plies):
            board.pop()
        self._mover = MoveReader(board)
        del self.moves[plies:], self._places[plies + 1 :]

    def _set_clock(self, white_s: float | None, black_s: float | None) -> None:
        """The clock of the side that has just moved stands still: it belongs to the last move."""
        if not self.moves:
            return
        clock_s = black_s if self._places[-1][1] == chess.WHITE else white_s
        if clock_s is not None and clock_s != self.moves[-1].clock_s:
            self.moves[-1] = msgspec.structs.replace(self.moves[-1], clock_s=clock_s)


def _place(board: chess.Board) -> tuple[str, bool]:
    return board.board_fen(), board.turn


def changed(one: chess.BaseBoard, other: chess.BaseBoard) -> int:
    """The squares on which two positions differ, as a mask."""
    mask = (one.occupied_co[True] ^ other.occupied_co[True]) | (
        one.occupied_co[False] ^ other.occupied_co[False]
    )
    for kind in ("pawns", "knights", "bishops", "rooks", "queens", "kings"):
        mask |= getattr(one, kind) ^ getattr(other, kind)
    return mask
