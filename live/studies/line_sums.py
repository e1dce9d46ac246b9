"""Correlations and lines over any number of games, from running sums. Pure.

Alliot (2017, sections 4.2.1 and 4.3.1) correlates indicators with results by Pearson's ρ and fits
``r = β d + α``. Sums in ten folds by game give the same for nine tenths, so that each line can be
tried on games that it was not fitted to; his constants were tried on their own games.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
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
        low, high = fisher_interval(rho, int(n))
        beta = cov / var_x
        spread = math.sqrt(max(0.0, var_y - beta * cov) / (n - 2) / var_x)
        reach = float(stdtrit(n - 2, 0.975)) * spread
        error, plain = _held_out(sums)
        return LineFit(
            int(n),
            rho,
            low,
            high,
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


class RegressionSums:
    """Sums by group of games for one line of several indicators together, by least squares.

    ``penalty`` of shape (count, count), for each game: what the squares of the weights cost, so
    that they are smooth where few games say anything (Eilers and Marx 1996, "Flexible smoothing
    with B-splines and penalties").
    """

    def __init__(self, groups: int, penalty: Floats) -> None:
        count = len(penalty)
        # Products of (1, indicators, result) with themselves.
        self._sums = np.zeros((groups, count + 2, count + 2))
        self._penalty = np.pad(penalty, (1, 0))

    def add(self, group: int, indicators: Floats, result: float) -> None:
        """One game: indicators of shape (count,), and the result they should go with."""
        values = np.concatenate([[1.0], indicators, [result]])
        self._sums[group] += np.outer(values, values)

    def line(self, groups: Sequence[int]) -> Floats:
        """Intercept and weights, shape (count + 1,); the smallest where several fit alike."""
        sums = self._sums[groups].sum(axis=0)
        found: Floats = np.linalg.lstsq(self._curvature(sums), sums[:-1, -1], rcond=1e-10)[0]
        return found

    def _curvature(self, sums: Floats) -> Floats:
        found: Floats = sums[:-1, :-1] + sums[0, 0] * self._penalty
        return found

    def moments(self, groups: Sequence[int], line: Floats) -> Floats:
        """What ``correlation`` takes, of a line's values and the results of these groups."""
        sums = self._sums[groups].sum(axis=0)
        both, results = sums[:-1, :-1], sums[:-1, -1]
        told = line @ both
        return np.array(
            [sums[0, 0], told[0], sums[0, -1], told @ line, sums[-1, -1], line @ results]
        )

    def fitted(self) -> tuple[int, Floats, Floats]:
        """Games, the line of all groups, and the covariance of its intercept and weights."""
        line = self.line(range(len(self._sums)))
        sums = self._sums.sum(axis=0)
        n = int(sums[0, 0])
        both, results = sums[:-1, :-1], sums[:-1, -1]
        left = float(sums[-1, -1] - 2 * line @ results + line @ both @ line)
        variance = max(0.0, left) / max(1, n - len(line))
        inverse = np.linalg.pinv(self._curvature(sums), rcond=1e-10, hermitian=True)
        spread = np.asarray(variance * inverse, dtype=np.float64)
        return n, line, spread


class ColumnSums:
    """Sums by group of games for the best of many indicators, each by a line of its own."""

    def __init__(self, groups: int, count: int) -> None:
        # n, result, its square, and by indicator x, x², x times result.
        self._results = np.zeros((groups, 3))
        self._columns = np.zeros((groups, 3, count))

    def add(self, group: int, indicators: Floats, result: float) -> None:
        """One game: indicators of shape (count,), and the result they should go with."""
        self._results[group] += (1, result, result * result)
        self._columns[group] += (indicators, indicators * indicators, indicators * result)

    def correlations(self, groups: Sequence[int]) -> Floats:
        """Of each indicator with the results; -1 where it says nothing."""
        n, y, yy = self._results[groups].sum(axis=0)
        x, xx, xy = self._columns[groups].sum(axis=0)
        if n < 2:
            return np.full(len(x), -1.0)
        scale = np.sqrt(np.maximum((n * xx - x * x) * (n * yy - y * y), 0.0))
        found: Floats = np.where(scale > 1e-9, (n * xy - x * y) / np.maximum(scale, 1e-12), -1.0)
        return found

    def line(self, groups: Sequence[int]) -> Floats:
        """Number of the best indicator, intercept and slope, shape (3,)."""
        best = int(np.argmax(self.correlations(groups)))
        n, y, _ = self._results[groups].sum(axis=0)
        x, xx, xy = self._columns[groups, :, best].sum(axis=0)
        spread = n * xx - x * x
        slope = (n * xy - x * y) / spread if spread > 1e-9 else 0.0
        return np.array([best, (y - slope * x) / max(n, 1), slope])

    def moments(self, groups: Sequence[int], line: Floats) -> Floats:
        """What ``correlation`` takes, of a line's values and the results of these groups."""
        n, y, yy = self._results[groups].sum(axis=0)
        best, alpha, beta = int(line[0]), line[1], line[2]
        x, xx, xy = self._columns[groups, :, best].sum(axis=0)
        told = n * alpha + beta * x
        squares = n * alpha**2 + 2 * alpha * beta * x + beta**2 * xx
        return np.array([n, told, y, squares, yy, alpha * y + beta * xy])


def correlation(moments: Floats) -> float | None:
    """From n, the sums of both, of their squares, and of their product; None without spread."""
    n, x, y, xx, yy, xy = map(float, moments)
    var_x, var_y = n * xx - x * x, n * yy - y * y
    if n < 4 or var_x < 1e-9 or var_y < 1e-9:
        return None
    return max(-1.0, min(1.0, (n * xy - x * y) / math.sqrt(var_x * var_y)))


def fisher_interval(rho: float | None, n: int) -> tuple[float | None, float | None]:
    """95 % interval of a correlation of ``n`` pairs, by Fisher's z."""
    if rho is None or n < 4:
        return None, None
    z, reach = math.atanh(max(-1 + 1e-12, min(1 - 1e-12, rho))), _Z95 / math.sqrt(n - 3)
    return math.tanh(z - reach), math.tanh(z + reach)
