"""Fisher scoring: Newton's method with the expected curvature, damped against going astray."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from live.ratings.regan.choice_model import Floats

#: The longest step, where parameters are logarithms: e-fold.
LONGEST = 1.0
_STEPS = 100


class ScoringStep(NamedTuple):
    """What is known at one point, to make the next step."""

    loss: float
    slope: Floats
    """Of the loss, shape (parameters,)."""
    curvature: Floats
    """Positive semidefinite, shape (parameters, parameters)."""


def descend(
    step_of: Callable[[Floats], ScoringStep],
    start: Floats,
    bounds: tuple[Floats, Floats],
    longest: float = LONGEST,
) -> tuple[Floats, ScoringStep | None]:
    """The point of least loss within bounds, with what is known there.

    Damped steps (Levenberg 1944, Marquardt 1963) until none helps; the second part is None when
    they do not come to rest.
    """
    at = start
    here = step_of(at)
    damping = 1e-3
    for _ in range(_STEPS):
        pull = here.curvature + np.diag(damping * np.diag(here.curvature) + 1e-12)
        move = np.clip(-np.linalg.solve(pull, here.slope), -longest, longest)
        there = np.clip(at + move, *bounds)
        found = step_of(there)
        if found.loss <= here.loss:
            gained, moved = here.loss - found.loss, float(np.abs(there - at).max())
            at, here = there, found
            damping = max(damping / 10, 1e-9)
            if moved < 1e-7 or gained < 1e-12 * (1 + abs(here.loss)):
                return at, here
        else:
            damping *= 10
            if damping > 1e12:
                return at, here
    return at, None


def inverse(matrix: Floats) -> Floats | None:
    """The inverse of a covariance or information; None where it is singular but for rounding."""
    if not np.all(np.isfinite(matrix)) or np.any(np.diag(matrix) <= 0):
        return None
    scale = np.sqrt(np.outer(np.diag(matrix), np.diag(matrix)))
    alike = matrix / scale
    if np.linalg.eigvalsh(alike)[0] < 1e-10:
        return None
    return np.asarray(np.linalg.inv(alike) / scale)
