"""Predictors of Alliot 2017, except Markov's, and a ranking of players by any
predictor.

Source: Alliot 2017, "Who is the Master?", ICGA Journal 39(1). Requires the score of the
position before each move and the same-search gain (:mod:`live.ratings.ferreira`); an
engine with one line gives both. All scores are from the mover's side.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise, permutations
from statistics import fmean
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from live.messages.from_sources import Score
from live.messages.values import Value
from live.ratings.ferreira import Floats, GainHistogram, cross_correlate
from live.ratings.score_interval import USUAL_DESIGN_EFFECT, compute_score_interval


class Prediction(Value):
    """White's expected score against Black, in [0, 1], with an interval and chances if
    known.

    ``win``, ``draw`` and ``loss`` are None if the predictor does not model draws; the
    interval is None if nothing is known of the variance.
    """

    expected_score: float | None = None
    low: float | None = None
    """95 % interval of ``expected_score``, which more moves of the same players would
    narrow.
    """
    high: float | None = None
    win: float | None = None
    """Probability that White wins; ``win``, ``draw`` and ``loss`` add up to 1."""
    draw: float | None = None
    loss: float | None = None
    missing: str = ""
    """Reason why there is no expected score, as text for display; empty if there is
    one.
    """
    caution: str = ""
    """Warning about the data behind the figures, as text for display."""


def explain_no_data(white: object, black: object, what: str) -> Prediction | None:
    """Return a prediction with the reason why two players cannot be compared.

    None if both have data.
    """
    who = [name for name, known in (("White", white), ("Black", black)) if not known]
    return Prediction(missing=f"no {what} of {' and '.join(who)} yet") if who else None


def compute_bounded_interval(
    score: float, variance: float, freedom: float = math.inf
) -> tuple[float, float]:
    """Return the 95 % interval of an expected score in (0, 1).

    The interval is symmetric on the scale of Elo differences (the delta method on the
    normal curve of ``live.ratings.expected_score``), so it stays within 0 and 1. At 0
    and 1 themselves differences are unbounded, and the interval is all of [0, 1].

    Args:
        score: the expected score.
        variance: that of its estimate if moves were independent; it is multiplied by
            :data:`USUAL_DESIGN_EFFECT`, because games vary more.
        freedom: degrees of freedom of the variance, for Student's t.
    """
    if not 0 < score < 1:
        return 0.0, 1.0
    from scipy.special import ndtr, ndtri, stdtrit  # slow import, only when needed

    middle = float(ndtri(score))
    density = math.exp(-middle * middle / 2) / math.sqrt(2 * math.pi)
    sd = math.sqrt(variance * USUAL_DESIGN_EFFECT)
    reach = float(stdtrit(freedom, 0.975)) * sd / density
    return float(ndtr(middle - reach)), float(ndtr(middle + reach))


class BattlePlace(NamedTuple):
    """One player's place in the battle royale."""

    player: str
    rank: int | None
    """Place from 1, equal scores sharing a place; None without a score."""
    expected_score: float | None
    """Mean over all opponents, half of each opponent's games with each colour."""
    low: float | None
    """Mean of the lower ends over all pairings, if each has one. It does not shrink
    with more pairings, because the player's own uncertainty is the same in each.
    """
    high: float | None
    victories: int
    """Number of opponents against whom the expected score over both colours is above
    1/2.
    """
    opponents: int
    """Number of opponents with a prediction for at least one colour."""
    missing: str = ""
    """Reason why there is no score, as text for display."""


class BattleRoyale:
    """Ranking by simulated games: all pairings of players with both colours, each once.

    Source: Alliot 2017, sections 4.3.2, 4.4.2 and 5. Covariance and Markov chains
    compare two players without a common scale, and their comparisons need not form an
    order: the paper's Tal plays better than its Euwe against strong opponents, but
    loses to him. So players are ranked by their mean expected score, with the number of
    opponents they beat beside it. ``predict`` returns White's chances, given the names
    of White and Black.
    """

    def __init__(
        self, predict: Callable[[str, str], Prediction], players: Iterable[str]
    ) -> None:
        self._players = tuple(dict.fromkeys(players))
        self.pairings = {
            pair: predict(*pair) for pair in permutations(self._players, 2)
        }

    def rank_players(self) -> tuple[BattlePlace, ...]:
        """Return the players, best first and those without a score last.

        Players with equal scores stay in their original order.
        """
        found = sorted(
            map(self._score_player, self._players),
            key=lambda place: (
                place.expected_score is None,
                -(place.expected_score or 0.0),
            ),
        )
        scores = [place.expected_score for place in found]
        return tuple(
            place._replace(rank=1 + scores.index(place.expected_score))
            if place.expected_score is not None
            else place
            for place in found
        )

    def _score_player(self, player: str) -> BattlePlace:
        found: list[tuple[float | None, ...]] = []
        reasons: dict[str, None] = {}
        for other in self._players:
            if other == player:
                continue
            colors = (
                self.pairings[player, other],
                swap_colors(self.pairings[other, player]),
            )
            known = [
                (seen.expected_score, seen.low, seen.high)
                for seen in colors
                if seen.expected_score is not None
            ]
            reasons.update(
                dict.fromkeys(seen.missing for seen in colors if seen.missing)
            )
            if known:
                found.append(tuple(map(average_known, zip(*known, strict=True))))
        if not found:
            missing = "; ".join(reasons) or "nobody else has entered"
            return BattlePlace(player, None, None, None, None, 0, 0, missing)
        score, low, high = map(average_known, zip(*found, strict=True))
        victories = sum((each[0] or 0.0) > 0.5 for each in found)
        return BattlePlace(player, None, score, low, high, victories, len(found))


def swap_colors(prediction: Prediction) -> Prediction:
    """Return the prediction from Black's side."""
    score, low, high = (
        None if each is None else 1 - each
        for each in (prediction.expected_score, prediction.high, prediction.low)
    )
    win = prediction.loss
    loss = prediction.win
    return msgspec.structs.replace(
        prediction, expected_score=score, low=low, high=high, win=win, loss=loss
    )


def average_known(values: Sequence[float | None]) -> float | None:
    """Return the mean, or None if any value is None."""
    return None if None in values else fmean(values)  # type: ignore[arg-type]  # none is None


# --- conformance ----------------------------------------------------------------------

# Conformance: the loss of each move against the engine's choice, and a forecast from
# the shares of small losses.
#
# Source: Alliot 2017, "Who is the Master?", ICGA Journal 39(1), sections 3.2 and 4.2.
# The conformance of a move is ``δ = v_best - v_played``, both scores from one search of
# the position before it, so it is never negative and equals the same-search gain
# (``live.ratings.ferreira``) without its sign. Three kinds:
#
# * raw: δ itself;
# * Guid and Bratko's: δ, if the best score is within two pawns of equality;
# * ponderated: δ / (1 + v/k), which is smaller the more one side is ahead.
#
# The indicator of a player is ``p(x)``, the share of counted moves with a conformance
# of at most x. Requires the score of the position before each move and the same-search
# gain; an engine with one line gives both. All scores are from the mover's side.


#: First ply that counts: the first nine moves are opening knowledge (Alliot 2017,
#: section 2.4).
FIRST_COUNTED_PLY = 19

#: Guid and Bratko omit positions with a score beyond plus or minus this (Alliot 2017,
#: section 3.2.2).
DECIDED_CP = 200

CENTIPAWNS = 100


class ScoreWeighting(NamedTuple):
    """Decrease of a loss's weight with the evaluation (Alliot 2017, section 3.2.3)."""

    k1_pawns: float
    """Constant for a mover who is equal or ahead; above 0."""
    k2_pawns: float
    """Constant for a mover who is behind; below 0."""

    def divisor(self, best_cp: int) -> float:
        """Return ``1 + v/k``, at least 1."""
        k_pawns = self.k1_pawns if best_cp >= 0 else self.k2_pawns
        return 1 + best_cp / (CENTIPAWNS * k_pawns)


#: Constants from the regression of the mean error on the evaluation (section 3.2.3).
#: The paper divides the slope of its line a·v + b by the offset; the offset divided by
#: the slope would level that line (0.69 and -0.28). The published constants are kept,
#: because the paper's figures are computed with them.
REGRESSION = ScoreWeighting(1.44, -3.53)

#: Constants with the best correlation of p(0.3) with the results of games (section
#: 4.2.1).
BEST_CORRELATION = ScoreWeighting(0.75, -3.30)


class ConformanceLine(NamedTuple):
    """Line from a difference of indicators to a game's result: ``r = β·d + α``, where r
    is -1 for a loss, 0 for a draw, +1 for a win (Alliot 2017, section 4.2.1 with its
    note 25).
    """

    alpha: float
    beta: float

    def expected_score(self, difference: float) -> float:
        """Return ``r`` as a score of White, limited to [0, 1]."""
        return min(1.0, max(0.0, (1 + self.beta * difference + self.alpha) / 2))


class Conformance(NamedTuple):
    """One kind of conformance, with the constants that the paper found for it."""

    name: Literal["raw", "guid-bratko", "ponderated"]
    x_cp: int
    """The x at which p(x) correlates best with results, centipawns."""
    fit: ConformanceLine | None = None
    """Line to results at that x; None if the paper gives none."""
    ponderation: ScoreWeighting | None = None

    def measure_move(self, best_cp: int, gain_cp: int) -> float | None:
        """Return the conformance in centipawns, at least 0; None if this kind omits the
        move.

        ``best_cp`` is the score of the best move, ``gain_cp`` the same-search gain.
        """
        shortfall_cp = -gain_cp
        if self.ponderation is not None:
            return shortfall_cp / self.ponderation.divisor(best_cp)
        if self.name == "guid-bratko" and abs(best_cp) > DECIDED_CP:
            return None
        return float(shortfall_cp)


def build_ponderated(k1_pawns: float, k2_pawns: float) -> Conformance:
    """Return ponderated conformance with other constants, for which the paper has no
    line.
    """
    return Conformance("ponderated", 30, None, ScoreWeighting(k1_pawns, k2_pawns))


#: The three kinds, with x, α and β from section 4.2.1.
RAW = Conformance("raw", 30, ConformanceLine(4.3e-2, 4.00))
GUID_BRATKO = Conformance("guid-bratko", 20, ConformanceLine(6.7e-2, 3.37))
PONDERATED = Conformance(
    "ponderated", 30, ConformanceLine(-7.0e-3, 3.64), BEST_CORRELATION
)
#: Ponderated conformance with the regression's constants, for which the paper has no
#: line.
PONDERATED_BY_REGRESSION = build_ponderated(*REGRESSION)


def is_counted(ply: int, *, forced: bool = False) -> bool:
    """Return whether a move counts (Alliot 2017, section 4.2.1).

    A move counts unless it is one of the first nine or the only legal one; ``ply``
    counts from 1.
    """
    return ply >= FIRST_COUNTED_PLY and not forced


class AccumulatedConformance:
    """Number of one player's moves by conformance, for the indicator p(x) (Alliot 2017,
    section 4.2.1).

    >>> moves = AccumulatedConformance()
    >>> for ply, gain_cp in ((21, 0), (23, -40), (25, -10), (27, 0)):
    ...     moves.add(15, gain_cp, ply=ply)
    >>> moves.n, moves.share
    (4, 0.75)
    """

    def __init__(self, kind: Conformance = RAW) -> None:
        self.kind = kind
        # Conformances are rounded up to whole centipawns, because ponderated ones
        # hardly ever repeat.
        self._counts: Counter[int] = Counter()

    def add(
        self, best_cp: int, gain_cp: int, *, ply: int, forced: bool = False
    ) -> None:
        """Add one move of the player, whether it counts or not."""
        conformance_cp = self.kind.measure_move(best_cp, gain_cp)
        if conformance_cp is not None and is_counted(ply, forced=forced):
            self._counts[math.ceil(conformance_cp)] += 1

    @property
    def n(self) -> int:
        """Return the number of moves counted."""
        return self._counts.total()

    @property
    def within_count(self) -> int:
        """Return the number of counted moves with a conformance of at most the kind's
        own x.
        """
        return self.count_within(self.kind.x_cp)

    @property
    def share(self) -> float | None:
        """Return ``p(x)`` at the kind's own x; None while no move counts."""
        return self.compute_share_at(self.kind.x_cp)

    def count_within(self, x_cp: int) -> int:
        """Return the number of counted moves with a conformance of at most ``x_cp``.

        O(number of distinct values).
        """
        return sum(count for value, count in self._counts.items() if value <= x_cp)

    def compute_share_at(self, x_cp: int) -> float | None:
        """Return ``p(x)`` at any whole x in centipawns; None while no move counts."""
        return self.count_within(x_cp) / self.n if self.n else None

    def compute_interval_at(self, x_cp: int) -> tuple[float | None, float | None]:
        """Return the 95 % interval of :meth:`compute_share_at`; None while no move
        counts.
        """
        within = self.count_within(x_cp)
        return (
            compute_score_interval(self.n, within, within) if self.n else (None, None)
        )


def average_periods(newest_first: Iterable[AccumulatedConformance]) -> float | None:
    """Return ``Q``: p(x) over periods, each with half the weight of the next newer one
    (Alliot 2017, section 3.2.1). None if no move counts.

    All periods must be of one kind of conformance.
    """
    within = n = 0.0
    for age, period in enumerate(newest_first):
        weight = 0.5**age
        within += weight * period.within_count
        n += weight * period.n
    return within / n if n else None


def predict_by_conformance(
    white: AccumulatedConformance, black: AccumulatedConformance
) -> Prediction:
    """Return ``β (p_w - p_b) + α`` with the published constants (Alliot 2017, section
    4.2).

    The interval is that of a difference of shares (Newcombe 1998, method 10, with the
    ends of ``live.ratings.score_interval``); the line itself is assumed to be exact.
    White and Black must be of one kind of conformance.
    """
    fit = white.kind.fit
    if fit is None:
        return Prediction(
            missing="no line to results is published for this ponderation"
        )
    if missing := explain_no_data(white.n, black.n, "counted move"):
        return missing
    p, q = (each.within_count / each.n for each in (white, black))
    (p_low, p_high), (q_low, q_high) = (
        compute_score_interval(each.n, each.within_count, each.within_count)
        for each in (white, black)
    )
    difference = p - q
    below = math.hypot(p - p_low, q_high - q)
    above = math.hypot(p_high - p, q - q_low)
    return Prediction(
        expected_score=fit.expected_score(difference),
        low=fit.expected_score(difference - below),
        high=fit.expected_score(difference + above),
    )


# --- complexity -----------------------------------------------------------------------

# Complexity of a position, from the scores that the engine reported during its search.
#
# Source: Alliot 2017, section 3.1. The paper correlates five indicators with the size
# of the error made in the position (section 4.1, Table 4): the mean change and the
# largest change of the score between successive depths, the depth of the largest
# change, the product of the first two, and the depth reached in the time used. Requires
# the score after each depth (``SearchResult.by_depth``).


class Complexity(Value):
    """Indicators that can be computed from one search alone."""

    stability_cp: float
    """Mean change of the score between depths n and n + 1."""
    jump_cp: int
    """Largest change between two successive depths."""
    jump_depth: int | None
    """The n of the largest change, the least if there are several; None if nothing
    changed.
    """
    changes: int
    """Number of pairs of successive depths that both had a score."""


def measure_complexity(by_depth: Sequence[Score | None]) -> Complexity | None:
    """Return the indicators of a search from its exact score after each depth (section
    3.1).

    ``by_depth`` begins with depth 1. Only changes between successive depths count, so a
    pair is omitted if either depth has no score. None if no two successive depths have
    scores. A mate is ±3900, as everywhere.
    """
    changes = [
        (abs(after.cp - before.cp), depth)
        for depth, (before, after) in enumerate(pairwise(by_depth), 1)
        if before is not None and after is not None
    ]
    if not changes:
        return None
    # The largest change comes first; of equal changes, the one at the least depth.
    jump_cp, depth = max(changes, key=lambda change: (change[0], -change[1]))
    mean = sum(change for change, _ in changes) / len(changes)
    return Complexity(mean, jump_cp, depth if jump_cp else None, len(changes))


#: A variance below this is only the rounding error of equal values.
_NO_SPREAD = 1e-24

_ENOUGH = 20
_FEW = "the interval is too narrow below 20 moves of each"
_ALIKE = "the moves are too few or too much alike to tell how they vary"


class OutcomeVector(NamedTuple):
    """Expected score of White for a difference of two gains, from 0 to 1."""

    slope_per_pawn: float = math.inf
    """``a`` of ``0.5 (1 + tanh(a·δ))``; infinite for the step."""

    def evaluate(self, difference_cp: Floats) -> Floats:
        """Return the values of differences in centipawns, in the same shape."""
        if math.isinf(self.slope_per_pawn):
            return 0.5 * (1 + np.sign(difference_cp))
        return 0.5 * (1 + np.tanh(self.slope_per_pawn / CENTIPAWNS * difference_cp))


STEP = OutcomeVector()

#: Vector that, with the conformance below, has the best correlation with results
#: (section 4.3.1).
TANH = OutcomeVector(1.16)
TANH_CONFORMANCE = build_ponderated(1.20, -3.41)

#: Conformance for which the step has the best correlation with results, over k1 and k2
#: (section 4.3.1).
STEP_CONFORMANCE = build_ponderated(0.37, -3.70)

#: Table 6: lines from the scalar product, scaled to [-1, 1], to a game's result in [-1,
#: 1].
RAW_STEP_FIT = ConformanceLine(0.082, 2.682)
STEP_FIT = ConformanceLine(0.041, 2.346)
TANH_FIT = ConformanceLine(0.014, 4.956)


class Convolution(NamedTuple):
    """Number of times that R is convolved with itself, and bound between win, draw and
    loss (Alliot 2017, section 4.3.1).

    R is the distribution of differences between a gain of White and one of Black.
    Without convolution R itself remains, one pair of moves, which with a bound of 0 is
    Ferreira's step (section 4.3.2).
    """

    convolutions: int
    """``n0``, at least 0."""
    bound_cp: int
    """``b``, at least 0: a change of more than ``b`` wins, one of less than ``-b``
    loses.
    """


#: The two settings in the paper: the one where the correlation first reaches 94 %
#: (section 4.3.1), and the one of Tables 5 and 8.
CONVOLUTION_29 = Convolution(29, 220)
CONVOLUTION_32 = Convolution(32, 240)


def convert_to_gain(kind: Conformance, best_cp: int, gain_cp: int) -> int | None:
    """Return a conformance as a gain, negative and in whole centipawns.

    None if this kind omits the move.
    """
    conformance_cp = kind.measure_move(best_cp, gain_cp)
    return None if conformance_cp is None else -round(conformance_cp)


def predict_by_covariance(
    white: GainHistogram,
    black: GainHistogram,
    vector: OutcomeVector = STEP,
    fit: ConformanceLine | None = None,
) -> Prediction:
    """Return White's expected score by an outcome vector, from gains of at most 0
    (sections 3.3, 4.3.1).

    ``fit`` converts it to the results of real games (Table 6).
    """
    if missing := explain_no_data(white.n, black.n, "gain"):
        return missing
    lowest, pairs = cross_correlate(white, black)
    worth = vector.evaluate(lowest + np.arange(len(pairs), dtype=np.float64))
    score = float(pairs @ worth) / (white.n * black.n)
    ends = _compute_interval(white, black, score, lowest, worth)
    caution = _ALIKE if ends[0] is None else ""
    score, low, high = (
        each if fit is None or each is None else fit.expected_score(2 * each - 1)
        for each in (score, *ends)
    )
    return Prediction(expected_score=score, low=low, high=high, caution=caution)


def predict_by_convolution(
    white: GainHistogram,
    black: GainHistogram,
    setting: Convolution = CONVOLUTION_29,
) -> Prediction:
    """Return White's chances to win, draw and lose by R convolved with itself (Alliot
    2017, section 4.3.1).

    Gains must be at most 0. O(L log L), where L is the number of centipawns between the
    ends of the result. In simulations the interval has its nominal coverage from 20
    moves per side on, 92 % with ten moves and 88 % with five.
    """
    if missing := explain_no_data(white.n, black.n, "gain"):
        return missing
    lowest, pairs = cross_correlate(white, black)
    single = pairs / (white.n * black.n)
    # All pairs but the last are summed first. For each change by the last pair, this
    # gives the chances to win and to lose.
    first, others = convolve_with_itself(lowest, single, setting.convolutions)
    below = np.concatenate([[0.0], np.cumsum(others)])
    changes = lowest + np.arange(len(single))
    last = len(others)
    wins = below[last] - below[np.clip(setting.bound_cp - changes - first + 1, 0, last)]
    losses = below[np.clip(-setting.bound_cp - changes - first, 0, last)]
    win, loss = (min(1.0, max(0.0, float(single @ share))) for share in (wins, losses))
    worth = 0.5 * (1 + wins - losses)
    score = 0.5 * (1 + win - loss)
    # Every pair of moves has the same effect on the result, so the effect of R is that
    # of one pair times the number of pairs.
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
    """Return the sum of ``times`` independent values: its lowest value and its
    distribution.

    ``distribution[i]`` is the probability of ``lowest + i``, in the argument and in the
    result; the sum of no values is 0 with certainty. Computed by FFT: entries are exact
    to about 1e-16, and none is below 0.
    """
    from scipy.fft import irfft, next_fast_len, rfft  # slow import, only when needed

    if times == 0:
        return 0, np.ones(1)
    length = (len(distribution) - 1) * times + 1
    size = next_fast_len(length, real=True)
    found = irfft(rfft(distribution, size) ** times, size)[:length]
    return lowest * times, np.maximum(found, 0.0)


def _compute_interval(
    white: GainHistogram,
    black: GainHistogram,
    score: float,
    lowest: int,
    pull: Floats,
) -> tuple[float, float] | tuple[None, None]:
    """Return the 95 % interval of a score to which each pair of gains with the
    difference ``lowest + i`` adds ``pull[i]``.

    The variance is that of a two-sample statistic, by the projections of both samples
    (Hoeffding 1948; van der Vaart 1998, Asymptotic Statistics, section 12.2). None if
    the moves are too similar to show how they vary.
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
