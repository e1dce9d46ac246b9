"""Table of (s, c) by player, event, year or rating (Regan and Haworth 2011)."""

import contextlib
from typing import Any

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
    Row,
    Rows,
    TableHead,
    build_interval_columns,
    register_table,
)

GROUPINGS = ("player", "event", "year", "rating")
#: Largest number of turns to which one row is fitted: more turns change the fit little.
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


@register_table(
    "regan",
    "Sensitivity and competence by player",
    "Regan and Haworth 2011, section 7",
    *_build_columns("player"),
    by=GROUPINGS,
)
def build_sensitivity_table(data: StudyData, by: str = "player") -> Rows:
    """Build the table of s and c by maximum likelihood and by percentiles, with
    projections beside the moves played.
    """
    counts, turns_of, left_out = _collect_turns(data, by)
    names: Any = {"player": data.players, "event": data.events}.get(by, {})
    order = (
        data.players
        if by == "player"
        else sorted(turns_of, key=lambda key: names.get(key, key))
    )
    fitted = {key: _fit_row(turns_of[key]) for key in order if key in turns_of}
    competences = {key: c for key, (c, _) in fitted.items() if c is not None}
    lines = fit_competence_line(competences) if by == "rating" else {}
    for key, (_, cells) in fitted.items():
        c_fit = lines.get(key)
        s_fit = None if c_fit is None else fit_sensitivity(turns_of[key], c_fit)
        yield names.get(key, key), *cells[:-1], c_fit, s_fit, cells[-1]
    yield (
        f"{left_out} turns left out: opening, repeated or decided positions, moves"
        " beyond the lines."
    )
    yield "(s, c) hold for this engine, limit and number of lines alone."
    yield (
        "A projection from a fit to the same moves shows whether the model has the"
        " right shape; it screens nobody."
    )
    if beyond := sum(max(0, n - MOST_TURNS) for n in counts.values()):
        yield f"{beyond} turns beyond {MOST_TURNS} of a row are not counted."
    if not fitted:
        yield "No position has several lines: search with study run --lines 10."
    yield TableHead(f"Sensitivity and competence by {by}", _build_columns(by))


def _collect_turns(
    data: StudyData, by: str
) -> tuple[dict[Any, int], dict[Any, TurnArrays], int]:
    """Return three values: by group the number of turns that count; by group the first
    of these turns, for the fit; and the number of turns that do not count.
    """
    key = col("elo" if by == "rating" else by).cast(Int64)
    if by == "rating":
        key = (key + _RATING_STEP // 2) // _RATING_STEP * _RATING_STEP
    turns = (
        data.scan_moves(all_players=by != "player")
        .with_columns(key=key)
        .drop_nulls(["deltas", "key"])
    )
    counting = turns.filter(turn_left_out="")
    not_counting = turns.filter(col("turn_left_out") != "")
    counts = dict(counting.group_by("key").len().collect().iter_rows())
    left_out = not_counting.select(polars.len()).collect().item()
    first = counting.group_by("key", maintain_order=True).head(MOST_TURNS).collect()
    turns_of = {}
    for (name,), part in first.partition_by("key", as_dict=True).items():
        rows = part.select("deltas", "played_line").iter_rows()
        spreads = [Spread(tuple(deltas), played, 0.0) for deltas, played in rows]
        turns_of[name] = TurnArrays(spreads)
    return counts, turns_of, left_out


def fit_competence_line(competences: dict[int, float]) -> dict[int, float]:
    """Return, for each rating, the c on the straight line through all c (section 7);
    empty for fewer than three ratings.
    """
    if len(competences) < 3:
        return {}
    slope, start = np.polyfit([*competences], [*competences.values()], 1)
    return {rating: float(start + slope * rating) for rating in competences}


def _fit_row(turns: TurnArrays) -> tuple[float | None, Row]:
    """Return the c of one group, None if it cannot be fitted; and the cells of its row,
    except the name and the cells that need all groups.
    """
    try:
        fit = fit_likelihood(turns)
    except NoFit as error:
        return None, (len(turns), *[None] * 13, str(error))
    skill = fit.skill
    by_percentiles: Row = (None, None)
    quality = score_percentiles(turns, skill)
    with contextlib.suppress(NoFit):
        percentile = fit_percentile(turns)
        by_percentiles = (percentile.s, percentile.c)
        quality = score_percentiles(turns, percentile)
    projected: Row = (None, None, None, None)
    if (projection := project_choices(turns, skill)) is not None:
        matches = projection.matches
        difference = projection.difference
        shares = (
            100 * matching / projection.turns
            for matching in (matches.projected, matches.actual)
        )
        projected = (*shares, difference.projected, difference.actual)
    own = (skill.s, *fit.s_interval, skill.c, *fit.c_interval)
    return skill.c, (len(turns), *own, *by_percentiles, *projected, quality, "")
