"""Predictions of Alliot 2017 from distributions of gains.

They are the covariance (section 3.3) and its convolution (section 4.3).
"""

import math
from typing import NamedTuple

import numpy as np

from live.ratings.conformance import (
    CENTIPAWNS,
    Conformance,
    ConformanceLine,
    build_ponderated,
)
from live.ratings.ferreira import Floats
from live.ratings.gains import GainHistogram, cross_correlate
from live.ratings.predictions import (
    Prediction,
    compute_bounded_interval,
    explain_no_data,
)

#: Variances below this come only from rounding errors of equal values.
_NO_SPREAD = 1e-24
_ENOUGH = 20
_FEW = "the interval is too narrow below 20 moves of each"
_ALIKE = "the moves are too few or too much alike to tell how they vary"


class OutcomeVector(NamedTuple):
    """Expected score of White for a difference of two gains, from 0 to 1."""

    slope_per_pawn: float = math.inf
    """``a`` of ``0.5 (1 + tanh(a·δ))``, per pawn; infinite for the step."""

    def evaluate(self, difference_cp: Floats) -> Floats:
        """Return White's expected score for each difference in centipawns, in the same
        shape.
        """
        if math.isinf(self.slope_per_pawn):
            return 0.5 * (1 + np.sign(difference_cp))
        return 0.5 * (1 + np.tanh(self.slope_per_pawn / CENTIPAWNS * difference_cp))


STEP = OutcomeVector()
#: The tanh vector that has the best correlation with results, together with the
#: conformance below (section 4.3.1).
TANH = OutcomeVector(1.16)
TANH_CONFORMANCE = build_ponderated(1.20, -3.41)
#: Conformance with the best correlation of the step with results, over all k1 and k2
#: (section 4.3.1).
STEP_CONFORMANCE = build_ponderated(0.37, -3.70)
#: Lines from the scalar product, scaled to [-1, 1], to a game's result in [-1, 1]
#: (Table 6).
RAW_STEP_FIT = ConformanceLine(0.082, 2.682)
STEP_FIT = ConformanceLine(0.041, 2.346)
TANH_FIT = ConformanceLine(0.014, 4.956)


class Convolution(NamedTuple):
    """Settings of the prediction by convolution (Alliot 2017, section 4.3.1).

    R is the distribution of differences between a gain of White and a gain of Black. It
    is convolved with itself ``convolutions`` times; ``bound_cp`` separates wins, draws
    and losses. With 0 convolutions and a bound of 0, one pair of moves remains, which
    is Ferreira's step (section 4.3.2).
    """

    convolutions: int
    """``n0``, at least 0."""
    bound_cp: int
    """``b``, at least 0, centipawns. A change of more than ``b`` wins, and a change of
    less than ``-b`` loses.
    """


#: The two settings in the paper: the one where the correlation first reaches 94 %
#: (section 4.3.1), and the one of Tables 5 and 8.
CONVOLUTION_29 = Convolution(29, 220)
CONVOLUTION_32 = Convolution(32, 240)


def convert_conformance_to_gain(
    kind: Conformance, best_cp: int, gain_cp: int
) -> int | None:
    """Return a conformance as a gain: negative, in whole centipawns.

    Return None if this kind of conformance omits the move.
    """
    conformance_cp = kind.measure_move(best_cp, gain_cp)
    return None if conformance_cp is None else -round(conformance_cp)


def predict_by_covariance(
    white: GainHistogram,
    black: GainHistogram,
    vector: OutcomeVector = STEP,
    fit: ConformanceLine | None = None,
) -> Prediction:
    """Return White's expected score by an outcome vector (sections 3.3 and 4.3.1).

    Gains must be at most 0. ``fit`` converts the score to the results of real games
    (Table 6).
    """
    if missing := explain_no_data(white.n, black.n, "gain"):
        return missing
    lowest, pairs = cross_correlate(white, black)
    worth = vector.evaluate(lowest + np.arange(len(pairs), dtype=np.float64))
    score = float(pairs @ worth) / (white.n * black.n)
    ends = _compute_interval(white, black, score, lowest, worth)
    caution = _ALIKE if ends[0] is None else ""
    score, low, high = (
        value if fit is None or value is None else fit.predict_score(2 * value - 1)
        for value in (score, *ends)
    )
    return Prediction(expected_score=score, low=low, high=high, caution=caution)


def predict_by_convolution(
    white: GainHistogram,
    black: GainHistogram,
    setting: Convolution = CONVOLUTION_29,
) -> Prediction:
    """Return White's chances to win, draw and lose by convolution (Alliot 2017, section
    4.3.1).

    Gains must be at most 0. The time is O(L log L), where L is the number of centipawns
    between the ends of the result. In simulations the interval has its nominal coverage
    from 20 moves per side on; it has 92 % with ten moves and 88 % with five.
    """
    if missing := explain_no_data(white.n, black.n, "gain"):
        return missing
    lowest, pairs = cross_correlate(white, black)
    single = pairs / (white.n * black.n)
    # All pairs of moves except the last are summed first. For each change by the last
    # pair, this sum gives the chances to win and to lose.
    first, distribution = convolve_with_itself(lowest, single, setting.convolutions)
    below = np.concatenate([[0.0], np.cumsum(distribution)])
    changes = lowest + np.arange(len(single))
    last = len(distribution)
    wins = below[last] - below[np.clip(setting.bound_cp - changes - first + 1, 0, last)]
    losses = below[np.clip(-setting.bound_cp - changes - first, 0, last)]
    win, loss = (min(1.0, max(0.0, float(single @ share))) for share in (wins, losses))
    worth = 0.5 * (1 + wins - losses)
    score = 0.5 * (1 + win - loss)
    # Every pair of moves has the same effect on the result. So the total effect is that
    # of one pair, times the number of pairs.
    pull = (setting.convolutions + 1) * worth
    low, high = _compute_interval(white, black, score, lowest, pull)
    return Prediction(
        expected_score=score,
        low=low,
        high=high,
        win=win,
        draw=max(0.0, 1 - win - loss),
        loss=loss,
        caution=_ALIKE
        if low is None
        else _FEW
        if min(white.n, black.n) < _ENOUGH
        else "",
    )


def convolve_with_itself(
    lowest: int, distribution: Floats, times: int
) -> tuple[int, Floats]:
    """Return the distribution of the sum of ``times`` independent values, and its
    lowest value.

    ``distribution[i]`` is the probability of ``lowest + i``, in the argument and in the
    result. The sum of no values is always 0. The sum is computed by FFT: entries are
    exact to about 1e-16, and none is below 0.
    """
    from scipy.fft import irfft, next_fast_len, rfft  # slow import, only when needed

    if times == 0:
        return 0, np.ones(1)
    length = (len(distribution) - 1) * times + 1
    size = next_fast_len(length, real=True)
    convolved = irfft(rfft(distribution, size) ** times, size)[:length]
    return lowest * times, np.maximum(convolved, 0.0)


def _compute_interval(
    white: GainHistogram,
    black: GainHistogram,
    score: float,
    lowest: int,
    pull: Floats,
) -> tuple[float, float] | tuple[None, None]:
    """Return the 95 % interval of a score.

    Each pair of gains with the difference ``lowest + i`` adds ``pull[i]`` to the score.
    The variance is that of a two-sample statistic, by the projections of both samples
    (Hoeffding 1948; van der Vaart 1998, Asymptotic Statistics, section 12.2). Return
    None if the moves are too similar to show how they vary.
    """
    white_cp, white_counts = white.to_columns()
    black_cp, black_counts = black.to_columns()
    table = pull[white_cp[:, None] - black_cp[None, :] - lowest]
    sides = (
        (table @ black_counts / black.n, white_counts, white.n - 1),
        (white_counts @ table / white.n, black_counts, black.n - 1),
    )
    if not all(freedom for _, _, freedom in sides):
        return None, None
    variance = squares = 0.0
    for values, counts, freedom in sides:
        mean = counts @ values / (freedom + 1)
        of_mean = float(counts @ (values - mean) ** 2) / (freedom * (freedom + 1))
        variance += of_mean
        squares += of_mean**2 / freedom
    if variance < _NO_SPREAD:
        return None, None
    # Degrees of freedom of two samples of unequal variance (Welch 1947).
    return compute_bounded_interval(score, variance, variance**2 / squares)
