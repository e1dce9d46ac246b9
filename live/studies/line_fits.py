"""Correlations and fitted lines over any number of games, from running sums. All
functions are pure.

Alliot (2017, sections 4.2.1 and 4.3.1) correlates indicators with results by Pearson's
ρ and fits ``r = β d + α``. His constants were tested on the games to which they were
fitted. Here the sums are kept in ten folds of games, so each line can be tested on
games to which it was not fitted.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtrit

from live.ratings.ferreira import Floats

FOLDS = 10
Groups = npt.NDArray[np.int64]
Line = tuple[int, Floats]
"""Index of a line, and its intercept and weights."""
_Z95 = float(ndtri(0.975))
#: Weights of linear combinations of (1, value, result). ``_ITSELF`` is the line that
#: returns the indicator unchanged (intercept 0, weight 1). ``_MISS`` is the result
#: minus the line's value.
_ITSELF = np.array([0.0, 1.0])
_MISS = np.array([0.0, -1.0, 1.0])


class Correlation(NamedTuple):
    """A correlation of ``n`` pairs with its 95 % interval; None for fewer than four
    pairs, or if one of the two figures is constant.
    """

    n: int
    rho: float | None
    low: float | None
    high: float | None


class LineFit(NamedTuple):
    """Correlation of an indicator with results and the line fitted to them, in the
    order of ``FIT_COLUMNS``; None for what cannot be computed.
    """

    n: int
    rho: float | None = None
    rho_low: float | None = None
    """Lower end of the 95 % interval, by Fisher's z."""
    rho_high: float | None = None
    mean: float | None = None
    """Mean of the indicator."""
    sd: float | None = None
    beta: float | None = None
    beta_low: float | None = None
    """Lower end of the 95 % interval, by Student's t."""
    beta_high: float | None = None
    alpha: float | None = None
    error: float | None = None
    """Root mean square of the result minus the line; each fold is tested with the line
    of the nine other folds.
    """
    error_of_mean: float | None = None
    """Root mean square of the result minus the mean result of the nine other folds."""


class LineSums:
    """Sums by group of games, for lines that are fitted from indicators to results by
    least squares. A game belongs to the group given by its number.

    Without ``penalty``, each of the ``lines`` has one indicator, and the best line can
    be chosen. With ``penalty``, there is one line of several indicators. The penalty is
    a matrix of shape (indicators, indicators): a quadratic form of the weights that is
    added to the squared errors for each game, so that the weights are smooth where
    there are few games (Eilers and Marx 1996, "Flexible smoothing with B-splines and
    penalties").
    """

    def __init__(
        self, lines: int, *, groups: int = FOLDS, penalty: Floats | None = None
    ) -> None:
        self._penalty = np.pad(np.zeros((1, 1)) if penalty is None else penalty, (1, 0))
        size = len(self._penalty) + 1
        # Sums of the products of (1, indicators, result) with each other.
        self._sums = np.zeros((groups, lines, size, size))
        self._groups = np.arange(groups)

    def add(self, number: int, indicators: Floats, result: float) -> None:
        """Add one game by its number: the indicators of all lines, and the result to
        which they are fitted.
        """
        of_group = self._sums[number % len(self._sums)]
        values = np.ones(of_group.shape[:2])
        values[:, 1:-1] = indicators.reshape(len(of_group), -1)
        values[:, -1] = result
        of_group += values[:, :, None] * values[:, None, :]

    def compute_rho(self, groups: Groups, index: int) -> float | None:
        """Return the correlation of one indicator with the results, or None if it is
        undefined.
        """
        return compute_correlation(self.compute_moments(groups, (index, _ITSELF)))

    def fit_line(self, groups: Groups, index: int | None = None) -> Line:
        """Fit the line with this index, or the best line: the one of lowest index if
        several fit equally well. Return its index, and its intercept and weights.
        """
        lines = range(self._sums.shape[1])
        if index is None:
            rhos = (
                [self.compute_rho(groups, line) for line in lines]
                if len(lines) > 1
                else [0.0]
            )
            index = int(np.argmax([-1.0 if rho is None else rho for rho in rhos]))
        sums = self._sums[groups, index].sum(axis=0)
        return index, np.linalg.lstsq(
            self._compute_curvature(sums), sums[:-1, -1], rcond=1e-10
        )[0]

    def _compute_curvature(self, sums: Floats) -> Floats:
        curvature: Floats = sums[:-1, :-1] + sums[0, 0] * self._penalty
        return curvature

    def compute_moments(self, groups: Groups, line: Line) -> Floats:
        """Return the sums of products of 1, a line's values and the results over these
        groups, shape (3, 3).
        """
        index, weights = line
        rows = np.zeros((3, len(weights) + 1))
        rows[0, 0] = 1
        rows[1, :-1] = weights
        rows[2, -1] = 1
        moments: Floats = rows @ self._sums[groups, index].sum(axis=0) @ rows.T
        return moments

    def sum_held_out(
        self,
        parts: Sequence[tuple[Groups, Groups]],
        index: int | None = None,
    ) -> Floats:
        """Return the sum of the moments of lines over games to which they were not
        fitted. Each part is a pair: the groups to fit to, and the groups to test on.
        """
        moments = [
            self.compute_moments(tested, self.fit_line(fitted, index))
            for fitted, tested in parts
        ]
        return np.asarray(np.sum(moments, axis=0))

    def compute_covariance(self, index: int = 0) -> tuple[int, Floats, Floats]:
        """Return the number of games, the line fitted to all groups, and the covariance
        of its intercept and weights.
        """
        line = self.fit_line(self._groups, index)
        moments = self.compute_moments(self._groups, line)
        n = int(moments[0, 0])
        variance = max(0.0, _MISS @ moments @ _MISS) / max(1, n - len(line[1]))
        curvature = self._compute_curvature(self._sums[:, index].sum(axis=0))
        return (
            n,
            line[1],
            variance * np.linalg.pinv(curvature, rcond=1e-10, hermitian=True),
        )

    def fit(self, index: int) -> LineFit:
        """Fit the line of one indicator; return it with its intervals and errors."""
        n, line, spread = self.compute_covariance(index)
        if n < 2:
            return LineFit(n)
        moments = self.compute_moments(self._groups, (index, _ITSELF))
        mean, square = (moments[1, :2] / n).tolist()
        sd = math.sqrt(max(square - mean**2, 0.0))
        rho = compute_correlation(moments)
        if rho is None:
            return LineFit(n, mean=mean, sd=sd)
        alpha, beta = line.tolist()
        reach = float(stdtrit(n - 2, 0.975)) * math.sqrt(spread[1, 1])
        ends = (beta, beta - reach, beta + reach, alpha)
        return LineFit(
            n,
            rho,
            *compute_fisher_interval(rho, n),
            mean,
            sd,
            *ends,
            *self._cross_validate(index),
        )

    def _cross_validate(self, index: int) -> tuple[float | None, float | None]:
        """Return two root mean square errors over all games: of the line, and of the
        mean result as the only prediction. Each group of games is predicted from the
        other groups.
        """
        groups = self._groups
        parts = [(np.delete(groups, at), groups[[at]]) for at in groups]
        n, y = self._sums[:, index, 0, [0, -1]].T
        rest = n.sum() - n
        if (n[rest < 3] > 0).any():
            return None, None
        moments = self.sum_held_out(parts, index)
        means = (y.sum() - y) / np.maximum(rest, 1)
        plain = moments[2, 2] + (n * means**2 - 2 * means * y).sum()
        squares = (_MISS @ moments @ _MISS, plain)
        errors = [
            math.sqrt(max(float(square), 0.0) / float(n.sum())) for square in squares
        ]
        return errors[0], errors[1]


def compute_correlation(moments: Floats) -> float | None:
    """Return a correlation from the sums of products of 1, x and y, shape (3, 3); None
    for fewer than four pairs, or if x or y is constant.
    """
    (n, x, y), (_, xx, xy), (_, _, yy) = moments.tolist()
    var_x = n * xx - x * x
    var_y = n * yy - y * y
    if n < 4 or min(var_x, var_y) < 1e-15 * n * n:
        return None
    rho = float(n * xy - x * y) / math.sqrt(var_x * var_y)
    return max(-1.0, min(1.0, rho))


def compute_fisher_interval(
    rho: float | None, n: int
) -> tuple[float | None, float | None]:
    """Return the two ends of the 95 % interval of a correlation of ``n`` pairs, by
    Fisher's z.
    """
    if rho is None or n < 4:
        return None, None
    z = math.atanh(max(-1 + 1e-12, min(1 - 1e-12, rho)))
    reach = _Z95 / math.sqrt(n - 3)
    return math.tanh(z - reach), math.tanh(z + reach)
