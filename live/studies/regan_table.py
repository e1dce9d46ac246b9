"""Table of (s, c) by player, event, year or rating (Regan and Haworth 2011)."""

import contextlib
from typing import Any, NamedTuple

import numpy as np
import polars
from polars import Int64, col

from live.ratings.choice_model import Spread, TurnArrays
from live.ratings.choice_projection import project_choices
from live.studies.learning.choice_fit import (
    fit_likelihood,
    fit_percentile,
    fit_sensitivity,
    score_percentiles,
)
from live.studies.learning.fisher_scoring import NoFit
from live.studies.study_data import StudyData
from live.studies.study_tables import (
    Column,
    Rows,
    TableHead,
    build_interval_columns,
    define_table,
)

GROUPINGS = ("player", "event", "year", "rating")
#: Largest number of turns (moves with a choice) to which one row is fitted. More turns
#: change the fit little.
MOST_TURNS = 20_000
_RATING_STEP = 100


def _build_columns(by: str) -> tuple[Column, ...]:
    return (
        by,
        "turns",
        *build_interval_columns(
            "s", 3, "sensitivity, pawns, by maximum likelihood", "s low", "s high"
        ),
        *build_interval_columns("c", 3, "competence", "c low", "c high"),
        ("s percentile", 3, "by the percentile method"),
        ("c percentile", 3),
        ("mm_p", 1, "matches of the first line projected, percent"),
        ("mm_a", 1, "and actual"),
        ("ad_p", 3, "average difference projected, pawns"),
        ("ad_a", 3, "and actual"),
        ("Q_fit", 4, "sum of squares over percentiles; small: the right shape"),
        ("c_fit", 3, "by rating: c of the straight line through all c"),
        ("s_fit", 3, "by rating: the most likely s for that c, pawns"),
        "reason",
    )


class FittedGroup(NamedTuple):
    """Figures of one group of turns, in the order of the columns of the table; None for
    what cannot be computed.
    """

    turns: int
    s: float | None = None
    s_low: float | None = None
    s_high: float | None = None
    c: float | None = None
    c_low: float | None = None
    c_high: float | None = None
    s_by_percentile: float | None = None
    c_by_percentile: float | None = None
    projected_matches: float | None = None
    matches: float | None = None
    projected_difference: float | None = None
    difference: float | None = None
    quality: float | None = None
    """Sum of squares over the percentiles (``Q``)."""
    c_on_line: float | None = None
    s_on_line: float | None = None
    reason: str = ""
    """Reason why there is no fit."""


@define_table(
    "regan",
    "Sensitivity and competence by player",
    "Regan and Haworth 2011, section 7",
    *_build_columns("player"),
    by=GROUPINGS,
)
def sensitivity_table(data: StudyData, by: str = "player") -> Rows:
    """Build the table of s and c by maximum likelihood and by percentiles, and compare
    the projections of the model with the moves played.
    """
    names: Any = {"player": data.players, "event": data.events}.get(by, {})
    groups = fit_groups(data, by)
    order = [*data.players]
    if by != "player":
        order = sorted(groups, key=lambda key: names.get(key, key))
    for key in order:
        if key in groups:
            yield names.get(key, key), *groups[key]
    counts = _count_turns(data, by)
    left_out = counts["left_out"].sum()
    yield (
        f"{left_out} turns left out: opening, repeated or decided positions, moves"
        " outside the searched lines."
    )
    yield "(s, c) are valid only for this engine, limit and number of lines."
    yield (
        "A projection from a fit to the same moves shows whether the model has the"
        " right shape; it is no screening of players."
    )
    if beyond := (counts["counting"] - MOST_TURNS).clip(0).sum():
        yield f"Rows use at most {MOST_TURNS} turns: {beyond} turns are left out."
    if not groups:
        yield "No position has several lines: search with study run --lines 10."
    yield TableHead(f"Sensitivity and competence by {by}", _build_columns(by))


def fit_groups(data: StudyData, by: str) -> dict[Any, FittedGroup]:
    """Fit s and c to the first turns of each group."""
    turns_of = _collect_first_turns(data, by)
    groups = {key: _fit_group(turns) for key, turns in turns_of.items()}
    if by == "rating":
        fits = sorted(groups.items())
        competences = {key: fit.c for key, fit in fits if fit.c is not None}
        for key, c in fit_competence_line(competences).items():
            s = fit_sensitivity(turns_of[key], c)
            groups[key] = groups[key]._replace(c_on_line=c, s_on_line=s)
    return groups


def _scan_turns(data: StudyData, by: str) -> polars.LazyFrame:
    """Return the turns with several lines, with the group of each (``key``)."""
    key = col("elo" if by == "rating" else by).cast(Int64)
    if by == "rating":
        key = (key + _RATING_STEP // 2) // _RATING_STEP * _RATING_STEP
    moves = data.scan_moves(all_players=by != "player")
    return moves.with_columns(key=key).drop_nulls(["deltas", "key"])


def _count_turns(data: StudyData, by: str) -> polars.DataFrame:
    """Return, for each group, the number of turns used for the fit (``counting``) and
    the number left out (``left_out``).
    """
    counts = (
        (col("turn_left_out") == "").sum().cast(Int64).alias("counting"),
        (col("turn_left_out") != "").sum().cast(Int64).alias("left_out"),
    )
    return _scan_turns(data, by).group_by("key").agg(counts).collect()


def _collect_first_turns(data: StudyData, by: str) -> dict[Any, TurnArrays]:
    """Return, for each group, the first turns that are used for the fit, at most
    ``MOST_TURNS``.
    """
    counting = _scan_turns(data, by).filter(turn_left_out="")
    first = counting.group_by("key", maintain_order=True).head(MOST_TURNS).collect()
    turns_of = {}
    for (key,), part in first.partition_by("key", as_dict=True).items():
        rows = part.select("deltas", "played_line").iter_rows()
        spreads = [Spread(tuple(deltas), played, 0.0) for deltas, played in rows]
        turns_of[key] = TurnArrays(spreads)
    return turns_of


def fit_competence_line(competences: dict[int, float]) -> dict[int, float]:
    """Return, for each rating, the c on the straight line through all c (Regan and
    Haworth 2011, section 7); empty for fewer than three ratings.
    """
    if len(competences) < 3:
        return {}
    slope, start = np.polyfit([*competences], [*competences.values()], 1)
    return {rating: float(start + slope * rating) for rating in competences}


def _fit_group(turns: TurnArrays) -> FittedGroup:
    try:
        fit = fit_likelihood(turns)
    except NoFit as error:
        return FittedGroup(len(turns), reason=str(error))
    skill = fit.skill
    group = FittedGroup(
        len(turns),
        skill.s,
        *fit.s_interval,
        skill.c,
        *fit.c_interval,
        quality=score_percentiles(turns, skill),
    )
    with contextlib.suppress(NoFit):
        percentile = fit_percentile(turns)
        group = group._replace(
            s_by_percentile=percentile.s,
            c_by_percentile=percentile.c,
            quality=score_percentiles(turns, percentile),
        )
    if (projection := project_choices(turns, skill)) is not None:
        group = group._replace(
            projected_matches=100 * projection.matches.projected / projection.turns,
            matches=100 * projection.matches.actual / projection.turns,
            projected_difference=projection.difference.projected,
            difference=projection.difference.actual,
        )
    return group


TABLES = (sensitivity_table,)
