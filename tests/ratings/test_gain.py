"""Gains and their histograms."""

from __future__ import annotations

import math
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.events import MATE_CP, Score
from live.ratings.ferreira import (
    MAX_GAIN_CP,
    GainHistogram,
    checked_gain,
    cross_correlation,
    expected_score_between,
    same_search_gain,
    successive_gain,
)

# --- gain ---------------------------------------------------------------------------------------


scores = st.integers(-MATE_CP, MATE_CP).map(Score)


def test_from_mated_to_mating_is_the_largest_gain() -> None:
    lost, won = Score(-MATE_CP, -1), Score(MATE_CP, 1)
    assert successive_gain(lost, won, "white") == MAX_GAIN_CP == 7800
    assert same_search_gain(won, lost, "white") == -MAX_GAIN_CP


@given(scores, scores)
def test_one_sides_gain_is_the_others_loss(before: Score, after: Score) -> None:
    assert successive_gain(before, after, "white") == -successive_gain(before, after, "black")


@given(scores, scores)
def test_same_search_gain_is_the_successive_one_cut_at_zero(best: Score, played: Score) -> None:
    assert same_search_gain(best, played, "white") == min(0, successive_gain(best, played, "white"))


@pytest.mark.parametrize(
    "bad", [math.nan, math.inf, 0.5, 3.0, None, "7", True, MAX_GAIN_CP + 1, -MAX_GAIN_CP - 1]
)
def test_what_is_no_gain_is_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match="gain"):
        checked_gain(bad)


def test_scores_that_were_never_clamped_are_refused() -> None:
    with pytest.raises(ValueError, match="clamp"):
        successive_gain(Score(-10_000), Score(0), "white")


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


def test_cross_correlation_reaches_the_far_ends_and_needs_both() -> None:
    lowest, pairs = cross_correlation(GainHistogram([-MAX_GAIN_CP]), GainHistogram([MAX_GAIN_CP]))
    assert (lowest, pairs.tolist()) == (-2 * MAX_GAIN_CP, [1])
    with pytest.raises(ValueError, match="empty"):
        cross_correlation(GainHistogram(), GainHistogram([0]))
