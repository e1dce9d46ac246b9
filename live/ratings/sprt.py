"""The sequential probability ratio test of a match."""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from live.messages.values import Value
from live.ratings.match import NORMALIZED_ELO, Floats, convert_elo_to_score
from live.ratings.match_games import GameCounts, MatchGame, PairCounts, count_match

Scale = Literal["logistic", "normalized"]
Decision = Literal["H0", "H1", "continue"]
#: Replacement for a count of 0 (fishtest, LLRcalc: regularize).
REGULARISED_COUNT = 1e-3


class Sprt(Value):
    """Hypotheses of a test: H0 is that the difference is ``elo0``, H1 that it is
    ``elo1``.

    ``elo1`` is higher.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    """Probability of accepting H1 if H0 is true."""
    beta: float = 0.05
    """Probability of accepting H0 if H1 is true."""
    scale: Scale = "logistic"

    def __post_init__(self) -> None:
        if not -math.inf < self.elo0 < self.elo1 < math.inf:
            raise ValueError(f"elo0 {self.elo0} must lie below elo1 {self.elo1}")
        if not (self.alpha > 0 and self.beta > 0 and self.alpha + self.beta < 1):
            raise ValueError(
                f"alpha {self.alpha} and beta {self.beta} must be above 0,"
                " together below 1"
            )

    @property
    def bounds(self) -> tuple[float, float]:
        """Return the log-likelihood ratios at which H0 and H1 are accepted (Wald 1945).

        For 5 % they are ±2.944.
        """
        return (
            math.log(self.beta / (1 - self.alpha)),
            math.log((1 - self.beta) / self.alpha),
        )


class SprtState(Value):
    """State of a test."""

    llr: float | None
    """Log-likelihood ratio of H1 to H0; None without a game."""
    lower: float
    upper: float
    decision: Decision
    games: int
    regularised: bool = False
    """True if a result that has not occurred yet was counted as 1/1000 of a game. Early
    figures depend on this value.
    """


class SprtRun(Value):
    """States of a test throughout a match. The first bound that is reached decides the
    test.
    """

    states: tuple[SprtState, ...]
    """State after each pair of games or, without pairs, after each game."""
    decided_after: int | None
    """Number of games until the first decision; None if there is no decision yet. Later
    games do not count, because the continued test could still cross the other bound.
    """

    @property
    def decision(self) -> Decision:
        return next(
            (s.decision for s in self.states if s.decision != "continue"), "continue"
        )


def run_sprt(test: Sprt, counts: GameCounts | PairCounts) -> SprtState:
    """Return the state of a test after these results.

    This takes 0.1 ms (0.4 ms on the normalized scale).

    >>> test = Sprt(elo0=0, elo1=10)
    >>> state = run_sprt(test, GameCounts(wins=240, draws=560, losses=200))
    >>> round(state.llr, 2)
    1.68
    >>> [round(bound, 3) for bound in test.bounds]
    [-2.944, 2.944]
    """
    lower, upper = test.bounds
    samples = sum(counts.by_score)
    if not samples:
        return SprtState(None, lower, upper, "continue", 0)
    regularised = 0 in counts.by_score
    llr = _compute_llr(
        test, np.array([count or REGULARISED_COUNT for count in counts.by_score])
    )
    decision: Decision = "H1" if llr >= upper else "H0" if llr <= lower else "continue"
    return SprtState(llr, lower, upper, decision, counts.games, regularised)


def trace_sprt(
    test: Sprt, games: Sequence[MatchGame], first: str | None = None
) -> SprtRun:
    """Return the states of the test after each pair of a match, or after each single
    game.

    Single games are used if the match has no pairs. The test is from the side of
    ``first``, by default White of the first game. Raises InputError as ``count_match``
    does.
    """
    match_counts = count_match(games, first)
    tally = [0] * (5 if match_counts.pair_order else 3)
    states: list[SprtState] = []
    for _, halves in match_counts.pair_order or match_counts.order:
        tally[halves] += 1
        none, half, one, *beyond = tally
        states.append(
            run_sprt(
                test, PairCounts(*tally) if beyond else GameCounts(one, half, none)
            )
        )
    decided = next((s.games for s in states if s.decision != "continue"), None)
    return SprtRun(tuple(states), decided)


def _compute_llr(test: Sprt, weights: Floats) -> float:
    total = math.fsum(weights)
    observed = weights / total
    points = np.linspace(0, 1, len(weights))
    if test.scale == "logistic":
        h0, h1 = (
            _tilt_distribution(observed, points - convert_elo_to_score(elo))
            for elo in (test.elo0, test.elo1)
        )
    else:
        # The variance of a pair's mean is half that of a game's points, so the ratio of
        # mean to standard deviation is √2 times as large.
        root = math.sqrt(len(points) // 2)
        h0, h1 = (
            _fit_ratio(observed, points, elo / NORMALIZED_ELO * root)
            for elo in (test.elo0, test.elo1)
        )
    return total * math.fsum(observed * np.log(h1 / h0))


def _tilt_distribution(observed: Floats, offsets: Floats) -> Floats:
    """Return the most probable distribution under which ``offsets`` have mean 0.

    It is ``p / (1 + x offset)``, with x chosen so that the mean is 0. Bisection finds
    x, because the mean decreases over the whole interval in which all probabilities are
    positive.
    """
    lowest = float(offsets.min())
    highest = float(offsets.max())
    if not lowest < 0 < highest:
        raise ValueError(
            "the expected score of a hypothesis lies outside the scores there are"
        )
    low = -1 / highest
    high = -1 / lowest
    for _ in range(200):
        x = (low + high) / 2
        if x in (low, high):
            break
        if math.fsum(observed * offsets / (1 + x * offsets)) > 0:
            low = x
        else:
            high = x
    return observed / (1 + x * offsets)


def _fit_ratio(observed: Floats, points: Floats, ratio: float) -> Floats:
    """Return the most probable distribution whose mean is ``ratio`` standard deviations
    above 1/2.

    The constraint is linearised at the last distribution found. This is repeated until
    the distribution converges.
    """
    fitted = np.full(len(points), 1 / len(points))
    for _ in range(100):
        mean = math.fsum(fitted * points)
        sd = math.sqrt(math.fsum(fitted * (points - mean) ** 2))
        offsets = points - 0.5 - ratio * sd * (1 + ((points - mean) / sd) ** 2) / 2
        before = fitted
        fitted = _tilt_distribution(observed, offsets)
        if np.abs(fitted - before).max() < 1e-12:
            break
    return fitted
