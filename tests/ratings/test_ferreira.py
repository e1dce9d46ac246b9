"""Algorithms 1, 3 and 4."""

from __future__ import annotations

import math
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.events import Color
from live.ratings.expected_score import difference_of
from live.ratings.ferreira import (
    PRIOR_MOVES,
    Algorithm1,
    Algorithm4,
    EngineDistribution,
    FieldEngineRating,
    MeasuredDistribution,
    MeasuredPlayer,
    RankedGains,
    SpikeAtZero,
    engine_strength,
)
from live.ratings.gain import MAX_GAIN_CP, GainHistogram, expected_score_exact

# --- algorithm 1 --------------------------------------------------------------------------------


COLORS: list[Color] = ["white", "black"]
gains = st.integers(-MAX_GAIN_CP, MAX_GAIN_CP) | st.integers(-20, 5)
moves = st.lists(st.tuples(st.sampled_from(COLORS), gains), max_size=60)


def batch(played: list[tuple[Color, int]]) -> float | None:
    white = GainHistogram(gain for color, gain in played if color == "white")
    black = GainHistogram(gain for color, gain in played if color == "black")
    return expected_score_exact(white, black) if white.n and black.n else None


@pytest.mark.slow
@given(moves)
def test_every_prefix_equals_the_full_cross_correlation(played: list[tuple[Color, int]]) -> None:
    match = Algorithm1()
    for i, (color, gain) in enumerate(played, start=1):
        match.add(color, gain)
        assert match.expected_score == batch(played[:i])


@pytest.mark.slow
@given(moves, moves)
def test_remove_undoes_add(
    kept: list[tuple[Color, int]], taken_back: list[tuple[Color, int]]
) -> None:
    match = Algorithm1()
    for color, gain in kept + taken_back:
        match.add(color, gain)
    for color, gain in taken_back:
        match.remove(color, gain)
    assert match.expected_score == batch(kept)


@pytest.mark.slow
@given(st.lists(gains, max_size=60), gains)
def test_ranks_equal_a_count(values: list[int], at: int) -> None:
    ranked = RankedGains()
    for value in values:
        ranked.add(value)
    assert ranked.below(at) == sum(value < at for value in values)
    assert ranked.half_points_of(at) == sum(2 * (v < at) + (v == at) for v in values)


def test_the_ends_of_the_range_are_ranked() -> None:
    ranked = RankedGains()
    ranked.add(-MAX_GAIN_CP)
    ranked.add(MAX_GAIN_CP)
    assert ranked.below(-MAX_GAIN_CP) == 0
    assert ranked.below(MAX_GAIN_CP) == 1


def test_unknown_until_both_have_moved_and_unbounded_when_one_always_wins() -> None:
    match = Algorithm1()
    assert match.expected_score is None
    assert match.difference is None
    match.add("white", 0)
    assert match.expected_score is None
    match.add("black", -10)
    assert match.expected_score == 1.0
    assert match.difference is None
    match.add("black", 0)
    assert match.expected_score == 0.75
    assert match.difference is not None and match.difference > 0


def test_removing_what_is_not_there_is_refused_and_changes_nothing() -> None:
    match = Algorithm1()
    match.add("white", 0)
    match.add("black", -3)
    with pytest.raises(ValueError, match="never added"):
        match.remove("white", -3)
    assert match.expected_score == 1.0


# --- engine distribution ------------------------------------------------------------------------


engine_gains = st.integers(-MAX_GAIN_CP, MAX_GAIN_CP) | st.integers(-9, 9)


@pytest.mark.slow
@given(st.lists(engine_gains, min_size=1, max_size=30), engine_gains)
def test_a_moves_score_equals_the_cross_correlation(engine: list[int], gain: int) -> None:
    measured = MeasuredDistribution(GainHistogram(engine))
    exact = expected_score_exact(GainHistogram([gain]), GainHistogram(engine))
    assert measured.parts(gain) / measured.scale == exact


@pytest.mark.slow
@given(engine_gains)
def test_the_spike_is_the_distribution_of_a_single_zero(gain: int) -> None:
    measured = MeasuredDistribution(GainHistogram([0]))
    assert SpikeAtZero().parts(gain) / SpikeAtZero().scale == measured.parts(gain) / measured.scale


def test_what_is_measured_stays_as_it_was() -> None:
    source = GainHistogram([0])
    measured = MeasuredDistribution(source)
    source.add(-10)
    assert measured == MeasuredDistribution(GainHistogram([0]))


def test_nothing_measured_is_refused() -> None:
    with pytest.raises(ValueError, match="Spike"):
        MeasuredDistribution(GainHistogram())


def test_equal_distributions_are_equal() -> None:
    assert SpikeAtZero() == SpikeAtZero()
    assert hash(SpikeAtZero()) == hash(SpikeAtZero())
    assert MeasuredDistribution(GainHistogram([1, 2])) == MeasuredDistribution(
        GainHistogram([2, 1])
    )
    assert MeasuredDistribution(GainHistogram([0])) != MeasuredDistribution(GainHistogram([1]))


# --- algorithm 4 --------------------------------------------------------------------------------


player_gains = st.integers(-MAX_GAIN_CP, MAX_GAIN_CP) | st.integers(-5, 3)
many = st.lists(player_gains, max_size=50)
# The same engine twice: as itself, and as the histogram that the exact form takes.
engines = st.lists(player_gains, min_size=1, max_size=20).map(
    lambda values: (MeasuredDistribution(GainHistogram(values)), GainHistogram(values))
) | st.just((SpikeAtZero(), GainHistogram([0])))


@pytest.mark.slow
@given(many, engines)
def test_every_prefix_equals_the_full_cross_correlation_of_algorithm_4(
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
def test_remove_undoes_add_of_algorithm_4(
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


def test_removing_what_is_not_there_is_refused_and_changes_nothing_of_algorithm_4() -> None:
    rating = Algorithm4([0, -5])
    with pytest.raises(ValueError, match="never added"):
        rating.remove(-6)
    assert rating.scores == Algorithm4([0, -5]).scores


def test_what_is_no_gain_is_refused() -> None:
    with pytest.raises(ValueError, match="nan"):
        Algorithm4([math.nan])  # type: ignore[list-item]


# --- algorithm 3 --------------------------------------------------------------------------------


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


def test_before_the_first_move_it_is_the_prior() -> None:
    field = FieldEngineRating(2750)
    assert (field.rating, field.moves) == (2750, 0)


@pytest.mark.slow
@given(updates)
def test_only_the_latest_of_each_player_counts_whatever_came_before(
    given_updates: list[tuple[str, int | None, int, float]],
) -> None:
    field = FieldEngineRating(2500)
    latest = {}
    for update in given_updates:
        field.update(*update)
        latest[update[0]] = update
    fresh = FieldEngineRating(2500)
    for player in sorted(latest, reverse=True):
        fresh.update(*latest[player])
    assert (field.rating, field.moves) == (fresh.rating, fresh.moves)


@pytest.mark.slow
@given(updates)
def test_it_equals_the_weighted_mean_of_algorithm_3(
    given_updates: list[tuple[str, int | None, int, float]],
) -> None:
    field = FieldEngineRating(2500)
    latest = {}
    for update in given_updates:
        field.update(*update)
        latest[update[0]] = update
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


def test_with_many_moves_mean_perceived_equals_mean_actual_rating() -> None:
    field = FieldEngineRating(2850)
    players = {"a": (2100, 0.30), "b": (1900, 0.25), "c": (2300, 0.41)}
    for player, (elo, score) in players.items():
        field.update(player, elo, 10**7, score)
    perceived = fmean(field.rating + (difference_of(s) or 0.0) for _, s in players.values())
    assert perceived == pytest.approx(fmean(elo for elo, _ in players.values()), abs=0.6)


def test_the_prior_weighs_as_much_as_its_moves() -> None:
    field = FieldEngineRating(2800, prior_moves=40)
    field.update("a", 2000, 40, 0.5)
    assert field.rating == 2400


def test_unrated_players_and_players_without_moves_count_nothing() -> None:
    field = FieldEngineRating(2800)
    field.update("a", 2000, 40, 0.5)
    field.update("a", None, 40, 0.5)
    field.update("b", 2000, 0, None)
    assert (field.rating, field.moves) == (2800, 0)


@pytest.mark.parametrize("score", [0.0, 1.0])
def test_a_certain_score_stays_finite(score: float) -> None:
    field = FieldEngineRating(2800)
    field.update("a", 2000, 3, score)
    assert 2500 < field.rating < 3000


def test_impossible_figures_are_refused() -> None:
    field = FieldEngineRating(2800)
    with pytest.raises(ValueError, match="-1 moves"):
        field.update("a", 2000, -1, 0.5)
    with pytest.raises(ValueError, match="expected score"):
        field.update("a", 2000, 5, 1.5)
    with pytest.raises(ValueError, match="at least one move"):
        FieldEngineRating(2800, prior_moves=0)
    assert (field.rating, field.moves) == (2800, 0)
