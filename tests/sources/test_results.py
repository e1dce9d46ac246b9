"""The spellings of a result."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.sources.results import (
    is_forfeit,
    read_result,
    read_result_at_end,
    read_result_word,
)


@pytest.mark.parametrize(
    ("result", "spellings"),
    [
        (
            "1-0",
            [
                "1-0",
                "1:0",
                " 1 - 0 ",
                "1–0",
                "+--",
                "+:-",
                "+/-",
                "1,0-0,0",
                "1-0F",
                "1F-0F",
            ],
        ),
        ("1-0", ["+/- (forfeit)", "1-0 FF"]),
        ("0-1", ["0-1", "0:1", "--+", "-:+", "-/+"]),
        ("1/2-1/2", ["1/2-1/2", "½-½", "1/2", "0.5-0.5", "0,5 - 0,5", "=/="]),
        ("1/2-0", ["½-0"]),
        ("0-1/2", ["0-½"]),
        ("0-0", ["0-0", "---", "-/-", "0:0"]),
        (
            "1-0",
            [
                "1—0",
                "+_-",
                "1_0",
                "+:0",
                "1:-",
                "1‑0",
                "WHITEWIN",
                "White wins",
                "Weiß gewinnt",
            ],
        ),
        (
            "0-1",
            [
                "0−1",
                "-_+",
                "BLACKWIN",
                "Black won",
                "ganan las negras",
                "Победа чёрных",
            ],
        ),
        ("0-1", ["White resigns", "les noirs gagnent", "vince il nero"]),
        (
            "1/2-1/2",
            ["½—½", "1/2_1/2", "DRAW", "Remis", "partie nulle", "Tablas", "patta"],
        ),
        ("1/2-1/2", ["ничья", "1⁄2–1⁄2", "½", "drawn game"]),
        ("1/2-0", ["1/2_0", "½—0"]),
        ("0-0", ["—:—", "0—0"]),
        (
            "*",
            [
                "White",
                "wins",
                "White wins a pawn",
                "Black is better",
                "no draw",
                "drawing",
            ],
        ),
        ("*", ["White wins, Black wins", "draw? White wins", "x" * 1000]),
        ("*", ["*", "", "?", "2-0", "1-1", "1-0-0", "adjourned"]),
    ],
)
def test_spellings_of_results(result: str, spellings: list[str]) -> None:
    assert {read_result(text) for text in spellings} == {result}


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("Nf3 1 - 0", "1-0"),
        ("Nf3 {[%clk 1:00:00]}½ - ½\n", "1/2-1/2"),
        ("0 : 1", "0-1"),
        ("Nf3 1 - 0 {so it ended}", None),
        ("21 - 0", None),
        ("Nf3 1-0", None),
        ("1. 0", None),
    ],
)
def test_a_result_in_three_words_ends_a_text(text: str, result: str | None) -> None:
    assert read_result_at_end(text.encode()) == result


def test_a_forfeit_is_told_from_a_result_that_was_played() -> None:
    assert all(map(is_forfeit, ["+:-", "+_-", "—:—", "-/+", "+:0", "1:-", "1-0F"]))
    assert not any(
        map(is_forfeit, ["1-0", "1_0", "0—1", "0-0", "=:=", "½-½", "White wins", "*"])
    )


@given(st.text())
def test_no_result_is_too_odd(text: str) -> None:
    read_result(text)
    read_result_word(text.encode())
