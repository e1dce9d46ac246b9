"""Matches of every two players, by their results, and by the gains of the match."""

from __future__ import annotations

from statistics import fmean
from typing import Any

from live.ratings.alliot.covariance import predict_by_covariance
from live.ratings.expected_score import difference_of
from live.ratings.ferreira.rating_differences import Comparisons
from live.ratings.match.match_statistics import GameCounts, match_statistics
from live.studies.player_moves import PlayerMoves, gather
from live.studies.study_data import StudyData
from live.studies.study_table import Cell, StudyTable, TableColumn

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


def gains_table(data: StudyData) -> StudyTable:
    """Table 3: two players by the gains of their own games against each other alone, and everyone's
    strength by Algorithm 2 from these differences.
    """

    def pair(row: tuple[Any, ...]) -> tuple[int, int, int | None] | None:
        return (row[1], row[5], row[4]) if row[5] in data.players else None

    found = gather(data, pair, lambda: PlayerMoves(data.selection.gain))
    points = _points(data)
    rows: list[tuple[tuple[int, int], tuple[Cell, ...]]] = []
    differences: dict[tuple[int, int], list[float]] = {}
    ratings: dict[int, list[float]] = {}
    order = {player: place for place, player in enumerate(data.players)}
    for one, other, event in sorted(
        found, key=lambda key: (order[key[0]], order[key[1]], key[2] or 0)
    ):
        a, b = found[one, other, event], found.get((other, one, event))
        if b is None or order[one] > order[other]:
            continue
        if not min(a.gains.n, b.gains.n) >= max(1, data.selection.min_moves):
            continue
        score = predict_by_covariance(a.gains, b.gains)
        difference = None if score.expected_score is None else difference_of(score.expected_score)
        if difference is not None:
            differences.setdefault((one, other), []).append(difference)
        for player, moves in ((one, a), (other, b)):
            if moves.elo is not None:
                ratings.setdefault(player, []).append(moves.elo)
        cells: tuple[Cell, ...] = (
            data.players[one],
            data.players[other],
            data.event_name(event),
            a.games,
            points.get((one, other, event)),
            a.gains.n + b.gains.n,
            score.expected_score,
            score.low,
            score.high,
            difference,
        )
        rows.append(((one, other), cells))
    comparisons = Comparisons()
    for player, elos in ratings.items():
        comparisons.rate(str(player), round(fmean(elos)))
    for (one, other), each in differences.items():
        comparisons.compare(str(one), str(other), fmean(each))
    solved = comparisons.strengths()
    strengths = {int(player): strength.rating for player, strength in solved.items()}
    return StudyTable(
        "ferreira-3",
        "Matches by the gains of the match",
        "Ferreira 2012, Table 3",
        data.engine,
        (
            TableColumn("player"),
            TableColumn("opponent"),
            TableColumn("event"),
            TableColumn("games"),
            TableColumn("points", 1),
            TableColumn("moves", None, "of both"),
            TableColumn("expected", 3),
            TableColumn("low", 3, "95 % interval of expected"),
            TableColumn("high", 3),
            TableColumn("difference", 0),
            TableColumn("strength", 0, "of the player by Algorithm 2, from these differences"),
            TableColumn("opponent's", 0, "strength of the opponent"),
        ),
        tuple((*cells, *(strengths.get(player) for player in pair)) for pair, cells in rows),
    )


def _points(data: StudyData) -> dict[tuple[int, int, int | None], float]:
    """Of each player against each other at each event, in games with one result."""
    where, values = data.searched_where
    found: dict[tuple[int, int, int | None], float] = {}
    for white, black, event, won, lost in data.database.rows(
        "SELECT white, black, event, total(CASE result WHEN '1-0' THEN 1.0 WHEN '1/2-1/2' THEN 0.5"
        " END), total(CASE result WHEN '0-1' THEN 1.0 WHEN '1/2-1/2' THEN 0.5 END) FROM games"
        " WHERE other_result IS NULL AND result IN ('1-0', '0-1', '1/2-1/2')"
        f" AND {where} GROUP BY 1, 2, 3",
        values,
    ):
        for key, score in (((white, black, event), won), ((black, white, event), lost)):
            found[key] = found.get(key, 0.0) + score
    return found
