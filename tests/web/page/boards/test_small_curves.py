"""live/web/page/boards/small_curves.js: both curves with their bands, small."""

from __future__ import annotations

import re
from typing import Any

from live.events import CurvePoint, Curves
from tests.web.page.games import Pages, plain, point


def paths(pages: Pages, white: tuple[CurvePoint, ...], black: tuple[CurvePoint, ...] = ()) -> Any:
    curves = plain(Curves(white, black))
    return pages("call", module="page/boards/small_curves.js", name="sparkPaths", args=[curves])


def heights(path: str) -> list[float]:
    return [float(y) for _, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", path)]


def test_higher_is_higher(pages: Pages) -> None:
    found = paths(pages, (point(1, 1, 2000.0), point(3, 2, 2200.0)), (point(2, 1, 2100.0),))
    low, high = heights(found["white"]["line"])
    (between,) = heights(found["black"]["line"])
    assert 40 >= low > between > high >= 0


def test_a_band_is_drawn_behind_its_line(pages: Pages) -> None:
    found = paths(pages, tuple(point(2 * n - 1, n, 2000.0 + 9 * n) for n in range(1, 6)))
    line, band = heights(found["white"]["line"]), heights(found["white"]["band"])
    assert len(band) == 2 * len(line)
    for at, height in enumerate(line):
        assert band[at] < height < band[-1 - at]


def test_without_an_own_rating_there_is_a_line_and_no_band(pages: Pages) -> None:
    open_ = {"usual_low": None, "usual_high": None}
    found = paths(pages, tuple(point(2 * n - 1, n, 2000.0, **open_) for n in range(1, 4)))
    assert len(heights(found["white"]["line"])) == 3
    assert found["white"]["band"] == ""


def test_without_a_figure_there_is_no_line(pages: Pages) -> None:
    assert paths(pages, ()) is None
    assert paths(pages, (point(1, 0, None),)) is None
    found = paths(pages, (point(1, 0, None), point(3, 1, 2100.0), point(5, 2, 2110.0)))
    assert len(heights(found["white"]["line"])) == 2
