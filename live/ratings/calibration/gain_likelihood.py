"""How likely players of each Elo are to make moves of each kind, as a log-linear model.

Evidence is ``slope * z - curvature * z**2 / 2`` with z the scaled Elo, both linear in counted
features. The weights are those under which true ratings are most probable given the evidence and
the population (conditional maximum likelihood), with a normal prior on every weight that keeps
small samples honest: a circumstance changes what a gain says only as far as the data insist.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from live.ratings.calibration.move_evidence import Population
from live.ratings.calibration.posterior import Floats

#: How many times the precision of other weights one has that depends on a circumstance.
CIRCUMSTANTIAL = 4.0
_STEP_ELO = 60.0


class LikelihoodWeights(NamedTuple):
    """Slopes of all parts (k,) and curvatures of the classes of gain (classes,)."""

    slope: Floats
    curvature: Floats

    def evidence(self, features: Floats) -> Floats:
        """Summed slope and curvature, shape (m, 2), of counted features (m, k)."""
        kinds = features[:, : len(self.curvature)]
        return np.stack([features @ self.slope, kinds @ self.curvature], axis=1)


class LikelihoodSample(NamedTuple):
    """Rows to learn from: counted features (m, k), true Elo (m,), weights (m,)."""

    features: Floats
    elo: Floats
    weight: Floats


def fit_weights(
    samples: list[LikelihoodSample],
    population: Population,
    scale: tuple[float, float],
    classes: int,
    precision: float,
    known: tuple[LikelihoodWeights, Floats] | None = None,
) -> LikelihoodWeights:
    """Weights that make the true ratings most probable, beside ``known`` weights and the
    evidence (m, 2) they give.

    The first ``classes`` features count the classes of gain whatever the circumstances, and carry
    the curvature; ``scale`` is centre and unit of the scaled Elo. The log posterior is concave,
    so there is one answer. No curvature may fall below 0, with the known one added: evidence then
    has one peak, and no run of moves, however odd, says "very weak or very strong".
    """
    features = np.concatenate([sample.features for sample in samples])
    elo = np.concatenate([sample.elo for sample in samples])
    weight = np.concatenate([sample.weight for sample in samples])
    k = features.shape[1]
    kinds = features[:, :classes]
    mean, sd = population.mean_elo, population.sd_elo
    grid = np.arange(min(mean - 4 * sd, elo.min()), max(mean + 4 * sd, elo.max()) + 1, _STEP_ELO)
    z = (grid - scale[0]) / scale[1]
    basis = np.stack([z, -z * z / 2])
    z_true = (elo - scale[0]) / scale[1]
    basis_true = np.stack([z_true, -z_true * z_true / 2], axis=1)
    prior = -0.5 * ((grid - mean) / sd) ** 2
    offset = np.zeros((len(elo), 2))
    floor = np.zeros(classes)
    if known is not None:
        weights, offset = known
        floor = -weights.curvature
    stiffness = np.full(k + classes, precision)
    stiffness[classes:k] *= CIRCUMSTANTIAL

    from scipy.optimize import minimize  # where asked for: a slow import
    from scipy.special import logsumexp

    def loss(flat: Floats) -> tuple[float, Floats]:
        natural = offset + np.stack([features @ flat[:k], kinds @ flat[k:]], axis=1)
        log = natural @ basis + prior
        norm = logsumexp(log, axis=1)
        log -= norm[:, None]
        short = weight[:, None] * (basis_true - np.exp(log) @ basis.T)
        fit = weight @ (np.einsum("mi,mi->m", natural, basis_true) - norm)
        rise = np.concatenate([features.T @ short[:, 0], kinds.T @ short[:, 1]])
        penalty = 0.5 * float(stiffness @ flat**2)
        return penalty - float(fit), stiffness * flat - rise

    found = minimize(
        loss,
        np.zeros(k + classes),
        jac=True,
        method="L-BFGS-B",
        bounds=[(None, None)] * k + [(low, None) for low in floor],
        options={"maxiter": 200},
    ).x
    return LikelihoodWeights(found[:k], found[k:])
