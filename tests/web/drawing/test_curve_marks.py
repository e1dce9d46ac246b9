"""live/web/drawing/curve_marks.js: where the names of moves stand beside curves."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

Pages = Callable[..., Any]

AREA = {"left": 0, "right": 400, "top": 0, "bottom": 300, "height": 12, "gap": 2}


def places(pages: Pages, names: list[dict[str, Any]], *lines: Sequence[Sequence[float]]) -> Any:
    args = [names, lines, AREA]
    return pages("call", module="drawing/curve_marks.js", name="namePlaces", args=args)


def test_names_lie_neither_on_another_nor_on_a_curve(pages: Pages) -> None:
    names = [{"x": x, "y": 150, "width": 60, "up": True} for x in (100, 110, 120)]
    middle = [[0, 150], [400, 150]]
    above = [[0, 120], [400, 120]]
    found = places(pages, names, middle, above)
    assert None not in found
    ys = sorted(y for _, y in found)
    assert all(low + 12 <= high for low, high in itertools.pairwise(ys))
    assert all(abs(y - line) >= 6 for y in ys for line in (120, 150))


def test_a_name_stays_within_the_chart_or_is_left_out(pages: Pages) -> None:
    corner = {"x": 398, "y": 4, "width": 60, "up": True}
    [[x, y]] = places(pages, [corner])
    assert x + 30 <= 400
    assert y - 6 >= 0
    full = [[[0, y], [400, y]] for y in range(0, 300, 8)]
    assert places(pages, [corner], *full) == [None]


def test_falling_moves_are_named_in_their_order(pages: Pages) -> None:
    names = [{"x": x, "y": y, "width": 60, "up": False} for x, y in ((300, 100), (330, 140))]
    (_, upper), (_, lower) = places(pages, names, [[270, 60], [300, 100], [330, 140]])
    assert upper < lower
