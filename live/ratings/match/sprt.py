"""The sequential probability ratio test: has a match shown enough yet?

Source: Chess Programming Wiki, *Match Statistics*, "SPRT"; Wald 1945, *Sequential Tests of
Statistical Hypotheses*. The generalised test (GSPRT) compares the most probable results with a
mean of H0 with the most probable ones with a mean of H1, all else free. Its log-likelihood ratio
is computed exactly, as fishtest does, by the constrained maximum likelihood of a distribution on
given points (Owen 1988, empirical likelihood); the wiki's approximation stands beside it.

The wiki's program answers 0 when a result has not occurred yet. Here a count of 0 is replaced by
1/1000, as fishtest does, and the answer is marked ``regularised``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import msgspec

from live.ratings.match.match_games import MatchGame, count_match
from live.ratings.match.match_statistics import NORMALIZED_ELO, GameCounts, PairCounts, score_of

Scale = Literal["logistic", "normalized"]
Decision = Literal["H0", "H1", "continue"]

#: What stands for a count of 0 (fishtest, LLRcalc: regularize).
REGULARISED_COUNT = 1e-3


class Sprt(msgspec.Struct, frozen=True):
    """H0: the difference is ``elo0``. H1: it is ``elo1``, which is higher."""

    elo0: float
    elo1: float
    alpha: float = 0.05
    """Probability of accepting H1 where H0 is true."""
    beta: float = 0.05
    """Probability of accepting H0 where H1 is true."""
    scale: Scale = "logistic"

    def __post_init__(self) -> None:
        if not -math.inf < self.elo0 < self.elo1 < math.inf:
            raise ValueError(f"elo0 {self.elo0} must lie below elo1 {self.elo1}")
        if not (self.alpha > 0 and self.beta > 0 and self.alpha + self.beta < 1):
            raise ValueError(
                f"alpha {self.alpha} and beta {self.beta} must be above 0, together below 1"
            )

    @property
    def bounds(self) -> tuple[float, float]:
        """Log-likelihood ratios at which H0 and H1 are accepted (Wald 1945): ±2.944 for 5 %."""
        return (
            math.log(self.beta / (1 - self.alpha)),
            math.log((1 - self.beta) / self.alpha),
        )


class SprtState(msgspec.Struct, frozen=True):
    """Where a test stands."""

    llr: float | None
    """Log-likelihood ratio of H1 to H0; None without a game."""
    lower: float
    upper: float
    decision: Decision
    games: int
    regularised: bool = False
    """A result that has not occurred yet was counted as 1/1000: early figures lean on that."""


class SprtRun(msgspec.Struct, frozen=True):
    """A test followed through a match: the decision is that of the first bound reached."""

    states: tuple[SprtState, ...]
    """After each pair, or game."""
    decided_after: int | None
    """Games until the first decision; None while there is none. What came after does not count:
    a test that went on could still cross the other bound."""

    @property
    def decision(self) -> Decision:
        return next((s.decision for s in self.states if s.decision != "continue"), "continue")


def sprt(test: Sprt, counts: GameCounts | PairCounts) -> SprtState:
    """Where the test stands after these results. 0.1 ms, 0.4 ms on the normalized scale.

    >>> test = Sprt(elo0=0, elo1=10)
    >>> state = sprt(test, GameCounts(wins=240, draws=560, losses=200))
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
    weights = [count or REGULARISED_COUNT for count in counts.by_score]
    points = [place / (len(weights) - 1) for place in range(len(weights))]
    llr = _llr(test, weights, points)
    decision: Decision = "H1" if llr >= upper else "H0" if llr <= lower else "continue"
    return SprtState(llr, lower, upper, decision, counts.games, regularised)


def follow(test: Sprt, games: Sequence[MatchGame], first: str | None = None) -> SprtRun:
    """The test after each pair of a match, in order; after each game where there are no pairs.

    ``first`` is whose side it takes: White of the first game unless given. Raises InputError as
    ``count_match`` does.
    """
    whole = count_match(games, first)
    tally = [0] * (5 if whole.pair_order else 3)
    states: list[SprtState] = []
    for _, halves in whole.pair_order or whole.order:
        tally[halves] += 1
        none, half, one, *more = tally
        states.append(sprt(test, PairCounts(*tally) if more else GameCounts(one, half, none)))
    decided = next((s.games for s in states if s.decision != "continue"), None)
    return SprtRun(tuple(states), decided)


def approximate_llr(test: Sprt, counts: GameCounts | PairCounts) -> float | None:
    """The wiki's approximation, ``(s1 - s0)(2s - s0 - s1) / 2σ²``, logistic scale only.

    None where it has no value: without a game, or when all results are alike. Raises ValueError
    for the normalized scale.
    """
    if test.scale != "logistic":
        raise ValueError("the approximation is for logistic Elo")
    samples = sum(counts.by_score)
    if not samples:
        return None
    points = [place / (len(counts.by_score) - 1) for place in range(len(counts.by_score))]
    mean, variance = _moments([count / samples for count in counts.by_score], points)
    if variance == 0:
        return None
    s0, s1 = score_of(test.elo0), score_of(test.elo1)
    return samples * (s1 - s0) * (2 * mean - s0 - s1) / variance / 2


def _llr(test: Sprt, weights: Sequence[float], points: Sequence[float]) -> float:
    total = math.fsum(weights)
    seen = [weight / total for weight in weights]
    if test.scale == "logistic":
        h0, h1 = (
            _tilted(seen, [x - score_of(elo) for x in points]) for elo in (test.elo0, test.elo1)
        )
    else:
        # A pair's mean varies half as much as a game's points, so its ratio is √2 times as large.
        root = math.sqrt(len(points) // 2)
        h0, h1 = (
            _with_ratio(seen, points, elo / NORMALIZED_ELO * root) for elo in (test.elo0, test.elo1)
        )
    return total * math.fsum(p * math.log(q1 / q0) for p, q0, q1 in zip(seen, h0, h1, strict=True))


def _tilted(seen: Sequence[float], offsets: Sequence[float]) -> list[float]:
    """The most probable distribution under which ``offsets`` have mean 0.

    It is ``p / (1 + x offset)``; x makes the mean 0 and is found by bisection, for the mean falls
    throughout the interval in which all probabilities are positive.
    """
    lowest, highest = min(offsets), max(offsets)
    if not lowest < 0 < highest:
        raise ValueError("the expected score of a hypothesis lies outside the scores there are")
    low, high = -1 / highest, -1 / lowest
    for _ in range(200):
        x = (low + high) / 2
        if x in (low, high):
            break
        if math.fsum(p * o / (1 + x * o) for p, o in zip(seen, offsets, strict=True)) > 0:
            low = x
        else:
            high = x
    return [p / (1 + x * o) for p, o in zip(seen, offsets, strict=True)]


def _with_ratio(seen: Sequence[float], points: Sequence[float], ratio: float) -> list[float]:
    """The most probable distribution whose mean lies ``ratio`` standard deviations above 1/2.

    The constraint is made linear at the distribution found last, until that stands still.
    """
    found: list[float] = [1 / len(points)] * len(points)
    for _ in range(100):
        mean, variance = _moments(found, points)
        sd = math.sqrt(variance)
        offsets = [x - 0.5 - ratio * sd * (1 + ((x - mean) / sd) ** 2) / 2 for x in points]
        following = _tilted(seen, offsets)
        change = max(abs(a - b) for a, b in zip(found, following, strict=True))
        found = following
        if change < 1e-12:
            break
    return found


def _moments(shares: Sequence[float], points: Sequence[float]) -> tuple[float, float]:
    mean = math.fsum(p * x for p, x in zip(shares, points, strict=True))
    return mean, math.fsum(p * (x - mean) ** 2 for p, x in zip(shares, points, strict=True))
