"""Gains and their histograms."""

from __future__ import annotations

import math
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.events import MATE_CP, Score
from live.ratings.ferreira import (
    MAX_GAIN_CP,
    GainHistogram,
    cross_correlation,
    expected_score_between,
    same_search_gain,
    successive_gain,
)

# --- gain ---------------------------------------------------------------------------------------


scores = st.integers(-MATE_CP, MATE_CP).map(Score)


@given(scores, scores)
def test_same_search_gain_is_the_successive_one_cut_at_zero(best: Score, played: Score) -> None:
    assert same_search_gain(best, played, "white") == min(0, successive_gain(best, played, "white"))


# --- gain histogram -----------------------------------------------------------------------------


gains = st.integers(-MAX_GAIN_CP, MAX_GAIN_CP) | st.integers(-30, 10)
many = st.lists(gains, max_size=40)
some = st.lists(gains, min_size=1, max_size=40)


@pytest.mark.slow
@given(many, many)
def test_figures_equal_those_of_the_list_and_taking_back_undoes_adding(
    kept: list[int], gone: list[int]
) -> None:
    histogram = GainHistogram(kept)
    histogram.merge(GainHistogram(gone))
    assert histogram == GainHistogram(reversed([*kept, *gone]))
    for value in gone:
        histogram.add(value, -1)
    assert histogram == GainHistogram(kept)
    assert histogram.n == len(kept)
    assert histogram.mean == (pytest.approx(fmean(kept), abs=1e-9) if kept else None)
    assert [g for g, count in histogram for _ in range(count)] == sorted(kept)
    assert all(histogram[value] == kept.count(value) for value in {*kept, *gone})


def test_what_is_no_gain_and_what_was_never_added_is_refused_and_changes_nothing() -> None:
    histogram = GainHistogram([-5])
    with pytest.raises(ValueError, match="never added"):
        histogram.add(5, -1)
    with pytest.raises(ValueError, match="nan"):
        histogram.add(math.nan)  # type: ignore[arg-type]
    histogram.add(-5, -1)
    with pytest.raises(ValueError, match="never added"):
        histogram.add(-5, -1)
    assert (histogram.n, histogram.mean) == (0, None)


@pytest.mark.slow
@given(some, some)
def test_expected_score_equals_a_double_loop(x: list[int], y: list[int]) -> None:
    one, other = GainHistogram(x), GainHistogram(y)
    won = sum((a > b) + 0.5 * (a == b) for a in x for b in y)
    assert expected_score_between(one, other) == won / (len(x) * len(y))
    assert expected_score_between(other, one) == pytest.approx(1 - won / (len(x) * len(y)))
    assert expected_score_between(one, one) == 0.5
    assert expected_score_between(one, GainHistogram()) is None


@pytest.mark.slow
@given(st.lists(st.integers(-60, 40), min_size=1), st.lists(st.integers(-60, 40), min_size=1))
def test_cross_correlation_equals_numpys_on_the_full_range(x: list[int], y: list[int]) -> None:
    dense_x, dense_y = np.bincount([v + 60 for v in x]), np.bincount([v + 60 for v in y])
    full = np.correlate(dense_x, dense_y, mode="full")
    lowest, pairs = cross_correlation(GainHistogram(x), GainHistogram(y))
    # Entry i of numpy's is the difference i - (len(dense_y) - 1).
    start = lowest + len(dense_y) - 1
    assert full[start : start + len(pairs)].tolist() == pairs.tolist()
    assert full.sum() == pairs.sum() == len(x) * len(y)
