"""How things are written: by their cells, safely, as people read them."""

from __future__ import annotations

import unicodedata

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from live.events import PlyView
from live.terminal.text import (
    beside,
    clock_left_s,
    clock_runs,
    fit,
    interval_text,
    left,
    move_text,
    odds_bar,
    odds_text,
    perceived_text,
    plain,
    right,
    score_text,
    sparkline,
    widened,
    window,
)
from tests.terminal.sample_boards import detail


@given(st.text(max_size=60), st.integers(0, 40))
def test_every_text_is_brought_to_its_cells(text: str, width: int) -> None:
    safe = plain(text)
    assert cell_len(fit(safe, width)) <= width
    assert cell_len(left(safe, width)) == width
    assert cell_len(right(safe, width)) == width
    assert cell_len(plain(text, width)) <= width
    assert widened(Text(safe), width).cell_len == width


@pytest.mark.slow
@given(st.text(max_size=200))
def test_plain_text_moves_no_cursor_and_turns_no_line(text: str) -> None:
    for char in plain(text):
        assert unicodedata.category(char)[0] != "C"
        assert unicodedata.category(char) not in ("Zl", "Zp")


@pytest.mark.slow
@given(st.text(max_size=80))
def test_plain_text_is_plain_already(text: str) -> None:
    assert plain(plain(text)) == plain(text)


def test_names_are_left_alone() -> None:
    for name in ("Muñoz, Zoë", "Đorđević", "Nguyễn Ngọc Trường Sơn", "丁立人", "Иванов", "김민"):
        assert plain(name) == unicodedata.normalize("NFC", name)


def test_pictures_become_a_sign_of_one_cell() -> None:
    assert plain("A👍🏽B") == "A□□B"
    assert plain("👩‍👩‍👧") == "□□□"
    assert plain("☕\ufe0f") == "□"


def test_marks_do_not_pile_up() -> None:
    assert plain("e" + "\u0301" * 5000) == "é" + "\u0301" * 2
    assert plain("\u0301\u0301a") == "a"


def test_panels_stand_side_by_side() -> None:
    lines = beside([([Text("ab"), Text("c")], 3), ([Text("x")], 2)], gap=1)
    assert [line.plain for line in lines] == ["ab  x ", "c     "]


@pytest.mark.slow
@given(st.integers(0, 50), st.integers(0, 49), st.integers(1, 20), st.integers(0, 60))
def test_the_cursor_is_always_in_the_window(
    number: int, cursor: int, height: int, first: int
) -> None:
    cursor = min(cursor, max(0, number - 1))
    start = window(number, cursor, height, first)
    assert 0 <= start <= cursor < start + height
    assert start == 0 or start + height <= number


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
    ("elo", "text"),
    [(None, "·"), (2340.4, "2340"), (3201.0, "3200+"), (799.0, "800-"), (3200.0, "3200")],
)
def test_beyond_what_is_shown_a_perceived_rating_is_its_end(elo: float | None, text: str) -> None:
    assert perceived_text(elo) == text


def test_an_interval_with_an_open_end_is_not_written() -> None:
    assert interval_text(1890.2, 2370.0) == "1890–2370"
    assert interval_text(None, 2370.0) == interval_text(1890.2, None) == ""


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
