"""Graphs of characters."""

from __future__ import annotations

import msgspec

from live.events import CurvePoint, Curves
from live.terminal.board.text_charts import (
    AXIS,
    ChartScale,
    Drawn,
    common_scale,
    figure_at,
    histogram,
    rating_graph,
    score_graph,
)
from live.terminal.palette import DUSK
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
    lines = rating_graph(drawn(point(1, 2200.0)), scale, AXIS + 1, 9, "white", DUSK)
    [column] = columns([line.plain for line in lines])
    assert column == "  ░░━░░  "


def test_a_perceived_rating_lies_in_what_is_usual_and_without_an_elo_in_no_band() -> None:
    whole = full_point(1, 2441.0)
    assert figure_at(whole, "perceived", 2160) == (2180.0, 2441.0, 2750.0)
    bare = msgspec.structs.replace(whole, usual_low=None, usual_high=None)
    scale = ChartScale(2041, 2841)
    shown = [figure_at(bare, "perceived", 2160)]
    lines = rating_graph(shown, scale, AXIS + 1, 9, "white", DUSK)
    [column] = columns([line.plain for line in lines])
    assert column == "    ━    "


def test_a_rating_without_lower_bound_is_an_arrow_at_the_edge() -> None:
    scale = ChartScale(1800, 2600)
    lines = rating_graph(drawn(point(1, None)), scale, AXIS + 1, 9, "white", DUSK)
    [column] = columns([line.plain for line in lines])
    assert column[-1] == "↓"
    assert "━" not in column


def test_both_players_share_one_scale() -> None:
    scale = common_scale([drawn(point(1, 2200.0)), drawn(point(2, 2400.0))])
    assert scale == ChartScale(2000, 2600)
    assert common_scale([[], []]) is None


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
