from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.feeds.charset import decode
from live.feeds.pgn_headers import DOUBTFUL_WORDS, RESULT_WORDS, read_result


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("1-0", "1-0"),
        ("0-1", "0-1"),
        ("1/2-1/2", "1/2-1/2"),
        ("*", "*"),
        ("½-½", "1/2-1/2"),
        ("½-0", "1/2-0"),
        ("0-½", "0-1/2"),
        ("0-0", "0-0"),
        ("1/2", "1/2-1/2"),
        ("0.5-0.5", "1/2-1/2"),
        ("0,5 - 0,5", "1/2-1/2"),
        ("1:0", "1-0"),
        ("0:1", "0-1"),
        (" 1 - 0 ", "1-0"),
        ("1–0", "1-0"),
        ("+--", "1-0"),
        ("--+", "0-1"),
        ("+:-", "1-0"),
        ("-:+", "0-1"),
        ("---", "0-0"),
        ("+/-", "1-0"),
        ("-/+", "0-1"),
        ("-/-", "0-0"),
        ("=/=", "1/2-1/2"),
        ("0:0", "0-0"),
        ("1,0-0,0", "1-0"),
        ("+/- (forfeit)", "1-0"),
        ("1-0F", "1-0"),
        ("1F-0F", "1-0"),
        ("1-0 FF", "1-0"),
        ("", "*"),
        ("?", "*"),
        ("2-0", "*"),
        ("1-1", "*"),
        ("1-0-0", "*"),
        ("adjourned", "*"),
    ],
)
def test_spellings(text: str, result: str) -> None:
    assert read_result(text) == result


def test_every_word_of_movetext_means_itself_in_a_tag_too() -> None:
    for word, result in (RESULT_WORDS | DOUBTFUL_WORDS).items():
        assert read_result(decode(word)) == result


@given(st.text())
def test_no_text_is_too_odd(text: str) -> None:
    read_result(text)
