"""live/web/drawing/board_frame.js: an arrow from square to square."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Pages = Callable[..., Any]


@pytest.mark.parametrize(
    ("side", "start", "end"), [("white", (4.5, 6.5), (4.5, 4.5)), ("black", (3.5, 1.5), (3.5, 3.5))]
)
def test_an_arrow_starts_and_ends_in_the_middle_of_its_squares(
    pages: Pages, side: str, start: tuple[float, float], end: tuple[float, float]
) -> None:
    told: str = pages(
        "call", module="drawing/board_frame.js", name="arrowCorners", args=["e2e4", side]
    )
    corners = [tuple(map(float, corner.split(","))) for corner in told.split()]
    assert len(corners) == 7
    tail = [(one + other) / 2 for one, other in zip(corners[0], corners[-1], strict=True)]
    assert tail == pytest.approx(start)
    assert corners[3] == pytest.approx(end)
