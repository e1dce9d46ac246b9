"""A belief about a player's Elo: a normal distribution.

Every move adds ``slope * z - curvature * z**2 / 2`` to the log-likelihood (see
``live.ratings.calibration.move_evidence``) and the prior is normal, so the product is normal
again, however many moves there are: it is known exactly in O(1), and no grid cuts it off.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from live.ratings.calibration.move_evidence import Population

Floats = npt.NDArray[np.float64]

#: Half the width of a 95 % interval, in standard deviations.
REACH = NormalDist().inv_cdf(0.975)


class Posterior(NamedTuple):
    """Mean and standard deviation, Elo."""

    mean: float
    sd: float

    @property
    def interval(self) -> tuple[float, float]:
        """The central 95 %, Elo."""
        return self.mean - REACH * self.sd, self.mean + REACH * self.sd

    def quantile(self, share: float) -> float:
        """Elo below which ``share`` of the belief lies, 0 < share < 1."""
        return self.mean + NormalDist().inv_cdf(share) * self.sd


def posterior_of(
    prior: Population, slope: float, curvature: float, *, centre_elo: float, scale_elo: float
) -> Posterior:
    """``prior`` times ``exp(slope * z - curvature * z**2 / 2)``, z = (Elo - centre) / scale.

    Raises ValueError for evidence that is no number, or that leaves nothing believed.
    """
    of_prior = 1 / prior.sd_elo**2
    precision = of_prior + curvature / scale_elo**2
    if not (math.isfinite(slope) and 0 < precision < math.inf):
        raise ValueError(f"no belief follows from slope {slope} and curvature {curvature}")
    pull = of_prior * (prior.mean_elo - centre_elo) + slope / scale_elo
    return Posterior(centre_elo + pull / precision, 1 / math.sqrt(precision))
