"""live/web/client/board_position.js puts the pieces where python-chess puts them."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

Pages = Callable[..., Any]


def placement(pages: Pages, start_fen: str, moves: list[str]) -> str:
    args = [start_fen, moves]
    result = pages("call", module="client/board_position.js", name="placementAfter", args=args)
    assert isinstance(result, str)
    return result


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 2**32), plies=st.integers(0, 120))
def test_random_games(pages: Pages, seed: int, plies: int) -> None:
    random = Random(seed)
    chess960 = random.random() < 0.5
    board = chess.Board(chess960=chess960)
    if chess960:
        board = chess.Board.from_chess960_pos(random.randrange(960))
    start_fen = board.fen()
    moves: list[str] = []
    for _ in range(plies):
        legal = list(board.legal_moves)
        if not legal:
            break
        # The rare kinds of move are what can go wrong.
        rare = [
            move
            for move in legal
            if board.is_castling(move) or board.is_en_passant(move) or move.promotion
        ]
        move = random.choice(rare or legal)
        moves.append(board.uci(move))
        board.push(move)
    assert placement(pages, start_fen, moves) == board.board_fen()


def test_castling_where_king_and_rook_swap_squares(pages: Pages) -> None:
    # Chess960: the king on f1 castles with the rook on g1, and they change places.
    assert placement(pages, "4k3/8/8/8/8/8/8/5KR1 w G - 0 1", ["f1g1"]) == "4k3/8/8/8/8/8/8/5RK1"
