"""The perceived rating: Algorithm 4 with rated players in the engine's place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from live.events import Color

Floats = npt.NDArray[np.float64]

#: Where players are compared, Elo. A step of 50 gives the same ratings within 1 Elo.
GRID_ELO = np.arange(400.0, 3601.0, 100.0)

# --- perceived rating ---------------------------------------------------------------------------

# The perceived rating: Algorithm 4 with rated players in the engine's place.
#
# Algorithm 4 (Ferreira 2012, section 7) compares a player's gains with the engine's: a move that
# gains more scores 1, an equal one 1/2. Here the same comparison is made with what players rated
# ``E`` lose in the same position (:mod:`live.ratings.perceived_rating`), for every ``E`` of a
# grid. A move of class ``c`` scores ``s(E) = sum_{k>c} pi_k(E) + pi_c(E) / 2`` against them,
# which is 1/2 on average for a player rated ``E``. The rating is where the scores of the moves,
# and those of :data:`PULL_MOVES` moves by a player of the game's level, come to one half.
#
# Everything is a sum over moves, kept after each of them: one more move costs O(1), a takeback
# drops the end, and nothing is ever subtracted. Elo in, Elo out; arrays are over
# :data:`GRID_ELO`.


#: How many moves by a player of the game's level both players start with (``w``).
PULL_MOVES = 30.0
#: Ratings count no further than this: beyond, too few games were learned from.
LEAST_ELO, MOST_ELO = 800.0, 3200.0
#: What an opponent's moves are drawn towards when they say how hard the game is: this many moves
#: as hard as expected.
CALM_MOVES = 5
#: How far either way 8 of 10, and 95 of 100, of a normal distribution lie.
_USUAL, _SURE = NormalDist().inv_cdf(0.9), NormalDist().inv_cdf(0.975)


class Dispersion(NamedTuple):
    """What games differ by beyond chance, as a factor of the variance (``kappa``)."""

    running: tuple[tuple[int, float], ...]
    """After so many counted moves, ascending; between them on the logarithm of the moves."""
    finished: float

    def at(self, counted: int, *, over: bool) -> float:
        """After ``counted`` moves, 1 or more."""
        if over:
            return self.finished
        moves, factors = zip(*self.running, strict=True)
        logs = [math.log(each) for each in moves]
        return float(np.interp(math.log(counted), logs, factors))


class Elos(NamedTuple):
    """Whom a side of a game is compared with, Elo."""

    level: float
    """Of the game: both players start there (``F``)."""
    own: float | None
    """The player's own rating (``R``); None without one."""

    @classmethod
    def of(cls, level: float, own: float | None) -> Elos:
        """Within what was learned."""
        return cls(_within(level), None if own is None else _within(own))


class Evidence(NamedTuple):
    """The sums over counted moves that a rating is read from; those of several games add up."""

    counted: int
    """Moves (``n``)."""
    score: Floats
    """``S(E)``: what was scored, less what the game's hardness gave or took."""
    of_level: Floats
    """``A(E, F)``: what a player of the game's level scores on average."""
    variance: Floats
    """``V(E)``: of the score of players rated ``E`` among themselves; times ``kappa``, once it is
    that of games (:meth:`dispersed`)."""
    of_own: Floats | None
    """``A(E, R)``: what a player rated like this one scores; None without a rating."""
    own_variance: float
    """``V(R)``; 0 without a rating."""

    def joined(self, other: Evidence) -> Evidence:
        """Of both: more moves of the same player. Rated only where both are."""
        both = self.of_own is not None and other.of_own is not None
        return Evidence(
            self.counted + other.counted,
            self.score + other.score,
            self.of_level + other.of_level,
            self.variance + other.variance,
            self.of_own + other.of_own if both else None,  # type: ignore[operator]  # both are there
            self.own_variance + other.own_variance,
        )

    def dispersed(self, kappa: float) -> Evidence:
        """With what games differ by beyond chance, as a factor of the variance."""
        return self._replace(variance=self.variance * kappa, own_variance=self.own_variance * kappa)


class ComparedMove(NamedTuple):
    """One counted move, compared with players of every Elo in the same position."""

    single: Evidence
    """Of this move alone: ``s(E)``, ``a(E, F)``, ``v(E)``, ``a(E, R)``, ``v(R)``."""
    surprise: float
    """``(s(R) - 1/2) / sqrt(v(R))``; 0 without a rating. The opponent's scores lean on it."""


def compare(
    shares: Floats, of_level: Floats, of_own: Floats | None, loss_class: int
) -> ComparedMove:
    """Compare a move that lost ``loss_class`` with what rated players lose in the same position.

    ``shares``: of players over the grid, (Elos, classes); ``of_level`` and ``of_own``: of players
    of the game's level and of the own rating, (classes,).
    """
    scores = class_scores(shares)
    own, own_variance, surprise = None, 0.0, 0.0
    if of_own is not None:
        own = scores @ of_own
        own_scores = class_scores(of_own)
        own_variance = float(of_own @ own_scores**2) - 0.25
        surprise = (float(own_scores[loss_class]) - 0.5) / math.sqrt(own_variance)
    variance = (shares * scores**2).sum(axis=1) - 0.25
    single = Evidence(1, scores[:, loss_class], scores @ of_level, variance, own, own_variance)
    return ComparedMove(single, surprise)


def class_scores(shares: Floats) -> Floats:
    """What a move of each class scores against players with these shares, (…, classes)."""
    found: Floats = 1.0 - np.cumsum(shares, axis=-1) + shares / 2
    return found


class Perceived(NamedTuple):
    """How strong somebody plays, Elo. Numbers end at the ends of the grid."""

    counted: int
    rating: float
    low: float | None
    """The 95 % interval of the moves alone, whoever plays; None beyond the grid."""
    high: float | None
    usual_low: float | None
    """Where 8 of 10 games by players of this rating lie; None without a rating."""
    usual_high: float | None
    percentile: float | None
    """0 to 100: how many games by players of this rating are worse; None without a rating."""


def perceived(evidence: Evidence) -> Perceived | None:
    """Read a rating from the sums; None without a counted move."""
    n = evidence.counted
    if not n:
        return None
    half = n / 2
    pull = (PULL_MOVES / n) * (evidence.of_level - half)
    gained = evidence.score - half
    rating = crossing(gained + pull)
    spread = _SURE * np.sqrt(evidence.variance)
    low, high = _end(gained - spread), _end(gained + spread)
    usual_low = usual_high = percentile = None
    if evidence.of_own is not None:
        usual = evidence.of_own - half + pull
        reach = _USUAL * math.sqrt(evidence.own_variance)
        usual_low, usual_high = crossing(usual - reach), crossing(usual + reach)
        percentile = 100 * NormalDist().cdf(place(evidence, rating))
    return Perceived(n, rating, low, high, usual_low, usual_high, percentile)


def place(evidence: Evidence, rating: float) -> float:
    """``z``: where a rating lies among those of players rated alike, in standard deviations."""
    assert evidence.of_own is not None  # else there is nobody to be compared with
    ahead = np.interp(rating, GRID_ELO, evidence.score - evidence.of_own)
    return float(ahead) / math.sqrt(evidence.own_variance)


def crossing(falling: Floats) -> float:
    """Where a line over the grid first falls to 0, Elo; the end of the grid where it does not."""
    below = falling <= 0
    at = int(below.argmax())
    if not below[at]:
        return float(GRID_ELO[-1])
    if at == 0:
        return float(GRID_ELO[0])
    left, right = float(falling[at - 1]), float(falling[at])
    step = float(GRID_ELO[at] - GRID_ELO[at - 1])
    return float(GRID_ELO[at - 1]) + step * left / (left - right)


def _end(falling: Floats) -> float | None:
    """:func:`crossing`, None where the line crosses nowhere on the grid."""
    return None if falling[0] <= 0 or falling[-1] > 0 else crossing(falling)


class _After(NamedTuple):
    """One side after one more of its counted moves."""

    ply: int
    total: Evidence
    surprise: float
    """Sum of the moves' own, which the other side's scores lean on."""


class GameSums:
    """Both sides' sums of one game after each counted move, in the order of plies.

    Args:
        elos: whom each side is compared with.
        shared: ``(last ply, beta)``, ascending: how much of the opponent's surprises so far, in
            units of score, is taken from a move up to that ply; the last holds for all after.
    """

    def __init__(self, elos: dict[Color, Elos], shared: Sequence[tuple[int, float]]) -> None:
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
        total = move.single._replace(score=move.single.score - self.hardness(color, ply))
        surprise = move.surprise
        if held:
            total, surprise = held[-1].total.joined(total), held[-1].surprise + surprise
        held.append(_After(ply, total, surprise))

    def truncate(self, ply: int) -> None:
        """Forget every move after ``ply``."""
        for held in self._sides.values():
            while held and held[-1].ply > ply:
                held.pop()

    def evidence(self, color: Color, dispersion: Dispersion, *, over: bool) -> Evidence | None:
        """The sums of one side at its last counted move; None without one."""
        held = self._sides[color]
        if not held:
            return None
        total = held[-1].total
        return total.dispersed(dispersion.at(total.counted, over=over))

    def hardness(self, color: Color, ply: int) -> float:
        """``b`` of the next move: a game that is easier than it looks is easy for both."""
        other = self._sides["black" if color == "white" else "white"]
        if not other:
            return 0.0
        beta = next((beta for last, beta in self._shared if ply <= last), self._shared[-1][1])
        return beta * other[-1].surprise / (other[-1].total.counted + CALM_MOVES)


def game_level(white: float | None, black: float | None, field: float) -> float:
    """``F``: the mean of the two ratings, the one that is known, or else the field's."""
    known = [each for each in (white, black) if each is not None]
    return sum(known) / len(known) if known else field


def _within(elo: float) -> float:
    return min(max(float(elo), LEAST_ELO), MOST_ELO)
