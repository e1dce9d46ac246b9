"""95 % intervals for an expected score after a few moves, or after a few games.

The papers give only point estimates. An interval here should contain the true value as
often as stated, from five moves on, even near scores of 0 and 1, at a cost of O(1) per
move.

A move scores 0, 1/2 or 1 against an engine whose gains are all 0, and any value in [0,
1] against a measured engine. So after n moves three numbers are available: n, the sum
of the scores and the sum of their squares. Same-search gains are never above 0, so such
a move scores 0 or 1/2, and twice the expected score is a proportion.

The interval is computed from a beta distribution, as Jeffreys' interval is (Brown, Cai
and DasGupta 2001, "Interval estimation for a binomial proportion", section 4.1.2), with
these changes, which ``tests/ratings/test_score_interval.py`` checks:

* Each end has its own weak prior, more cautious than Jeffreys' half a hit and half a
  miss. For the lower end it is ``near`` moves at the top and ``far`` moves at the
  bottom; for the upper end it is the reverse. (The values 0 and 1 would give the exact
  interval of Clopper and Pearson, whose coverage is above the nominal one.)
* With few moves this prior is too cautious, so slightly more probability is left
  outside the interval.
* Scores of three or more kinds have no beta posterior, so a beta distribution with the
  posterior's mean and variance is used. This ignores outcomes that have not occurred
  yet (as for a player with zero gains only). So each end also allows for unseen moves
  that would score less or more.

At a score of 0 the lower end is 0, and at the highest score the upper end is the
highest score. The other end is always strictly inside the range. Moves within one game
are not independent, so a player's games are pooled by ``ClusteredScores``.
"""

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple


class _Caution(NamedTuple):
    """Assumptions of one end of an interval beyond the observed moves.

    The values were found by a search over many coverages.
    """

    near: float
    """Prior moves at the opposite extreme: for the lower end, at the top."""
    far: float
    """Prior moves at this end's own extreme: for the lower end, at 0."""
    few: float
    """Probability beyond the end above 2.5 %, times n² / (n - 1)."""
    smooth: float
    """Additional probability beyond the end, times n² / (n - 1), in proportion to the
    similarity of the scores: all of it if they are equal, none if all are at the
    extremes.
    """


#: Values for scores of 0, 1/2 and 1. With few possible outcomes the coverage jumps, so
#: more caution is needed to prevent a very low coverage.
_COARSE = _Caution(near=0.45, far=0.72, few=0.05, smooth=0.0)

#: Values for any scores in [0, 1], for which the coverage does not jump.
_SMOOTH = _Caution(near=0.25, far=0.45, few=0.04, smooth=0.1)

#: Variance of a game's sum of scores, divided by its variance with independent moves.
#: Measured: 1.4 for same-search gains over the board (68 players, so ±0.2), 1.2 for
#: successive ones; in blitz 1.1 over players with four to seven games and 1.3 over
#: those with more (2,341 players).
USUAL_DESIGN_EFFECT = 1.25

#: Weight of the usual design effect, as a number of games.
USUAL_GAMES = 10


# Cached, because several figures use the same moves, and most changes do not affect
# them.
@lru_cache(maxsize=8192)
def compute_score_interval(
    n: float,
    total: float,
    total_of_squares: float,
    *,
    ceiling: float = 1.0,
    smooth: bool = False,
) -> tuple[float, float]:
    """Return the 95 % interval of the mean of independent scores in [0, ceiling], in
    some 6 µs.

    It always contains the observed mean.

    Args:
        n: number of scores, above 0; a fraction if it is an effective number.
        total: sum of the scores.
        total_of_squares: sum of their squares.
        ceiling: the highest possible score.
        smooth: True if a move can score many values, not only 0, 1/2 and 1.

    Raises:
        ValueError: an argument is out of range or not a number.
    """
    if not n > 0 or ceiling < 0 or math.isnan(total + total_of_squares + ceiling):
        raise ValueError(
            f"no interval for {total} from {n} moves under a ceiling of {ceiling}"
        )
    if ceiling == 0:
        return 0.0, 0.0  # no other score is possible
    total = total / ceiling
    squares = total_of_squares / ceiling**2
    caution = _SMOOTH if smooth else _COARSE
    # The upper end is computed as the lower end of the mirrored scores 1 - y.
    low = _find_lower_end(n, total, squares, caution)
    high = 1 - _find_lower_end(n, n - total, n - 2 * total + squares, caution)
    return low * ceiling, high * ceiling


def _find_lower_end(n: float, total: float, squares: float, caution: _Caution) -> float:
    """Return the value that the mean of scores in [0, 1] exceeds with 97.5 %
    probability.
    """
    from scipy.special import betaincinv  # slow import, only when needed

    if total <= 0:
        return 0.0
    near, far, few, smooth = caution
    fewness = max(n - 1, 0) / n**2
    tail = 0.025 + few * fewness
    # The posterior mean and variance; the variance is that of a Dirichlet posterior
    # over the scores.
    weight = n + near + far
    mean = (total + near) / weight
    variance = ((squares + near) / weight - mean * mean) / (weight + 1)
    # Parameters of the beta distribution with this mean and variance. For scores of 0
    # and 1 only, it is the posterior itself, Beta(total + near, n - total + far), and
    # the strength is the weight.
    strength = mean * (1 - mean) / variance - 1
    alikeness = 1 - (weight + 1) / (strength + 1)
    low = betaincinv(
        mean * strength, (1 - mean) * strength, tail + smooth * alikeness * fewness
    )
    # The share of unseen moves that would score 0.
    unseen = betaincinv(far, n + near, 1 - tail)
    return min(float(low), total / n * (1 - float(unseen)))


def subtract_shares(
    count: int, n: int, other_count: int, other_n: int
) -> tuple[float, float, float]:
    """Return the share ``count`` of ``n`` less another share, and the ends of its 95 %
    interval (Newcombe 1998, method 10).
    """
    share = count / n
    other = other_count / other_n
    low, high = compute_score_interval(n, count, count)
    other_low, other_high = compute_score_interval(other_n, other_count, other_count)
    below = math.hypot(share - low, other_high - other)
    above = math.hypot(high - share, other - other_low)
    return share - other, share - other - below, share - other + above


class GameScores(NamedTuple):
    """One game's number of moves, sum of scores, and sum of squared scores.

    Scores are whole parts of one point (``EngineDistribution.scale`` parts), so that
    sums are exact.
    """

    n: int
    total: int
    squares: int


class ClusteredScores:
    """A player's moves over several games, with an interval that accounts for the
    variation between games.

    The variance between games is estimated as a cluster-robust variance (Liang and
    Zeger 1986, with the factor G / (G - 1) for G games). With few games that estimate
    is almost useless, so it is averaged with ``USUAL_DESIGN_EFFECT``, and Student's t
    is used instead of the normal distribution.
    """

    def __init__(self, games: Iterable[GameScores] = ()) -> None:
        self.games = self.n = self.total = self._squares = 0
        # Sums over games of n², n·total and total².
        self._n_squares = self._cross = self._total_squares = 0
        for game in games:
            self.add(game)

    def add(self, game: GameScores) -> None:
        """Add a game. A game without moves is ignored."""
        n, total, squares = game
        if not n:
            return
        self.games += 1
        self.n += n
        self.total += total
        self._squares += squares
        self._n_squares += n * n
        self._cross += n * total
        self._total_squares += total * total

    @property
    def design_effect(self) -> float:
        """Return the ratio of the variance to its value for independent moves."""
        # All terms are multiplied by n², so that they are exact integers. They are
        # large and nearly cancel.
        between = (
            self.n**2 * self._total_squares
            - 2 * self.n * self.total * self._cross
            + self.total**2 * self._n_squares
        )
        within = self.n * self._squares - self.total**2
        if self.games < 2 or not within:
            return USUAL_DESIGN_EFFECT
        freedom = self.games - 1
        measured = between * self.games / (freedom * self.n * within)
        return (USUAL_GAMES * USUAL_DESIGN_EFFECT + freedom * measured) / (
            USUAL_GAMES + freedom
        )

    def compute_interval(
        self, scale: int = 1, ceiling: int | None = None
    ) -> tuple[float, float] | None:
        """Return the 95 % interval of the player's expected score in points.

        Return None without a move. A single game does not show how games differ, so its
        interval includes only the variation of its moves.

        Args:
            scale: number of parts of one point.
            ceiling: the highest score of a move, in parts; by default one point.
        """
        if not self.n:
            return None
        share = 1.0
        if self.games > 1:
            share = 1 / (
                self.design_effect
                * _compute_widening(USUAL_GAMES + self.games - 1) ** 2
            )
        top = scale if ceiling is None else ceiling
        return compute_score_interval(
            self.n * share,
            self.total * share / scale,
            self._squares * share / scale**2,
            ceiling=top / scale,
            smooth=scale > 2,
        )


@lru_cache(maxsize=256)
def _compute_widening(freedom: int) -> float:
    """Return the ratio of Student's t quantile to the normal quantile."""
    from scipy.special import ndtri, stdtrit  # slow import, only when needed

    return float(stdtrit(freedom, 0.975) / ndtri(0.975))
