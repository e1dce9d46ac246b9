"""What was known before a move, and what the move then lost.

A hard position costs everybody more than an easy one, so figures that compare players look at a
loss beside what was to be expected there. What is known in time: the score and how it moved while
the engine searched (Alliot 2017, section 3.1), how far the game has got, and the board itself. No
figure of the move played, or of what came after it, is among them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import chess
import msgspec

_ALL_PIECES = 62
"""What both sides' pieces, without pawns and kings, are worth at the start."""


class Board(msgspec.Struct, frozen=True, gc=False):
    """What the board shows before a move."""

    legal_moves: int
    captures: int
    """Legal moves that take something."""
    recapture: bool
    """The move before took something, and it can be taken back."""
    check: bool
    pieces: int
    """Worth of both sides' pieces in pawns, without pawns and kings."""
    repeated: bool = False
    """The position occurred before in this game."""

    @property
    def forced(self) -> bool:
        """There is nothing to choose."""
        return self.legal_moves < 2


def board_before(board: chess.Board, *, taken: bool, repeated: bool = False) -> Board:
    """What ``board`` shows to the side to move; ``taken``: the move before took something."""
    theirs = board.occupied_co[not board.turn]
    target = board.move_stack[-1].to_square if taken and board.move_stack else None
    moves = list(board.generate_legal_moves())
    took = [
        move.to_square
        for move in moves
        if theirs >> move.to_square & 1
        # Taking en passant ends on an empty square.
        or (move.to_square == board.ep_square and board.pawns >> move.from_square & 1)
    ]
    pieces = 3 * chess.popcount(board.knights | board.bishops)
    pieces += 5 * chess.popcount(board.rooks) + 9 * chess.popcount(board.queens)
    return Board(len(moves), len(took), target in took, board.is_check(), pieces, repeated)


class Turn(msgspec.Struct, frozen=True, gc=False):
    """One move; score and gain from the mover's side."""

    gain_cp: int
    score_before_cp: int
    ply: int
    """From 1."""
    stability_cp: float | None = None
    """Mean change of the score between depths; None where the search is not known."""
    jump_cp: int | None = None
    """The largest such change."""
    board: Board | None = None
    found: float | None = None
    """Above 0, to 1: how many players of the mover's rating choose the engine's move; None where
    nobody was asked."""

    @property
    def loss_cp(self) -> int:
        """0 or more."""
        return max(0, -self.gain_cp)

    @property
    def log_loss(self) -> float:
        """``log(1 + loss)``, the loss in tenths of a pawn."""
        return math.log1p(self.loss_cp / 10)


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


def _log_odds(share: float | None) -> float:
    if share is None:
        return 0.0
    within = min(max(share, 0.001), 0.999)
    return math.log(within / (1 - within))


_OF_SCORES: dict[str, Callable[[Turn], float]] = {
    "always": lambda turn: 1.0,
    "opening": lambda turn: min(max((20 - turn.ply) / 20, 0.0), 1.0),
    "early": lambda turn: min(max((40 - turn.ply) / 20, 0.0), 1.0),
    "late": lambda turn: min(max((turn.ply - 60) / 40, 0.0), 1.5),
    "ahead": lambda turn: math.log1p(max(turn.score_before_cp, 0) / 50),
    "behind": lambda turn: math.log1p(max(-turn.score_before_cp, 0) / 50),
    "level": lambda turn: math.exp(-((turn.score_before_cp / 60) ** 2)),
    # A score of 0.00 deep into a game: a draw that nothing changes any more.
    "dead": lambda turn: (
        min(max((turn.ply - 40) / 40, 0.0), 1.0) if abs(turn.score_before_cp) <= 3 else 0.0
    ),
    "won": lambda turn: min(max((turn.score_before_cp - 400) / 200, 0.0), 1.0),
    "instability": lambda turn: math.log1p((turn.stability_cp or 0.0) / 5),
    "jump": lambda turn: math.log1p((turn.jump_cp or 0) / 20),
    "found": lambda turn: _log_odds(turn.found),
    "found_squared": lambda turn: _log_odds(turn.found) ** 2 / 4,
}
_OF_BOARD: dict[str, Callable[[Board], float]] = {
    "choices": lambda board: math.log(max(board.legal_moves, 1) / 30),
    "pieces": lambda board: board.pieces / _ALL_PIECES - 0.5,
    "captures": lambda board: math.log1p(board.captures) / 2,
    "recapture": lambda board: float(board.recapture),
    "check": lambda board: float(board.check),
}


def measured(turn: Turn, names: tuple[Circumstance, ...]) -> list[float]:
    """The circumstances of a turn as numbers around 1, in the order of ``names``.

    What nobody looked at counts 0.
    """
    found = []
    for name in names:
        of_scores = _OF_SCORES.get(name)
        if of_scores is not None:
            found.append(of_scores(turn))
        else:
            found.append(_OF_BOARD[name](turn.board) if turn.board is not None else 0.0)
    return found
