from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.ratings.expected_score import difference_of
from live.ratings.prediction import interval_within_bounds


@given(st.floats(0.001, 0.999), st.floats(0, 10))
def test_the_interval_holds_the_score_and_stays_a_score(score: float, variance: float) -> None:
    low, high = interval_within_bounds(score, variance)
    assert 0 <= low <= score + 1e-12
    assert score - 1e-12 <= high <= 1


@given(st.floats(0.001, 0.999), st.floats(0, 10))
def test_both_sides_see_the_same_interval(score: float, variance: float) -> None:
    low, high = interval_within_bounds(score, variance)
    assert interval_within_bounds(1 - score, variance) == pytest.approx((1 - high, 1 - low))


def test_a_small_variance_gives_the_normal_interval() -> None:
    low, high = interval_within_bounds(0.4, 1e-6)
    assert (low, high) == pytest.approx((0.4 - 1.96e-3, 0.4 + 1.96e-3), abs=1e-5)


def test_few_degrees_of_freedom_widen_it_as_students_t_does() -> None:
    low, high = interval_within_bounds(0.5, 1e-6, 4)
    assert (low, high) == pytest.approx((0.5 - 2.776e-3, 0.5 + 2.776e-3), abs=1e-5)


@given(st.floats(0.01, 0.99), st.floats(0, 1))
def test_it_is_symmetric_in_elo(score: float, variance: float) -> None:
    low, high = (difference_of(end) for end in interval_within_bounds(score, variance))
    middle = difference_of(score)
    assert middle is not None
    if low is not None and high is not None and abs(low) + abs(high) < 2000:
        assert (low + high) / 2 == pytest.approx(middle, abs=1e-3)


def test_certainty_and_boundless_doubt() -> None:
    assert interval_within_bounds(1.0, 0.0) == (0.0, 1.0)
    assert interval_within_bounds(0.3, math.inf) == (0.0, 1.0)
