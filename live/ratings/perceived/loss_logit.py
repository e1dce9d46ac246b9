"""How likely players of each Elo are to lose how much in a position: a multinomial logit.

Losses fall into classes, least loss first. The log-odds of each class against losing nothing are
linear in the circumstances of the turn, and so is their change with ``z = (Elo - centre) / scale``;
a term in ``z**2`` lets the change itself change.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Rows = Sequence[Sequence[float]]

#: Where players are compared, Elo. A step of 50 gives the same ratings within 1 Elo.
GRID_ELO = np.arange(400.0, 3601.0, 100.0)


class LossLogit:
    """Shares of the classes of loss, from learned weights.

    Args:
        level: log-odds at the centre, (circumstances, classes - 1).
        slope: their change with z, (changing circumstances, classes - 1).
        bend: times z², (classes - 1,).
        changing: which circumstances change with Elo, as places among all.
    """

    __slots__ = ("_bend", "_centre_elo", "_changing", "_level", "_scale_elo", "_slope", "_z", "_z2")

    def __init__(
        self,
        level: Rows,
        slope: Rows,
        bend: Sequence[float],
        changing: Sequence[int],
        *,
        centre_elo: float,
        scale_elo: float,
    ) -> None:
        # A first column of nothing: losing nothing is what all else is compared with.
        self._level = np.pad(np.array(level, dtype=np.float64), ((0, 0), (1, 0)))
        self._slope = np.pad(np.array(slope, dtype=np.float64), ((0, 0), (1, 0)))
        self._bend = np.array([0.0, *bend])
        self._changing = list(changing)
        self._centre_elo, self._scale_elo = centre_elo, scale_elo
        self._z = ((GRID_ELO - centre_elo) / scale_elo)[:, None]
        self._z2 = self._z**2 * self._bend

    def lines(self, at: Sequence[float] | Floats) -> tuple[Floats, Floats]:
        """Log-odds at the centre and their slope in circumstances ``at``, each (…, classes)."""
        turn = np.asarray(at, dtype=np.float64)
        return turn @ self._level, turn[..., self._changing] @ self._slope

    def shares(self, levels: Floats, slopes: Floats) -> Floats:
        """``pi_k(E)`` over the grid, (…, Elos, classes)."""
        return _softmax(levels[..., None, :] + slopes[..., None, :] * self._z + self._z2)

    def shares_of(self, levels: Floats, slopes: Floats, elo: float | Floats) -> Floats:
        """``pi_k(E)`` of players of one Elo, or of one for each turn: (…, classes)."""
        z = (np.asarray(elo, dtype=np.float64)[..., None] - self._centre_elo) / self._scale_elo
        return _softmax(levels + slopes * z + self._bend * (z * z))


def _softmax(odds: Floats) -> Floats:
    shares: Floats = np.exp(odds - odds.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    return shares
