"""Circumstances of a move that make a loss more or less likely."""

import math
from collections.abc import Callable
from typing import Literal

import chess

from live.messages.values import Value

_ALL_PIECES = 62
"""Value of all pieces except pawns and kings at the start of a game, in pawns."""


class Board(Value, gc=False):
    """Facts about the board before a move."""

    legal_moves: int
    captures: int
    """Number of legal moves that capture."""
    recapture: bool
    """True if the previous move captured a piece that can now be recaptured."""
    check: bool
    pieces: int
    """Value of both sides' pieces except pawns and kings, in pawns."""
    repeated: bool = False
    """True if the position occurred before in this game."""

    @property
    def is_forced(self) -> bool:
        """Return whether there is only one legal move, or none."""
        return self.legal_moves < 2


def describe_board(
    board: chess.Board, *, is_after_capture: bool, repeated: bool = False
) -> Board:
    """Return the facts about ``board`` for the side to move.

    ``is_after_capture`` says whether the previous move was a capture.
    """
    opponent_pieces = board.occupied_co[not board.turn]
    target = (
        board.move_stack[-1].to_square
        if is_after_capture and board.move_stack
        else None
    )
    moves = list(board.generate_legal_moves())
    captured_squares = [
        move.to_square
        for move in moves
        if opponent_pieces >> move.to_square & 1
        # A capture en passant ends on an empty square.
        or (move.to_square == board.ep_square and board.pawns >> move.from_square & 1)
    ]
    pieces = 3 * chess.popcount(board.knights | board.bishops)
    pieces += 5 * chess.popcount(board.rooks) + 9 * chess.popcount(board.queens)
    return Board(
        len(moves),
        len(captured_squares),
        target in captured_squares,
        board.is_check(),
        pieces,
        repeated,
    )


class Turn(Value, gc=False):
    """One move; score and gain are from the mover's side."""

    gain_cp: int
    score_before_cp: int
    ply: int
    """Number of the ply in the game, from 1."""
    stability_cp: float | None = None
    """Mean change of the score from one depth to the next, centipawns; None if the
    search is unknown.
    """
    jump_cp: int | None = None
    """Largest change of the score from one depth to the next, centipawns; None if the
    search is unknown.
    """
    board: Board | None = None
    found: float | None = None
    """Share of players of the mover's rating who choose the engine's move, above 0 and
    at most 1; None if unknown.
    """


Circumstance = Literal[
    "always",
    "opening",
    "early",
    "late",
    "ahead",
    "behind",
    "level",
    "dead",
    "won",
    "instability",
    "jump",
    "choices",
    "pieces",
    "captures",
    "recapture",
    "check",
    "found",
    "found_squared",
]
Circumstances = tuple[Circumstance, ...]


def _compute_log_odds(share: float | None) -> float:
    if share is None:
        return 0.0
    within = min(max(share, 0.001), 0.999)
    return math.log(within / (1 - within))


def _measure_board(measure: Callable[[Board], float]) -> Callable[[Turn], float]:
    """Return a measure of a turn that applies ``measure`` to its board.

    The result is 0 if the board is unknown.
    """
    return lambda turn: 0.0 if turn.board is None else measure(turn.board)


_MEASURES: dict[Circumstance, Callable[[Turn], float]] = {
    "always": lambda turn: 1.0,
    "opening": lambda turn: min(max((20 - turn.ply) / 20, 0.0), 1.0),
    "early": lambda turn: min(max((40 - turn.ply) / 20, 0.0), 1.0),
    "late": lambda turn: min(max((turn.ply - 60) / 40, 0.0), 1.5),
    "ahead": lambda turn: math.log1p(max(turn.score_before_cp, 0) / 50),
    "behind": lambda turn: math.log1p(max(-turn.score_before_cp, 0) / 50),
    "level": lambda turn: math.exp(-((turn.score_before_cp / 60) ** 2)),
    # A score of 0.00 late in a game usually means a draw.
    "dead": lambda turn: (
        min(max((turn.ply - 40) / 40, 0.0), 1.0)
        if abs(turn.score_before_cp) <= 3
        else 0.0
    ),
    "won": lambda turn: min(max((turn.score_before_cp - 400) / 200, 0.0), 1.0),
    "instability": lambda turn: math.log1p((turn.stability_cp or 0.0) / 5),
    "jump": lambda turn: math.log1p((turn.jump_cp or 0) / 20),
    "found": lambda turn: _compute_log_odds(turn.found),
    "found_squared": lambda turn: _compute_log_odds(turn.found) ** 2 / 4,
    "choices": _measure_board(lambda board: math.log(max(board.legal_moves, 1) / 30)),
    "pieces": _measure_board(lambda board: board.pieces / _ALL_PIECES - 0.5),
    "captures": _measure_board(lambda board: math.log1p(board.captures) / 2),
    "recapture": _measure_board(lambda board: float(board.recapture)),
    "check": _measure_board(lambda board: float(board.check)),
}


def measure_circumstances(turn: Turn, names: Circumstances) -> list[float]:
    """Return the circumstances of a turn as numbers around 1, in the order of
    ``names``.
    """
    return [_MEASURES[name](turn) for name in names]
