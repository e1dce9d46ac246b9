from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.ratings.engine_distribution import Measured
from live.ratings.histogram import GainHistogram
from live.ratings.perceived import PerceivedRating
from live.ratings.pooled import PooledRating

games = st.lists(st.lists(st.integers(-40, 0) | st.just(0), max_size=20), max_size=6)


@given(games)
def test_points_equal_algorithm_4_over_all_moves(played: list[list[int]]) -> None:
    pooled = PooledRating()
    for i, gains in enumerate(played):
        pooled.update(str(i), PerceivedRating(gains))
    together = PerceivedRating([gain for gains in played for gain in gains])
    assert pooled.n == together.n
    assert pooled.games == sum(bool(gains) for gains in played)
    assert pooled.expected_score == together.expected_score
    assert pooled.difference == together.difference
    assert pooled.mean == together.histogram.mean


@given(games, games)
def test_only_the_latest_state_of_each_game_counts(
    before: list[list[int]], after: list[list[int]]
) -> None:
    pooled, fresh = PooledRating(), PooledRating()
    for i, gains in enumerate(before):
        pooled.update(str(i), PerceivedRating(gains))
    for i in range(len(before)):
        if i >= len(after):
            pooled.update(str(i), None)
    for i, gains in reversed(list(enumerate(after))):
        pooled.update(str(i), PerceivedRating(gains))
    for i, gains in enumerate(after):
        fresh.update(str(i), PerceivedRating(gains))
    assert (pooled.n, pooled.games, pooled.mean) == (fresh.n, fresh.games, fresh.mean)
    assert pooled.interval() == fresh.interval()


def test_one_game_has_the_interval_of_its_curve() -> None:
    game = PerceivedRating([0, -5, 0, -80, -3, 0])
    pooled = PooledRating()
    pooled.update("g", game)
    assert pooled.interval() == game.interval()


def test_games_that_differ_widen_the_interval() -> None:
    alike, unlike = PooledRating(), PooledRating()
    for i in range(8):
        alike.update(str(i), PerceivedRating([0] * 20 + [-9] * 20))
        unlike.update(str(i), PerceivedRating([0] * 40 if i % 2 else [-9] * 40))
    assert alike.expected_score == unlike.expected_score
    narrow, wide = alike.score_interval(), unlike.score_interval()
    assert narrow is not None and wide is not None
    assert wide[1] - wide[0] > 3 * (narrow[1] - narrow[0])


def test_nothing_played_says_nothing() -> None:
    pooled = PooledRating()
    assert (pooled.games, pooled.n, pooled.mean) == (0, 0, None)
    assert (pooled.expected_score, pooled.difference) == (None, None)
    assert pooled.interval() == (None, None)


def test_games_rated_differently_cannot_be_pooled() -> None:
    pooled = PooledRating()
    with pytest.raises(ValueError, match="successive"):
        pooled.update("g", PerceivedRating([0], gain="successive"))
    with pytest.raises(ValueError, match="Measured"):
        pooled.update("g", PerceivedRating([0], engine=Measured(GainHistogram([0]))))
    assert pooled.games == 0
