"""live/web/client/curve_series.js: how many moves a figure does not rest on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Pages = Callable[..., Any]
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


@pytest.mark.parametrize(
    ("turn", "plies", "rated", "white", "black"),
    [
        ("w", 0, (0, 0), 0, 0),
        ("w", 7, (0, 0), 4, 3),
        ("w", 7, (7, 6), 0, 0),
        ("w", 8, (7, 6), 0, 1),
        ("b", 8, (0, 0), 4, 4),
        ("b", 1, (0, 0), 0, 1),
    ],
)
def test_moves_since_the_last_point_are_unrated(
    pages: Pages, turn: str, plies: int, rated: tuple[int, int], white: int, black: int
) -> None:
    curves = [[{"ply": ply}] if ply else [] for ply in rated]
    game = {
        "start_fen": START.replace(" w ", f" {turn} "),
        "plies": [{}] * plies,
        "curves": {"white": curves[0], "black": curves[1]},
    }
    told = [
        pages("call", module="client/curve_series.js", name="unratedMoves", args=[game, color])
        for color in ("white", "black")
    ]
    assert told == [white, black]
