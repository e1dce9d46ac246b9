"""Posterior and log_prior, held against scipy's normal distribution."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from live.ratings.calibration import Population
from live.ratings.posterior import GRID_ELO, Posterior, log_prior


@given(st.floats(800, 2800), st.floats(60, 200))
def test_a_normal_belief_has_the_figures_of_the_normal_distribution(mean: float, sd: float) -> None:
    belief = Posterior(log_prior(Population(mean, sd)))
    assert belief.mean == pytest.approx(mean, abs=0.5)
    assert belief.sd == pytest.approx(sd, abs=0.5)
    for share in (0.025, 0.3, 0.5, 0.975):
        assert belief.quantile(share) == pytest.approx(norm.ppf(share, mean, sd), abs=2)
    assert belief.interval == (belief.quantile(0.025), belief.quantile(0.975))


def test_probabilities_sum_to_one_however_unlikely_everything_is() -> None:
    belief = Posterior(np.full(GRID_ELO.size, -5e4))
    assert belief.probability.sum() == pytest.approx(1)
    assert belief.mean == pytest.approx(GRID_ELO.mean())


@pytest.mark.parametrize("worst", [np.nan, np.inf, -np.inf])
def test_a_belief_without_a_finite_top_is_refused(worst: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        Posterior(np.full(GRID_ELO.size, worst))


@pytest.mark.parametrize("sd", [0.0, -1.0, float("nan"), float("inf")])
def test_a_population_without_a_spread_is_refused(sd: float) -> None:
    with pytest.raises(ValueError, match="population"):
        Population(1500.0, sd)
