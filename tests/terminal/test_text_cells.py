"""Text by the cells it takes."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from live.terminal.text_cells import beside, fit, left, plain, right, widened, window


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
