"""The spellings of a result."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.feeds.results import read_result, result_word


@pytest.mark.parametrize(
    ("result", "spellings"),
    [
        ("1-0", ["1-0", "1:0", " 1 - 0 ", "1–0", "+--", "+:-", "+/-", "1,0-0,0", "1-0F", "1F-0F"]),
        ("1-0", ["+/- (forfeit)", "1-0 FF"]),
        ("0-1", ["0-1", "0:1", "--+", "-:+", "-/+"]),
        ("1/2-1/2", ["1/2-1/2", "½-½", "1/2", "0.5-0.5", "0,5 - 0,5", "=/="]),
        ("1/2-0", ["½-0"]),
        ("0-1/2", ["0-½"]),
        ("0-0", ["0-0", "---", "-/-", "0:0"]),
        ("*", ["*", "", "?", "2-0", "1-1", "1-0-0", "adjourned"]),
    ],
)
def test_spellings_of_results(result: str, spellings: list[str]) -> None:
    assert {read_result(text) for text in spellings} == {result}


@given(st.text())
def test_no_result_is_too_odd(text: str) -> None:
    read_result(text)
    result_word(text.encode())
