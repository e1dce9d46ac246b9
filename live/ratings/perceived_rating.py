"""The perceived rating: Algorithm 4 with rated players instead of the engine. Pure.

Algorithm 4 (Ferreira 2012, section 7) compares a player's moves with the engine's. Here
they are compared with the moves of players of every rating ``E`` in the same position.
A move of class ``c`` has the slope ``t(E) = d ln pi_c / dE``, minus its mean over the
classes. The slope is positive if such a move is more common among stronger players,
large if the move is strong evidence, and near 0 if all players play alike. The mean
slope for a player rated ``E`` is exactly 0. The rating is the point where the slopes of
all moves, plus the slope of a normal prior around the level of the game, sum to 0. At
this rating the moves are most likely, if both players begin at that level.

All values are sums over moves, stored after each move. One more move costs O(1), a
takeback drops the last sums, and nothing is ever subtracted. Ratings are in Elo. Arrays
are over :data:`GRID_ELO`, and linear between its points.
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

#: Lowest and highest rating of the grid of ratings with which players are compared,
#: Elo.
FIRST_ELO = 400.0
LAST_ELO = 3600.0
STEP_ELO = 100.0
GRID_ELO = np.arange(FIRST_ELO, LAST_ELO + 1, STEP_ELO)
#: Players' ratings are limited to this range, Elo, because the models were learned from
#: too few games beyond it.
LEAST_ELO = 800.0
MOST_ELO = 3200.0
#: Number of moves of expected difficulty that are added to the opponent's moves when
#: they are used to estimate the hardness of a game.
CALM_MOVES = 5
#: Limit of one move's surprise, in standard deviations.
MOST_SURPRISE = 3.0
#: Limit of the skewness: the expansion of Cornish and Fisher (1938), which corrects
#: quantiles for skewness, is valid for small values.
MOST_SKEW = 0.6
#: Limit of a z-score before it is corrected for skewness. The expansion is increasing
#: only up to this limit.
MOST_Z_SCORE = 4.0
NORMAL = NormalDist()
#: Quantiles of the normal distribution, for intervals that contain 80 % and 95 % of
#: games.
USUAL_QUANTILE = NORMAL.inv_cdf(0.9)
SURE_QUANTILE = NORMAL.inv_cdf(0.975)


class Dispersion(NamedTuple):
    """Variation between games beyond chance, as a factor of variance (``kappa``)."""

    running: tuple[tuple[int, float], ...]
    """Pairs of a number of counted moves, ascending, and the factor. The factor is
    linear between these numbers and constant outside them.
    """
    finished: float

    def find_factor(self, counted: int, *, over: bool) -> float:
        """Return the factor after ``counted`` moves, 1 or more; ``over`` if the game
        has ended.
        """
        if over:
            return self.finished
        return _interpolate_steps(self.running, counted)


@cache
def _interpolate_steps(steps: tuple[tuple[int, float], ...], counted: int) -> float:
    """Return the factor after ``counted`` moves. Cached, because every
    figure needs it.
    """
    moves, factors = zip(*steps, strict=True)
    return float(np.interp(counted, moves, factors))


class Elos(NamedTuple):
    """Ratings with which a side of a game is compared, Elo."""

    level: float
    """Level of the game, at which both players begin (``F``)."""
    own: float | None
    """The player's official rating (``R``); None without one."""

    @classmethod
    def from_ratings(cls, level: float, own: float | None) -> Elos:
        """Return both ratings, limited to the range that was learned from; ``own`` None
        stays None.
        """
        return cls(_clamp_elo(level), None if own is None else _clamp_elo(own))


class Moments(NamedTuple):
    """Central moments of the slope of a move, given the players' ratings.

    The moments of several moves add up.
    """

    variance: Floats
    third: Floats
    """Third central moment."""

    def add(self, other: Moments) -> Moments:
        """Return the moments of the sum of two independent values."""
        return Moments(self.variance + other.variance, self.third + other.third)


class Evidence(NamedTuple):
    """Sums over counted moves from which a rating is computed.

    The sums of several games add up.
    """

    counted: int
    """Number of counted moves (``n``)."""
    slope: Floats
    """``S(E) - B(E)``: slopes of the moves made, minus the part explained by the
    hardness of the games.
    """
    peers: Moments
    """Moments for players rated ``E``, at each ``E``. The mean of their slopes is 0."""
    expected: Floats | None
    """``A(E, R)``: mean slope for players of the player's own rating; None without a
    rating.
    """
    own: Moments | None
    """Moments for players of the player's own rating; None without a rating."""
    levels: float
    """Sum of the levels of the games, Elo."""
    games: int = 1
    kappa: float = 1.0
    """Variation between games beyond chance, as a factor of all variances."""

    def join(self, other: Evidence) -> Evidence:
        """Return the sums of two sets of moves of the same player.

        The comparison with the player's own rating is kept only if both sets have one.
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
    """One counted move, compared with players of every rating in the same position."""

    slope: Floats
    """``t(E)``: slope of the move's class."""
    peers: Moments
    """Moments ``v(E, E)`` and ``k3(E, E)`` of the slope for players rated ``E``."""
    expected: Floats | None
    """``a(E, R)``: mean slope for players of the own rating; None without a rating."""
    own: Moments | None
    """Moments ``v(E, R)`` and ``k3(E, R)`` of the slope for players of the own rating;
    None without a rating.
    """
    surprise: float
    """``t(R) / sqrt(v(R, R))``, limited to :data:`MOST_SURPRISE`; 0 without a rating.
    Used to estimate the hardness of the opponent's moves.
    """


def compare_move(
    slopes: Floats,
    peers: Floats,
    loss_class: int,
    own_elo: float | None = None,
    own: Floats | None = None,
) -> ComparedMove:
    """Compare a move of a loss class with the moves of rated players in the same
    position.

    Args:
        slopes: ``t_k(E)``, shape (classes, Elos).
        peers: shares of the classes among players rated ``E``, shape (classes, Elos).
        loss_class: index of the class of the move.
        own_elo: the player's rating, within the grid; None without one.
        own: shares of the classes among players of that rating, shape (classes,); None
            without a rating.
    """
    slope = slopes[loss_class]
    weighed = peers * slopes * slopes
    of_peers = Moments(np.add.reduce(weighed), np.add.reduce(weighed * slopes))
    if own is None or own_elo is None:
        return ComparedMove(slope, of_peers, None, None, 0.0)
    expected = own @ slopes
    deviations = slopes - expected
    squares = deviations * deviations
    of_own = Moments(own @ squares, own @ (squares * deviations))
    surprise = _interpolate(own_elo, slope) / math.sqrt(
        _interpolate(own_elo, of_own.variance)
    )
    surprise = min(max(surprise, -MOST_SURPRISE), MOST_SURPRISE)
    return ComparedMove(slope, of_peers, expected, of_own, surprise)


class Perceived(NamedTuple):
    """A player's perceived rating, Elo. Values are limited to the range of the grid."""

    counted: int
    rating: float
    low: float | None
    """Lower end of the 95 % interval from the moves alone, without the prior; None
    beyond the grid.
    """
    high: float | None
    usual_low: float | None
    """Lower end of the range that contains 80 % of the games by players of this rating;
    None without a rating.
    """
    usual_high: float | None
    percentile: float | None
    """Percentage of games by players of this rating that were played worse, 0 to 100;
    None without a rating.
    """


def read_rating(evidence: Evidence, prior_sd: float) -> Perceived | None:
    """Return the rating that the sums give; None without a counted move.

    ``prior_sd`` is the standard deviation of ratings around the level of the game, Elo
    (``sigma``).
    """
    if not evidence.counted:
        return None
    prior = (GRID_ELO - evidence.levels / evidence.games) / prior_sd**2
    rating = find_zero(evidence.slope - prior)
    lower, upper = find_limits(evidence.peers, evidence.kappa, SURE_QUANTILE)
    low = _find_inner_zero(evidence.slope - upper)
    high = _find_inner_zero(evidence.slope - lower)
    if evidence.expected is None or evidence.own is None:
        return Perceived(evidence.counted, rating, low, high, None, None, None)
    usual = evidence.expected - prior
    usual_low, usual_high = _find_usual_band(usual, evidence.own, evidence.kappa)
    percentile = 100 * NORMAL.cdf(compute_z_score(evidence, rating))
    # The range and the percentile are both approximations. They must not contradict
    # each other.
    if rating < usual_low:
        percentile = min(percentile, 10.0)
    elif rating > usual_high:
        percentile = max(percentile, 90.0)
    else:
        percentile = min(max(percentile, 10.0), 90.0)
    return Perceived(
        evidence.counted, rating, low, high, usual_low, usual_high, percentile
    )


def _find_usual_band(
    usual: Floats, moments: Moments, kappa: float
) -> tuple[float, float]:
    """Return the ends of the band in which 8 of 10 games by players of the same rating
    lie, Elo.

    Args:
        usual: mean slope over the grid for such players, with the prior.
        moments: moments of the same slope.
        kappa: factor of all variances (``Evidence.kappa``).
    """
    worst, best = find_limits(moments, kappa, USUAL_QUANTILE)
    return find_zero(usual + worst), find_zero(usual + best)


def compute_z_score(evidence: Evidence, rating: float) -> float:
    """Return the z-score of a perceived rating among players of the same official
    rating: how far the play is ahead of what is expected of them, in standard
    deviations.

    It is corrected for skewness, because the moves of a game are many small gains and
    few large losses. Raises ValueError for a player without an official rating.
    """
    if evidence.expected is None or evidence.own is None:
        raise ValueError("a player without a rating has nobody to be compared with")
    variance = evidence.kappa * _interpolate(rating, evidence.own.variance)
    deviation = math.sqrt(variance)
    skew = _interpolate(rating, evidence.own.third) / (variance * deviation)
    skew = min(max(skew, -MOST_SKEW), MOST_SKEW)
    ahead = _interpolate(rating, evidence.slope - evidence.expected) / deviation
    ahead = min(max(ahead, -MOST_Z_SCORE), MOST_Z_SCORE)
    return ahead - skew * (ahead * ahead - 1) / 6


def find_limits(
    moments: Moments, kappa: float, quantile: float
) -> tuple[Floats, Floats]:
    """Return the distances from the mean of a sum of slopes to its lower and upper
    limit.

    They are given at each Elo. ``quantile`` is the distance of the limits of a normal
    distribution, in standard deviations. It is corrected for skewness (Cornish and
    Fisher 1938).
    """
    variance = kappa * moments.variance
    deviation = np.sqrt(variance)
    skew = moments.third / (variance * deviation)
    skew = np.minimum(np.maximum(skew, -MOST_SKEW), MOST_SKEW)
    lean = skew * ((quantile * quantile - 1) / 6)
    return (lean - quantile) * deviation, (lean + quantile) * deviation


def find_zero(falling: Floats) -> float:
    """Return the Elo where a line over the grid first falls to 0.

    Return the end of the grid if it never does.
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
    """Return the Elo where a line falls to 0; None if it has no zero on the grid."""
    return None if falling[0] <= 0 or falling[-1] > 0 else find_zero(falling)


def _interpolate(elo: float, line: Floats) -> float:
    """Return the value of a line at an Elo on the grid. ``np.interp`` takes four times
    as long.
    """
    steps = (elo - FIRST_ELO) / STEP_ELO
    left = min(int(steps), len(line) - 2)
    part = steps - left
    return float(line[left]) * (1 - part) + float(line[left + 1]) * part


class _After(NamedTuple):
    """One side's sums after one of its counted moves."""

    ply: int
    total: Evidence
    surprise: float
    """Sum of the surprises of the side's moves. It is used to estimate the hardness for
    the other side.
    """


class GameSums:
    """Both sides' sums in one game after each counted move, in the order of plies.

    Args:
        elos: ratings with which each side is compared.
        shared: pairs of ``(last ply, beta)``, ascending. A move up to that ply is
            expected to have the share ``beta`` of the opponent's surprises so far. The
            last pair applies to all later plies.
    """

    def __init__(
        self, elos: dict[Color, Elos], shared: Sequence[tuple[int, float]]
    ) -> None:
        self.elos = elos
        self._shared = tuple(shared)
        self._sides: dict[Color, list[_After]] = {"white": [], "black": []}

    def add(self, color: Color, ply: int, move: ComparedMove) -> None:
        """Add a move. Plies must be added in ascending order.

        Raises ValueError for a ply that is not after all others.
        """
        if any(steps and steps[-1].ply >= ply for steps in self._sides.values()):
            raise ValueError(f"ply {ply} is not behind the plies counted")
        steps = self._sides[color]
        hardness = self.estimate_hardness(color, ply) * np.sqrt(move.peers.variance)
        level = self.elos[color].level
        total = Evidence(
            1, move.slope - hardness, move.peers, move.expected, move.own, level
        )
        surprise = move.surprise
        if steps:
            total = steps[-1].total.join(total)._replace(levels=level, games=1)
            surprise += steps[-1].surprise
        steps.append(_After(ply, total, surprise))

    def truncate(self, ply: int) -> None:
        """Remove every move after ``ply``."""
        for steps in self._sides.values():
            while steps and steps[-1].ply > ply:
                steps.pop()

    def sum_evidence(
        self, color: Color, dispersion: Dispersion, *, over: bool
    ) -> Evidence | None:
        """Return the sums of one side after its last counted move; None without such a
        move.

        ``over`` says whether the game has ended.
        """
        steps = self._sides[color]
        if not steps:
            return None
        total = steps[-1].total
        return total._replace(kappa=dispersion.find_factor(total.counted, over=over))

    def estimate_hardness(self, color: Color, ply: int) -> float:
        """Return ``b``, the hardness of the game for the next move of a side.

        A game that is harder than it seems is hard for both players, so the estimate
        comes from the opponent's moves. It is in standard deviations of the move, and
        positive if the opponent did better than expected.
        """
        opponent_steps = self._sides["black" if color == "white" else "white"]
        if not opponent_steps:
            return 0.0
        beta = next(
            (beta for last, beta in self._shared if ply <= last), self._shared[-1][1]
        )
        return (
            beta
            * opponent_steps[-1].surprise
            / (opponent_steps[-1].total.counted + CALM_MOVES)
        )


def estimate_level(white: float | None, black: float | None, field: float) -> float:
    """Return ``F``, the level of a game: the mean of the known ratings.

    If no rating is known, return the field's mean rating.
    """
    ratings = [rating for rating in (white, black) if rating is not None]
    return sum(ratings) / len(ratings) if ratings else field


def _clamp_elo(elo: float) -> float:
    return min(max(float(elo), LEAST_ELO), MOST_ELO)
