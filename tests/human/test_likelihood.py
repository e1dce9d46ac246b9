import math

import chess
import numpy as np
import pytest

from live.human.encoding import Floats
from live.human.likelihood import shares


def _logits(**moves: float) -> Floats:
    given = np.full(4096, 20.0, np.float32)  # high where no legal move is: must not matter
    for uci, logit in moves.items():
        move = chess.Move.from_uci(uci)
        given[move.from_square * 64 + move.to_square] = logit
    return given


def test_shares_are_over_legal_moves_alone_largest_first() -> None:
    board = chess.Board("7k/8/8/8/8/8/8/K7 w - - 0 1")
    given = shares(board, _logits(a1a2=0.0, a1b1=math.log(2), a1b2=math.log(5)))
    assert list(given) == ["a1b2", "a1b1", "a1a2"]
    assert list(given.values()) == pytest.approx([5 / 8, 2 / 8, 1 / 8])


def test_black_reads_the_board_from_its_own_side() -> None:
    board = chess.Board("k7/8/8/8/8/8/8/7K b - - 0 1")
    given = shares(board, _logits(a1a2=0.0, a1b1=math.log(2), a1b2=math.log(5)))
    assert list(given) == ["a8b7", "a8b8", "a8a7"]


def test_a_promotion_is_counted_once_as_a_queen() -> None:
    board = chess.Board("7k/P7/8/8/8/8/8/7K w - - 0 1")
    given = shares(board, np.zeros(4096, np.float32))
    assert sorted(given) == ["a7a8q", "h1g1", "h1g2", "h1h2"]
    assert sum(given.values()) == pytest.approx(1)


def test_no_shares_where_the_game_is_over() -> None:
    assert shares(chess.Board("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"), np.zeros(4096, np.float32)) == {}
