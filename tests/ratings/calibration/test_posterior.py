"""The normal posterior, held against a sum over a fine grid and scipy's normal distribution."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from live.ratings.calibration.move_evidence import Population
from live.ratings.calibration.posterior import Posterior, posterior_of


@pytest.mark.slow
@given(
    st.floats(0, 3600),
    st.floats(20, 500),
    st.floats(-20, 20),
    st.floats(0, 30),
    st.floats(1000, 2500),
    st.floats(100, 500),
)
def test_it_is_the_prior_times_the_likelihood_on_a_grid(
    mean: float, sd: float, slope: float, curvature: float, centre: float, scale: float
) -> None:
    belief = posterior_of(
        Population(mean, sd), slope, curvature, centre_elo=centre, scale_elo=scale
    )
    grid = np.linspace(belief.mean - 12 * sd, belief.mean + 12 * sd, 40_001)
    z = (grid - centre) / scale
    log = norm.logpdf(grid, mean, sd) + slope * z - curvature * z**2 / 2
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    found = float(weight @ grid)
    assert belief.mean == pytest.approx(found, abs=1e-3 * sd)
    assert belief.sd == pytest.approx(float(np.sqrt(weight @ (grid - found) ** 2)), rel=1e-3)


@given(st.floats(800, 2800), st.floats(60, 200))
def test_no_evidence_leaves_the_prior(mean: float, sd: float) -> None:
    belief = posterior_of(Population(mean, sd), 0, 0, centre_elo=2000, scale_elo=300)
    assert belief.mean == pytest.approx(mean)
    assert belief.sd == pytest.approx(sd)


def test_quantiles_are_those_of_the_normal_distribution() -> None:
    belief = Posterior(2100.0, 240.0)
    for share in (0.025, 0.3, 0.5, 0.975):
        assert belief.quantile(share) == pytest.approx(norm.ppf(share, 2100, 240))
    assert belief.interval == pytest.approx((belief.quantile(0.025), belief.quantile(0.975)))


@pytest.mark.parametrize(
    ("slope", "curvature"),
    [(np.nan, 1.0), (np.inf, 1.0), (0.0, np.nan), (0.0, np.inf), (0.0, -100.0)],
)
def test_evidence_that_leaves_no_belief_is_refused(slope: float, curvature: float) -> None:
    with pytest.raises(ValueError, match="no belief"):
        posterior_of(Population(2000, 300), slope, curvature, centre_elo=2000, scale_elo=300)


@pytest.mark.parametrize("sd", [0.0, -1.0, float("nan"), float("inf")])
def test_a_population_without_a_spread_is_refused(sd: float) -> None:
    with pytest.raises(ValueError, match="population"):
        Population(1500.0, sd)
