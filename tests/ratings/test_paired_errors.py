from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.benchmarks.ratings.paired_errors import ErrorPair, paired_errors

ERRORS = st.floats(0, 1000)


def test_one_player_says_nothing_of_players() -> None:
    assert paired_errors([]) is None
    assert paired_errors([ErrorPair("a", 1, 2), ErrorPair("a", 3, 1)]) is None


@given(st.lists(st.tuples(st.sampled_from("abcd"), ERRORS), min_size=2), st.floats(-50, 50))
def test_what_is_the_same_for_all_is_certain(errors: list[tuple[str, float]], by: float) -> None:
    pairs = [ErrorPair(player, error, error + by) for player, error in errors]
    found = paired_errors(pairs)
    if len({player for player, _ in errors}) < 2:
        assert found is None
        return
    assert found is not None
    assert (found.difference, found.low, found.high) == pytest.approx((by, by, by), abs=1e-6)


def test_games_of_one_player_are_drawn_together() -> None:
    # Each player gains or loses the same in all games: as many games of few players say less.
    few = [ErrorPair(f"{n % 4}", 10, 10 + (8 if n % 2 else -8)) for n in range(200)]
    many = [ErrorPair(f"{n}", 10, 10 + (8 if n % 2 else -8)) for n in range(200)]
    wide, narrow = paired_errors(few), paired_errors(many)
    assert wide is not None
    assert narrow is not None
    assert wide.difference == narrow.difference == 0
    assert wide.high - wide.low > 3 * (narrow.high - narrow.low)
