"""The covariance predictor: the whole distribution of White's gains against Black's.

Source: Alliot 2017, sections 3.3 and 4.3. The gains of both players give the distribution R of the
difference of two of them (Ferreira 2012, Eq. 1). How much a difference is worth is given by an
outcome vector e, and the expected score is the scalar product of both:

* the step (0, …, 0, 0.5, 1, …, 1), which is Ferreira's;
* ``0.5 (1 + tanh(a·δ))``, rising all the way;
* or R is convolved with itself, which makes it the change of the score over several pairs of
  moves, and cut at ±b: below is a loss, above a win, between a draw.

Needs the score of the position before each move and the same-search gain, from an engine at one
line.
"""

from __future__ import annotations

import math

import msgspec
import numpy as np
import numpy.typing as npt

from live.ratings.conformance import (
    CENTIPAWNS,
    Conformance,
    ConformanceLine,
    ScoreWeighting,
)
from live.ratings.gain import GainHistogram, cross_correlation
from live.ratings.prediction import Prediction, interval_within_bounds
from live.ratings.score_interval import USUAL_DESIGN_EFFECT

Floats = npt.NDArray[np.float64]

#: A variance that is nothing but the rounding of equal values.
_NO_SPREAD = 1e-24

_ENOUGH, _FEW = 20, "the interval is too narrow below 20 moves of each"
_ALIKE = "the moves are too few or too much alike to tell how they vary"


class OutcomeVector(msgspec.Struct, frozen=True):
    """What a difference of two gains is worth to White, from 0 to 1."""

    slope_per_pawn: float = math.inf
    """``a`` of ``0.5 (1 + tanh(a·δ))``; infinite for the step."""

    def at(self, difference_cp: Floats) -> Floats:
        """The vector at differences in centipawns, same shape."""
        if math.isinf(self.slope_per_pawn):
            return 0.5 * (1 + np.sign(difference_cp))
        return 0.5 * (1 + np.tanh(self.slope_per_pawn / CENTIPAWNS * difference_cp))


STEP = OutcomeVector()

#: Best correlation with results, together with the conformance below (section 4.3.1).
TANH = OutcomeVector(1.16)
TANH_CONFORMANCE = Conformance("ponderated", 30, None, ScoreWeighting(1.20, -3.41))

#: Best correlation of the step with results over k1 and k2 (section 4.3.1).
STEP_CONFORMANCE = Conformance("ponderated", 30, None, ScoreWeighting(0.37, -3.70))

#: Table 6: from the scalar product, taken to [-1, 1], to a game's result in [-1, 1].
RAW_STEP_FIT = ConformanceLine(0.082, 2.682)
STEP_FIT = ConformanceLine(0.041, 2.346)
TANH_FIT = ConformanceLine(0.014, 4.956)


class Convolution(msgspec.Struct, frozen=True):
    """How often R is convolved with itself, and where it is cut (Alliot 2017, section 4.3.1).

    No convolution leaves R itself, one pair of moves, which with a bound of 0 is Ferreira's
    step (section 4.3.2).
    """

    convolutions: int
    """``n0``, at least 0."""
    bound_cp: int
    """``b``, at least 0: a change of more wins, of less than ``-b`` loses."""


#: Both settings the paper uses: where the correlation first reaches 94 % (section 4.3.1), and that
#: of Tables 5 and 8.
CONVOLUTION_29 = Convolution(29, 220)
CONVOLUTION_32 = Convolution(32, 240)


def gain_by(kind: Conformance, best_cp: int, gain_cp: int) -> int | None:
    """A conformance as a gain: negative, whole centipawns; None where the kind leaves it out.

    Raises ValueError for what is no same-search gain.
    """
    conformance_cp = kind.of(best_cp, gain_cp)
    return None if conformance_cp is None else -round(conformance_cp)


def predict_by_covariance(
    white: GainHistogram,
    black: GainHistogram,
    vector: OutcomeVector = STEP,
    fit: ConformanceLine | None = None,
    *,
    design_effect: float = USUAL_DESIGN_EFFECT,
) -> Prediction:
    """White's expected score by an outcome vector, from gains at most 0 (sections 3.3, 4.3.1).

    ``fit`` stretches it to the results of real games (Table 6). ``design_effect`` is how much
    more games vary than independent moves would.
    """
    if not white.n or not black.n:
        return _missing(white, black)
    lowest, pairs = cross_correlation(white, black)
    worth = vector.at(lowest + np.arange(len(pairs), dtype=np.float64))
    score = float(pairs @ worth) / (white.n * black.n)
    low, high = _interval(white, black, score, lowest, worth, design_effect)
    if fit is not None:
        score = fit.expected_score(2 * score - 1)
        low = None if low is None else fit.expected_score(2 * low - 1)
        high = None if high is None else fit.expected_score(2 * high - 1)
    caution = _ALIKE if low is None else ""
    return Prediction(expected_score=score, low=low, high=high, caution=caution)


def predict_by_convolution(
    white: GainHistogram,
    black: GainHistogram,
    setting: Convolution = CONVOLUTION_29,
    *,
    design_effect: float = USUAL_DESIGN_EFFECT,
) -> Prediction:
    """White's chances to win, draw and lose by R convolved with itself (Alliot 2017, section
    4.3.1), from gains at most 0. O(L log L), L centipawns between the ends of the result.

    A few moves multiplied by thirty say little: in simulation the interval covers what it says
    from 20 moves a side on, 92 % at ten and 88 % at five.
    """
    if not white.n or not black.n:
        return _missing(white, black)
    lowest, pairs = cross_correlation(white, black)
    single = pairs / (white.n * black.n)
    # Once every pair but the last has changed the score, how must the last change it to win?
    first, others = self_convolved(lowest, single, setting.convolutions)
    below = np.concatenate([[0.0], np.cumsum(others)])
    changes = lowest + np.arange(len(single))
    last = len(others)
    wins = below[last] - below[np.clip(setting.bound_cp - changes - first + 1, 0, last)]
    losses = below[np.clip(-setting.bound_cp - changes - first, 0, last)]
    win, loss = (min(1.0, max(0.0, float(single @ share))) for share in (wins, losses))
    worth = 0.5 * (1 + wins - losses)
    score = 0.5 * (1 + win - loss)
    # Each pair of moves pulls on the result alike, so the pull of R is that many times one's.
    pull = (setting.convolutions + 1) * worth
    low, high = _interval(white, black, score, lowest, pull, design_effect)
    return Prediction(
        expected_score=score,
        low=low,
        high=high,
        win=win,
        draw=max(0.0, 1 - win - loss),
        loss=loss,
        caution=_ALIKE if low is None else _FEW if min(white.n, black.n) < _ENOUGH else "",
    )


def self_convolved(lowest: int, distribution: Floats, times: int) -> tuple[int, Floats]:
    """The sum of ``times`` independent values: its lowest value and its distribution, by FFT.

    ``distribution[i]`` is the probability of ``lowest + i``; the answer reads alike, and for no
    values is 0 with certainty. Entries are right to about 1e-16, and none is below 0.
    """
    from scipy.fft import irfft, next_fast_len, rfft  # where asked for: a slow import

    if times == 0:
        return 0, np.ones(1)
    length = (len(distribution) - 1) * times + 1
    size = next_fast_len(length, real=True)
    found = irfft(rfft(distribution, size) ** times, size)[:length]
    return lowest * times, np.maximum(found, 0.0)


def _interval(
    white: GainHistogram,
    black: GainHistogram,
    score: float,
    lowest: int,
    pull: Floats,
    design_effect: float,
) -> tuple[float, float] | tuple[None, None]:
    """95 % interval of a score to which a pair of gains ``lowest + i`` apart adds ``pull[i]``.

    The variance of a two-sample statistic by the projections of both samples (Hoeffding 1948;
    van der Vaart 1998, Asymptotic Statistics, section 12.2). None where the moves seen are too
    similar to show how they vary.
    """
    white_cp, white_counts = white.columns()
    black_cp, black_counts = black.columns()
    table = pull[white_cp[:, None] - black_cp[None, :] - lowest]
    sides = (
        (table @ black_counts / black.n, white_counts, white.n - 1),
        (white_counts @ table / white.n, black_counts, black.n - 1),
    )
    variance = squares = 0.0
    for values, counts, freedom in sides:
        if not freedom:
            return None, None
        of_mean = _variance_of_mean(values, counts)
        variance += of_mean
        squares += of_mean**2 / freedom
    if variance < _NO_SPREAD:
        return None, None
    # The degrees of freedom of two samples of unequal variance (Welch 1947).
    return interval_within_bounds(score, variance * design_effect, variance**2 / squares)


def _variance_of_mean(values: Floats, counts: npt.NDArray[np.int64]) -> float:
    n = int(counts.sum())
    mean = counts @ values / n
    return float(counts @ (values - mean) ** 2) / (n * (n - 1))


def _missing(white: GainHistogram, black: GainHistogram) -> Prediction:
    sides = (("White", white), ("Black", black))
    who = " and ".join(name for name, gains in sides if not gains.n)
    return Prediction(missing=f"no gain of {who} yet")
