"""The histogram of a report: a bar at each centipawn, the spike cut off, the engine's below."""

from __future__ import annotations

import re

from live.report.svg_charts import BELOW_CP, gain_chart


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
