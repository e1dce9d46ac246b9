"""live/web/page/board/rating_panel.js: the figures at the move that is looked at."""

from __future__ import annotations

import pytest

from live.events import Curves, GameDetail
from tests.web.page.games import Pages, game, plain, ply, point

CURVE = plain([point(1, 1, 2100.0), point(3, 2, 2150.0), point(7, 3, 2000.0)])


@pytest.mark.parametrize(("ply", "n"), [(0, None), (1, 1), (2, 1), (6, 2), (7, 3), (99, 3)])
def test_the_last_point_up_to_a_ply(pages: Pages, ply: int, n: int | None) -> None:
    found = pages("call", module="client/curve_series.js", name="pointAt", args=[CURVE, ply])
    assert (found or {}).get("counted") == n


@pytest.mark.parametrize(
    ("white", "black", "expected"),
    [(2000, 2000, 0.5), (2400, 2000, 10 / 11), (2000, 2400, 1 / 11), (None, 2000, None)],
)
def test_what_elo_ratings_expect(
    pages: Pages, white: int | None, black: int, expected: float | None
) -> None:
    found = pages(
        "call", module="page/board/rating_panel.js", name="eloExpectation", args=[white, black]
    )
    assert found == (pytest.approx(expected) if expected is not None else None)


def leaping(*values: float, first: int = 10) -> GameDetail:
    """White's figure after moves 1, 2, 3 …; every best move is Bc4."""
    curve = tuple(point(2 * at + 1, first + at, value) for at, value in enumerate(values))
    plies = tuple(ply(number, 0, 0, best="f1c4") for number in range(1, 2 * len(values) + 1))
    return game(curves=Curves(white=curve), plies=plies)


@pytest.mark.parametrize(
    ("values", "first", "upto", "said"),
    [
        (
            (2100.0, 2030.4),
            10,
            9,
            "Last swing: fell from 2100 to 2030 with 2.\u00a0Nf3; Bc4 was better",
        ),
        ((2100.0, 2160.0), 10, 9, "Last swing: rose from 2100 to 2160 with 2.\u00a0Nf3"),
        ((2100.0, 2159.0), 10, 9, ""),
        # The newest of those up to the move that is looked at.
        ((2100.0, 2000.0, 2100.0), 10, 9, "Last swing: rose from 2000 to 2100 with 3.\u00a0Bb5"),
        (
            (2100.0, 2000.0, 2100.0),
            10,
            4,
            "Last swing: fell from 2100 to 2000 with 2.\u00a0Nf3; Bc4 was better",
        ),
        ((2100.0, 2000.0), 9, 9, ""),
    ],
)
def test_which_move_moved_the_figure(
    pages: Pages, values: tuple[float, ...], first: int, upto: int, said: str
) -> None:
    assert pages("leap", game=plain(leaping(*values, first=first)), color="white", ply=upto) == said


@pytest.mark.parametrize(
    ("later", "said"),
    [
        ((), "fell 70 with 2.\u00a0Nf3"),
        ((2040.0,) * 2, "fell 70 with 2.\u00a0Nf3"),
        ((2040.0,) * 3, ""),
    ],
)
def test_a_move_that_moved_the_figure_is_news_for_some_moves(
    pages: Pages, later: tuple[float, ...], said: str
) -> None:
    held = plain(leaping(2100.0, 2030.4, *later))
    args = [held, "white", {"choice": "perceived"}]
    assert pages("call", module="page/score_words.js", name="leapNews", args=args) == said
    args[2] = {"choice": "algorithm4"}
    assert pages("call", module="page/score_words.js", name="leapNews", args=args) == ""
    words = pages("languages")["de"]
    args = [held, "white", words, None]
    found = pages("call", module="overlay/shown_figures.js", name="leapText", args=args)
    assert found == (said and "fiel um 70 mit 2.\u00a0Sf3")
