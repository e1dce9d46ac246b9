"""Covariance of gains over games made up for it."""

from __future__ import annotations

import random

import numpy as np
import pytest

from live.ratings.alliot.covariance import TANH, Convolution, predict_by_convolution
from live.ratings.gain_histogram import GainHistogram
from live.studies.alliot_covariance import (
    GRID_B_CP,
    GRID_N0,
    convolved,
    spline_basis,
    spline_indicators,
    spline_penalty,
)
from live.studies.alliot_games import CountedGame, RegressionSums


def games(count: int, step_cp: int = 1) -> list[CountedGame]:
    chance = random.Random(7)

    def side(skill: float) -> tuple[tuple[int, int], ...]:
        gains = (min(0, round(chance.gauss(40 - skill, 60) / step_cp)) for _ in range(30))
        return tuple((0, gain * step_cp) for gain in gains)

    return [
        CountedGame(game, 0.0, side(chance.uniform(0, 90)), side(chance.uniform(0, 90)))
        for game in range(count)
    ]


def test_the_grid_is_the_convolution_where_gains_are_whole_steps() -> None:
    for game in games(4, step_cp=5):
        found = convolved(game).reshape(len(GRID_N0), len(GRID_B_CP))
        white, black = (
            GainHistogram(gain_cp for _, gain_cp in side) for side in (game.white, game.black)
        )
        for n0, b_cp in ((0, 0), (29, 220), (95, 780)):
            told = predict_by_convolution(white, black, Convolution(n0, b_cp)).expected_score
            assert told is not None
            at = found[GRID_N0.index(n0), GRID_B_CP.index(b_cp)]
            assert at == pytest.approx(2 * told - 1, abs=1e-9)


def test_a_spline_is_odd_and_goes_through_its_points() -> None:
    basis = spline_basis()
    assert basis.shape == (801, 20)
    assert np.allclose(basis, -basis[::-1])
    assert np.allclose(basis[400 + np.arange(20, 401, 20)], np.eye(20))


def test_a_spline_finds_the_vector_that_made_the_results() -> None:
    basis, sums = spline_basis(), RegressionSums(1, spline_penalty())
    truth = 2 * TANH.at(np.arange(-400.0, 401.0)) - 1
    points = truth[400 + np.arange(20, 401, 20)]
    for game in games(300):
        indicators = spline_indicators(game, basis)
        sums.add(0, indicators, float(indicators @ points))
    n, line, _ = sums.fitted()
    assert n == 300
    # Where differences are common: under a pawn.
    assert line[1:6] == pytest.approx(points[:5], abs=0.03)
