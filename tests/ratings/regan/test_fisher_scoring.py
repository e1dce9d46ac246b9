from __future__ import annotations

import numpy as np
import pytest

from live.ratings.choice_model import Floats
from live.studies.regan_fit import ScoringStep, descend, inverse

WIDE = (np.array([-50.0, -50.0]), np.array([50.0, 50.0]))


def bowl(at: Floats) -> ScoringStep:
    """A quadratic with its least value 3 at (2, -1)."""
    curvature = np.array([[4.0, 1.0], [1.0, 2.0]])
    away = at - np.array([2.0, -1.0])
    return ScoringStep(3 + float(away @ curvature @ away) / 2, curvature @ away, curvature)


def valley(at: Floats) -> ScoringStep:
    """Rosenbrock's curved valley, with the Gauss-Newton curvature."""
    x, y = at.tolist()
    errors = np.array([10 * (y - x * x), 1 - x])
    slopes = np.array([[-20 * x, 10.0], [-1.0, 0.0]])
    return ScoringStep(float(errors @ errors) / 2, slopes.T @ errors, slopes.T @ slopes)


def test_it_finds_the_bottom() -> None:
    at, last = descend(bowl, np.zeros(2), WIDE)
    assert at == pytest.approx([2, -1], abs=1e-6)
    assert last is not None and last.loss == pytest.approx(3)


def test_it_follows_a_curved_valley() -> None:
    at, last = descend(valley, np.array([-1.2, 1.0]), WIDE)
    assert last is not None
    assert at == pytest.approx([1, 1], abs=1e-4)


def test_it_stops_at_a_wall() -> None:
    at, last = descend(bowl, np.zeros(2), (np.array([-50.0, 0.0]), np.array([50.0, 50.0])))
    assert last is not None
    assert at[1] == 0


def test_a_slope_without_end_ends_at_a_wall() -> None:
    def slope(at: Floats) -> ScoringStep:
        return ScoringStep(-float(at.sum()), np.array([-1.0, -1.0]), np.zeros((2, 2)))

    at, _ = descend(slope, np.zeros(2), WIDE)
    assert at == pytest.approx([50, 50])


def test_the_inverse_is_one() -> None:
    matrix = np.array([[4e6, 1.0], [1.0, 2e-6]])
    found = inverse(matrix)
    assert found is not None
    assert matrix @ found == pytest.approx(np.eye(2), abs=1e-9)


@pytest.mark.parametrize(
    "matrix",
    [
        np.array([[1.0, 1.0], [1.0, 1.0]]),
        np.array([[1.0, 0.0], [0.0, 0.0]]),
        np.array([[1.0, np.nan], [np.nan, 1.0]]),
        np.array([[np.inf, 0.0], [0.0, 1.0]]),
    ],
)
def test_a_singular_matrix_has_no_inverse(matrix: Floats) -> None:
    assert inverse(matrix) is None
