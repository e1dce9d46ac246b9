"""Fisher scoring: Newton's method with the expected curvature, damped against going
astray.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from live.ratings.choice_model import Floats

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


class NoFit(ValueError):
    """Why there are no parameters, for people."""


def minimise_loss(
    step_of: Callable[[Floats], ScoringStep],
    start: Floats,
    lowest: Floats,
    highest: Floats,
) -> tuple[Floats, ScoringStep]:
    """The point of least loss, with what is known there: damped steps (Levenberg 1944,
    Marquardt 1963) until none helps. Raises NoFit where they do not come to rest within
    the bounds.
    """
    at = start
    here = step_of(at)
    damping = 1e-3
    moved = math.inf
    gained = math.inf
    for _ in range(_STEPS):
        if moved < 1e-7 or gained < 1e-12 * (1 + abs(here.loss)) or damping > 1e12:
            if np.all(lowest < at) and np.all(at < highest):
                return at, here
            break
        pull = here.curvature + np.diag(damping * np.diag(here.curvature) + 1e-12)
        move = np.clip(-np.linalg.solve(pull, here.slope), -LONGEST, LONGEST)
        there = np.clip(at + move, lowest, highest)
        found = step_of(there)
        if found.loss <= here.loss:
            gained = here.loss - found.loss
            moved = float(np.abs(there - at).max())
            at = there
            here = found
            damping = max(damping / 10, 1e-9)
        else:
            damping *= 10
    raise NoFit("these moves are explained best by no finite s and c")


def invert(matrix: Floats) -> Floats | None:
    """Invert a covariance or information; None if it is singular up to rounding."""
    if not np.all(np.isfinite(matrix)) or np.any(np.diag(matrix) <= 0):
        return None
    scale = np.sqrt(np.outer(np.diag(matrix), np.diag(matrix)))
    alike = matrix / scale
    if np.linalg.eigvalsh(alike)[0] < 1e-10:
        return None
    return np.asarray(np.linalg.inv(alike) / scale)
