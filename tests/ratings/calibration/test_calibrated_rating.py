"""Calibrated ratings: moves added and taken back, games put together."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.ratings.calibration.calibrated_rating import (
    CalibratedRating,
    OwnRating,
    PooledCalibratedRating,
)
from live.ratings.calibration.move_evidence import (
    Calibration,
    EvidenceSums,
    Population,
    RatedMove,
    load_calibration,
)

CLASSICAL = load_calibration("classical")
BLITZ = load_calibration("blitz")
GRID_ELO = np.arange(-2000.0, 6000.0, 2.0)

moves = st.builds(
    RatedMove,
    gain_cp=st.integers(-7800, 0),
    score_before_cp=st.integers(-3900, 3900),
    ply=st.integers(1, 300),
    previous_gain_cp=st.none() | st.integers(-7800, 0),
)


def rated(calibration: Calibration, played: list[RatedMove]) -> CalibratedRating:
    rating = CalibratedRating(calibration)
    for move in played:
        add(rating, move)
    return rating


def add(rating: CalibratedRating, move: RatedMove) -> None:
    rating.add(move.gain_cp, move.score_before_cp, move.ply, move.previous_gain_cp)


def remove(rating: CalibratedRating, move: RatedMove) -> None:
    rating.remove(move.gain_cp, move.score_before_cp, move.ply, move.previous_gain_cp)


def steady(gain_cp: int, n: int = 40) -> list[RatedMove]:
    """A player who always loses so much, in an even game."""
    return [RatedMove(gain_cp, 0, 2 * index + 1, gain_cp) for index in range(n)]


def test_before_the_first_move_the_belief_is_the_prior() -> None:
    rating = CalibratedRating(CLASSICAL)
    field = CLASSICAL.population
    assert rating.n == 0
    assert rating.mean == pytest.approx(field.mean_elo, abs=1)
    low, high = rating.interval
    assert high - low == pytest.approx(2 * 1.96 * field.sd_elo, rel=0.01)
    assert rating.form is None


@pytest.mark.slow
@given(st.lists(moves, max_size=60))
def test_the_posterior_is_the_prior_times_the_likelihood_of_every_move(
    played: list[RatedMove],
) -> None:
    rating = rated(CLASSICAL, played)
    field = CLASSICAL.population
    log = -0.5 * ((GRID_ELO - field.mean_elo) / field.sd_elo) ** 2
    z = (GRID_ELO - CLASSICAL.centre_elo) / CLASSICAL.scale_elo
    weigher = EvidenceSums(CLASSICAL)
    for move in played:
        found = weigher.weigh(move)
        likelihood = found.slope * 1e-6 * z - found.curvature * 1e-6 * z**2 / 2
        log = log + likelihood / (1 + len(played) / CLASSICAL.half_moves)
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    mean = float(weight @ GRID_ELO)
    assert rating.mean == pytest.approx(mean, abs=0.01)
    assert rating.posterior.sd == pytest.approx(
        float(np.sqrt(weight @ (GRID_ELO - mean) ** 2)), abs=0.01
    )


@pytest.mark.slow
@given(st.lists(moves, max_size=40), st.lists(moves, min_size=1, max_size=40), st.randoms())
def test_taking_moves_back_undoes_them_exactly(
    kept: list[RatedMove], undone: list[RatedMove], chance: random.Random
) -> None:
    rating = rated(CLASSICAL, kept)
    before = rating.posterior
    for move in undone:
        add(rating, move)
    chance.shuffle(undone)
    for move in undone:
        remove(rating, move)
    assert rating.n == len(kept)
    assert rating.evidence == rated(CLASSICAL, kept).evidence
    assert rating.posterior == before


@pytest.mark.slow
@given(st.lists(moves, max_size=40), st.randoms())
def test_the_order_of_moves_does_not_matter(played: list[RatedMove], chance: random.Random) -> None:
    evidence = rated(BLITZ, played).evidence
    chance.shuffle(played)
    assert rated(BLITZ, played).evidence == evidence


@pytest.mark.slow
@given(st.lists(moves, max_size=300))
def test_the_interval_is_finite_and_holds_the_mean(played: list[RatedMove]) -> None:
    rating = rated(CLASSICAL, played)
    low, high = rating.interval
    assert 0 < high - low < 2000
    assert low < rating.mean < high


def test_no_move_can_be_taken_back_from_none() -> None:
    with pytest.raises(ValueError, match="no move"):
        CalibratedRating(CLASSICAL).remove(0, 0, 1)


@pytest.mark.parametrize("calibration", [CLASSICAL, BLITZ], ids=lambda held: held.name)
def test_every_fourth_move_a_mistake_costs_and_a_blunder_more(calibration: Calibration) -> None:
    def mean(mistake_cp: int) -> float:
        game = steady(0)
        game[::4] = [RatedMove(mistake_cp, move.score_before_cp, move.ply, 0) for move in game[::4]]
        return rated(calibration, game).mean

    assert mean(0) > mean(-60) > mean(-250)
    assert mean(0) > calibration.population.mean_elo > mean(-250)


@pytest.mark.slow
@given(st.integers(-400, 0), st.integers(-600, 600), st.integers(1, 120))
def test_no_run_of_equal_moves_says_both_very_weak_and_very_strong(
    gain_cp: int, score_cp: int, ply: int
) -> None:
    for calibration in (CLASSICAL, BLITZ):
        rating = rated(calibration, [RatedMove(gain_cp, score_cp, ply, gain_cp)] * 60)
        # One peak that never spreads: moves narrow the belief or leave it as it was.
        assert rating.posterior.sd <= calibration.population.sd_elo + 1e-9


def test_form_is_measured_from_the_players_own_rating() -> None:
    for elo in (1700, 2300):
        rating = CalibratedRating(CLASSICAL, OwnRating(elo))
        assert rating.form is None
        for move in steady(0):
            add(rating, move)
        assert rating.form == pytest.approx(rating.mean - elo)
        assert rating.form is not None
        assert rating.form > 0
    assert rated(CLASSICAL, steady(0)).form is None


def test_a_given_field_is_the_prior() -> None:
    rating = CalibratedRating(CLASSICAL, Population(1500.0, 100.0))
    assert rating.mean == pytest.approx(1500, abs=1)


def test_one_game_pooled_is_that_game() -> None:
    game = rated(BLITZ, steady(-40))
    pool = PooledCalibratedRating(BLITZ)
    pool.update("a", game)
    assert pool.posterior == pytest.approx(game.posterior)
    assert (pool.games, pool.n) == (1, 40)


def test_more_games_narrow_the_interval() -> None:
    widths = []
    pool = PooledCalibratedRating(BLITZ, BLITZ.population)
    for game_id in range(30):
        pool.update(str(game_id), rated(BLITZ, steady(-40)))
        low, high = pool.interval
        widths.append(high - low)
    assert widths[29] < widths[9] < widths[2] < widths[0]


@pytest.mark.slow
@given(st.lists(st.lists(moves, min_size=1, max_size=10), min_size=1, max_size=6))
def test_a_game_taken_out_was_never_there(games: list[list[RatedMove]]) -> None:
    pool = PooledCalibratedRating(CLASSICAL)
    for index, played in enumerate(games):
        pool.update(str(index), rated(CLASSICAL, played))
    before = pool.posterior
    pool.update("other", rated(CLASSICAL, steady(-90)))
    assert pool.games == len(games) + 1
    pool.update("other", None)
    pool.update("other", CalibratedRating(CLASSICAL))
    assert pool.games == len(games)
    assert pool.posterior == before


def test_a_pool_without_games_is_the_prior_and_has_no_form() -> None:
    pool = PooledCalibratedRating(CLASSICAL, OwnRating(2200))
    assert pool.mean == pytest.approx(2200, abs=1)
    assert pool.form is None
    pool.update("a", rated(CLASSICAL, steady(-100)))
    assert pool.form is not None
    assert pool.form < 0


def test_games_of_two_calibrations_do_not_mix() -> None:
    pool = PooledCalibratedRating(CLASSICAL)
    with pytest.raises(ValueError, match=r"'blitz'.*'classical'"):
        pool.update("a", CalibratedRating(BLITZ))
