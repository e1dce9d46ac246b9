"""live/web/client/curve_series.js: how many moves a figure does not rest on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from live.events import Curves
from tests.web.page.games import plain, point

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


def test_columns_hold_the_figure_with_its_band_at_its_move(pages: Pages) -> None:
    curves = plain(Curves(white=(point(1, 0, None), point(5, 2, 2100.0)), black=()))

    def ask(name: str, *args: Any) -> Any:
        return pages("call", module="client/curve_series.js", name=name, args=list(args))

    nothing = [None, None, None]
    band = [[None, None, high] for high in (2300, 1900, 2100)]
    assert ask("columns", curves, "perceived", 2200) == [[1, 2, 3], *band, *[nothing] * 3]
    published = [[2230, None, 2230], [2030, None, 2030], [2130, None, 2130]]
    assert ask("columns", curves, "algorithm4", 2200)[1:4] == published
    assert ask("hasRating", {"curves": curves}, "perceived", None)
    assert not ask("hasRating", {"curves": curves}, "algorithm4", None)


def test_the_axis_holds_the_band_and_the_own_elo(pages: Pages) -> None:
    curves = plain(Curves(white=(point(1, 1, 2100.0),)))
    call = {"module": "client/curve_series.js"}
    data = pages("call", **call, name="columns", args=[curves, "perceived", None])
    low, high = pages("call", **call, name="span", args=[data, [2800, None]])
    assert low < 1900 < 2800 < high
