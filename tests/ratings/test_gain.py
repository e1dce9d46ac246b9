from __future__ import annotations

import math
import random
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.events import MATE_CP, Score
from live.ratings.gain import (
    MAX_GAIN_CP,
    GainHistogram,
    checked_gain,
    cross_correlation,
    expected_score_exact,
    same_search_gain,
    successive_gain,
)

# --- gain ---------------------------------------------------------------------------------------


scores = st.integers(-MATE_CP, MATE_CP).map(Score)


def test_a_rising_score_is_whites_gain_and_blacks_loss() -> None:
    assert successive_gain(Score(20), Score(50), "white") == 30
    assert successive_gain(Score(20), Score(50), "black") == -30


def test_a_worse_move_loses_its_distance_to_the_best() -> None:
    assert same_search_gain(Score(40), Score(-10), "white") == -50
    assert same_search_gain(Score(-40), Score(10), "black") == -50


def test_a_move_that_outscores_the_first_choice_gains_nothing() -> None:
    assert same_search_gain(Score(10), Score(14), "white") == 0
    assert same_search_gain(Score(10), Score(6), "black") == 0


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


def brute_force(x: list[int], y: list[int]) -> float:
    """Eq. 2 by a double loop."""
    return sum((a > b) + 0.5 * (a == b) for a in x for b in y) / (len(x) * len(y))


@pytest.mark.slow
@given(many)
def test_figures_equal_those_of_the_list(values: list[int]) -> None:
    histogram = GainHistogram()
    for i, value in enumerate(values, start=1):
        histogram.add(value)
        prefix = values[:i]
        assert histogram.n == i
        assert histogram.zeros == prefix.count(0)
        assert histogram.positives == sum(v > 0 for v in prefix)
        assert histogram.total_cp == sum(prefix)
        assert histogram.mean == pytest.approx(fmean(prefix), abs=1e-9)
        assert histogram[value] == prefix.count(value)
    assert [g for g, count in histogram for _ in range(count)] == sorted(values)


@pytest.mark.slow
@given(many, many)
def test_remove_undoes_add(kept: list[int], taken_back: list[int]) -> None:
    histogram = GainHistogram(kept + taken_back)
    for value in taken_back:
        histogram.remove(value)
    assert histogram == GainHistogram(kept)
    assert (histogram.n, histogram.positives) == (len(kept), sum(v > 0 for v in kept))
    assert histogram.total_cp == sum(kept)


@pytest.mark.slow
@given(many, st.randoms())
def test_order_does_not_matter(values: list[int], rng: random.Random) -> None:
    shuffled = values[:]
    rng.shuffle(shuffled)
    assert GainHistogram(values) == GainHistogram(shuffled)


@pytest.mark.slow
@given(many, many)
def test_merging_equals_adding_all(one: list[int], other: list[int]) -> None:
    merged = GainHistogram(one)
    merged.merge(GainHistogram(other))
    together = GainHistogram(one + other)
    assert merged == together
    assert (merged.n, merged.zeros, merged.positives, merged.mean) == (
        together.n,
        together.zeros,
        together.positives,
        together.mean,
    )


def test_merging_with_itself_doubles() -> None:
    histogram = GainHistogram([0, -5])
    histogram.merge(histogram)
    assert histogram == GainHistogram([0, -5, 0, -5])


def test_a_copy_lives_its_own_life() -> None:
    histogram = GainHistogram([1])
    twin = histogram.copy()
    twin.add(2)
    assert histogram == GainHistogram([1])
    assert twin == GainHistogram([1, 2])


def test_removing_what_is_not_there_is_refused_and_changes_nothing() -> None:
    histogram = GainHistogram([-5])
    with pytest.raises(ValueError, match="never added"):
        histogram.remove(5)
    histogram.remove(-5)
    with pytest.raises(ValueError, match="never added"):
        histogram.remove(-5)
    assert (histogram.n, histogram.total_cp, histogram.mean) == (0, 0, None)


def test_not_a_number_is_refused_and_changes_nothing() -> None:
    histogram = GainHistogram([0])
    with pytest.raises(ValueError, match="nan"):
        histogram.add(math.nan)  # type: ignore[arg-type]
    assert histogram == GainHistogram([0])


def test_a_million_opposite_extremes_leave_no_trace() -> None:
    histogram = GainHistogram([3])
    for _ in range(1000):
        histogram.add(MAX_GAIN_CP)
        histogram.add(-MAX_GAIN_CP)
    for _ in range(1000):
        histogram.remove(MAX_GAIN_CP)
        histogram.remove(-MAX_GAIN_CP)
    assert histogram.mean == 3.0


@pytest.mark.slow
@given(some, some)
def test_expected_score_equals_a_double_loop(x: list[int], y: list[int]) -> None:
    assert expected_score_exact(GainHistogram(x), GainHistogram(y)) == pytest.approx(
        brute_force(x, y), abs=1e-12
    )


@pytest.mark.slow
@given(some, some)
def test_both_sides_scores_make_one(x: list[int], y: list[int]) -> None:
    one, other = GainHistogram(x), GainHistogram(y)
    total = expected_score_exact(one, other) + expected_score_exact(other, one)
    assert total == pytest.approx(1.0, abs=1e-15)


@pytest.mark.slow
@given(some)
def test_a_player_is_even_with_themselves(x: list[int]) -> None:
    assert expected_score_exact(GainHistogram(x), GainHistogram(x)) == 0.5


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


def test_cross_correlation_reaches_the_far_ends() -> None:
    lowest, pairs = cross_correlation(GainHistogram([-MAX_GAIN_CP]), GainHistogram([MAX_GAIN_CP]))
    assert (lowest, pairs.tolist()) == (-2 * MAX_GAIN_CP, [1])


def test_an_empty_histogram_has_no_expected_score() -> None:
    with pytest.raises(ValueError, match="empty"):
        expected_score_exact(GainHistogram(), GainHistogram([0]))
