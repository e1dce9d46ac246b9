"""Figures as people read them."""

from __future__ import annotations

import msgspec
import pytest

from live.events import PlyView
from live.ledger.players.leading_figure import Figure
from live.terminal.figure_text import (
    clock_left_s,
    clock_runs,
    curve_range,
    figure_interval,
    figure_text,
    figure_with_interval,
    interval_text,
    move_text,
    odds_bar,
    odds_text,
    plain,
    rating_text,
    score_text,
    sparkline,
)
from tests.terminal.sample_boards import detail


@pytest.mark.parametrize(
    ("score_cp", "mate", "text"),
    [
        (None, None, "·"),
        (35, None, "+0.35"),
        (-1204, None, "-12.04"),
        (0, None, "+0.00"),
        (3900, 5, "#5"),
        (-3900, -3, "#-3"),
        (-3900, 0, "#"),
        (3900, None, "+39"),
    ],
)
def test_scores(score_cp: int | None, mate: int | None, text: str) -> None:
    assert score_text(score_cp, mate) == text


@pytest.mark.parametrize(
    ("ends", "text", "interval"),
    [
        ((None, None, 2034.4), "≤2034", ""),
        ((None, 2310.0, None), "≥2310", ""),
        ((2210.4, 1890.2, 2370.0), "2210", "1890–2370"),
        ((2210.4, 1890.2, None), "≥1890", ""),
        ((2210.4, None, 2370.0), "≤2370", ""),
        ((None, None, None), "·", ""),
    ],
)
def test_of_a_rating_with_one_open_end_the_other_is_shown(
    ends: tuple[float | None, float | None, float | None], text: str, interval: str
) -> None:
    assert (rating_text(*ends), interval_text(*ends[1:])) == (text, interval)


def test_in_a_sentence_a_figure_has_the_words_of_all_screens() -> None:
    assert figure_with_interval(Figure("performance", None, 2450.2)) == "2450 or more"
    assert figure_with_interval(Figure("alone", None, None, 2034.0)) == "2034 or less"
    assert figure_with_interval(Figure("alone", 2100.0, None, 2434.0)) == "2434 or less"
    assert figure_with_interval(Figure("level", 1963.0, 1963.0, 1963.0)) == "1963 = Elo"
    assert figure_with_interval(Figure("percentile", 74.4)) == "74 %"
    assert figure_with_interval(Figure("percentile", 99.8)) == "99 %"
    assert figure_with_interval(None) == ""


def test_a_figure_has_its_interval() -> None:
    shown = [(figure_text(each), figure_interval(each)) for each in (
        Figure("level", 2441.2, 2260.0, 2600.0),
        Figure("level", 1963.0, 1963.0, 1963.0),
        Figure("alone", None, 2310.0),
        Figure("percentile", 74.4),
        None,
    )]  # fmt: skip
    assert shown == [
        ("2441", "2260–2600"),
        ("1963", "= Elo"),
        ("≥2310", ""),
        ("74 %", ""),
        ("·", ""),
    ]


def test_odds_add_up() -> None:
    assert odds_bar(0.45, 0.4, 6) == "███▒▒░"
    assert odds_text(0.455, 0.395) == "46/39/15"
    assert odds_bar(1.0, 0.0, 6) == "██████"
    for win, draw in ((0.005, 0.005), (1 / 3, 1 / 3), (0.994, 0.001)):
        assert sum(map(int, odds_text(win, draw).split("/"))) == 100
        assert len(odds_bar(win, draw, 8)) == 8


def test_a_sparkline_does_not_make_drama_of_noise() -> None:
    assert set(sparkline([2200.0, 2201.0, 2199.0], 12, 2199.0, 2201.0)) <= set("▄▅")
    assert sparkline([2000.0, 2200.0], 12, 2000.0, 2200.0) == "▁█"
    assert sparkline([None, 2000.0, 2400.0], 2, 2000.0, 2400.0) == "▁█"
    assert sparkline([None], 5, 2000.0, 2400.0) == "·"


def test_curve_range_leaves_unbounded_points_out() -> None:
    assert curve_range([None, 2100.0, 2300.0]) == (2100.0, 2300.0)
    assert curve_range([None]) is None


def test_moves_are_numbered_from_the_starting_position() -> None:
    game = detail()
    assert move_text(game, PlyView(1, "e4", "e2e4")) == "1.e4"
    assert move_text(game, PlyView(24, "Nf6", "g8f6")) == "12...Nf6"
    black_first = msgspec.structs.replace(game, start_fen="8/8/8/8/8/8/8/K6k b - - 0 40")
    assert move_text(black_first, PlyView(1, "Kg2", "h1g2")) == "40...Kg2"
    assert move_text(black_first, PlyView(2, "Ka2", "a1a2")) == "41.Ka2"


def test_feed_text_cannot_move_the_cursor_or_turn_the_line() -> None:
    hostile = "Evil\x1b[2J\x07\r\n\u202eName\u200b\ud800"
    assert plain(hostile) == "Evil[2JName"
    assert plain("abcdef", 4) == "abc…"


def test_the_clock_of_the_side_to_move_runs_and_never_below_zero() -> None:
    game = detail()
    assert clock_runs(game, 2) is True and clock_runs(game, 1) is False
    assert clock_runs(game, 0) is None
    for over in ({"result": "1-0"}, {"problem": "illegal move"}, {"restored": True}):
        assert clock_runs(msgspec.structs.replace(game, **over), 2) is None
    assert clock_left_s(65.0, 7.5) == 57.5
    assert clock_left_s(5.0, 7.5) == 0.0
    assert clock_left_s(None, 7.5) is None
