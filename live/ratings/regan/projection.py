"""How often a player of given skill would match the engine, and whether one did so more often.

Source: Regan and Haworth 2011, *Intrinsic Chess Ratings*, sections 3, 5 and 7: probabilities of
single turns add up to a projected number of move matches (mm) and a projected average difference
(ad), and turns being independent, so do their variances. Deviations in units of standard
deviations are z-scores.

A z-score is a screening figure: it says where a closer look may be worth it, and accuses nobody.
Among many honest players some always stand out; ``false_alarms`` says how many.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np

from live.ratings.regan.choice_fit import ChoiceFit
from live.ratings.regan.choice_model import ChoiceSkill, Floats, TurnArrays, choices
from live.ratings.regan.move_spread import Spread

#: What to write wherever a person sees a z-score.
SCREENING_NOTE = "A screening figure: it says where to look, and accuses nobody."


class ScreeningFigure(msgspec.Struct, frozen=True):
    """A count or mean beside what was projected for it. It accuses nobody.

    Deviations arise by chance, by a player's good day, by games that went along prepared lines,
    and by a model that is no more than a model. ``false_alarms`` says how often chance alone goes
    as far among all boards that are watched.
    """

    kind: Literal["move matches", "average difference"]
    actual: float
    """Matches as a number of moves; average difference in pawns."""
    projected: float
    sd: float
    """Standard deviation of ``actual`` under the projection, including that of fitted
    parameters."""
    z: float | None
    """Standard deviations towards the engine: positive for more matches, and for a smaller
    difference. None where nothing can vary."""
    note: str = SCREENING_NOTE


class Projection(msgspec.Struct, frozen=True):
    """A player's choices beside those of the skill they are compared with."""

    skill: ChoiceSkill
    turns: int
    matches: ScreeningFigure
    """Turns in which the engine's first choice was played (mm)."""
    difference: ScreeningFigure
    """Mean distance of the move played to the best one, pawns (ad), on the scale of the
    spreads."""
    chance: float
    """Exact probability of at least as many matches, for just this skill (the sum over turns is
    Poisson-binomial; the normal curve behind z is too generous far out)."""


class NoProjection(msgspec.Struct, frozen=True):
    """Why there is nothing to project, for people."""

    reason: str


class FalseAlarms(msgspec.Struct, frozen=True):
    """What a z-score means when many boards are watched and all players are honest."""

    z: float
    boards: int
    expected: float
    """Boards that reach ``z`` by chance, on average."""
    at_least_one: float
    """Probability that any does."""


def project(
    spreads: Sequence[Spread] | TurnArrays, by: ChoiceSkill | ChoiceFit
) -> Projection | NoProjection:
    """Matches and average difference beside what ``by`` would reach on the same turns.

    ``by`` is the skill to compare with: of the player's rating (``IntrinsicTable.skill``), or
    fitted to other games of the player, whose uncertainty then counts too. A fit to these very
    moves agrees with them by construction and screens for nothing.
    """
    turns = spreads if isinstance(spreads, TurnArrays) else TurnArrays(spreads)
    skill = by.skill if isinstance(by, ChoiceFit) else by
    return _combine(_summaries(turns, skill) if len(turns) else _NOTHING, by)


#: No turn; columns as ``_summaries`` has them.
_NOTHING: Floats = np.zeros((0, 9))


def _summaries(turns: TurnArrays, skill: ChoiceSkill) -> Floats:
    """All that a projection needs of each turn, shape (turns, 9).

    Probability of the first choice, whether it was played, mean and variance of the loss, the
    actual loss, and the derivatives to log s and log c of the first and of the third.
    """
    found = choices(turns, skill)
    p = found.probability
    mean = (p * turns.deltas).sum(axis=1)
    variance = (p * (turns.deltas - mean[:, None]) ** 2).sum(axis=1)
    return np.column_stack(
        [
            p[:, 0],
            turns.played == 0,
            mean,
            variance,
            turns.of_played(turns.deltas),
            p[:, :1] * found.slope[:, 0],
            ((p * turns.deltas)[:, :, None] * found.slope).sum(axis=1),
        ]
    )


def _combine(turns: Floats, by: ChoiceSkill | ChoiceFit) -> Projection | NoProjection:
    n = len(turns)
    if not n:
        return NoProjection("no turn to project: all were left out, or none had several lines")
    skill = by.skill if isinstance(by, ChoiceFit) else by
    covariance = np.array(by.covariance) if isinstance(by, ChoiceFit) else np.zeros((2, 2))
    first, matched, mean, variance, loss = turns[:, :5].T
    of_skill = turns[:, 5:].sum(axis=0)
    uncertain = [float(g @ covariance @ g) for g in (of_skill[:2], of_skill[2:])]
    by_chance = float((first * (1 - first)).sum())
    matches = _figure(
        "move matches", float(matched.sum()), float(first.sum()), by_chance + uncertain[0], 1
    )
    by_chance = float(variance.sum())
    difference = _figure(
        "average difference",
        float(loss.mean()),
        float(mean.mean()),
        (by_chance + uncertain[1]) / n**2,
        -1,
    )
    chance = chance_of_matches(first, int(matched.sum()))
    return Projection(skill, n, matches, difference, chance)


def _figure(
    kind: Literal["move matches", "average difference"],
    actual: float,
    projected: float,
    variance: float,
    sign: int,
) -> ScreeningFigure:
    sd = math.sqrt(max(variance, 0.0))
    z = sign * (actual - projected) / sd if sd > 0 else None
    return ScreeningFigure(kind, actual, projected, sd, z)


def chance_of_matches(probability: Floats, matches: int) -> float:
    """Probability of ``matches`` or more, given that of each turn, shape (turns,).

    Exact, by convolution, in O(turns²): the distribution is Poisson-binomial.
    """
    counts = np.zeros(len(probability) + 1)
    counts[0] = 1.0
    for turn, p in enumerate(np.clip(probability, 0.0, 1.0).tolist(), 1):
        counts[1 : turn + 1] = counts[1 : turn + 1] * (1 - p) + counts[:turn] * p
        counts[0] *= 1 - p
    return float(min(1.0, counts[max(matches, 0) :].sum()))


def false_alarms(z: float, boards: int) -> FalseAlarms:
    """How many of ``boards`` honest players reach ``z`` by chance, on one figure each.

    Two figures of each player, as matches and difference are, count as up to twice as many
    boards. Raises ValueError for NaN and for a negative number of boards.
    """
    from scipy.special import log_ndtr, ndtr  # where asked for: a slow import

    if math.isnan(z) or boards < 0:
        raise ValueError(f"no false alarms for z = {z} on {boards} boards")
    single = float(ndtr(-z))
    # The probability that none does is a power of nearly 1: by logarithms, or digits are lost.
    at_least_one = -math.expm1(boards * float(log_ndtr(z))) if boards else 0.0
    return FalseAlarms(z, boards, boards * single, at_least_one)


def alarm_level(boards: int, rate: float) -> float:
    """The z-score that any of ``boards`` honest players reaches with probability ``rate``.

    Raises ValueError unless there are boards and the rate lies strictly within 0 and 1.
    """
    from scipy.special import ndtri  # where asked for: a slow import

    if boards < 1 or not 0 < rate < 1:
        raise ValueError(f"no level for a rate of {rate} over {boards} boards")
    return -float(ndtri(-math.expm1(math.log1p(-rate) / boards)))
