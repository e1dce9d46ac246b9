"""Regan and Haworth's table (2011, section 7): (s, c) by player, event, year or rating."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import numpy as np

from live.ratings.intrinsic_rating import Spread, TurnArrays, project
from live.studies.regan_fit import (
    ChoiceFit,
    NoFit,
    fit_likelihood,
    fit_percentile,
    fit_sensitivity,
)
from live.studies.study_data import StudyData
from live.studies.study_table import Column, Row, TableHead, table, with_interval

GROUPINGS: Final = ("player", "event", "year", "rating")
#: Turns of one row that are fitted at most: memory stays flat, and more say little more.
MOST_TURNS: Final = 20_000
#: Turns held at once; more cost another pass.
MOST_HELD: Final = 60_000
_RATING_STEP: Final = 100


def _columns(by: str) -> tuple[Column, ...]:
    return (
        *(by, "turns"),
        *with_interval("s", 3, "sensitivity, pawns, by maximum likelihood", "s low", "s high"),
        *with_interval("c", 3, "competence", "c low", "c high"),
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


@table(
    "regan",
    "Sensitivity and competence by player",
    "Regan and Haworth 2011, section 7",
    *_columns("player"),
    by=GROUPINGS,
)
def regan_table(data: StudyData, by: str = "player") -> Iterator[Row | TableHead]:
    """Fits by maximum likelihood and by percentiles, projections beside what was played."""
    counts: Counter[Any] = Counter()
    left_out = 0
    for key, spread in _turns(data, by):
        if spread is None:
            left_out += 1
        else:
            counts[key] += 1
    order = list(data.players.values()) if by == "player" else sorted(counts)
    kept = {key: min(counts[key], MOST_TURNS) for key in order if key in counts}
    fitted = {key: _row(key, turns) for key, turns in _groups(data, by, kept)}
    lines = _lines_of_c([(key, c) for key, (c, _) in fitted.items()], by)
    on_line = {key: n for key, n in kept.items() if key in lines}
    s_fits = {key: fit_sensitivity(turns, lines[key]) for key, turns in _groups(data, by, on_line)}
    for key, (_, cells) in fitted.items():
        yield *cells[:-1], lines.get(key), s_fits.get(key), cells[-1]
    notes = [
        f"{left_out} turns left out: opening, repeated or decided positions, moves beyond the"
        " lines.",
        "(s, c) hold for this engine, limit and number of lines alone.",
        "A projection from a fit to the same moves shows whether the model has the right shape;"
        " it screens nobody.",
    ]
    if beyond := counts.total() - sum(kept.values()):
        notes.append(f"{beyond} turns beyond {MOST_TURNS} of a row are not counted.")
    if not fitted:
        notes.append("No position has several lines: search with study run --lines 10.")
    yield TableHead(tuple(notes), f"Sensitivity and competence by {by}", _columns(by))


def _turns(data: StudyData, by: str) -> Iterator[tuple[Any, Spread | None]]:
    """The group of each turn with several lines, and its spread; None where it does not count."""
    event_name = functools.cache(data.event_name)
    keys: dict[str, Callable[[tuple[Any, ...]], Any]] = {
        "player": lambda row: data.players.get(row[1]),
        "event": lambda row: event_name(row[2]) or None,
        "year": lambda row: row[3],
        "rating": lambda row: (
            None if row[4] is None else (row[4] + _RATING_STEP // 2) // _RATING_STEP * _RATING_STEP
        ),
    }
    columns = ["game", "player", "event", "year", "elo", "deltas", "played_line", "turn_left_out"]
    for frame in data.moves(columns, all_players=by != "player"):
        for row in frame.iter_rows():
            deltas, played, reason = row[5:]
            key = keys[by](row)
            if deltas is not None and key is not None:
                yield key, None if reason else Spread(tuple(deltas), played, 0.0)


def _groups(
    data: StudyData, by: str, counts: Mapping[Any, int]
) -> Iterator[tuple[Any, TurnArrays]]:
    """So many turns of each group, the first; some groups are read at a time."""
    lots: list[dict[Any, list[Spread]]] = []
    room = 0
    for key, n in counts.items():
        if not lots or n > room:
            lots.append({})
            room = MOST_HELD
        lots[-1][key] = []
        room -= n
    for held in lots:
        for key, spread in _turns(data, by):
            if spread is not None and key in held and len(held[key]) < counts[key]:
                held[key].append(spread)
        for key in list(held):
            yield key, TurnArrays(held.pop(key))


def _lines_of_c(fitted: list[tuple[Any, float | None]], by: str) -> dict[Any, float]:
    """C on the straight line over the ratings (section 7); nothing for other groups."""
    known = [(rating, c) for rating, c in fitted if c is not None]
    if by != "rating" or len(known) < 3:
        return {}
    ratings, values = (np.array(each, dtype=np.float64) for each in zip(*known, strict=True))
    slope, start = np.polyfit(ratings, values, 1)
    return {rating: float(start + slope * rating) for rating, _ in known}


def _row(key: Any, turns: TurnArrays) -> tuple[float | None, Row]:
    """The c of one group, and its cells but for those that need all groups."""
    fit = fit_likelihood(turns)
    if isinstance(fit, NoFit):
        return None, (key, len(turns), *[None] * 13, fit.reason)
    percentile = fit_percentile(turns)
    other: Row = (None, None)
    quality = fit.percentile_score
    if isinstance(percentile, ChoiceFit):
        other = (percentile.skill.s, percentile.skill.c)
        quality = percentile.percentile_score
    shown: Row = (None, None, None, None)
    projection = project(turns, fit.skill)
    if projection is not None:
        matches, difference = projection.matches, projection.difference
        shares = (100 * each / projection.turns for each in (matches.projected, matches.actual))
        shown = (*shares, difference.projected, difference.actual)
    skill = fit.skill
    own = (skill.s, *fit.s_interval, skill.c, *fit.c_interval)
    return skill.c, (key, len(turns), *own, *other, *shown, quality, "")
