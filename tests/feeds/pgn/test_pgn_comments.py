from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.events import Score
from live.feeds.movetext import CommentValues, read_comment, read_eval, read_time_s


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (b"1:29:57", 5397.0),
        (b"00:15:18", 918.0),
        (b"0:5:7", 307.0),
        (b"0:02:58.6", 178.6),
        (b"0:00:00", 0.0),
        (b"1:30", 5400.0),
        (b"1:5", 3900.0),
        (b"90", 90.0),
        (b"4.5", 4.5),
        (b"100:00:00", 360000.0),
        (b"-0:00:01", None),
        (b"1:30.5", None),
        (b"", None),
        (b"1:2:3:4", None),
        (b"9" * 5000, None),
        (b"a:b:c", None),
    ],
)
def test_clock_forms(text: bytes, seconds: float | None) -> None:
    assert read_time_s(text) == seconds


def test_two_parts_of_a_spent_time_are_minutes_and_seconds() -> None:
    assert read_time_s(b"0:07", short_is_minutes=True) == 7.0
    assert read_comment(b"[%emt 1:07.5]", True) == CommentValues(None, 67.5, None)


@pytest.mark.parametrize(
    ("text", "white_moved", "score"),
    [
        (b"0.23", True, Score(23)),
        (b"-1.5", True, Score(-150)),
        (b"+0.3", False, Score(30)),
        (b"0.23,18", True, Score(23)),
        (b".5", True, Score(50)),
        (b"2", True, Score(200)),
        (b"57.1", True, Score(3900)),
        (b"-99", True, Score(-3900)),
        (b"#3", True, Score(3900, 3)),
        (b"#-3", True, Score(-3900, -3)),
        (b"#-3,24", True, Score(-3900, -3)),
        (b"#0", True, Score(3900, 0)),
        (b"#0", False, Score(-3900, 0)),
        (b"M4", True, Score(3900, 4)),
        (b"1e5", True, None),
        (b"nan", True, None),
        (b"", True, None),
        (b"9" * 5000, True, None),
    ],
)
def test_evaluations_are_whites_in_centipawns(
    text: bytes, white_moved: bool, score: Score | None
) -> None:
    assert read_eval(text, white_moved) == score


def test_commands_wrapped_at_80_columns() -> None:
    assert read_comment(b"[%clk\n00:15:27] [%emt\n00:00:02]", True) == CommentValues(
        927.0, 2.0, None
    )


def test_commands_between_words() -> None:
    note = read_comment(b" good [%eval 0.17] [%clk 0:00:30][%csl Ge4] move", True)
    assert note == CommentValues(30.0, None, Score(17))


def test_first_readable_command_of_a_kind_counts() -> None:
    note = read_comment(b"[%clk ?] [%clk 0:00:30] [%clk 0:00:31]", True)
    assert note == CommentValues(30.0, None, None)


def test_comment_without_commands_says_nothing() -> None:
    assert read_comment(b"a novelty", True) is None
    assert read_comment(b"[%clk]", True) is None


@given(
    st.binary(max_size=60) | st.text("[%clkemtv 0123456789:.#-,]\n", max_size=60).map(str.encode)
)
def test_no_comment_is_too_odd(comment: bytes) -> None:
    note = read_comment(comment, True)
    assert note is None or any(value is not None for value in note)
