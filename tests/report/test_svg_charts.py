"""Charts: every point inside the picture, lines broken where a rating is unbounded."""

from __future__ import annotations

import re

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.events import CurvePoint, Curves
from live.report.svg_charts import HEIGHT, WIDTH, evaluation, odds, ratings
from tests.report.hostile import game

bound = st.one_of(st.none(), st.floats(-5000, 9000))


def point(ply: int, value: float | None, low: float | None, high: float | None) -> CurvePoint:
    return CurvePoint(
        ply=ply,
        n=ply,
        counted=ply,
        gain_cp=0,
        perceived=value,
        low=None,
        high=None,
        usual_low=low,
        usual_high=high,
        percentile=None,
        score=0.5,
        difference=0.0,
        difference_low=None,
        difference_high=None,
    )


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(values=st.lists(st.tuples(bound, bound, bound), max_size=20))
def test_nothing_is_drawn_outside(
    values: list[tuple[float | None, float | None, float | None]],
) -> None:
    points = tuple(point(ply, *each) for ply, each in enumerate(values, 1))
    held = msgspec.structs.replace(game("g", "W", "B", board=1), curves=Curves(points, points))
    svg = ratings(held)
    drawn = [value is not None for value, _, _ in values]
    assert bool(svg) == any(drawn)
    assert "nan" not in svg and "inf" not in svg
    for pair in re.findall(r'points="([^"]*)"', svg):
        for x, y in (each.split(",") for each in pair.split()):
            assert 0 <= float(y) <= HEIGHT
            assert float(x) >= 0
    # As many lines as runs of known values, for each colour.
    known = "".join("x" if each else " " for each in drawn)
    assert svg.count("<polyline") == 2 * len(known.split())


def test_the_evaluation_is_drawn_when_there_are_two_scores() -> None:
    held = game("g", "W", "B", board=1)
    svg = evaluation(held)
    assert f'viewBox="0 0 {WIDTH} {HEIGHT}"' in svg
    assert len(re.findall(r'class="el" points="([^"]*)"', svg)[0].split()) == 6
    assert evaluation(msgspec.structs.replace(held, plies=held.plies[:0])) == ""


def test_odds_are_drawn_where_they_are_known() -> None:
    held = game("g", "W", "B", board=1)
    assert odds(held) == ""
    plies = tuple(msgspec.structs.replace(ply, win=0.4, draw=0.35, loss=0.25) for ply in held.plies)
    svg = odds(msgspec.structs.replace(held, plies=plies))
    assert 'class="ev"' in svg and 'class="ed"' in svg
