"""Regan and Haworth's table (2011, section 7): (s, c) by player, event, year or rating."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal

import numpy as np

from live.corpus.tables.study_data import StudyData
from live.corpus.tables.study_table import Cell, StudyTable, TableColumn
from live.ratings.regan.choice_fit import (
    ChoiceFit,
    NoFit,
    fit_likelihood,
    fit_percentile,
    fit_sensitivity,
)
from live.ratings.regan.choice_model import TurnArrays
from live.ratings.regan.move_spread import Spread
from live.ratings.regan.projection import NoProjection, project

Grouping = Literal["player", "event", "year", "rating"]
GROUPINGS: Final[tuple[Grouping, ...]] = ("player", "event", "year", "rating")
#: Turns of one row that are fitted at most: memory stays flat, and more say little more.
MOST_TURNS: Final = 20_000
_RATING_STEP: Final = 100


def regan_table(data: StudyData, by: Grouping = "player") -> StudyTable:
    """Fits by maximum likelihood and by percentiles, projections beside what was played."""
    events = data.event_names()
    keys: dict[Grouping, Callable[[tuple[Any, ...]], Any]] = {
        "player": lambda row: data.players.get(row[1]),
        "event": lambda row: events.get(row[2]),
        "year": lambda row: row[3],
        "rating": lambda row: (
            None if row[4] is None else (row[4] + _RATING_STEP // 2) // _RATING_STEP * _RATING_STEP
        ),
    }
    spreads: dict[Any, list[Spread]] = {}
    left_out = beyond = 0
    columns = ["game", "player", "event", "year", "elo", "deltas", "played_line", "turn_left_out"]
    for frame in data.moves(columns, all_players=by != "player"):
        for row in frame.iter_rows():
            deltas, played, reason = row[5:]
            key = keys[by](row)
            if deltas is None or key is None:
                continue
            if reason:
                left_out += 1
                continue
            held = spreads.setdefault(key, [])
            if len(held) < MOST_TURNS:
                held.append(Spread(tuple(deltas), played, 0.0))
            else:
                beyond += 1
    order = list(data.players.values()) if by == "player" else sorted(spreads)
    fitted = [(key, *_row(key, TurnArrays(spreads[key]))) for key in order if key in spreads]
    lines = _lines_of_c([(key, c) for key, c, _ in fitted], by)
    rows = []
    for key, _, cells in fitted:
        c_fit = lines.get(key)
        s_fit = None if c_fit is None else fit_sensitivity(TurnArrays(spreads[key]), c_fit)
        rows.append((*cells[:-1], c_fit, s_fit, cells[-1]))
    notes = [
        f"{left_out} turns left out: opening, repeated or decided positions, moves beyond the"
        " lines.",
        "(s, c) hold for this engine, limit and number of lines alone.",
        "A projection from a fit to the same moves shows whether the model has the right shape;"
        " it screens nobody.",
    ]
    if beyond:
        notes.append(f"{beyond} turns beyond {MOST_TURNS} of a row are not counted.")
    if not rows:
        notes.append("No position has several lines: search with study run --lines 10.")
    return StudyTable(
        "regan",
        f"Sensitivity and competence by {by}",
        "Regan and Haworth 2011, section 7",
        data.engine,
        (
            TableColumn(by),
            TableColumn("turns"),
            TableColumn("s", 3, "sensitivity, pawns, by maximum likelihood"),
            TableColumn("s low", 3, "95 % interval of s"),
            TableColumn("s high", 3),
            TableColumn("c", 3, "competence"),
            TableColumn("c low", 3, "95 % interval of c"),
            TableColumn("c high", 3),
            TableColumn("s percentile", 3, "by the percentile method"),
            TableColumn("c percentile", 3),
            TableColumn("mm_p", 1, "matches of the first line projected, percent"),
            TableColumn("mm_a", 1, "and actual"),
            TableColumn("ad_p", 3, "average difference projected, pawns"),
            TableColumn("ad_a", 3, "and actual"),
            TableColumn("Q_fit", 4, "sum of squares over percentiles; small: the right shape"),
            TableColumn("c_fit", 3, "by rating: c of the straight line through all c"),
            TableColumn("s_fit", 3, "by rating: the most likely s for that c, pawns"),
            TableColumn("reason"),
        ),
        tuple(rows),
        tuple(notes),
    )


def _lines_of_c(fitted: list[tuple[Any, float | None]], by: Grouping) -> dict[Any, float]:
    """C on the straight line over the ratings (section 7); nothing for other groups."""
    known = [(rating, c) for rating, c in fitted if c is not None]
    if by != "rating" or len(known) < 3:
        return {}
    ratings, values = (np.array(each, dtype=np.float64) for each in zip(*known, strict=True))
    slope, start = np.polyfit(ratings, values, 1)
    return {rating: float(start + slope * rating) for rating, _ in known}


def _row(key: Any, turns: TurnArrays) -> tuple[float | None, tuple[Cell, ...]]:
    """The c of one group, and its cells but for those that need all groups."""
    count = len(turns)
    fit = fit_likelihood(turns)
    if isinstance(fit, NoFit):
        return None, (key, count, *[None] * 13, fit.reason)
    percentile = fit_percentile(turns)
    other: tuple[Cell, Cell] = (None, None)
    quality: Cell = fit.percentile_score
    if isinstance(percentile, ChoiceFit):
        other = (percentile.skill.s, percentile.skill.c)
        quality = percentile.percentile_score
    projection = project(turns, fit.skill)
    shown: tuple[Cell, ...] = (None, None, None, None)
    if not isinstance(projection, NoProjection):
        n = projection.turns
        shown = (
            100 * projection.matches.projected / n,
            100 * projection.matches.actual / n,
            projection.difference.projected,
            projection.difference.actual,
        )
    cells = (
        key,
        count,
        fit.skill.s,
        *fit.s_interval,
        fit.skill.c,
        *fit.c_interval,
        *other,
        *shown,
        quality,
        "",
    )
    return fit.skill.c, cells
