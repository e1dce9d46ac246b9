from __future__ import annotations

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.studies.corpus_database import illegal_move, packed, plain_date, unpacked

SQUARES = st.sampled_from(chess.SQUARE_NAMES)
MOVES = st.builds("{}{}{}".format, SQUARES, SQUARES, st.sampled_from(["", "n", "b", "r", "q"]))


@given(st.lists(MOVES, max_size=40))
def test_packed_moves_come_back(moves: list[str]) -> None:
    assert list(unpacked(packed(moves))) == moves
    assert len(packed(moves)) == 2 * len(moves)


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2013.08.??", "2013.08"),
        ("2013-08", "2013.08"),
        ("2013", "2013"),
        ("2013.08.01", "2013.08.01"),
        ("????.??.??", ""),
        ("0000.00.00", ""),
        (None, ""),
    ],
)
def test_dates(text: str | None, date: str) -> None:
    assert plain_date(text) == date


def test_what_is_wrong_with_moves_is_said() -> None:
    assert illegal_move(["e2e4", "e7e5"]) is None
    assert illegal_move(["e2e4", "e2e4"]) == "illegal move e2e4 at ply 2"
    assert illegal_move(["e2e4", "x"]) == "unreadable move 'x' at ply 2"
    assert "no start position" in str(illegal_move([], "8/8"))
