"""Matches with the engine's choices, and average losses, compared with projected
values.

The projection is for players of a given skill (Regan and Haworth 2011, sections 5 to
7).
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from live.ratings.choice_model import ChoiceSkill, Spread, TurnArrays, compute_choices


class ScreeningFigure(NamedTuple):
    """A count or mean with its projected value. The difference accuses nobody."""

    actual: float
    projected: float
    sd: float
    """Standard deviation of ``actual`` under the projection."""
    z: float | None
    """Deviation from the projection in standard deviations. It is positive for more
    matches than projected and for a smaller loss than projected. None if the figure
    cannot vary.
    """


class Projection(NamedTuple):
    """A player's choices, compared with those projected for a given skill."""

    turns: int
    matches: ScreeningFigure
    """Number of turns in which the engine's first choice was played (mm)."""
    difference: ScreeningFigure
    """Mean distance of the move played from the best move, pawns (ad), on the scale of
    the spreads.
    """


def project_choices(
    spreads: Sequence[Spread] | TurnArrays, skill: ChoiceSkill
) -> Projection | None:
    """Return matches and average difference, with their projection for ``skill``.

    Return None without a turn. If the skill was fitted to the same moves, the
    projection agrees with them by construction, so it is useless for screening.
    """
    turns = spreads if isinstance(spreads, TurnArrays) else TurnArrays(spreads)
    n = len(turns)
    if not n:
        return None
    chance = compute_choices(turns, skill).probability
    first = chance[:, 0]
    mean = (chance * turns.deltas).sum(axis=1)
    variance = (chance * (turns.deltas - mean[:, None]) ** 2).sum()
    matches = _build_figure(
        (turns.played == 0).sum(), first.sum(), (first * (1 - first)).sum(), 1
    )
    lost = turns.select_played(turns.deltas).mean()
    return Projection(n, matches, _build_figure(lost, mean.mean(), variance / n**2, -1))


def _build_figure(
    actual: float, projected: float, variance: float, sign: int
) -> ScreeningFigure:
    sd = math.sqrt(max(float(variance), 0.0))
    z = sign * float(actual - projected) / sd if sd > 0 else None
    return ScreeningFigure(float(actual), float(projected), sd, z)
