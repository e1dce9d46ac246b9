"""What the predictors of Alliot 2017 answer: White's chances, or why there are none."""

from __future__ import annotations

import math

import msgspec


class Prediction(msgspec.Struct, frozen=True, kw_only=True):
    """White's expected score against Black, in [0, 1], as far as it is known.

    What a predictor does not give is None: ``win``, ``draw`` and ``loss`` where it knows no
    draws, the interval where nothing is known of its spread.
    """

    expected_score: float | None = None
    low: float | None = None
    """95 % interval of ``expected_score``: what more moves of the same players would narrow."""
    high: float | None = None
    win: float | None = None
    """Probability that White wins; with ``draw`` and ``loss`` it makes 1."""
    draw: float | None = None
    loss: float | None = None
    missing: str = ""
    """Why there is no expected score, for people; empty when there is one."""
    caution: str = ""
    """What the figures rest on that they should not, for people."""


def interval_within_bounds(
    score: float, variance: float, freedom: float = math.inf
) -> tuple[float, float]:
    """95 % interval of an expected score in (0, 1) from the variance of its estimate.

    Symmetric on the scale of Elo differences (the delta method on the normal curve of
    ``live.ratings.expected_score``), so that it stays within 0 and 1. ``freedom`` is the degrees of
    freedom of the variance, for Student's t. At 0 and 1 themselves differences are unbounded,
    and the interval is all of [0, 1].
    """
    if not 0 < score < 1:
        return 0.0, 1.0
    from scipy.special import ndtr, ndtri, stdtrit  # where asked for: a slow import

    middle = float(ndtri(score))
    density = math.exp(-middle * middle / 2) / math.sqrt(2 * math.pi)
    reach = float(stdtrit(freedom, 0.975)) * math.sqrt(variance) / density
    return float(ndtr(middle - reach)), float(ndtr(middle + reach))
