"""Fit of the sensitivity s and the competence c that best explain the moves of a
player, with intervals (Regan and Haworth 2011, section 6).

There are two methods. Maximum likelihood returns the s and c under which the moves
played were most probable: Fisher scoring finds them, and the intervals are those of the
profile likelihood. The percentile method compares where the moves fall with where they
are predicted to fall. With the moves of a turn in order of merit, the move played spans
an interval of the predicted cumulative probability. For every percentile q, the share
of turns "up", which means at or below q, should be q. The method minimises the sum of
the squared differences. It returns no intervals, and the paper gives none either.

Both methods work with log s and log c, whose estimates are nearly normally distributed.
Turns that cannot be fitted raise ``NoFit`` with the reason.
"""

import math
from typing import Literal

import numpy as np

from live.messages.values import Value
from live.ratings.choice_model import (
    ChoiceSkill,
    Floats,
    TurnArrays,
    compute_choices,
)
from live.studies.learning.fisher_scoring import (
    LONGEST,
    NoFit,
    ScoringStep,
    invert,
    minimise_loss,
)

Method = Literal["likelihood", "percentile"]

#: Smallest number of turns for a useful fit
#: (``tests/studies/learning/test_regan_fit.py``).
MIN_TURNS: dict[Method, int] = {"likelihood": 20, "percentile": 160}

#: Percentiles, "stepping q by 0.05 from 0 to 1" (Regan and Haworth 2011, section 6).
#: The ends 0 and 1 are left out, because they match under all parameters.
PERCENTILES: Floats = np.linspace(0.05, 0.95, 19)

_START = (math.log(0.1), math.log(0.5))
#: Bounds of log s and log c: s from 1/10,000 to 100 pawns, c from 1/50 to 20. A fit
#: that reaches a bound has no finite solution.
_LOWEST = np.array([math.log(1e-4), math.log(0.02)])
_HIGHEST = np.array([math.log(100.0), math.log(20.0)])
_PROFILE_STEPS = 30


class ChoiceFit(Value):
    """Fitted parameters of one player's choices, with 95 % intervals."""

    skill: ChoiceSkill
    s_interval: tuple[float, float]
    """Interval of s, pawns."""
    c_interval: tuple[float, float]


def fit_likelihood(turns: TurnArrays) -> ChoiceFit:
    """Fit s and c by maximum likelihood (Regan and Haworth 2011, section 6). For 400
    turns of 20 moves this takes 7 ms.

    Raises:
        NoFit: no s and c can be fitted to these turns.
    """
    at, best = _maximise_likelihood("likelihood", turns)
    covariance = invert(best.curvature)
    if covariance is None:
        raise NoFit("s and c cannot be distinguished from these moves")
    skill = _build_skill(at)
    s, c = (
        _find_profile_interval(turns, skill, best, covariance, index)
        for index in (0, 1)
    )
    return ChoiceFit(skill, s, c)


def fit_percentile(turns: TurnArrays) -> ChoiceSkill:
    """Fit s and c by the percentile method (Regan and Haworth 2011, section 6). It
    takes about as long as ``fit_likelihood``.

    The search begins at the result of maximum likelihood, because the percentile score
    has other minima far from it.

    Raises:
        NoFit: no s and c can be fitted to these turns.
    """
    start, _ = _maximise_likelihood("percentile", turns)
    at, _ = minimise_loss(
        lambda at: _compute_percentile_step(turns, _build_skill(at)),
        start,
        _LOWEST,
        _HIGHEST,
    )
    return _build_skill(at)


def fit_sensitivity(turns: TurnArrays, c: float) -> float | None:
    """Return the most likely s, in pawns, of players with this c: ``s_fit`` of Regan
    and Haworth 2011, section 7. Return None if the most likely s is not finite.
    """

    def step(at: Floats) -> ScoringStep:
        step_of_both = _compute_likelihood_step(turns, ChoiceSkill(math.exp(at[0]), c))
        return ScoringStep(
            step_of_both.loss, step_of_both.slope[:1], step_of_both.curvature[:1, :1]
        )

    try:
        _require_turns_for_fit("likelihood", turns)
        at, _ = minimise_loss(step, np.array(_START[:1]), _LOWEST[:1], _HIGHEST[:1])
    except NoFit:
        return None
    return math.exp(at[0])


def measure_share_up(turns: TurnArrays, skill: ChoiceSkill) -> Floats:
    """Return, for each of ``PERCENTILES``, the share of turns "up", which means at or
    below the percentile: ``R`` of Regan and Haworth 2011, section 6. The shape is
    (19,).
    """
    mean: Floats = _compute_shares_up(turns, skill)[0].mean(axis=0)
    return mean


def score_percentiles(turns: TurnArrays, skill: ChoiceSkill) -> float:
    """Return the score ``S`` of Regan and Haworth 2011, section 6: the sum of squared
    distances over the percentiles. It is near 0 if model and curve have the right
    shape.
    """
    return float(((measure_share_up(turns, skill) - PERCENTILES) ** 2).sum())


def _require_turns_for_fit(method: Method, turns: TurnArrays) -> None:
    count = len(turns)
    if count < MIN_TURNS[method]:
        raise NoFit(f"{count} turns: by {method}, s and c need {MIN_TURNS[method]}")
    if not turns.select_played(turns.deltas).any():
        raise NoFit(
            "every move played was the best one: the strength has no upper bound"
        )


def _maximise_likelihood(
    method: Method, turns: TurnArrays
) -> tuple[Floats, ScoringStep]:
    """Return the logarithms of the most likely s and c, and the loss, slope and
    curvature at that point.
    """
    _require_turns_for_fit(method, turns)
    return minimise_loss(
        lambda at: _compute_likelihood_step(turns, _build_skill(at)),
        np.array(_START),
        _LOWEST,
        _HIGHEST,
    )


def _build_skill(at: Floats) -> ChoiceSkill:
    return ChoiceSkill(math.exp(at[0]), math.exp(at[1]))


def _compute_quantile(turns: int) -> float:
    """Return the 97.5 % quantile of Student's t for this number of turns. For few
    turns, the interval from a normal quantile would be too narrow.
    """
    from scipy.special import stdtrit  # imported only here, because the import is slow

    return float(stdtrit(turns - 2, 0.975))


def _find_profile_interval(
    turns: TurnArrays,
    skill: ChoiceSkill,
    best: ScoringStep,
    covariance: Floats,
    index: int,
) -> tuple[float, float]:
    """Return the two ends of the interval of one parameter. At the ends, the
    log-likelihood, maximised over the second parameter, is lower than its maximum by
    half of the squared quantile of Student's t.

    Each step solves the quadratic equation given by value, slope and information
    (Venzon and Moghadam 1988, "A method for computing profile-likelihood-based
    confidence intervals").
    """
    centre = np.log([skill.s, skill.c])
    quantile = _compute_quantile(len(turns))
    target = best.loss + quantile**2 / 2
    # The first step also moves the second parameter, along the covariance.
    reach = quantile * covariance[index] / math.sqrt(covariance[index, index])
    ends = []
    for side, wall, end in ((-1.0, _LOWEST, 0.0), (1.0, _HIGHEST, math.inf)):
        at = centre + np.clip(side * reach, -LONGEST, LONGEST)
        for _ in range(_PROFILE_STEPS):
            at = np.clip(at, _LOWEST, _HIGHEST)
            step = _compute_likelihood_step(turns, _build_skill(at))
            if at[index] == wall[index] and step.loss < target:
                break
            move = _step_towards(target, step, index, side)
            at = at + np.clip(move, -LONGEST, LONGEST)
            if abs(step.loss - target) < 1e-4 and abs(move[1 - index]) < 1e-3:
                end = math.exp(at[index])
                break
        ends.append(end)
    return ends[0], ends[1]


def _step_towards(target: float, step: ScoringStep, index: int, side: float) -> Floats:
    """Return the step to the point on ``side`` at which the loss equals ``target`` and
    has no slope in the second parameter.
    """
    nuisance = 1 - index
    within = max(step.curvature[nuisance, nuisance], 1e-12)
    along = -step.curvature[index, nuisance] / within
    # If the second parameter always takes its best value, the loss is a + b x + q x²/2,
    # where x is the change of the first parameter.
    b = step.slope[index] + along * step.slope[nuisance]
    q = max(
        step.curvature[index, index] + along * step.curvature[index, nuisance], 1e-9
    )
    a = step.loss - step.slope[nuisance] ** 2 / (2 * within) - target
    x = (-b + side * math.sqrt(max(b * b - 2 * q * a, 0.0))) / q
    move = np.empty(2)
    move[index] = x
    move[nuisance] = along * x - step.slope[nuisance] / within
    return move


def _compute_likelihood_step(turns: TurnArrays, skill: ChoiceSkill) -> ScoringStep:
    choices = compute_choices(turns, skill)
    slope = turns.select_played(choices.slope).sum(axis=0)
    information = np.einsum(
        "tm,tmi,tmj->ij", choices.probability, choices.slope, choices.slope
    )
    return ScoringStep(
        -float(turns.select_played(choices.log).sum()), -slope, information
    )


def _compute_percentile_step(turns: TurnArrays, skill: ChoiceSkill) -> ScoringStep:
    ups, slopes = _compute_shares_up(turns, skill)
    miss = ups.mean(axis=0) - PERCENTILES
    slope = slopes.mean(axis=0)
    return ScoringStep(float(miss @ miss) / 2, slope.T @ miss, slope.T @ slope)


def _compute_shares_up(turns: TurnArrays, skill: ChoiceSkill) -> tuple[Floats, Floats]:
    """Return, for each turn, the share of the choice probability at or below each
    percentile ("up"), 0 to 1, and the derivatives of these shares with respect to
    log s and log c.

    The shapes are (turns, 19) and (turns, 19, 2).
    """
    choices = compute_choices(turns, skill)
    before = np.arange(turns.deltas.shape[1]) < turns.played[:, None]
    below = np.where(before, choices.probability, 0.0).sum(axis=1)
    below_slope = np.einsum(
        "tm,tmi->ti", np.where(before, choices.probability, 0.0), choices.slope
    )
    own = np.maximum(turns.select_played(choices.probability), 1e-300)
    own_slope = turns.select_played(choices.slope)
    raw = (PERCENTILES - below[:, None]) / own[:, None]
    straddles = (raw > 0) & (raw < 1)
    slope = (
        -below_slope[:, None] / own[:, None, None]
        - raw[:, :, None] * own_slope[:, None]
    )
    return np.clip(raw, 0.0, 1.0), np.where(straddles[:, :, None], slope, 0.0)
