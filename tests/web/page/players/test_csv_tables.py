"""live/web/page/players/csv_tables.js: tables that spreadsheets open, and nothing that they run."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.events import ComplexityView, Player
from tests.web.page.games import HOSTILE, Pages, game, plain, ply


def rows(pages: Pages, name: str, *args: Any) -> list[list[str]]:
    text = pages("call", module="page/players/csv_tables.js", name=name, args=list(args))
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(
    table=st.lists(
        st.lists(
            st.none() | st.integers(-(10**6), 10**6) | st.text(st.characters(codec="utf-8")),
            min_size=2,
            max_size=2,
        ),
        max_size=5,
    )
)
def test_every_value_comes_back_and_no_text_is_a_formula(pages: Pages, table: list[Any]) -> None:
    head, *found = rows(pages, "csv", ["a", "b"], table)
    assert head == ["a", "b"]
    for row, given_row in zip(found, table, strict=True):
        for cell, value in zip(row, given_row, strict=True):
            if not isinstance(value, str):
                assert cell == ("" if value is None else str(value))
            elif value[:1] in set("=+-@\t\r"):
                assert cell == f"'{value}"
            else:
                assert cell == value


def test_a_game_has_a_row_for_each_ply_with_its_point(pages: Pages) -> None:
    complexity = ComplexityView(3.5, 20, 4)
    view = game(plies=(ply(1, 30, 0, complexity=complexity), ply(2, -10, -40)))
    head, first, second = rows(pages, "gameCsv", plain(view))
    told = dict(zip(head, first, strict=True))
    assert told["san"] == "e4"
    assert told["score_cp"] == "30"
    assert (told["perceived"], told["counted"], told["difference"]) == ("2100", "1", "-70")
    assert (told["stability_cp"], told["jump_cp"], told["jump_depth"]) == ("3.5", "20", "4")
    unknown = dict(zip(head, second, strict=True))
    assert (unknown["perceived"], unknown["usual_low"], unknown["low"]) == ("", "", "400")


def test_boards_have_a_row_each(pages: Pages) -> None:
    games = [game("a", white=Player(HOSTILE)), game("b", plies=())]
    head, first, second = rows(pages, "boardsCsv", plain(games))
    told = dict(zip(head, first, strict=True))
    assert told["white"] == f"'{HOSTILE}"
    assert told["white_perceived"] == "2150"
    assert told["score_cp"] == "24"
    assert dict(zip(head, second, strict=True))["score_cp"] == "20"
