"""Correlations and lines over any number of games, from running sums. Pure.

Alliot (2017, sections 4.2.1 and 4.3.1) correlates indicators with results by Pearson's ρ and fits
``r = β d + α``. Sums in ten folds by game give the same for nine tenths, so that each line can be
tried on games that it was not fitted to; his constants were tried on their own games.
"""

from __future__ import annotations

import math
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtrit

Floats = npt.NDArray[np.float64]

FOLDS: Final = 10
_Z95: Final = float(ndtri(0.975))


class LineFit(msgspec.Struct, frozen=True):
    """What an indicator says about results; None where it cannot be known."""

    n: int
    rho: float | None = None
    rho_low: float | None = None
    """95 % interval, by Fisher's z."""
    rho_high: float | None = None
    alpha: float | None = None
    beta: float | None = None
    beta_low: float | None = None
    """95 % interval, by Student's t."""
    beta_high: float | None = None
    mean: float | None = None
    """Of the indicator."""
    sd: float | None = None
    error: float | None = None
    """Root mean square of result less line, each fold by the line of the nine others."""
    error_of_mean: float | None = None
    """The same with no more than the mean result of the nine others."""


class LineSums:
    """Sums for ``count`` indicators of the same games. Adding a game costs O(count)."""

    def __init__(self, count: int) -> None:
        # By fold: n, y, y², and by indicator x, x², xy.
        self._n = np.zeros(FOLDS)
        self._y = np.zeros(FOLDS)
        self._yy = np.zeros(FOLDS)
        self._x = np.zeros((FOLDS, count))
        self._xx = np.zeros((FOLDS, count))
        self._xy = np.zeros((FOLDS, count))

    def add(self, game: int, indicators: Floats, result: float) -> None:
        """One game: indicators of shape (count,), and the result they should go with."""
        fold = game % FOLDS
        self._n[fold] += 1
        self._y[fold] += result
        self._yy[fold] += result * result
        self._x[fold] += indicators
        self._xx[fold] += indicators * indicators
        self._xy[fold] += indicators * result

    def fit(self, index: int) -> LineFit:
        """Of one indicator."""
        sums = np.stack(
            [
                self._n,
                self._x[:, index],
                self._y,
                self._xx[:, index],
                self._yy,
                self._xy[:, index],
            ]
        )
        n, x, y, xx, yy, xy = sums.sum(axis=1).tolist()
        if n < 2:
            return LineFit(int(n))
        var_x, var_y, cov = xx / n - (x / n) ** 2, yy / n - (y / n) ** 2, xy / n - x * y / n**2
        mean, sd = x / n, math.sqrt(max(var_x, 0.0))
        if n < 4 or var_x < 1e-15 or var_y < 1e-15:
            return LineFit(int(n), mean=mean, sd=sd)
        rho = max(-1.0, min(1.0, cov / math.sqrt(var_x * var_y)))
        z, reach = math.atanh(min(abs(rho), 1 - 1e-12)), _Z95 / math.sqrt(n - 3)
        ends = [math.copysign(1, rho) * math.tanh(z + side * reach) for side in (-1, 1)]
        beta = cov / var_x
        spread = math.sqrt(max(0.0, var_y - beta * cov) / (n - 2) / var_x)
        reach = float(stdtrit(n - 2, 0.975)) * spread
        error, plain = _held_out(sums)
        return LineFit(
            int(n),
            rho,
            min(ends),
            max(ends),
            y / n - beta * mean,
            beta,
            beta - reach,
            beta + reach,
            mean,
            sd,
            error,
            plain,
        )


def _held_out(sums: Floats) -> tuple[float | None, float | None]:
    """Errors of each fold by what the nine others say, over all games."""
    whole = sums.sum(axis=1)
    squares = plain = 0.0
    for fold in range(FOLDS):
        if not sums[0, fold]:
            continue
        n, x, y, xx, _, xy = (whole - sums[:, fold]).tolist()
        if n < 3:
            return None, None
        var = xx / n - (x / n) ** 2
        beta = (xy / n - x * y / n**2) / var if var > 1e-15 else 0.0
        alpha = (y - beta * x) / n
        m, tx, ty, txx, tyy, txy = sums[:, fold].tolist()
        squares += tyy - 2 * alpha * ty - 2 * beta * txy + m * alpha**2
        squares += 2 * alpha * beta * tx + beta**2 * txx
        mean = y / n
        plain += tyy - 2 * mean * ty + m * mean**2
    n = float(whole[0])
    return math.sqrt(max(0.0, squares) / n), math.sqrt(max(0.0, plain) / n)
