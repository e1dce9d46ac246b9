from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.ratings.expected_score import difference_of
from live.ratings.ferreira import (
    Algorithm4,
    EngineDistribution,
    MeasuredDistribution,
    SpikeAtZero,
)
from live.ratings.gain import MAX_GAIN_CP, GainHistogram, expected_score_exact

gains = st.integers(-MAX_GAIN_CP, MAX_GAIN_CP) | st.integers(-5, 3)
many = st.lists(gains, max_size=50)
# The same engine twice: as itself, and as the histogram that the exact form takes.
engines = st.lists(gains, min_size=1, max_size=20).map(
    lambda values: (MeasuredDistribution(GainHistogram(values)), GainHistogram(values))
) | st.just((SpikeAtZero(), GainHistogram([0])))


@pytest.mark.slow
@given(many, engines)
def test_every_prefix_equals_the_full_cross_correlation(
    values: list[int], engine: tuple[EngineDistribution, GainHistogram]
) -> None:
    distribution, histogram = engine
    rating = Algorithm4(engine=distribution, gain="successive")
    assert rating.expected_score is None
    for i, value in enumerate(values, start=1):
        rating.add(value)
        assert rating.n == i
        assert rating.expected_score == expected_score_exact(GainHistogram(values[:i]), histogram)


@pytest.mark.slow
@given(many, many, engines)
def test_remove_undoes_add(
    kept: list[int],
    taken_back: list[int],
    engine: tuple[EngineDistribution, GainHistogram],
) -> None:
    rating = Algorithm4(kept + taken_back, engine=engine[0], gain="successive")
    for value in reversed(taken_back):
        rating.remove(value)
    fresh = Algorithm4(kept, engine=engine[0], gain="successive")
    assert rating.scores == fresh.scores
    assert rating.expected_score == fresh.expected_score
    assert rating.interval() == fresh.interval()


@pytest.mark.slow
@given(many)
def test_order_does_not_matter(values: list[int]) -> None:
    one = Algorithm4(values, gain="successive")
    other = Algorithm4(sorted(values), gain="successive")
    assert (one.expected_score, one.interval()) == (other.expected_score, other.interval())


@pytest.mark.slow
@given(many)
def test_difference_follows_from_the_score_and_lies_in_the_interval(values: list[int]) -> None:
    rating = Algorithm4(values, gain="successive")
    low, high = rating.interval()
    if rating.expected_score is None:
        assert (rating.difference, low, high, rating.bound) == (None, None, None, None)
        return
    assert rating.difference == difference_of(rating.expected_score)
    if rating.difference is None:
        assert rating.expected_score in (0.0, 1.0)
    assert rating.bound == {0.0: "low", 1.0: "high"}.get(rating.expected_score)
    assert (low is None) == (rating.bound == "low")
    assert (high is None) == (rating.bound == "high")
    for end in (low, high):
        assert end is None or math.isfinite(end)
    if rating.difference is not None and low is not None and high is not None:
        assert low <= rating.difference <= high
        assert low < high


def test_a_player_who_never_agrees_has_one_finite_end() -> None:
    rating = Algorithm4([-10, -20])
    assert (rating.expected_score, rating.difference, rating.bound) == (0.0, None, "low")
    low, high = rating.interval()
    assert low is None
    assert high is not None and -400 < high < 0


def test_a_player_who_always_agrees_is_the_engines_equal_and_no_more() -> None:
    rating = Algorithm4([0] * 10)
    assert (rating.expected_score, rating.difference, rating.bound) == (0.5, 0.0, None)
    low, high = rating.interval()
    assert low is not None and low < 0
    assert high == 0.0


def test_a_player_who_always_surprises_the_engine_has_no_upper_end() -> None:
    rating = Algorithm4([30] * 4, gain="successive")
    assert (rating.difference, rating.bound) == (None, "high")
    low, high = rating.interval()
    assert low is not None and high is None
    assert high is None


def test_same_search_gains_above_zero_are_refused_and_change_nothing() -> None:
    rating = Algorithm4([0])
    with pytest.raises(ValueError, match="above 0"):
        rating.add(1)
    assert rating.n == 1


def test_removing_what_is_not_there_is_refused_and_changes_nothing() -> None:
    rating = Algorithm4([0, -5])
    with pytest.raises(ValueError, match="never added"):
        rating.remove(-6)
    assert rating.scores == Algorithm4([0, -5]).scores


def test_what_is_no_gain_is_refused() -> None:
    with pytest.raises(ValueError, match="nan"):
        Algorithm4([math.nan])  # type: ignore[list-item]
