"""A belief about a player's Elo, on a grid."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from live.ratings.calibration import Population

Floats = npt.NDArray[np.float64]

#: Elo a player may have: wide enough for any rated player with his interval.
LOW_ELO, HIGH_ELO, STEP_ELO = 0.0, 3600.0, 20.0
GRID_ELO: Floats = np.arange(LOW_ELO, HIGH_ELO + STEP_ELO / 2, STEP_ELO)


class Posterior:
    """Normalised probabilities on ``GRID_ELO``, each spread evenly over its cell."""

    __slots__ = ("__dict__", "probability")

    def __init__(self, log_density: Floats) -> None:
        """From unnormalised log densities, shape (grid,); raises ValueError if none is finite."""
        top = log_density.max()
        if not np.isfinite(top):
            raise ValueError("a posterior needs finite log densities")
        weight = np.exp(log_density - top)
        self.probability: Floats = weight / weight.sum()

    @cached_property
    def mean(self) -> float:
        """Elo."""
        return float(self.probability @ GRID_ELO)

    @cached_property
    def sd(self) -> float:
        """Elo."""
        return float(np.sqrt(self.probability @ (GRID_ELO - self.mean) ** 2))

    @cached_property
    def interval(self) -> tuple[float, float]:
        """The central 95 %, Elo."""
        return self.quantile(0.025), self.quantile(0.975)

    def quantile(self, share: float) -> float:
        """Elo below which ``share`` of the belief lies, linear within a cell."""
        below = np.concatenate([[0.0], np.cumsum(self.probability)])
        walls = np.concatenate([GRID_ELO - STEP_ELO / 2, [HIGH_ELO + STEP_ELO / 2]])
        return float(np.interp(share, below, walls))


def log_prior(population: Population) -> Floats:
    """Unnormalised log density of a normal population on the grid, shape (grid,)."""
    return -0.5 * ((GRID_ELO - population.mean_elo) / population.sd_elo) ** 2
