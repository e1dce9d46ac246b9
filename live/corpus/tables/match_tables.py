"""Match statistics over a selection: every two players, and everybody against the field."""

from __future__ import annotations

from live.corpus.tables.study_data import StudyData
from live.corpus.tables.study_table import Cell, StudyTable, TableColumn
from live.ratings.match.match_statistics import GameCounts, match_statistics

_COLUMNS = (
    TableColumn("games"),
    TableColumn("wins"),
    TableColumn("draws"),
    TableColumn("losses"),
    TableColumn("score", 3, "points a game"),
    TableColumn("elo", 0, "logistic Elo difference; empty where unbounded"),
    TableColumn("low", 0, "95 % interval of elo"),
    TableColumn("high", 0),
    TableColumn("los", 3, "likelihood of superiority, exact"),
)


def matches_table(data: StudyData) -> StudyTable:
    """Results between every two of the selected players, and of each against all others."""
    where, values = data.where
    counts: dict[tuple[int, int | None], list[int]] = {}
    for white, black, result, games in data.database.rows(
        "SELECT white, black, result, count(*) FROM games WHERE other_result IS NULL AND result"
        f" IN ('1-0', '0-1', '1/2-1/2') AND {where} GROUP BY 1, 2, 3",
        values,
    ):
        place = {"1-0": 0, "1/2-1/2": 1, "0-1": 2}[result]
        for one, other, at in ((white, black, place), (black, white, 2 - place)):
            if one not in data.players or one == other:
                continue
            for key in ((one, None), *([(one, other)] if other in data.players else [])):
                counts.setdefault(key, [0, 0, 0])[at] += games
    rows: list[tuple[Cell, ...]] = []
    for one, name in data.players.items():
        for other in (None, *data.players):
            found = counts.get((one, other))
            if found is None:
                continue
            figures = match_statistics(GameCounts(*found))
            rows.append(
                (
                    name,
                    "everybody" if other is None else data.players[other],
                    sum(found),
                    *found,
                    figures.score,
                    figures.elo,
                    figures.elo_low,
                    figures.elo_high,
                    figures.los_exact,
                )
            )
    return StudyTable(
        "matches",
        "Match statistics",
        "Chess Programming Wiki, Match Statistics",
        "",
        (TableColumn("player"), TableColumn("opponent"), *_COLUMNS),
        tuple(rows),
        ("Games without a result, or with two, are left out.",),
    )
