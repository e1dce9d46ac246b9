"""Tables for reading after the event."""

from __future__ import annotations

from live.dashboard import tables
from live.events import PlayerView
from tests.dashboard.boards import ENGINE, detail
from tests.dashboard.drawing import drawn


def test_players_are_listed_strongest_first() -> None:
    def player(name: str, expected: float | None) -> PlayerView:
        return PlayerView(name, name, 2000, 1, 30, -12.5, expected, None, None, None, None, None,
                          2034.0 if expected == 0 else None)  # fmt: skip

    text = drawn(tables.players([player("A", None), player("B", 0.0), player("C", 0.3)], ENGINE,
                                "same-search", width=80), 80)  # fmt: skip
    assert text.index("C ") < text.index("B ") < text.index("A ")
    assert "-0.12" in text or "-0.13" in text


def test_the_table_of_games_compares_both_players() -> None:
    text = drawn(tables.games([detail(result="1-0")], ENGINE, "same-search", width=80), 80)
    assert "1-0" in text
    assert "0.61" in text
