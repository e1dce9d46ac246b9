"""live/web/page/board/rating_panel.js: the figures at the move that is looked at."""

from __future__ import annotations

import pytest

from tests.web.page.games import Pages, plain, point

CURVE = plain([point(1, 1, 2100.0), point(3, 2, 2150.0), point(7, 3, 2000.0)])


@pytest.mark.parametrize(("ply", "n"), [(0, None), (1, 1), (2, 1), (6, 2), (7, 3), (99, 3)])
def test_the_last_point_up_to_a_ply(pages: Pages, ply: int, n: int | None) -> None:
    found = pages("call", module="page/board/rating_panel.js", name="pointAt", args=[CURVE, ply])
    assert (found or {}).get("n") == n


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
