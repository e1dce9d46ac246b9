from __future__ import annotations

import pytest

from live.ratings.ferreira import MeasuredPlayer, engine_strength


def test_an_even_player_gives_the_engine_their_own_rating() -> None:
    engine = engine_strength([MeasuredPlayer("a", 0.5, 2000, 2010)])
    assert (engine.by_elo, engine.by_strength) == (2000, 2010)


def test_unrated_and_unbounded_players_stay_in_the_table_but_enter_no_average() -> None:
    engine = engine_strength(
        [
            MeasuredPlayer("a", 0.5, 2000),
            MeasuredPlayer("b", 0.5),
            MeasuredPlayer("c", 0.0, 2600, 2600),
        ]
    )
    assert [row.player for row in engine.rows] == ["a", "b", "c"]
    assert engine.rows[2] == ("c", None, None, None)
    assert (engine.by_elo, engine.by_strength) == (2000, None)


def test_no_players_give_no_strength() -> None:
    assert engine_strength([]) == ((), None, None)


def test_an_impossible_score_is_refused() -> None:
    with pytest.raises(ValueError, match="expected score"):
        engine_strength([MeasuredPlayer("a", 1.01, 2000)])
