"""live/web/client/move_notation.js against python-chess."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import chess
import pytest

Pages = Callable[..., Any]


def san(pages: Pages, board: chess.Board, move: chess.Move) -> str:
    told: str = pages(
        "call",
        module="client/move_notation.js",
        name="sanOf",
        args=[board.root().fen(), [each.uci() for each in board.move_stack], board.uci(move)],
    )
    return told


def test_moves_of_random_games_are_written_as_people_write_them(pages: Pages) -> None:
    random, compared = Random(19), 0
    for _ in range(6):
        board = chess.Board()
        for _ in range(60):
            moves = list(board.legal_moves)
            if not moves:
                break
            move = random.choice(moves)
            expected, told = board.san(move).rstrip("+#"), san(pages, board, move)
            if told != expected:
                # A pinned rival is not looked at: then a letter stands that need not.
                assert len(told) > len(expected)
                assert board.parse_san(told) == move
            compared += told == expected
            board.push(move)
    assert compared > 250


@pytest.mark.parametrize(
    ("fen", "uci", "expected"),
    [
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1g1", "O-O"),
        ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", "e8c8", "O-O-O"),
        ("7k/P7/8/8/8/8/8/K7 w - - 0 1", "a7a8q", "a8=Q"),
        ("7k/8/8/3pP3/8/8/8/K7 w - d6 0 1", "e5d6", "exd6"),
        ("7k/8/8/3Q3Q/8/8/8/K6Q w - - 0 1", "h5d1", "Qh5d1"),
    ],
)
def test_moves_that_are_written_otherwise(pages: Pages, fen: str, uci: str, expected: str) -> None:
    board = chess.Board(fen)
    assert san(pages, board, chess.Move.from_uci(uci)) == expected
