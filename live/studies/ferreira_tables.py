"""Ferreira's tables (2012) over a selection of a corpus: one module a paper.

Expected scores are by Algorithm 1 with intervals, ratings by Algorithm 2, the engine's by
Algorithm 3, and Algorithm 4 against that. The engine's gains are all 0, or as measured.

Matches of every two players, by their results, and by the gains of the match.
"""

from __future__ import annotations

import itertools
import math
from statistics import fmean, variance
from typing import Any, Final

from scipy.special import stdtrit

from live.ratings.algorithm_2 import Algorithm2, solve, strengths_of
from live.ratings.covariance import predict_by_covariance
from live.ratings.expected_score import difference_of
from live.ratings.ferreira import (
    SPIKE_AT_ZERO,
    EngineDistribution,
    EngineEstimate,
    MeasuredPlayer,
    engine_strength,
)
from live.ratings.gain import GainHistogram
from live.ratings.match import GameCounts, match_statistics
from live.studies.study_data import PlayerMoves, StudyData, by_player, gather, import_polars
from live.studies.study_table import Cell, StudyTable, with_interval

_NAME = "player"
_MOVES = "moves"
#: Players at events who are compared, each two of them: all would be millions of rows.
MOST_STAYS: Final = 50
#: In a curve; then it hardly moves.
_MOST_MOVES: Final = 500
_OWN = ("elo", 0, "mean of the own ratings")


class _Strengths:
    """Algorithm 2 over the selected players: those compared who have met in the selection."""

    def __init__(self, data: StudyData, held: dict[int, PlayerMoves]) -> None:
        event = Algorithm2(data.selection.gain)
        for player, moves in held.items():
            elo = moves.elo
            event.rate(str(player), None if elo is None else round(elo))
        where, values = data.searched_where
        self.met: set[frozenset[int]] = set()
        self.results: dict[tuple[int, int], float] = {}
        self.games: dict[tuple[int, int], int] = {}
        for white, black, result, count in data.database.rows(
            "SELECT white, black, CASE WHEN other_result IS NULL THEN result ELSE '*' END, count(*)"
            f" FROM games WHERE {where} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
            values,
        ):
            if white not in held or black not in held or white == black:
                continue
            self.met.add(frozenset((white, black)))
            points = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}.get(result)
            if points is not None:
                for one, other, score in ((white, black, points), (black, white, 1 - points)):
                    pair = (one, other)
                    self.results[pair] = self.results.get(pair, 0.0) + score * count
                    self.games[pair] = self.games.get(pair, 0) + count
        for one, other in sorted(tuple(sorted(each)) for each in self.met):
            event.meet(str(one), str(other))
        for frame in data.moves(["player", "game", data.gain_column]):
            played = frame.drop_nulls().group_by("player", "game", maintain_order=True).all()
            for player, _, gains_cp in played.iter_rows():
                if player in held:
                    event.add_game(str(player), gains_cp)
        self.ratings = {
            int(player): strength.rating
            for player, strength in event.strengths().items()
            if strength.rating is not None
        }
        self.intervals = {
            int(player): ends
            for player, ends in event.intervals().items()
            if int(player) in self.ratings
        }


def _compared(one: PlayerMoves, other: PlayerMoves) -> tuple[float | None, ...]:
    """Expected score by the gains of both, its interval, and the difference in Elo."""
    found = predict_by_covariance(one.gains, other.gains)
    difference = None if found.expected_score is None else difference_of(found.expected_score)
    return found.expected_score, found.low, found.high, difference


def cross_table(data: StudyData) -> StudyTable:
    """Every two players who met: result, expected score, difference; and Algorithm 2."""
    held = by_player(data, PlayerMoves)
    strengths = _Strengths(data, held)
    rows = []
    for one, moves in held.items():
        for other, others in held.items():
            if frozenset((one, other)) not in strengths.met or one == other:
                continue
            rows.append(
                (
                    data.players[one],
                    data.players[other],
                    strengths.games.get((one, other), 0),
                    strengths.results.get((one, other)),
                    *_compared(moves, others),
                )
            )
    return data.table(
        "ferreira-1",
        "Cross-table of expected scores",
        "Ferreira 2012, Tables 1 and 5",
        (
            _NAME,
            "opponent",
            "games",
            ("points", 1, "of the player in these games"),
            *with_interval("expected", 3, "expected score of a game by all gains of both"),
            ("difference", 0, "Elo by which the player is the stronger"),
        ),
        rows,
    )


def strengths_table(data: StudyData) -> StudyTable:
    """Algorithms 2 and 4 with intervals: the right-hand columns of Tables 1 and 5."""
    held = by_player(data, PlayerMoves)
    strengths = _Strengths(data, held)
    engine = engine_strength(_measured(data, held, strengths)).by_elo
    rows = []
    for player, moves in held.items():
        difference, low, high = moves.differences()
        ends = strengths.intervals.get(player, (None, None))
        rating = strengths.ratings.get(player)
        rows.append(
            (
                data.players[player],
                moves.elo,
                moves.games,
                moves.gains.n,
                moves.expected_score,
                difference,
                _sum(engine, difference),
                _sum(engine, low),
                _sum(engine, high),
                rating,
                *ends,
            )
        )
    rows.sort(key=lambda row: (-(row[4] if isinstance(row[4], float) else -1), str(row[0])))
    note = "engine strength unknown" if engine is None else f"engine strength {engine:.0f}"
    return data.table(
        "ferreira-5",
        "Strength of players by Algorithm 4, and by Algorithm 2 from their comparisons",
        "Ferreira 2012, Tables 1, 3, 5 and 6 (right-hand columns)",
        (
            _NAME,
            _OWN,
            "games",
            _MOVES,
            ("p", 3, "expected score against the engine"),
            ("d", 0, "Elo against the engine"),
            ("strength", 0, "Algorithm 4: engine strength and d"),
            ("low", 0, "95 % interval of strength, games being clusters"),
            ("high", 0),
            *with_interval(
                "algorithm 2", 0, "from the comparisons with those met", low="low 2", high="high 2"
            ),
        ),
        rows,
        (f"Algorithm 3: {note}, the mean over these players' own ratings.",),
    )


def engine_table(data: StudyData) -> StudyTable:
    """Table 4: what each player says about the engine."""
    held = by_player(data, PlayerMoves)
    strengths = _Strengths(data, held)
    found = engine_strength(_measured(data, held, strengths))
    numbers = dict(zip(data.players.values(), data.players, strict=True))
    rows: list[tuple[Cell, ...]] = []
    for row in found.rows:
        moves = held[numbers[row.player]]
        rows.append(
            (
                row.player,
                moves.gains.n,
                moves.elo,
                strengths.ratings.get(numbers[row.player]),
                moves.expected_score,
                row.difference,
                row.by_elo,
                row.by_strength,
            )
        )
    rows.append(("average", None, None, None, None, None, found.by_elo, found.by_strength))
    low, high = _interval_of_mean(found.rows)
    notes = ["Ferreira, London 2011, Houdini 1.5a at depth 20: 2860 by both columns."]
    if low is not None and high is not None:
        notes.append(f"95 % interval of the average by Elo: {low:.0f} to {high:.0f}.")
    return data.table(
        "ferreira-4",
        "Strength of the engine by Algorithm 3",
        "Ferreira 2012, Table 4",
        (
            _NAME,
            _MOVES,
            ("r", 0, "own rating"),
            ("r'", 0, "Algorithm 2"),
            ("p", 3, "expected score against the engine"),
            ("d", 0),
            ("r - d", 0, "the engine by the own rating"),
            ("r' - d", 0, "the engine by Algorithm 2"),
        ),
        rows,
        notes,
    )


def event_table(data: StudyData) -> StudyTable:
    """Table 2: players at events against players at other events."""
    gain = data.gain_column
    known_moves = (
        data.scan().drop_nulls(["event", gain]).group_by("player", "event").len().collect()
    )
    moves = {(player, event): n for player, event, n in known_moves.iter_rows()}
    least = max(1, data.selection.min_moves)
    order = {player: place for place, player in enumerate(data.players)}
    known = sorted(
        (key for key, n in moves.items() if n >= least),
        key=lambda key: (-moves[key], order[key[0]], key[1]),
    )
    keys = sorted(known[:MOST_STAYS], key=lambda key: (order[key[0]], key[1]))

    def stay(row: tuple[Any, ...]) -> tuple[int, int] | None:
        return (row[1], row[4]) if (row[1], row[4]) in chosen else None

    chosen = set(keys)
    found = gather(data, stay, lambda: PlayerMoves(data.selection.gain))
    rows = []
    for index, one in enumerate(keys):
        for other in keys[index + 1 :]:
            if one[1] == other[1]:
                continue
            stays = (
                (data.players[player], data.event_name(event), found[player, event].gains.n)
                for player, event in (one, other)
            )
            cells = itertools.chain(*stays, _compared(found[one], found[other]))
            rows.append(tuple(cells))
    return data.table(
        "ferreira-2",
        "Players at one event against players at another",
        "Ferreira 2012, Table 2",
        (
            _NAME,
            "event",
            _MOVES,
            "opponent",
            "at",
            "their moves",
            *with_interval("expected", 3),
            ("difference", 0),
        ),
        rows,
        ()
        if len(known) <= MOST_STAYS
        else (
            f"Of {len(known)} players at an event the {MOST_STAYS} with the most moves: for others"
            " name players and events.",
        ),
    )


def curve_table(data: StudyData) -> StudyTable:
    """Figure 6: the difference to the engine after each move."""
    polars = import_polars()
    gain = data.gain_column
    parts = (polars.col(gain).sign() + 1) / 2
    found = (
        data.scan()
        .select("game", "ply", "player", gain)
        .drop_nulls(gain)
        .sort("game", "ply")
        .with_columns(n=polars.int_range(1, polars.len() + 1).over("player"))
        .filter(polars.col("n") <= _MOST_MOVES)
        .with_columns(p=parts.cum_sum().over("player") / polars.col("n"))
        .collect()
    )
    curves = found.select("player", "n", gain, "p").partition_by(
        "player", as_dict=True, include_key=False
    )
    rows = []
    for player, name in data.players.items():
        for n, gain_cp, p in curves[(player,)].rows() if (player,) in curves else ():
            # Nothing but negative gains: no difference is low enough.
            rows.append((name, n, gain_cp, p, difference_of(p) if 0 < p < 1 else None))
    return data.table(
        "ferreira-curve",
        "Difference to the engine after each move",
        "Ferreira 2012, section 7, Figure 6",
        (
            _NAME,
            ("moves", None, "so far, games in the order of the corpus"),
            ("gain_cp", None, "of this move"),
            ("p", 3, "expected score against the engine"),
            ("d", 1, "Elo against the engine; none while p is 0 or 1"),
        ),
        rows,
        (f"The first {_MOST_MOVES} moves of each player. See --event for a single event.",),
    )


def distribution_table(data: StudyData) -> StudyTable:
    """Figure 3: gains by centipawn, the spike at 0 among them."""
    rows = []
    for player, moves in by_player(data, PlayerMoves).items():
        for gain_cp, count in moves.gains:
            rows.append((data.players[player], gain_cp, count, count / moves.gains.n))
    return data.table(
        "ferreira-distribution",
        "Distribution of gain in steps of 1 centipawn",
        "Ferreira 2012, Figure 3",
        (
            _NAME,
            "gain_cp",
            "moves",
            ("share", 6, "of the player's moves"),
        ),
        rows,
    )


def engine_gains_table(data: StudyData) -> StudyTable:
    """The engine's own successive gains, counted: what ``[rating] engine_distribution`` reads."""
    engine = _engine_gains(data)
    return data.table(
        "engine-gains",
        "The engine's own gains in steps of 1 centipawn",
        "Ferreira 2012, sections 7 and 10 (his open end)",
        ("gain_cp", "moves"),
        tuple(engine),
        (f"Successive gains of {engine.n} moves that were the engine's own choice.",),
        engine=str(data.setting),
    )


def _engine_gains(data: StudyData) -> GainHistogram:
    """Of everybody's moves in the selection."""
    own = data.scan(all_players=True).filter(
        import_polars().col("move") == import_polars().col("best")
    )
    return GainHistogram(own.select("successive_cp").drop_nulls().collect()["successive_cp"])


def _score(gains: GainHistogram, engine: EngineDistribution | None) -> float | None:
    """Expected score against the engine (Algorithm 4)."""
    if engine is None or not gains.n:
        return None
    return sum(n * engine.parts(gain_cp) for gain_cp, n in gains) / (gains.n * engine.scale)


def measured_engine_table(data: StudyData) -> StudyTable:
    """The engine's own gains as measured beside the spike at 0, and what that changes."""
    held = by_player(data, lambda _: PlayerMoves("successive"))
    engine = _engine_gains(data)
    rows = []
    measured = EngineDistribution(engine) if engine.n else None
    for player, moves in held.items():
        scores = [_score(moves.gains, each) for each in (SPIKE_AT_ZERO, measured)]
        cells = itertools.chain(*((p, None if p is None else difference_of(p)) for p in scores))
        rows.append((data.players[player], moves.gains.n, *cells))
    zeros = engine[0] / engine.n if engine.n else 0.0
    mean = engine.mean if engine.mean is not None else 0.0
    return data.table(
        "engine-distribution",
        "Players against the engine with its gains all 0, and as they were measured",
        "Ferreira 2012, sections 6, 7 and 10 (his open end)",
        (
            _NAME,
            _MOVES,
            ("p spike", 3),
            ("d spike", 0),
            ("p measured", 3),
            ("d measured", 0),
        ),
        rows,
        (
            f"The engine's gains: {engine.n} successive gains of moves that were its own choice,"
            f" {zeros:.1%} of them 0, mean {mean:.1f} cp.",
            "Same-search gains of the engine are 0 by construction: this is about successive ones.",
        ),
        engine=f"{data.setting}, successive gain",
    )


def _measured(
    data: StudyData, held: dict[int, PlayerMoves], strengths: _Strengths
) -> list[MeasuredPlayer]:
    return [
        MeasuredPlayer(
            data.players[player],
            moves.expected_score or 0.0,
            None if moves.elo is None else float(moves.elo),
            strengths.ratings.get(player),
        )
        for player, moves in held.items()
    ]


def _interval_of_mean(rows: tuple[EngineEstimate, ...]) -> tuple[float | None, float | None]:
    """By the spread between players, Student's t."""
    known = [row.by_elo for row in rows if row.by_elo is not None]
    if len(known) < 2:
        return None, None
    mean = fmean(known)
    reach = float(stdtrit(len(known) - 1, 0.975)) * math.sqrt(variance(known) / len(known))
    return mean - reach, mean + reach


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


_COLUMNS = (
    "games",
    "wins",
    "draws",
    "losses",
    ("score", 3, "points a game"),
    *with_interval("elo", 0, "logistic Elo difference; empty where unbounded"),
    ("los", 3, "likelihood of superiority, exact"),
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
    rows = []
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
    return data.table(
        "matches",
        "Match statistics",
        "Chess Programming Wiki, Match Statistics",
        ("player", "opponent", *_COLUMNS),
        rows,
        ("Games without a result, or with two, are left out.",),
        engine="",
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
        compared = _compared(a, b)
        if compared[-1] is not None:
            differences.setdefault((one, other), []).append(compared[-1])
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
            *compared,
        )
        rows.append(((one, other), cells))
    solved = strengths_of(
        solve(
            {(str(one), str(other)): fmean(each) for (one, other), each in differences.items()},
            {str(player): round(fmean(elos)) for player, elos in ratings.items()},
        )
    )
    strengths = {int(player): strength.rating for player, strength in solved.items()}
    return data.table(
        "ferreira-3",
        "Matches by the gains of the match",
        "Ferreira 2012, Table 3",
        (
            "player",
            "opponent",
            "event",
            "games",
            ("points", 1),
            ("moves", None, "of both"),
            *with_interval("expected", 3),
            ("difference", 0),
            ("strength", 0, "of the player by Algorithm 2, from these differences"),
            ("opponent's", 0, "strength of the opponent"),
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
