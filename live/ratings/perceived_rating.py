"""The perceived rating: Algorithm 4 with rated players in the engine's place. Pure.

Algorithm 4 (Ferreira 2012, section 7) compares a player's moves with the engine's. Here
they are compared with what players of every rating ``E`` do in the same position. A
move of class ``c`` has the slope ``t(E) = d ln pi_c / dE``, less its mean over the
classes: positive where such a move is commoner among stronger players, large where it
tells much, near 0 where everybody plays alike. Its mean for a player rated ``E`` is
exactly 0. The rating is where the slopes of all moves and that of a normal prior around
the level of the game sum to 0: the rating at which these moves are likeliest, when both
players start at that level.

Everything is a sum over moves, kept after each of them: one more move costs O(1), a
takeback drops the end, and nothing is ever subtracted. Elo in, Elo out; arrays are over
:data:`GRID_ELO`, and between its points everything is linear.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from live.messages.values import Color

Floats = npt.NDArray[np.float64]

#: Where players are compared, Elo.
FIRST_ELO = 400.0
LAST_ELO = 3600.0
STEP_ELO = 100.0
GRID_ELO = np.arange(FIRST_ELO, LAST_ELO + 1, STEP_ELO)
#: Ratings of players count no further than this: beyond, too few games were learned
#: from.
LEAST_ELO = 800.0
MOST_ELO = 3200.0
#: What an opponent's moves are drawn towards when they say how hard the game is: this
#: many moves as hard as expected.
CALM_MOVES = 5
#: How far the hardness of one move counts, in standard deviations.
MOST_SURPRISE = 3.0
#: Skewness counts no further: the expansion of Cornish and Fisher (1938) that corrects
#: quantiles for it holds for small ones.
MOST_SKEW = 0.6
#: How far a place counts, in standard deviations: there the expansion still rises.
MOST_PLACE = 4.0
NORMAL = NormalDist()
#: Where 8 of 10, and 95 of 100, lie within.
USUAL_QUANTILE = NORMAL.inv_cdf(0.9)
SURE_QUANTILE = NORMAL.inv_cdf(0.975)


class Dispersion(NamedTuple):
    """What games differ by beyond chance, as a factor of the variance (``kappa``)."""

    running: tuple[tuple[int, float], ...]
    """After so many counted moves, ascending; linear between them, constant outside."""
    finished: float

    def find_factor(self, counted: int, *, over: bool) -> float:
        """Return it after ``counted`` moves, 1 or more."""
        if over:
            return self.finished
        return _interpolate_steps(self.running, counted)


@cache
def _interpolate_steps(steps: tuple[tuple[int, float], ...], counted: int) -> float:
    """Return the factor after ``counted`` moves. Cached, because every figure needs
    it.
    """
    moves, factors = zip(*steps, strict=True)
    return float(np.interp(counted, moves, factors))


class Elos(NamedTuple):
    """Whom a side of a game is compared with, Elo."""

    level: float
    """Of the game: both players start there (``F``)."""
    own: float | None
    """The player's own rating (``R``); None without one."""

    @classmethod
    def from_ratings(cls, level: float, own: float | None) -> Elos:
        """Keep both within what was learned."""
        return cls(_clamp_elo(level), None if own is None else _clamp_elo(own))


class Moments(NamedTuple):
    """Of the slopes of moves that certain players would have made; sums over moves add
    up.
    """

    variance: Floats
    third: Floats
    """Third central moment."""

    def add(self, other: Moments) -> Moments:
        """Return the moments of the sum of both."""
        return Moments(self.variance + other.variance, self.third + other.third)


class Evidence(NamedTuple):
    """The sums over counted moves that a rating is read from; those of several games
    add up.
    """

    counted: int
    """Moves (``n``)."""
    slope: Floats
    """``S(E) - B(E)``: of the moves made, less what the hardness of the games
    explains."""
    peers: Moments
    """Of players rated ``E``, at each ``E``; the mean of their slopes is 0."""
    expected: Floats | None
    """``A(E, R)``: the mean slope of players rated like this one; None without a
    rating."""
    own: Moments | None
    """Of these; None without a rating."""
    levels: float
    """Sum of the levels of the games, Elo."""
    games: int = 1
    kappa: float = 1.0
    """What games differ by beyond chance, as a factor of all variances."""

    def join(self, other: Evidence) -> Evidence:
        """Return that of both: more moves of the same player. Rated only where both
        are.
        """
        expected = None
        own = None
        if self.expected is not None and other.expected is not None:
            expected = self.expected + other.expected
        if self.own is not None and other.own is not None:
            own = self.own.add(other.own)
        return Evidence(
            self.counted + other.counted,
            self.slope + other.slope,
            self.peers.add(other.peers),
            expected,
            own,
            self.levels + other.levels,
            self.games + other.games,
        )


class ComparedMove(NamedTuple):
    """One counted move, compared with what players of every rating do in the same
    position.
    """

    slope: Floats
    """``t(E)`` of the class of the move."""
    peers: Moments
    """``v(E, E)`` and ``k3(E, E)``."""
    expected: Floats | None
    """``a(E, R)``; None without a rating."""
    own: Moments | None
    """``v(E, R)`` and ``k3(E, R)``; None without a rating."""
    surprise: float
    """``t(R) / sqrt(v(R, R))``, within :data:`MOST_SURPRISE`; 0 without a rating. The
    opponent's moves lean on it."""


def compare_move(
    slopes: Floats,
    peers: Floats,
    loss_class: int,
    own_elo: float | None = None,
    own: Floats | None = None,
) -> ComparedMove:
    """Compare a move that lost ``loss_class`` with what rated players do in the same
    position.

    Args:
        slopes: ``t_k(E)``, (classes, Elos).
        peers: shares of the classes among players rated ``E``, (classes, Elos).
        loss_class: index of the class.
        own_elo: the player's rating, within the grid; None without one.
        own: shares among players rated alike, (classes,); None without a rating.
    """
    slope = slopes[loss_class]
    weighed = peers * slopes * slopes
    of_peers = Moments(np.add.reduce(weighed), np.add.reduce(weighed * slopes))
    if own is None or own_elo is None:
        return ComparedMove(slope, of_peers, None, None, 0.0)
    expected = own @ slopes
    apart = slopes - expected
    squares = apart * apart
    of_own = Moments(own @ squares, own @ (squares * apart))
    surprise = _interpolate(own_elo, slope) / math.sqrt(
        _interpolate(own_elo, of_own.variance)
    )
    surprise = min(max(surprise, -MOST_SURPRISE), MOST_SURPRISE)
    return ComparedMove(slope, of_peers, expected, of_own, surprise)


class Perceived(NamedTuple):
    """How strong a player plays, Elo. Numbers end at the ends of the grid."""

    counted: int
    rating: float
    low: float | None
    """The 95 % interval of the moves alone, whoever plays; None beyond the grid."""
    high: float | None
    usual_low: float | None
    """Where 8 of 10 games by players of this rating lie; None without a rating."""
    usual_high: float | None
    percentile: float | None
    """0 to 100: how many games by players of this rating are worse; None without a
    rating."""


def read_rating(evidence: Evidence, prior_sd: float) -> Perceived | None:
    """Read a rating from the sums; None without a counted move.

    ``prior_sd``: how far from the level of the game a rating is expected, Elo
    (``sigma``).
    """
    if not evidence.counted:
        return None
    prior = (GRID_ELO - evidence.levels / evidence.games) / prior_sd**2
    rating = find_zero(evidence.slope - prior)
    least, most = find_limits(evidence.peers, evidence.kappa, SURE_QUANTILE)
    low = _find_inner_zero(evidence.slope - most)
    high = _find_inner_zero(evidence.slope - least)
    if evidence.expected is None or evidence.own is None:
        return Perceived(evidence.counted, rating, low, high, None, None, None)
    worst, best = find_limits(evidence.own, evidence.kappa, USUAL_QUANTILE)
    usual = evidence.expected - prior
    usual_low = find_zero(usual + worst)
    usual_high = find_zero(usual + best)
    percentile = 100 * NORMAL.cdf(locate_rating(evidence, rating))
    # The band and the place are both approximations: let them say the same.
    if rating < usual_low:
        percentile = min(percentile, 10.0)
    elif rating > usual_high:
        percentile = max(percentile, 90.0)
    else:
        percentile = min(max(percentile, 10.0), 90.0)
    return Perceived(
        evidence.counted, rating, low, high, usual_low, usual_high, percentile
    )


def locate_rating(evidence: Evidence, rating: float) -> float:
    """Return where a rating lies among those of players rated alike, in standard
    deviations.

    Corrected for skewness: the moves of a game are many small gains and few large
    losses. Raises ValueError for a player without a rating.
    """
    if evidence.expected is None or evidence.own is None:
        raise ValueError("a player without a rating has nobody to be compared with")
    variance = evidence.kappa * _interpolate(rating, evidence.own.variance)
    deviation = math.sqrt(variance)
    skew = _interpolate(rating, evidence.own.third) / (variance * deviation)
    skew = min(max(skew, -MOST_SKEW), MOST_SKEW)
    ahead = _interpolate(rating, evidence.slope - evidence.expected) / deviation
    ahead = min(max(ahead, -MOST_PLACE), MOST_PLACE)
    return ahead - skew * (ahead * ahead - 1) / 6


def find_limits(
    moments: Moments, kappa: float, quantile: float
) -> tuple[Floats, Floats]:
    """Return how far below and above its mean a sum of slopes lies, at each Elo.

    ``quantile``: how far either way a normal distribution would, in standard
    deviations; it is corrected for skewness (Cornish and Fisher 1938).
    """
    variance = kappa * moments.variance
    deviation = np.sqrt(variance)
    skew = moments.third / (variance * deviation)
    skew = np.minimum(np.maximum(skew, -MOST_SKEW), MOST_SKEW)
    lean = skew * ((quantile * quantile - 1) / 6)
    return (lean - quantile) * deviation, (lean + quantile) * deviation


def find_zero(falling: Floats) -> float:
    """Return where a line over the grid first falls to 0, Elo; the end of the grid
    where it does not.
    """
    below = falling <= 0
    at = int(below.argmax())
    if not below[at]:
        return LAST_ELO
    if at == 0:
        return FIRST_ELO
    left = float(falling[at - 1])
    right = float(falling[at])
    return FIRST_ELO + STEP_ELO * (at - 1) + STEP_ELO * left / (left - right)


def _find_inner_zero(falling: Floats) -> float | None:
    """Return the same, None where the line has no zero on the grid."""
    return None if falling[0] <= 0 or falling[-1] > 0 else find_zero(falling)


def _interpolate(elo: float, line: Floats) -> float:
    """Return the value of a line at an Elo within the grid; ``np.interp`` takes four
    times as long.
    """
    steps = (elo - FIRST_ELO) / STEP_ELO
    left = min(int(steps), len(line) - 2)
    part = steps - left
    return float(line[left]) * (1 - part) + float(line[left + 1]) * part


class _After(NamedTuple):
    """One side after one more of its counted moves."""

    ply: int
    total: Evidence
    surprise: float
    """Sum of the moves' own, which the other side's moves lean on."""


class GameSums:
    """Both sides' sums of one game after each counted move, in the order of plies.

    Args:
        elos: whom each side is compared with.
        shared: ``(last ply, beta)``, ascending: how much of the opponent's surprises so
            far a move up to that ply is expected to share; the last holds for all
            after.
    """

    def __init__(
        self, elos: dict[Color, Elos], shared: Sequence[tuple[int, float]]
    ) -> None:
        self.elos = elos
        self._shared = tuple(shared)
        self._sides: dict[Color, list[_After]] = {"white": [], "black": []}

    def add(self, color: Color, ply: int, move: ComparedMove) -> None:
        """Count a move; plies must come in order.

        Raises ValueError for a ply that is not behind all others.
        """
        if any(held and held[-1].ply >= ply for held in self._sides.values()):
            raise ValueError(f"ply {ply} is not behind the plies counted")
        held = self._sides[color]
        hardness = self.estimate_hardness(color, ply) * np.sqrt(move.peers.variance)
        level = self.elos[color].level
        total = Evidence(
            1, move.slope - hardness, move.peers, move.expected, move.own, level
        )
        surprise = move.surprise
        if held:
            total = held[-1].total.join(total)._replace(levels=level, games=1)
            surprise += held[-1].surprise
        held.append(_After(ply, total, surprise))

    def truncate(self, ply: int) -> None:
        """Forget every move after ``ply``."""
        for held in self._sides.values():
            while held and held[-1].ply > ply:
                held.pop()

    def sum_evidence(
        self, color: Color, dispersion: Dispersion, *, over: bool
    ) -> Evidence | None:
        """Return the sums of one side at its last counted move; None without one."""
        held = self._sides[color]
        if not held:
            return None
        total = held[-1].total
        return total._replace(kappa=dispersion.find_factor(total.counted, over=over))

    def estimate_hardness(self, color: Color, ply: int) -> float:
        """Return ``b`` of the next move: a game that is harder than it looks is hard
        for both.

        In standard deviations of the move; positive where the opponent did better than
        expected.
        """
        other = self._sides["black" if color == "white" else "white"]
        if not other:
            return 0.0
        beta = next(
            (beta for last, beta in self._shared if ply <= last), self._shared[-1][1]
        )
        return beta * other[-1].surprise / (other[-1].total.counted + CALM_MOVES)


def estimate_level(white: float | None, black: float | None, field: float) -> float:
    """Return ``F``: the mean of the two ratings, the one that is known, or else the
    field's.
    """
    known = [each for each in (white, black) if each is not None]
    return sum(known) / len(known) if known else field


def _clamp_elo(elo: float) -> float:
    return min(max(float(elo), LEAST_ELO), MOST_ELO)
