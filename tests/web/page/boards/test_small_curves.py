"""live/web/page/boards/small_curves.js: both curves with their bands, small."""

from __future__ import annotations

import re
from typing import Any

import msgspec

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


def test_a_band_holds_its_line(pages: Pages) -> None:
    found = paths(pages, tuple(point(2 * n - 1, n, 2000.0 + 9 * n) for n in range(1, 6)))
    line, band = heights(found["white"]["line"]), heights(found["white"]["band"])
    assert len(band) == 2 * len(line)
    for at, height in enumerate(line):
        assert band[at] < height < band[-1 - at]


def test_percentiles_lead_where_levels_are_nothing_but_the_elo(pages: Pages) -> None:
    def ranked(ply: int, percentile: float) -> CurvePoint:
        return msgspec.structs.replace(
            point(ply, ply, 2000.0),
            level=2450.0,
            level_low=2450.0,
            level_high=2450.0,
            percentile=percentile,
        )

    found = paths(pages, (ranked(1, 25.0), ranked(3, 100.0)))
    assert heights(found["white"]["line"]) == [30.0, 0.0]
    assert found["white"]["band"] == ""


def test_levels_that_are_nothing_but_the_elo_are_no_curve(pages: Pages) -> None:
    def own(ply: int, width: float) -> CurvePoint:
        level = {"level": 2450.0, "level_low": 2450.0, "level_high": 2450.0 + width}
        return msgspec.structs.replace(point(ply, ply, 2000.0), **level)

    assert paths(pages, (own(1, 0.0), own(3, 0.0))) is None
    assert paths(pages, (own(1, 0.0), own(3, 80.0))) is not None


def test_what_has_no_bound_has_no_line(pages: Pages) -> None:
    assert paths(pages, ()) is None
    assert paths(pages, (point(1, 1, None),)) is None
    found = paths(pages, (point(1, 1, None), point(3, 2, 2100.0), point(5, 3, 2110.0)))
    assert len(heights(found["white"]["line"])) == 2
    # But its interval has an upper end, and the band reaches to the floor.
    assert len(heights(found["white"]["band"])) == 6
    assert max(heights(found["white"]["band"])) == 40
