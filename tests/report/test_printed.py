"""Figures, names and charts on paper: unknown is empty, nothing lies outside."""

from __future__ import annotations

import re

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.events import Curves
from live.report.report_page import (
    BELOW_CP,
    HEIGHT,
    WIDTH,
    clock,
    evaluation,
    gain_chart,
    html,
    odds,
    pawns,
    percent,
    plain,
    ratings,
    signed,
    whole,
)
from tests.report.hostile import game, point


def test_unknown_is_empty() -> None:
    assert [whole(None), signed(None), pawns(None), percent(None), clock(None)] == [""] * 5


def test_known() -> None:
    assert whole(2034.4) == "2034"
    assert signed(-12.0) == "\N{MINUS SIGN}12" and pawns(35) == "+0.35"
    assert clock(3731.9) == "1:02:11"


def test_names() -> None:
    assert plain("  A\x1b[2J \n B ") == "A [2J B"
    assert plain("x" * 500).endswith("…") and len(plain("x" * 500)) == 80
    assert html("<&>") == "<bdi>&lt;&amp;&gt;</bdi>"


# --- svg charts -----------------------------------------------------------------------------------


elo = st.floats(400, 3600)
band = st.one_of(st.just((None, None)), st.tuples(elo, elo))


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(values=st.lists(st.tuples(st.one_of(st.none(), elo), band), max_size=20))
def test_nothing_is_drawn_outside(
    values: list[tuple[float | None, tuple[float | None, float | None]]],
) -> None:
    points = tuple(
        msgspec.structs.replace(
            point(ply, None), perceived=value, usual_low=low, usual_high=high, ply=ply
        )
        for ply, (value, (low, high)) in enumerate(values, 1)
    )
    held = msgspec.structs.replace(game("g", "W", "B", board=1), curves=Curves(points, points))
    svg = ratings(held)
    drawn = [value for value, _ in values if value is not None]
    assert "nan" not in svg and "inf" not in svg
    for pair in re.findall(r'points="([^"]*)"', svg):
        for x, y in (each.split(",") for each in pair.split()):
            assert 0 <= float(y) <= HEIGHT
            assert float(x) >= 0
    lines = re.findall(r'<polyline class="line [wb]" points="([^"]*)"', svg)
    assert [len(line.split()) for line in lines] == ([len(drawn)] * 2 if drawn else [])


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
