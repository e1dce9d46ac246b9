from __future__ import annotations

import chess
import pytest

from live.ratings.perceived_model import Turn, board_before, measured


def test_the_board_counts_what_can_be_chosen() -> None:
    board = chess.Board()
    seen = board_before(board, taken=False)
    assert (seen.legal_moves, seen.captures, seen.check, seen.pieces) == (20, 0, False, 62)
    assert not seen.forced


def test_a_recapture_takes_back_on_the_square() -> None:
    board = chess.Board()
    for move in ("e2e4", "d7d5", "e4d5"):
        board.push_uci(move)
    assert board_before(board, taken=True).recapture
    # The queen may still take, but nothing was taken the move before.
    assert not board_before(board, taken=False).recapture


def test_one_legal_move_is_forced() -> None:
    board = chess.Board("7k/8/8/8/8/8/r7/1r5K w - - 0 1")
    assert not board_before(board, taken=False).legal_moves
    board = chess.Board("7k/8/8/8/8/6q1/8/7K w - - 0 1")
    assert board_before(board, taken=False).forced


def test_what_nobody_looked_at_counts_nothing() -> None:
    turn = Turn(-30, 50, 11)
    assert measured(turn, ("always", "instability", "choices")) == [1.0, 0.0, 0.0]
    assert measured(turn, ("ahead", "behind"))[1] == 0.0


def test_losses_are_never_below_nothing() -> None:
    assert Turn(12, 0, 9).log_loss == 0.0
    assert Turn(-10, 0, 9).log_loss == pytest.approx(0.6931, abs=1e-4)
