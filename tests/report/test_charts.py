"""Charts of a game and of a player's gains as SVG."""

from __future__ import annotations

import re

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.events import CurvePoint, Curves
from live.report.svg_charts import BELOW_CP, HEIGHT, WIDTH, evaluation, gain_chart, odds, ratings
from tests.report.hostile import game

# --- svg charts -----------------------------------------------------------------------------------


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


# --- gain svg -------------------------------------------------------------------------------------


def test_a_bar_for_each_gain_and_the_rest_in_words() -> None:
    svg = gain_chart(((-900, 2), (-10, 3), (-1, 6), (0, 40)), ((0, 1),))
    assert svg.count("<path") == 1
    heights = [float(each) for each in re.findall(r"v-([\d.]+)h", svg)]
    assert heights == [30.0, 60.0, 60.0]
    assert "0 in 40 of 51 (78 %), 2 outside" in svg
    assert f">-{BELOW_CP}<" in svg and ">50<" not in svg


def test_the_engine_s_own_is_drawn_where_it_is_more_than_a_spike() -> None:
    svg = gain_chart(((-10, 3), (4, 1)), ((-1, 1), (0, 9), (1, 1)), "b")
    assert svg.count("<path") == 2 and ">engine<" in svg and ">50<" in svg
    assert gain_chart((), ((0, 1),)) == ""
