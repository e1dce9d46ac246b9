"""Tables of calibration show the figures they were given."""

from __future__ import annotations

import pytest

from live.ledger.comparisons import table_four
from live.ratings.intrinsic_rating import RYBKA_3
from live.terminal.tables import calibration_tables
from tests.ledger.event_of_three import event
from tests.terminal.drawing import drawn


@pytest.mark.slow
def test_table_four_has_the_columns_of_the_paper() -> None:
    held = event()
    strengths = {key: found.rating for key, found in held.study().strengths.items()}
    found = table_four(held.players(), held.engine_strength(), strengths)
    text = drawn(
        calibration_tables.table_four(found, "[b]Arithmetic", "1 look", "same-search"), 120
    )
    assert "[b]Arithmetic" in text
    for row in found.rows:
        line = next(line for line in text.splitlines() if row.name in line)
        assert f"{row.expected_score:.3f}" in line
        assert f"{row.difference:+.0f}" in line
    assert found.engine_by_elo is not None
    assert f"{found.engine_by_elo:.0f}" in text


def test_a_check_of_few_games_leaves_empty_what_it_cannot_tell() -> None:
    row = {"n": 1, "usual_holds": 0.8, "interval_holds": 1.0, "own_outside": 0.0, "blind_r": None}
    text = drawn(calibration_tables.checked("mine", {"5": {"n": 0}, "whole": row}, known=True), 100)
    assert "5 moves" not in text
    assert "the game" in text and "80.0 %" in text
    assert "left out" in text


def test_mileposts_are_listed() -> None:
    text = drawn(calibration_tables.mileposts(RYBKA_3), 100)
    assert "Rybka 3" in text
    assert "0.080" in text and "0.513" in text
