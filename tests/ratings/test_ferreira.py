"""Algorithms 3 and 4."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.events import GainKind
from live.ratings.expected_score import difference_of
from live.ratings.ferreira import (
    MAX_GAIN_CP,
    PRIOR_MOVES,
    SPIKE_AT_ZERO,
    EngineDistribution,
    FieldEngineRating,
    GainHistogram,
    MeasuredPlayer,
    engine_strength,
    expected_score_between,
    interval_of,
    scores_against,
)
from live.ratings.score_interval import ClusteredScores

gains = st.integers(-MAX_GAIN_CP, MAX_GAIN_CP) | st.integers(-5, 3)


# --- algorithm 4 --------------------------------------------------------------------------------


@pytest.mark.slow
@given(st.lists(gains, min_size=1, max_size=50), st.just([0]) | st.lists(gains, min_size=1))
def test_moves_against_the_engine_equal_the_full_cross_correlation(
    values: list[int], engine: list[int]
) -> None:
    distribution = EngineDistribution(GainHistogram(engine))
    found = scores_against(values, distribution)
    exact = expected_score_between(GainHistogram(values), GainHistogram(engine))
    assert found.total / (found.n * distribution.scale) == exact
    assert scores_against(sorted(values), distribution) == found
    assert distribution == EngineDistribution(GainHistogram(reversed(engine)))
    assert (distribution == SPIKE_AT_ZERO) == (set(engine) == {0} and len(engine) == 1)


@pytest.mark.slow
@given(st.lists(gains, min_size=1, max_size=50))
def test_the_difference_lies_in_the_interval(values: list[int]) -> None:
    scores = scores_against(values)
    expected = scores.total / (2 * scores.n)
    difference = difference_of(expected)
    low, high = interval_of(ClusteredScores([scores]), SPIKE_AT_ZERO, "successive")
    assert (difference is None) == (expected in (0.0, 1.0))
    assert (low is None) == (expected == 0.0)
    assert (high is None) == (expected == 1.0)
    assert all(end is None or math.isfinite(end) for end in (low, high))
    if difference is not None and low is not None and high is not None:
        assert low <= difference <= high
        assert low < high


@pytest.mark.parametrize(
    ("values", "gain", "low", "high"),
    [
        ([-10, -20], "same-search", None, (-400, 0)),  # never agrees: one finite end
        ([0] * 10, "same-search", (-400, 0), (0, 0)),  # the engine's equal and no more
        ([30] * 4, "successive", (-400, 400), None),  # always surprises it: no upper end
    ],
)
def test_ends_at_the_extremes(
    values: list[int],
    gain: GainKind,
    low: tuple[float, float] | None,
    high: tuple[float, float] | None,
) -> None:
    found = interval_of(ClusteredScores([scores_against(values)]), SPIKE_AT_ZERO, gain)
    for end, bounds in zip(found, (low, high), strict=True):
        assert (end is None) == (bounds is None)
        assert end is None or bounds is None or bounds[0] <= end <= bounds[1]


# --- algorithm 3 --------------------------------------------------------------------------------


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


# --- field engine rating ------------------------------------------------------------------------


updates = st.lists(
    st.tuples(
        st.sampled_from("abcdefgh"),
        st.none() | st.integers(0, 3200),
        st.integers(0, 300),
        st.integers(0, 100).map(lambda percent: percent / 100),
    ),
    max_size=40,
)


@pytest.mark.slow
@given(updates)
def test_it_equals_the_weighted_mean_of_algorithm_3(
    given_updates: list[tuple[str, int | None, int, float]],
) -> None:
    field, fresh = FieldEngineRating(2500), FieldEngineRating(2500)
    latest = {}
    for update in given_updates:
        field.update(*update)
        latest[update[0]] = update
    for player in sorted(latest, reverse=True):
        fresh.update(*latest[player])
    assert (field.rating, field.moves) == (fresh.rating, fresh.moves)
    total, weight = 2500.0 * PRIOR_MOVES, PRIOR_MOVES
    for _, elo, n, score in latest.values():
        if elo is None or n == 0:
            continue
        difference = difference_of(score)
        if difference is None:
            difference = difference_of((n * score + 0.25) / (n + 1))
        assert difference is not None
        total += n * (elo - difference)
        weight += n
    assert field.rating == pytest.approx(total / weight, abs=0.51)
    assert field.moves == weight - PRIOR_MOVES
