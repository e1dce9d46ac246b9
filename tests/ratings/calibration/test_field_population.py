"""The prior from the field: order does not matter, a field that is told is believed."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.ratings.calibration.field_population import SPREAD_STEP_ELO, STEP_ELO, FieldPopulation
from live.ratings.calibration.move_evidence import Population

USUAL = Population(2057.0, 295.0)

fields = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(600, 2850))


def of(field: dict[str, int]) -> FieldPopulation:
    made = FieldPopulation()
    for player, elo in field.items():
        made.update(player, elo)
    return made


def test_without_a_rated_player_the_calibration_s_population_is_the_prior() -> None:
    assert FieldPopulation().over(USUAL) == USUAL
    unrated = FieldPopulation()
    unrated.update("a", None)
    assert unrated.players == 0
    assert unrated.over(USUAL) == USUAL


@pytest.mark.slow
@given(fields, fields, st.integers(0, 9))
def test_only_the_players_there_now_count(
    kept: dict[str, int], gone: dict[str, int], seed: int
) -> None:
    field = of(gone)
    news = [*((player, None) for player in gone if player not in kept), *kept.items()]
    random.Random(seed).shuffle(news)
    for player, elo in news:
        field.update(player, elo)
    assert field.players == len(kept)
    assert field.over(USUAL) == of(kept).over(USUAL)


def test_eight_candidates_are_no_average_players() -> None:
    elite = of(
        {str(n): elo for n, elo in enumerate((2815, 2785, 2776, 2775, 2747, 2744, 2772, 2732))}
    )
    prior = elite.over(USUAL)
    assert prior.mean_elo == pytest.approx(2760, abs=20)
    assert 100 <= prior.sd_elo <= 150


def test_two_players_say_where_the_field_is_but_not_how_wide() -> None:
    prior = of({"a": 2780, "b": 2660}).over(USUAL)
    assert prior.mean_elo == pytest.approx(2650, abs=50)
    assert 150 <= prior.sd_elo <= 250


def test_an_open_is_as_wide_as_its_players_differ() -> None:
    chance = random.Random(1)
    ratings = {str(n): round(chance.gauss(2055, 300)) for n in range(110)}
    assert of(ratings).over(USUAL) == Population(2040.0, 280.0)


@given(fields)
def test_the_prior_moves_in_steps_and_always_has_a_spread(field: dict[str, int]) -> None:
    prior = of(field).over(USUAL)
    if field:
        assert prior.mean_elo % STEP_ELO == 0
        assert prior.sd_elo % SPREAD_STEP_ELO == 0
    assert prior.sd_elo > 0


def test_players_who_are_near_each_other_are_believed_to_be() -> None:
    chance = random.Random(4)
    elite = {str(n): round(chance.gauss(2694, 57)) for n in range(97)}
    prior = of(elite).over(USUAL)
    held = [abs(elo - prior.mean_elo) < 1.96 * prior.sd_elo for elo in elite.values()]
    assert 0.93 <= sum(held) / len(held) <= 0.99
