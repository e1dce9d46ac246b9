"""Conversion between expected score and Elo difference.

Ferreira 2012, section 4 (after Elo 1978) uses the normal curve: ``p = Φ(d / (200
√2))``, so ``d = 200 √2 Φ⁻¹(p)``. Today's rating lists use the logistic curve instead.
"""

import math
from statistics import NormalDist

#: Standard deviation of the difference of two performances, each with a standard
#: deviation of 200 (Elo 1978, as quoted in Ferreira 2012, section 4).
DIFFERENCE_SD_ELO = 200 * math.sqrt(2)

_NORMAL = NormalDist()


def convert_score_to_difference(expected_score: float | None) -> float | None:
    """Return the Elo difference for an expected score in [0, 1].

    None for an unknown score, and where the difference is unbounded (0 and 1). Raises
    ValueError outside [0, 1] and for NaN.

    >>> round(convert_score_to_difference(0.75), 1)
    190.8
    >>> convert_score_to_difference(1.0) is None
    True
    """
    if expected_score is None or expected_score in (0.0, 1.0):
        return None
    if not 0.0 <= expected_score <= 1.0:
        raise ValueError(f"expected score {expected_score!r} is not within [0, 1]")
    return DIFFERENCE_SD_ELO * _NORMAL.inv_cdf(expected_score)


def convert_difference_to_score(difference_elo: float) -> float:
    """Return the expected score for an Elo difference, infinities included.

    >>> round(convert_difference_to_score(200), 3)
    0.76
    """
    # erfc keeps its precision for very low scores, where 1 + erf would lose all digits.
    return 0.5 * math.erfc(-difference_elo / (DIFFERENCE_SD_ELO * math.sqrt(2)))
