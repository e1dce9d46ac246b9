"""95 % intervals for an expected score after a few moves, or after a few games.

None of the sources has any: they give points only. What is wanted is an interval that
covers the truth as often as it says, from five moves on, near scores of 0 and of 1 too,
in O(1) a move.

A move scores 0, 1/2 or 1 against an engine whose gains are all 0 (anything in [0, 1]
against a measured engine), so after n moves there are three numbers to go by: n, the
sum of the scores and the sum of their squares. Same-search gains are never above 0, so
a move then scores 0 or 1/2: twice the expected score is a plain proportion.

The interval is a beta distribution's, as Jeffreys' is (Brown, Cai and DasGupta 2001,
"Interval estimation for a binomial proportion", section 4.1.2), with changes that
``tests/ratings/test_score_interval.py`` holds to account:

* Each end has its own weak prior, more cautious than Jeffreys' half a hit and half a
miss: for
  the lower end ``near`` of a move at the top and ``far`` of a move at the bottom, for
  the upper end the other way round. (The exact interval of Clopper and Pearson, which
  covers more than it says, would be 0 and 1.)
* That caution weighs too much when moves are few, so a little more probability is left
outside.
* Scores of three or more kinds have no beta posterior, so the posterior's mean and
variance are
  fitted. That misses what has never happened yet (a player with zero gains only), so no
  end may be closer than unseen moves at that end allow.

At a score of 0 the lower end is 0, at the top of the scale the upper end is the top;
the other end always lies strictly inside. Moves within one game are not independent, so
a player's games are pooled by ``ClusteredScores``.
"""

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple


class _Caution(NamedTuple):
    """What an end assumes beyond the moves seen. Found by search over many
    coverages.
    """

    near: float
    """Prior moves at the extreme that the end looks away from."""
    far: float
    """Prior moves at the extreme that the end looks towards."""
    few: float
    """Probability beyond the end above 2.5 %, times n² / (n - 1)."""
    smooth: float
    """The same once more for scores all alike, nothing for scores at the extremes
    only."""


#: Scores of 0, 1/2 and 1: few outcomes, so coverage jumps and caution keeps it from
#: falling deep.
_COARSE = _Caution(near=0.45, far=0.72, few=0.05, smooth=0.0)

#: Any scores in [0, 1]: coverage does not jump.
_SMOOTH = _Caution(near=0.25, far=0.45, few=0.04, smooth=0.1)

#: How much further than by chance alone a game's score strays from the player's mean:
#: the variance of a game's sum over its variance with independent moves. Measured: 1.4
#: for same-search gains over the board (68 players, so ±0.2), 1.2 for successive ones;
#: in blitz 1.1 over players with four to seven games and 1.3 over those with more
#: (2,341 players).
USUAL_DESIGN_EFFECT = 1.25

#: How many games' worth of evidence that usual value counts for.
USUAL_GAMES = 10


# The same few moves are read by several figures, and most news leaves them as they are.
@lru_cache(maxsize=8192)
def compute_score_interval(
    n: float,
    total: float,
    total_of_squares: float,
    *,
    ceiling: float = 1.0,
    smooth: bool = False,
) -> tuple[float, float]:
    """Return the 95 % interval of the mean of independent scores in [0, ceiling].

    ``n`` scores (n > 0; a fraction where an effective number stands in), their sum and
    the sum of their squares. ``smooth`` says that a move can score many values, not
    only 0, 1/2 and 1. Always holds the observed mean. Some 6 µs. Raises ValueError for
    what is no number.
    """
    if not n > 0 or ceiling < 0 or math.isnan(total + total_of_squares + ceiling):
        raise ValueError(
            f"no interval for {total} from {n} moves under a ceiling of {ceiling}"
        )
    if ceiling == 0:
        return 0.0, 0.0  # nothing else can be scored
    total = total / ceiling
    squares = total_of_squares / ceiling**2
    caution = _SMOOTH if smooth else _COARSE
    # Scores seen from the top are 1 - y, so that sum and sum of squares turn into
    # these.
    low = _find_lower_end(n, total, squares, caution)
    high = 1 - _find_lower_end(n, n - total, n - 2 * total + squares, caution)
    return low * ceiling, high * ceiling


def _find_lower_end(n: float, total: float, squares: float, caution: _Caution) -> float:
    """Return the value that the mean of scores in [0, 1] exceeds with 97.5 %
    probability.
    """
    from scipy.special import betaincinv  # where asked for: a slow import

    if total <= 0:
        return 0.0
    near, far, few, smooth = caution
    fewness = max(n - 1, 0) / n**2
    tail = 0.025 + few * fewness
    # The posterior mean and variance; the latter is that of a Dirichlet posterior over
    # the scores.
    weight = n + near + far
    mean = (total + near) / weight
    variance = ((squares + near) / weight - mean * mean) / (weight + 1)
    # Parameters of the beta distribution that has them. For scores of 0 and 1 only, it
    # is the posterior itself, Beta(total + near, n - total + far), and the strength is
    # the weight.
    strength = mean * (1 - mean) / variance - 1
    alikeness = 1 - (weight + 1) / (strength + 1)
    low = betaincinv(
        mean * strength, (1 - mean) * strength, tail + smooth * alikeness * fewness
    )
    # The share of moves that may score 0 though none was seen to.
    unseen = betaincinv(far, n + near, 1 - tail)
    return min(float(low), total / n * (1 - float(unseen)))


class GameScores(NamedTuple):
    """What one game adds: its moves, the sum of their scores and of the squares of
    these.

    Scores are in whole parts of one point (``EngineDistribution.scale`` of them), so
    that sums are exact.
    """

    n: int
    total: int
    squares: int


class ClusteredScores:
    """A player's moves over several games, with an interval that knows which move is
    whose.

    The variance between games is estimated as cluster-robust variances are (Liang and
    Zeger 1986, with the factor G / (G - 1) for G games). With few games that estimate
    is next to useless, so it is drawn towards ``USUAL_DESIGN_EFFECT``, and Student's t
    takes the normal's place.
    """

    def __init__(self, games: Iterable[GameScores] = ()) -> None:
        self.games = self.n = self.total = self._squares = 0
        # Sums over games of n², n·total and total².
        self._n_squares = self._cross = self._total_squares = 0
        for game in games:
            self.add(game)

    def add(self, game: GameScores) -> None:
        """Count a game. One without moves says nothing and is left out."""
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
        """How many times larger the variance is than if all moves were independent."""
        # All times n², to stay in whole numbers: they are large and nearly cancel.
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
        """Return the 95 % interval of the player's expected score in points; None
        without a move.

        One game alone says nothing of how games differ: its interval is that of the
        game. ``scale`` parts make a point; ``ceiling`` is the most a move can score, in
        parts (a whole point unless given).
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
    """Return how much wider Student's t is than the normal distribution."""
    from scipy.special import ndtri, stdtrit  # where asked for: a slow import

    return float(stdtrit(freedom, 0.975) / ndtri(0.975))
