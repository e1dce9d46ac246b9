"""Expected score and Elo difference, one from the other.

Ferreira 2012, section 4 (after Elo 1978) uses the normal curve: ``p = Φ(d / (200 √2))``, so
``d = 200 √2 Φ⁻¹(p)``. It is not the logistic curve of today's rating lists.
"""

from __future__ import annotations

import math
from statistics import NormalDist

#: Standard deviation of the difference of two performances, each of standard deviation 200
#: (Elo 1978, as quoted in Ferreira 2012, section 4).
DIFFERENCE_SD_ELO = 200 * math.sqrt(2)

_NORMAL = NormalDist()


def difference_of(expected_score: float) -> float | None:
    """Elo difference for an expected score in [0, 1]; None where it is unbounded (0 and 1).

    Raises ValueError outside [0, 1] and for NaN.

    >>> round(difference_of(0.75), 1)
    190.8
    >>> difference_of(1.0) is None
    True
    """
    if not 0.0 <= expected_score <= 1.0:
        raise ValueError(f"expected score {expected_score!r} is not within [0, 1]")
    if expected_score in (0.0, 1.0):
        return None
    return DIFFERENCE_SD_ELO * _NORMAL.inv_cdf(expected_score)


def expected_score_of(difference_elo: float) -> float:
    """Expected score for an Elo difference, infinities included. Raises ValueError for NaN.

    >>> round(expected_score_of(200), 3)
    0.76
    """
    if math.isnan(difference_elo):
        raise ValueError("a difference that is not a number has no expected score")
    # erfc keeps its precision far below an even score, where 1 + erf would lose all digits.
    return 0.5 * math.erfc(-difference_elo / (DIFFERENCE_SD_ELO * math.sqrt(2)))
