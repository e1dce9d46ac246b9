"""Graphs of characters."""

from __future__ import annotations

import msgspec

from live.events import Curves
from live.terminal.board.text_charts import (
    AXIS,
    ChartScale,
    common_scale,
    histogram,
    rating_graph,
    score_graph,
)
from live.terminal.palette import DUSK
from tests.terminal.sample_boards import detail, point


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
    lines = [line.plain for line in score_graph(game, 99, AXIS + 3, 8, DUSK)]
    level, white, black = columns(lines)
    assert level == "   ▁    "
    assert white.strip() and not white[4:].strip()
    assert black[4:].strip() and not black[:3].strip()


def test_an_unknown_score_is_no_zero() -> None:
    game = detail()
    plies = tuple(msgspec.structs.replace(ply, score_cp=None) for ply in game.plies)
    game = msgspec.structs.replace(game, plies=plies)
    [_, unknown, *_] = columns([x.plain for x in score_graph(game, 99, AXIS + 3, 8, DUSK)])
    assert unknown == "   ·    "


def test_a_curve_lies_in_its_band() -> None:
    scale = ChartScale(1800, 2600)
    lines = rating_graph([point(1, 2200.0)], scale, AXIS + 1, 9, "white", DUSK, "algorithm4")
    [column] = columns([line.plain for line in lines])
    assert column == "  ░░━░░  "


def test_percentiles_have_a_scale_of_their_own_and_no_band() -> None:
    points = [msgspec.structs.replace(point(1, 2200.0), percentile=75.0)]
    scale = common_scale([points, []], "percentile")
    assert scale == ChartScale(0, 100)
    lines = rating_graph(points, scale, AXIS + 1, 9, "white", DUSK, "percentile")
    [column] = columns([line.plain for line in lines])
    assert column == "  ━      "


def test_a_rating_without_lower_bound_is_an_arrow_at_the_edge() -> None:
    lines = rating_graph(
        [point(1, None)], ChartScale(1800, 2600), AXIS + 1, 9, "white", DUSK, "algorithm4"
    )
    [column] = columns([line.plain for line in lines])
    assert column[-1] == "↓"
    assert "━" not in column


def test_both_players_share_one_scale() -> None:
    scale = common_scale([[point(1, 2200.0)], [point(2, 2400.0)]], "algorithm4")
    assert scale == ChartScale(2000, 2600)
    assert common_scale([[], []], "algorithm4") is None


def test_the_histogram_counts_every_move_once() -> None:
    points = [
        msgspec.structs.replace(point(ply, 2200.0), gain_cp=gain)
        for ply, gain in ((1, 0), (3, -5), (5, -30), (7, -31), (9, -500), (11, 20))
    ]
    game = msgspec.structs.replace(detail(), curves=Curves(white=tuple(points)))
    lines = [line.plain for line in histogram(game, 58, 9, DUSK)]
    counts = [int(line.split("%")[0].split()[-2]) for line in lines[1:] if "%" in line]
    assert counts == [1, 1, 1, 1, 1, 1]
    assert lines[1].startswith("gained") and lines[-1].startswith("more")
