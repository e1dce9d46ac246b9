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


def test_of_an_open_interval_a_curve_shows_the_end_alone(pages: Pages) -> None:
    names = {"kind": "alone", "value": "alone", "low": "alone_low", "high": "alone_high"}
    bounded = {"ply": 3, "alone": 2500.0, "alone_low": 2300.0, "alone_high": 2700.0}
    open_above = {**bounded, "ply": 1, "alone": 2611.0, "alone_high": None}

    def ask(name: str, *points: dict[str, Any]) -> Any:
        curves = {"white": list(points), "black": []}
        args = [{"curves": curves} if name == "hasRating" else curves, names]
        return pages("call", module="client/curve_series.js", name=name, args=args)

    assert ask("columns", open_above, bounded)[2:4] == [[2300.0, 2300.0], [None, 2500.0]]
    assert not ask("hasRating", open_above)
    assert ask("hasRating", open_above, bounded)
