"""Pictures of characters: nothing is lost, nothing lies."""

from __future__ import annotations

import re
from collections import Counter

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from live.events import CurvePoint, Curves
from live.terminal.charts import (
    AXIS,
    Drawn,
    common_scale,
    figure_at,
    gain_chart,
    histogram,
    rating_graph,
    score_graph,
)
from tests.terminal.sample_boards import detail, full_point, point


def drawn(*points: CurvePoint) -> list[Drawn]:
    """Algorithm 4 of these points."""
    return [figure_at(each, "algorithm4", 2160) for each in points]


def columns(lines: list[str]) -> list[str]:
    """The graph's columns from above, without the axis."""
    width = max(map(len, lines))
    return ["".join(line.ljust(width)[at] for line in lines) for at in range(AXIS, width)]


def test_white_rises_above_the_line_and_black_hangs_below() -> None:
    game = detail()
    plies = tuple(
        msgspec.structs.replace(game.plies[0], ply=ply, score_cp=cp)
        for ply, cp in ((1, 900), (2, -900))
    )
    game = msgspec.structs.replace(game, start_score_cp=0, plies=plies)
    lines = [line.plain for line in score_graph(game, 99, AXIS + 3, 8)]
    level, white, black = columns(lines)
    assert level == "   ▁    "
    assert white.strip() and not white[4:].strip()
    assert black[4:].strip() and not black[:3].strip()


def test_an_unknown_score_is_no_zero() -> None:
    game = detail()
    plies = tuple(msgspec.structs.replace(ply, score_cp=None) for ply in game.plies)
    game = msgspec.structs.replace(game, plies=plies)
    [_, unknown, *_] = columns([x.plain for x in score_graph(game, 99, AXIS + 3, 8)])
    assert unknown == "   ·    "


def test_a_curve_lies_in_its_band() -> None:
    scale = (1800, 2600)
    lines = rating_graph(drawn(point(1, 2200.0)), scale, AXIS + 1, 9, "white")
    [column] = columns([line.plain for line in lines])
    assert column == "  ░░━░░  "


def test_a_perceived_rating_lies_in_what_is_usual_and_without_an_elo_in_no_band() -> None:
    whole = full_point(1, 2441.0)
    assert figure_at(whole, "perceived", 2160) == (2180.0, 2441.0, 2750.0)
    bare = msgspec.structs.replace(whole, usual_low=None, usual_high=None)
    scale = (2041, 2841)
    shown = [figure_at(bare, "perceived", 2160)]
    lines = rating_graph(shown, scale, AXIS + 1, 9, "white")
    [column] = columns([line.plain for line in lines])
    assert column == "    ━    "


def test_a_rating_without_lower_bound_is_an_arrow_at_the_edge() -> None:
    scale = (1800, 2600)
    lines = rating_graph(drawn(point(1, None)), scale, AXIS + 1, 9, "white")
    [column] = columns([line.plain for line in lines])
    assert column[-1] == "↓"
    assert "━" not in column


def test_both_players_share_one_scale() -> None:
    scale = common_scale([drawn(point(1, 2200.0)), drawn(point(2, 2400.0))])
    assert scale == (2000, 2600)
    assert common_scale([[], []]) is None


def test_the_histogram_counts_every_move_once() -> None:
    points = [
        msgspec.structs.replace(point(ply, 2200.0), gain_cp=gain)
        for ply, gain in ((1, 0), (3, -5), (5, -30), (7, -31), (9, -500), (11, 20))
    ]
    game = msgspec.structs.replace(detail(), curves=Curves(white=tuple(points)))
    lines = [line.plain for line in histogram(game, 58, 9)]
    counts = [int(line.split("%")[0].split()[-2]) for line in lines[1:] if "%" in line]
    assert counts == [1, 1, 1, 1, 1, 1]
    assert lines[1].startswith("gained") and lines[-1].startswith("more")


GAINS = st.lists(st.integers(-300, 120), min_size=1, max_size=60)


@given(GAINS, st.integers(20, 120), st.integers(1, 6))
def test_each_gain_stands_in_its_column_or_is_counted_beside_them(
    gains_cp: list[int], width: int, rows: int
) -> None:
    counts = tuple(sorted(Counter(gains_cp).items()))
    written, *bars, axis, engine = [
        line.plain for line in gain_chart(counts, ((0, 1),), width, rows, "white")
    ]
    assert len(bars) == rows and all(len(line) <= width for line in (*bars, axis))
    assert engine.startswith("the engine's own: 0"[:width])
    zero = width - 1 - min(max(0, *gains_cp), width // 2)
    drawn = {column - zero for column, char in enumerate(bars[-1]) if char != " "}
    outside = {gain_cp for gain_cp in gains_cp if not -zero <= gain_cp < width - zero}
    assert drawn | outside == set(gains_cp) and not drawn & outside
    if len(written) < width:
        beyond = sum(map(int, re.findall(r"· (\d+) (?:below|above)", written)))
        assert beyond == sum(gain_cp in outside for gain_cp in gains_cp)


def test_the_axis_marks_the_column_of_its_centipawn() -> None:
    _, bars, axis, _ = [
        line.plain for line in gain_chart(((-25, 3), (0, 9)), ((0, 1),), 60, 1, "white")
    ]
    assert bars[59 - 25] == "█" and axis[: 59 - 25 + 1].endswith("-25")
    assert axis.endswith("0") and bars[59] == "█"


def test_an_engine_as_measured_is_drawn_too() -> None:
    lines = gain_chart(((-2, 1), (0, 1), (7, 2)), ((-1, 1), (0, 3), (2, 2)), 30, 2, "white")
    assert len(lines) == 5
    # 7 is the last column: 0 stands seven before it, cut off, with the engine's -1 and 2 beside it.
    assert lines[-1].plain[29 - 8 : 29 - 4] == "▄█ █"
    assert gain_chart((), (), 30, 2, "white")[0].plain == "no gain yet"
