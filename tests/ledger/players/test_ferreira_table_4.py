"""Algorithms 2 and 3 side by side, as Ferreira's Table 4 has them."""

from __future__ import annotations

import pytest

from live.ledger.comparisons import TableFour, table_four
from live.ledger.event_ledger import EventLedger
from tests.ledger.event_of_three import event


def table(held: EventLedger) -> TableFour:
    strengths = {key: found.rating for key, found in held.study().strengths.items()}
    return table_four(held.compared_players(), held.engine_strength(), strengths)


@pytest.mark.slow
def test_both_averages_agree_where_everybody_compared_is_rated() -> None:
    found = table(event())
    assert [row.name for row in found.rows] == ["Carlsen", "Anand", "Ding, Liren"]
    for row in found.rows:
        assert row.difference is not None and row.strength is not None
        assert row.engine_by_strength == pytest.approx(row.strength - row.difference)
        if row.elo is not None:
            assert row.engine_by_elo == pytest.approx(row.elo - row.difference)
    rated = [row for row in found.rows if row.elo is not None]
    assert found.engine_by_elo == pytest.approx(
        sum(row.engine_by_elo or 0 for row in rated) / len(rated)
    )
    assert found.missing == ""


def test_an_event_without_a_move_says_so() -> None:
    found = table(event(0))
    assert (found.rows, found.engine_by_elo, found.missing) == ((), None, "no scored move")
