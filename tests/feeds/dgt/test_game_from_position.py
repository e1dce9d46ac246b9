from __future__ import annotations

import random

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.events import Move
from live.feeds.livechess import found_again, met


def game(seed: int, plies: int) -> tuple[list[Move], list[chess.Board]]:
    """Random legal moves, and the position before and after each."""
    chance, board = random.Random(seed), chess.Board()
    moves: list[Move] = []
    positions = [board.copy()]
    while len(moves) < plies and not board.is_game_over():
        move = chance.choice(list(board.legal_moves))
        moves.append(Move(move.uci(), board.san(move)))
        board.push(move)
        positions.append(board.copy())
    return moves, positions


@pytest.mark.slow
@given(st.integers(0, 10_000), st.integers(0, 60), st.integers(-5, 2))
def test_a_game_is_found_again_where_its_pieces_stand(seed: int, held: int, more: int) -> None:
    moves, positions = game(seed, held + max(more, 0))
    now = max(min(held + more, len(moves)), 0)
    placed = positions[now].board_fen()
    found = found_again(chess.STARTING_FEN, moves[: min(held, len(moves))], placed)
    assert found is not None
    board = chess.Board()
    for move in found:
        board.push_uci(move.uci)
    assert board.board_fen() == placed


def test_a_piece_in_the_air_is_nowhere() -> None:
    moves, positions = game(1, 20)
    lifted = positions[-1].copy()
    square = next(iter(lifted.pieces(chess.PAWN, chess.WHITE)))
    lifted.remove_piece_at(square)
    assert found_again(chess.STARTING_FEN, moves, lifted.board_fen()) is None


@pytest.mark.slow
@given(st.integers(0, 10_000), st.integers(10, 60))
def test_who_has_moved_tells_who_is_to_move(seed: int, plies: int) -> None:
    moves, positions = game(seed, plies)
    before, now = positions[-2], positions[-1]
    fen = met(before.board_fen(), now.board_fen())
    if fen is None:
        # En passant, a check that only one history explains, or a king that has moved and castled.
        return
    assert chess.Board(fen).board_fen() == now.board_fen()
    assert chess.Board(fen).turn == now.turn
    assert moves


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("8/8/8/8/8/8/8/8", "8/8/8/8/8/8/8/8"),
        ("4k3/8/8/8/8/8/8/4K3", "4k3/8/8/8/8/8/8/4K3"),
        ("4k3/8/8/8/8/8/8/4K3", "3k4/8/8/8/8/8/8/3K4"),
    ],
)
def test_what_tells_nothing(before: str, now: str) -> None:
    assert met(before, now) is None
