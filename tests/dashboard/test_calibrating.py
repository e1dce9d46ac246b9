"""Tables of calibration show the figures they were given."""

from __future__ import annotations

from live.dashboard import calibrating
from live.ledger.table_four import table_four
from live.ratings.calibration import load_calibration
from live.ratings.check import check
from live.ratings.intrinsic import RYBKA_3
from live.ratings.rated_games import RatedGame
from tests.dashboard.drawing import drawn
from tests.ledger.event_of_three import event


def test_table_four_has_the_columns_of_the_paper() -> None:
    held = event()
    strengths = {key: found.rating for key, found in held.study().strengths.items()}
    found = table_four(held.players(), held.engine_strength(), strengths)
    text = drawn(calibrating.table_four(found, "[b]Arithmetic", "1 look", "same-search"), 120)
    assert "[b]Arithmetic" in text
    for row in found.rows:
        line = next(line for line in text.splitlines() if row.name in line)
        assert f"{row.expected_score:.3f}" in line
        assert f"{row.difference:+.0f}" in line
    assert found.engine_by_elo is not None
    assert f"{found.engine_by_elo:.0f}" in text


def test_a_check_of_one_game_leaves_empty_what_it_cannot_tell() -> None:
    games = [RatedGame("a", 2000, ())]
    text = drawn(calibrating.checked(check(load_calibration("blitz"), games), "a note"), 100)
    assert "a note" in text
    assert "0.0 %" not in text


def test_mileposts_are_listed() -> None:
    text = drawn(calibrating.mileposts(RYBKA_3), 100)
    assert "Rybka 3" in text
    assert "0.080" in text and "0.513" in text
