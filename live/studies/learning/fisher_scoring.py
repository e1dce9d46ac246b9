"""Fisher scoring: Newton's method with the expected curvature, damped so that it does
not diverge.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from live.ratings.choice_model import Floats

#: Longest step in one parameter. Parameters are logarithms, so 1 is a factor of e.
LONGEST = 1.0
_STEPS = 100


class ScoringStep(NamedTuple):
    """Loss, slope and curvature at one point, from which the next step is computed."""

    loss: float
    slope: Floats
    """Slope of the loss, shape (parameters,)."""
    curvature: Floats
    """Positive semidefinite matrix, shape (parameters, parameters)."""


class NoFit(ValueError):
    """Failure of a fit, with the reason as a text for people."""


def minimise_loss(
    step_of: Callable[[Floats], ScoringStep],
    start: Floats,
    lowest: Floats,
    highest: Floats,
) -> tuple[Floats, ScoringStep]:
    """Return the point with the smallest loss, and loss, slope and curvature there.

    Takes damped steps (Levenberg 1944, Marquardt 1963) until no step reduces the loss.

    Raises:
        NoFit: the steps do not converge within the bounds.
    """
    at = start
    step = step_of(at)
    damping = 1e-3
    moved = math.inf
    gained = math.inf
    for _ in range(_STEPS):
        if moved < 1e-7 or gained < 1e-12 * (1 + abs(step.loss)) or damping > 1e12:
            if np.all(lowest < at) and np.all(at < highest):
                return at, step
            break
        pull = step.curvature + np.diag(damping * np.diag(step.curvature) + 1e-12)
        move = np.clip(-np.linalg.solve(pull, step.slope), -LONGEST, LONGEST)
        next_at = np.clip(at + move, lowest, highest)
        next_step = step_of(next_at)
        if next_step.loss <= step.loss:
            gained = step.loss - next_step.loss
            moved = float(np.abs(next_at - at).max())
            at = next_at
            step = next_step
            damping = max(damping / 10, 1e-9)
        else:
            damping *= 10
    raise NoFit("these moves are explained best by no finite s and c")


def invert(matrix: Floats) -> Floats | None:
    """Return the inverse of a covariance or information matrix; None if the matrix is
    singular up to rounding.
    """
    if not np.all(np.isfinite(matrix)) or np.any(np.diag(matrix) <= 0):
        return None
    scale = np.sqrt(np.outer(np.diag(matrix), np.diag(matrix)))
    scaled = matrix / scale
    if np.linalg.eigvalsh(scaled)[0] < 1e-10:
        return None
    return np.asarray(np.linalg.inv(scaled) / scale)
