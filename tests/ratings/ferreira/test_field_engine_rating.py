from __future__ import annotations

from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.ratings.expected_score import difference_of
from live.ratings.ferreira import PRIOR_MOVES, FieldEngineRating

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
