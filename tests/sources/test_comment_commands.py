"""Clocks, times spent and evaluations in the comments of PGN."""

import pytest

from live.messages.from_sources import Score
from live.sources.comment_commands import (
    CommentValues,
    read_comment,
    read_eval,
    read_time_s,
)


@pytest.mark.parametrize(
    ("seconds", "texts"),
    [
        (5397.0, [b"1:29:57"]),
        (918.0, [b"00:15:18"]),
        (178.6, [b"0:02:58.6"]),
        (0.0, [b"0:00:00"]),
        (5400.0, [b"1:30"]),
        (90.0, [b"90"]),
        (90.5, [b"1:30.5"]),
        (360000.0, [b"100:00:00"]),
        (None, [b"-0:00:01", b"", b"1:2:3:4", b"9" * 5000]),
    ],
)
def test_clock_forms(seconds: float | None, texts: list[bytes]) -> None:
    assert {read_time_s(text) for text in texts} == {seconds}


@pytest.mark.parametrize(
    ("score", "texts"),
    [
        (Score(23), [b"0.23", b"0.23,18", b"+0.23"]),
        (Score(50), [b".5"]),
        (Score(3900), [b"57.1"]),
        (Score(-3900), [b"-99"]),
        (Score(3900, 3), [b"#3", b"M3"]),
        (Score(-3900, -3), [b"#-3", b"#-3,24"]),
        (Score(3900, 0), [b"#0"]),
        (None, [b"1e5", b"", b"9" * 5000]),
    ],
)
def test_evaluations_are_whites_in_centipawns(
    score: Score | None, texts: list[bytes]
) -> None:
    assert {read_eval(text, white_moved=True) for text in texts} == {score}
    assert read_eval(b"#0", white_moved=False) == Score(-3900, 0)


@pytest.mark.parametrize(
    ("comment", "values"),
    [
        (b"[%emt 1:07.5]", CommentValues(None, 67.5, None)),  # minutes and seconds
        (b"[%clk\n00:15:27] [%emt\n00:00:02]", CommentValues(927.0, 2.0, None)),
        (
            b" good [%eval 0.17] [%clk 0:00:30][%csl Ge4] move",
            CommentValues(30.0, None, Score(17)),
        ),
        (b"[%clk ?] [%clk 0:00:30] [%clk 0:00:31]", CommentValues(30.0, None, None)),
        (b"a novelty", None),
        (b"[%clk]", None),
    ],
)
def test_commands_in_comments(comment: bytes, values: CommentValues | None) -> None:
    assert read_comment(comment, True) == values
