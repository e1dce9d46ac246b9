from __future__ import annotations

import pytest

from live.games.game import move_number, mover
from tests.story.games import START, game


@pytest.mark.parametrize(
    ("fen", "ply", "number", "color"),
    [
        (START, 1, 1, "white"),
        (START, 4, 2, "black"),
        (START.replace(" w ", " b ").replace(" 1", " 30"), 1, 30, "black"),
        (START.replace(" w ", " b ").replace(" 1", " 30"), 2, 31, "white"),
        (START.replace(" 1", " 0"), 3, 2, "white"),
        ("8/8/8/8/8/8/8/8 b", 1, 1, "black"),
        ("", 2, 1, "black"),
    ],
)
def test_moves_are_counted_from_the_start_position(
    fen: str, ply: int, number: int, color: str
) -> None:
    view = game(start_fen=fen)
    assert move_number(view, ply) == (number, color == "white")
    assert mover(view, ply) == color
