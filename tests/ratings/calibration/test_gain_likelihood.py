"""Fitted weights, held against optima found by other means."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

from live.ratings.calibration.gain_likelihood import (
    CIRCUMSTANTIAL,
    LikelihoodSample,
    LikelihoodWeights,
    fit_weights,
)
from live.ratings.calibration.move_evidence import Population
from live.ratings.calibration.posterior import Floats

FIELD = Population(2000.0, 250.0)
SCALE = (2000.0, 300.0)
GRID = np.arange(1000.0, 3001.0, 60.0)


def sample(seed: int = 1, games: int = 150) -> LikelihoodSample:
    """Two classes of gain, counted once whatever and once by one of two circumstances."""
    chance = np.random.default_rng(seed)
    elo = np.clip(chance.normal(2000, 250, games).round(), 1001, 2999)
    good = chance.binomial(20, 1 / (1 + np.exp(-(elo - 1900) / 400)))
    half = chance.binomial(good, 0.5), chance.binomial(20 - good, 0.5)
    columns = [good, 20 - good, half[0], half[1], good - half[0], 20 - good - half[1]]
    return LikelihoodSample(np.stack(columns, axis=1) * 0.3, elo, np.ones(games))


def objective(flat: Floats, data: LikelihoodSample, precision: float) -> float:
    """The penalised log posterior of the true ratings."""
    z, true = (GRID - SCALE[0]) / SCALE[1], (data.elo - SCALE[0]) / SCALE[1]
    prior = -0.5 * ((GRID - FIELD.mean_elo) / FIELD.sd_elo) ** 2
    slope, curvature = data.features @ flat[:6], data.features[:, :2] @ flat[6:]
    log = np.outer(slope, z) - np.outer(curvature, z * z / 2) + prior
    found = slope * true - curvature * true**2 / 2 - logsumexp(log, axis=1)
    stiffness = precision * np.array([1, 1, *[CIRCUMSTANTIAL] * 4, 1, 1])
    return float(found.sum()) - 0.5 * float(stiffness @ flat**2)


@pytest.mark.slow
def test_the_fit_is_the_optimum_found_without_derivatives() -> None:
    data = sample()
    found = fit_weights([data], FIELD, SCALE, 2, 10.0)
    flat = np.concatenate(found)
    best = objective(flat, data, 10.0)

    def loss(x: Floats) -> float:
        return -objective(np.concatenate([x[:6], np.abs(x[6:])]), data, 10.0)

    slow = minimize(loss, np.zeros(8), method="Powell", options={"maxfev": 1500})
    assert best >= -slow.fun - 1e-3
    chance = np.random.default_rng(2)
    for _ in range(50):
        step = flat + chance.normal(0, 0.01, 8)
        step[6:] = np.maximum(step[6:], 0)
        assert objective(step, data, 10.0) < best + 1e-6


def test_good_moves_speak_for_strength() -> None:
    found = fit_weights([sample()], FIELD, SCALE, 2, 10.0)
    assert found.slope[0] > 0 > found.slope[1]
    assert (found.curvature >= 0).all()


def test_samples_put_together_or_weighed_twice_are_the_same() -> None:
    first, second = sample(3), sample(4)
    doubled = LikelihoodSample(first.features, first.elo, 2 * first.weight)
    a = fit_weights([first, first, second], FIELD, SCALE, 2, 10.0)
    b = fit_weights([second, doubled], FIELD, SCALE, 2, 10.0)
    np.testing.assert_allclose(a.slope, b.slope, atol=2e-3)
    np.testing.assert_allclose(a.curvature, b.curvature, atol=2e-3)


def test_known_evidence_that_says_all_leaves_little_to_learn() -> None:
    data = sample(5, games=2000)
    known = fit_weights([data], FIELD, SCALE, 2, 1e-3)
    more = fit_weights([data], FIELD, SCALE, 2, 10.0, (known, known.evidence(data.features)))
    alone = fit_weights([data], FIELD, SCALE, 2, 10.0)
    assert np.abs(more.slope).max() < 0.1 * np.abs(alone.slope).max()


def test_known_curvature_may_be_taken_back_but_not_below_0() -> None:
    data = sample(6)
    guesses = LikelihoodSample(
        data.features, np.random.default_rng(7).permutation(data.elo), data.weight
    )
    known = LikelihoodWeights(
        np.zeros(6), np.array([0.05, 0.4])
    )  # sure of what the counts cannot tell
    evidence = known.evidence(data.features)
    more = fit_weights([guesses], FIELD, SCALE, 2, 0.1, (known, evidence))
    assert (more.curvature < -0.01).any()
    assert (known.curvature + more.curvature >= -1e-12).all()


def test_evidence_is_linear_in_the_counts() -> None:
    weights = LikelihoodWeights(np.arange(6.0), np.array([0.5, 2.0]))
    features = np.array([[1.0, 2, 0, 0, 1, 0], [0, 0, 1, 0, 0, 0]])
    assert weights.evidence(features).tolist() == [[6.0, 4.5], [2.0, 0.0]]
    assert weights.evidence(features * 3)[0] == pytest.approx([18.0, 13.5])
