from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from live.studies.alliot_games import (
    FOLDS,
    ColumnSums,
    LineSums,
    RegressionSums,
    correlation,
)


def test_sums_give_what_scipy_gives() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(200, 2))
    y = 0.3 + 2 * x[:, 0] + rng.normal(size=200)
    sums = LineSums(2)
    for game in range(200):
        sums.add(game, x[game], float(y[game]))
    for index in (0, 1):
        line = stats.linregress(x[:, index], y)
        fit = sums.fit(index)
        assert fit.n == 200
        assert fit.rho == pytest.approx(line.rvalue)
        assert (fit.alpha, fit.beta) == pytest.approx((line.intercept, line.slope))
        assert fit.beta_high is not None
        reach = stats.t.ppf(0.975, 198) * line.stderr
        assert fit.beta_high - line.slope == pytest.approx(reach)
        ends = stats.pearsonr(x[:, index], y).confidence_interval()
        assert (fit.rho_low, fit.rho_high) == pytest.approx(tuple(ends))


def test_the_error_is_that_of_games_left_out() -> None:
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=60), rng.normal(size=60)
    sums = LineSums(1)
    for game in range(60):
        sums.add(game, x[game : game + 1], float(y[game]))
    squares = plain = 0.0
    for fold in range(FOLDS):
        held = np.arange(60) % FOLDS == fold
        line = stats.linregress(x[~held], y[~held])
        squares += float(((y[held] - line.intercept - line.slope * x[held]) ** 2).sum())
        plain += float(((y[held] - y[~held].mean()) ** 2).sum())
    fit = sums.fit(0)
    assert fit.error == pytest.approx((squares / 60) ** 0.5)
    assert fit.error_of_mean == pytest.approx((plain / 60) ** 0.5)


def test_what_does_not_vary_has_no_correlation() -> None:
    sums = LineSums(1)
    assert sums.fit(0).n == 0
    for game in range(8):
        sums.add(game, np.array([1.0]), game / 8)
    fit = sums.fit(0)
    assert (fit.n, fit.rho, fit.beta, fit.mean) == (8, None, None, 1.0)


def test_several_indicators_together_are_least_squares() -> None:
    rng = np.random.default_rng(6)
    x = rng.normal(size=(90, 3))
    y = 1 + x @ [2.0, 0.0, -1.0] + rng.normal(size=90)
    sums = RegressionSums(3, np.zeros((3, 3)))
    for game in range(90):
        sums.add(game % 3, x[game], float(y[game]))
    chosen, held = np.arange(90) % 3 != 2, np.arange(90) % 3 == 2
    line = np.linalg.lstsq(np.c_[np.ones(60), x[chosen]], y[chosen], rcond=None)[0]
    assert sums.line([0, 1]) == pytest.approx(line)
    told = line[0] + x[held] @ line[1:]
    rho = correlation(sums.moments([2], line))
    assert rho == pytest.approx(np.corrcoef(told, y[held])[0, 1])
    n, whole, covariance = sums.fitted()
    design = np.c_[np.ones(90), x]
    left = y - design @ whole
    assert n == 90
    assert covariance == pytest.approx(left @ left / 86 * np.linalg.inv(design.T @ design))


def test_the_best_of_many_indicators_is_tried_elsewhere() -> None:
    rng = np.random.default_rng(8)
    x, noise = rng.normal(size=(60, 4)), rng.normal(size=60)
    y = x[:, 2] + noise
    sums = ColumnSums(2, 4)
    for game in range(60):
        sums.add(game % 2, x[game], float(y[game]))
    line = sums.line([0])
    slope, start = np.polyfit(x[::2, 2], y[::2], 1)
    assert tuple(line) == pytest.approx((2, start, slope))
    rho = correlation(sums.moments([1], line))
    assert rho == pytest.approx(np.corrcoef(x[1::2, 2], y[1::2])[0, 1])
    assert correlation(np.zeros(6)) is None
    assert ColumnSums(1, 2).line([0])[2] == 0.0
