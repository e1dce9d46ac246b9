"""Rounds as sources write them."""

from __future__ import annotations

import pytest

from live.games.game import main_round, round_of, round_place


@pytest.mark.parametrize(
    "text",
    [
        "8",
        "08",
        " 8 ",
        "8.2",
        "08.5",
        "8.2.1",
        "Round 8",
        "round 8",
        "ROUND 08.5",
        "Round: 8",
        "Rd. 8",
        "R8",
        "#8",
        "Runde 8",
        "8. Runde",
        "8th round",
        "Round 8, board 5",
        "8 board 12",
    ],
)
def test_sources_write_round_eight_in_many_ways(text: str) -> None:
    assert round_of(text) == 8


def test_boards_in_a_round_do_not_change_it() -> None:
    assert [round_of(text) for text in ("7", "7.1", "7.28", "10", "10.1")] == [7, 7, 7, 10, 10]


@pytest.mark.parametrize(
    "text",
    ["", "?", "-", "0", "00", "Final", "Round", "2-4", "1/8", "8 9", "2026", ".5", "8.", "Board 8"],
)
def test_where_no_round_is_clear_there_is_none(text: str) -> None:
    assert round_of(text) is None


def test_a_long_text_costs_little() -> None:
    assert round_of("0" * 1_000_000) is None


@pytest.mark.parametrize("text", ["7", "7.1", "07", "Round 7", "Round 07.5"])
def test_one_round_has_one_name(text: str) -> None:
    assert main_round(text) == "7"


def test_boards_stand_by_number_whatever_their_source_writes_as_round() -> None:
    """One source writes 7, another 7.1, a third Round 7 (20-28 stood before 1-19)."""
    written = {board: ("7", f"7.{board}", "Round 7")[board % 3] for board in range(1, 29)}
    placed = sorted(written, key=lambda board: round_place(written[board], board))
    assert placed == list(range(1, 29))
    assert round_place("6.30", 30) < round_place("7", 1) < round_place("10.1", 1)
    assert round_place("Final", 1) < round_place("Final", 2)
