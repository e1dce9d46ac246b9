"""Alliot's tables of players (2017): conformance, careers by year, Markov chains, battle royale.

Alliot's tables of matches (2017): Table 5, and Figures 7 and 8.

A match is all games of two players at one event, four and more.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

import msgspec

from live.ratings.conformance import PONDERATED, AccumulatedConformance, remembered_share
from live.ratings.covariance import (
    CONVOLUTION_32,
    STEP,
    TANH,
    TANH_FIT,
    predict_by_convolution,
    predict_by_covariance,
)
from live.ratings.expected_score import expected_score_of
from live.ratings.markov import (
    ENOUGH_MOVES,
    NINETEEN,
    TEN,
    EvaluationClasses,
    predict_by_markov,
    stationary_of,
)
from live.ratings.prediction import BattleRoyale, Prediction
from live.ratings.score_interval import score_interval
from live.studies.alliot_games import STEPS_CP, line_sums, share_ahead
from live.studies.study_data import (
    ConformingMoves,
    PairedMoves,
    StudyData,
    by_player,
    by_year,
    gather,
    import_polars,
)
from live.studies.study_table import Cell, Column, StudyTable, with_interval

#: How pairings are predicted.
_PREDICTORS: Final[dict[str, Callable[[PairedMoves, PairedMoves], Prediction]]] = {
    # The paper's first experiment: no convolution, raw gains (its n0 = 0).
    "step": lambda one, other: predict_by_covariance(one.shortfalls, other.shortfalls, STEP),
    "tanh": lambda one, other: predict_by_covariance(one.tanh, other.tanh, TANH, TANH_FIT),
    # Its n0 = 32, b = 2.4.
    "convolution": lambda one, other: predict_by_convolution(
        one.shortfalls, other.shortfalls, CONVOLUTION_32
    ),
    "markov": lambda one, other: predict_by_markov(
        one.transitions.chain("white"), other.transitions.chain("black")
    ),
}
PAIRINGS: Final = tuple(_PREDICTORS)

_CONFORMANCE = ("raw", "guid-bratko", "ponderated")


def games_table(data: StudyData) -> StudyTable:
    """Table 1: games by player and colour."""
    rows: list[tuple[Cell, ...]] = []
    where, values = data.where
    for player, name in data.players.items():
        counts = [
            data.database.count("games", f"{color} = ? AND {where}", (player, *values))
            for color in ("white", "black")
        ]
        rows.append((name, *counts, sum(counts)))
    return data.table(
        "alliot-1",
        "Games of each player",
        "Alliot 2017, Table 1",
        ("player", "white", "black", "total"),
        rows,
        engine="",
    )


def conformance_table(data: StudyData) -> StudyTable:
    """p(x) of each player, for the three kinds of conformance, at 0 and at the kind's own x."""
    rows: list[tuple[Cell, ...]] = []
    for player, moves in by_player(data, ConformingMoves).items():
        row: list[Cell] = [data.players[player], moves.elo, moves.raw.n]
        for held in (moves.raw, moves.guid_bratko, moves.ponderated):
            low, high = held.interval or (None, None)
            row += [held.share_at(0), held.share, low, high]
        rows.append(tuple(row))
    columns: list[Column] = ["player", ("elo", 0), "moves"]
    for kind in _CONFORMANCE:
        columns += [
            (f"{kind} 0", 3, "share of moves at 0"),
            (f"{kind} x", 3, "share within 30 cp (Guid and Bratko: 20)"),
            (f"{kind} low", 3),
            (f"{kind} high", 3, "95 % interval"),
        ]
    return data.table(
        "alliot-conformance",
        "Accumulated conformance",
        "Alliot 2017, sections 3.2 and 4.2, Figure 8",
        tuple(columns),
        rows,
        ("From move 10 on, forced moves left out.",),
    )


def career_table(data: StudyData) -> StudyTable:
    """A player's figures by year: Figures 16 and 17, and Algorithm 4."""
    found = by_year(data, ConformingMoves)
    rows = []
    least = max(1, data.selection.min_moves)
    for player, name in data.players.items():
        years = sorted(year for who, year in found if who == player)
        for year in years:
            moves = found[player, year]
            if moves.gains.n < least:
                continue
            past = [found[player, each].ponderated for each in reversed(years) if each <= year]
            ponderated = moves.ponderated
            low, high = ponderated.interval or (None, None)
            exact: tuple[float | None, float | None] = (None, None)
            if ponderated.n:
                zeros = ponderated.within_cp(0)
                exact = score_interval(ponderated.n, zeros, zeros)
            d, d_low, d_high = moves.differences()
            rows.append(
                (
                    name,
                    year,
                    moves.games,
                    moves.gains.n,
                    moves.elo,
                    moves.points / moves.results if moves.results else None,
                    ponderated.share_at(0),
                    *exact,
                    ponderated.share,
                    low,
                    high,
                    remembered_share(past),
                    d,
                    d_low,
                    d_high,
                )
            )
    return data.table(
        "career",
        "Careers: figures by year",
        "Alliot 2017, Figures 16 and 17; Ferreira 2012, Algorithm 4",
        (
            "player",
            "year",
            "games",
            "moves",
            ("elo", 0),
            ("score", 3, "points a game"),
            *with_interval("p(0)", 3, "ponderated conformance at 0", low="low 0", high="high 0"),
            *with_interval("p(0.3)", 3, "ponderated conformance within 30 cp"),
            ("remembered", 3, "p(0.3) with past years, each half as much as the next"),
            *with_interval("d", 0, "Elo against the engine", low="d low", high="d high"),
        ),
        rows,
        (
            "One engine judges all years: opponents, openings and clocks differ between them, and",
            "so does what these figures mean (Alliot 2017, section 5; Ferreira 2012, section 8).",
        ),
    )


def markov_table(data: StudyData, classes: EvaluationClasses = NINETEEN) -> StudyTable:
    """Transition matrices with each colour, from its own moves alone (Tables 2 and 3)."""
    held = gather(data, lambda row: int(row[1]), lambda: PairedMoves(data.selection.gain, classes))
    rows = []
    edges = ["", *map(str, classes.lower_cp)]
    for player, color in itertools.product(data.players, ("white", "black")):
        if player not in held:
            continue
        chain = held[player].transitions.chain(
            "white" if color == "white" else "black", own_color=True
        )
        for at, line in enumerate(chain.matrix.tolist()):
            rows.append((data.players[player], color, edges[at], float(chain.support[at]), *line))
    name = "alliot-markov" if classes == NINETEEN else "alliot-markov-10"
    return data.table(
        name,
        "Transition matrices, from White's side",
        "Alliot 2017, Tables 2 and 3, section 4.4.1",
        (
            "player",
            "colour",
            ("from_cp", None, "least evaluation of the class; none for the lowest"),
            ("moves", 1, "that the row rests on; past years weigh half as much"),
            *((f"to {edge or 'lowest'}", 4) for edge in edges),
        ),
        rows,
    )


def markov_ten_table(data: StudyData) -> StudyTable:
    """The same in ten classes of 0.4 pawn."""
    return markov_table(data, TEN)


def stationary_table(data: StudyData) -> StudyTable:
    """Where the chain of each two players ends up (section 4.4.1)."""
    held = by_player(data, PairedMoves)
    rows: list[tuple[Cell, ...]] = []
    edges = ["", *map(str, NINETEEN.lower_cp)]
    for one, other in itertools.permutations(held, 2):
        white = held[one].transitions.chain("white")
        black = held[other].transitions.chain("black")
        if not (white.support.any() and black.support.any()):
            continue
        vector = stationary_of(white.matrix, black.matrix, NINETEEN.level)
        rows.append((data.players[one], data.players[other], *map(float, vector)))
    return data.table(
        "alliot-stationary",
        "Stationary vectors of pairs",
        "Alliot 2017, section 4.4.1",
        (
            "white",
            "black",
            *((edge or "lowest", 3) for edge in edges),
        ),
        rows,
        (f"The paper asks for {ENOUGH_MOVES} moves of a player.",),
    )


def classes_table(data: StudyData) -> StudyTable:
    """Figure 15: positions in each class of the chains, in a year on average."""
    rows = []
    polars = import_polars()
    counted = data.scan().filter("counted", polars.col("best_cp").is_not_null())
    years = dict(
        counted.group_by("player")
        .agg(polars.col("year").n_unique() - polars.col("year").has_nulls())
        .collect()
        .rows()
    )
    counts = Counter[tuple[int, int]]()
    for player, best_cp, n in counted.group_by("player", "best_cp").len().collect().iter_rows():
        counts[player, NINETEEN.of(best_cp)] += n
    for player, name in data.players.items():
        for index, edge in enumerate((None, *NINETEEN.lower_cp)) if player in years else ():
            n = counts[player, index]
            rows.append((name, index + 1, edge, n, n / years[player] if years[player] else None))
    return data.table(
        "alliot-classes",
        "Positions in the nineteen classes of evaluation",
        "Alliot 2017, section 4.4.1, Figure 15",
        (
            "player",
            ("class", None, "from lost to won, mover's side"),
            ("from_cp", None, "least evaluation of the class; none for the lowest"),
            "positions",
            ("a year", 1, "over the years with a dated game"),
        ),
        rows,
    )


def royale_table(data: StudyData, by: str = "step") -> StudyTable:
    """All against all: the matrix of Tables 7 to 9, best player first."""
    held = by_player(data, PairedMoves)
    return _matrix(data, {data.players[player]: moves for player, moves in held.items()}, by)


def best_year_table(data: StudyData, by: str = "step") -> StudyTable:
    """Each player's year with the most victories over all others' years, and their matrix."""
    found = by_year(data, PairedMoves)
    least = max(ENOUGH_MOVES, data.selection.min_moves)
    years = {key: moves for key, moves in found.items() if moves.counted >= least}
    names = {key: f"{data.players[key[0]]} {key[1]}" for key in sorted(years)}
    entrants = {names[key]: years[key] for key in names}
    royale = BattleRoyale(predictor_by(entrants, by), entrants)
    won = {place.player: place.victories for place in royale.places()}
    best: dict[int, tuple[int, int]] = {}
    for key, name in names.items():
        held = best.get(key[0])
        if held is None or won[name] > won[names[held]]:
            best[key[0]] = key
    keys = [best[player] for player in data.players if player in best]
    chosen = {names[key]: years[key] for key in keys}
    table = _matrix(data, chosen, by, "alliot-best-year", "Battle royale of the best years")
    note = f"Years with fewer than {least} counted moves are left out."
    return msgspec.structs.replace(table, notes=(*table.notes, note))


def _matrix(
    data: StudyData,
    entrants: dict[str, PairedMoves],
    by: str,
    name: str = "alliot-royale",
    title: str = "Battle royale",
) -> StudyTable:
    royale = BattleRoyale(predictor_by(entrants, by), entrants)
    places = royale.places()
    rows = []
    for place in places:
        row: list[Cell] = [
            place.rank,
            place.player,
            entrants[place.player].counted,
            place.expected_score,
            place.low,
            place.high,
            place.victories,
        ]
        for other in places:
            if other.player == place.player:
                row.append(0.5)
            else:
                row.append(royale.pairings[place.player, other.player].expected_score)
        rows.append(tuple(row))
    missing = {place.missing for place in places if place.missing}
    return data.table(
        name,
        f"{title}, paired by {by}: the player of the row has White",
        "Alliot 2017, sections 4.3.2 and 4.4.2, Tables 7, 8 and 9",
        (
            "rank",
            "player",
            ("moves", None, "that count for Alliot"),
            *with_interval("mean", 3, "expected score over all opponents and both colours"),
            ("victories", None, "opponents against whom more than a half is expected"),
            *((f"v {place.player}", 2) for place in places),
        ),
        rows,
        tuple(sorted(missing)),
    )


def predictor_by(held: dict[str, PairedMoves], by: str) -> Callable[[str, str], Prediction]:
    """White's expected score of a game between two of these, by name."""
    predict = _PREDICTORS[by]
    return lambda white, black: predict(held[white], held[black])


_LEAST_GAMES: Final = 4
#: Matches whose moves are held at once; further ones cost another pass.
MATCHES_AT_ONCE: Final = 64
#: x of p(x) where matches are compared: perfect moves, and the best of Figure 4.
_X_CP: Final = (0, 30)

#: Whose move of which match a row is.
_Place = Callable[[tuple[Any, ...]], tuple[int, int] | None]


class _Match(NamedTuple):
    """One player against another at one event; the winner first where there is one."""

    one: int
    other: int
    event: int | None
    games: int
    points: float
    """Of the first."""
    elo: float | None
    """By which the first is ahead, mean over games with both ratings."""


def _matches(data: StudyData) -> list[_Match]:
    """Between the selected players, in the order of their numbers."""
    where, values = data.searched_where
    results = data.database.rows(
        "SELECT white, black, event, count(*), total(CASE result WHEN '1-0' THEN 1.0 WHEN '0-1'"
        " THEN 0.0 ELSE 0.5 END), total(white_elo - black_elo), count(white_elo - black_elo)"
        " FROM games WHERE other_result IS NULL AND result IN ('1-0', '0-1', '1/2-1/2')"
        f" AND {where} GROUP BY 1, 2, 3",
        values,
    )
    held: dict[tuple[int, int, int | None], list[float]] = {}
    for white, black, event, games, points, elo, rated in results:
        if white not in data.players or black not in data.players or white == black:
            continue
        key, sums = (white, black, event), [games, points, elo, rated]
        if white > black:
            key, sums = (black, white, event), [games, games - points, -elo, rated]
        sofar = held.setdefault(key, [0.0] * 4)
        held[key] = [one + other for one, other in zip(sofar, sums, strict=True)]
    found = []
    for one, other, event in sorted(held, key=lambda key: (key[0], key[1], key[2] or 0)):
        games, points, elo, rated = held[one, other, event]
        if games >= _LEAST_GAMES:
            ahead = elo / rated if rated else None
            found.append(_Match(one, other, event, int(games), points, ahead))
    return found


def prediction_table(data: StudyData) -> StudyTable:
    """Table 5: matches of two players, predicted from their other games, beside the results."""
    rows = []
    for match, a, b in _other_games(data):
        predictors = [predictor_by({"a": a, "b": b}, by) for by in PAIRINGS]
        rows.append(
            (
                *_names(data, match),
                match.games,
                match.points / match.games,
                None if match.elo is None else expected_score_of(match.elo),
                min(a.counted, b.counted),
                *(_both(predict("a", "b"), predict("b", "a")) for predict in predictors),
            )
        )
    return data.table(
        "alliot-5",
        "Matches predicted from the players' other games, beside their results",
        "Alliot 2017, Table 5",
        (
            *_MATCH,
            ("result", 3),
            ("by elo", 3),
            ("moves", None, "counted moves of the one with fewer"),
            *((by, 3) for by in PAIRINGS),
        ),
        rows,
        ("Matches of four games and more. Alliot's predictors were out by 3.6 to 6 %.",),
    )


_MATCH: Final = (
    "player",
    "opponent",
    "event",
    "games",
)


def score_table(data: StudyData) -> StudyTable:
    """Figure 7, left: results of matches beside what the conformance in the same games expects."""
    indicator = functools.partial(share_ahead, kind=PONDERATED, steps_cp=_X_CP)
    [lines] = line_sums(data, [indicator], len(_X_CP))
    fits = [lines.fit(index) for index in range(len(_X_CP))]
    rows = []
    for match, a, b in _own_games(data):
        expected: list[Cell] = []
        for x_cp, fit in zip(_X_CP, fits, strict=True):
            p, q = (each.share_at(x_cp) for each in (a, b))
            known = p is not None and q is not None and fit.beta is not None
            # Both have White as often: what White is ahead by (alpha) falls out.
            expected.append(0.5 + fit.beta * (p - q) / 2 if known else None)  # type: ignore[operator]
        rows.append(
            (*_names(data, match), match.games, match.points / match.games, *reversed(expected))
        )
    note = ", ".join(
        f"{fit.beta:.2f} at {x_cp} cp"
        for x_cp, fit in zip(_X_CP, fits, strict=True)
        if fit.beta is not None
    )
    return data.table(
        "alliot-matches",
        "Results of matches beside what the conformance in their own games expects",
        "Alliot 2017, section 4.2.2, Figure 7 (left)",
        (
            *_MATCH,
            ("result", 3, "of the player, points a game"),
            ("by p(0.3)", 3, "expected from ponderated conformance within 30 cp"),
            ("by p(0)", 3, "from perfect moves"),
        ),
        rows,
        (f"beta of single games of this corpus: {note or 'unknown'}. Four games and more.",),
    )


def match_conformance_table(data: StudyData) -> StudyTable:
    """Figures 7 (right) and 8: p(x) of winner and loser of each match."""
    rows = []
    for match, a, b in _own_games(data):
        ends = [a, b]
        for x_cp in STEPS_CP:
            within = [each.within_cp(x_cp) for each in ends]
            cells: list[Cell] = []
            for each, count in zip(ends, within, strict=True):
                cells += [count / each.n, *score_interval(each.n, count, count)]
            rows.append(
                (
                    *_names(data, match),
                    match.points / match.games,
                    x_cp,
                    *cells,
                    within[0] / ends[0].n - within[1] / ends[1].n,
                )
            )
    return data.table(
        "alliot-match-conformance",
        "Ponderated conformance of both players of a match",
        "Alliot 2017, section 4.2.2, Figures 7 (right) and 8",
        (
            ("player", None, "the winner, where there is one"),
            *_MATCH[1:3],
            ("result", 3, "of the player, points a game"),
            "x_cp",
            ("p(x)", 3, "of the player"),
            ("low", 3, "95 % interval of it"),
            ("high", 3),
            ("opponent's p(x)", 3),
            ("opponent's low", 3),
            ("opponent's high", 3),
            ("difference", 3),
        ),
        rows,
        ("Matches of four games and more.",),
    )


def _own_games(
    data: StudyData,
) -> Iterator[tuple[_Match, AccumulatedConformance, AccumulatedConformance]]:
    """Every match with both players' conformance in it, the winner first."""
    for matches, place in _lots(_matches(data)):
        held = gather(data, place, lambda: ConformingMoves(data.selection.gain))
        for at, match in enumerate(matches):
            a, b = held.get((match.one, at)), held.get((match.other, at))
            if a is None or b is None or not (a.ponderated.n and b.ponderated.n):
                continue
            if 2 * match.points < match.games:
                ahead = None if match.elo is None else -match.elo
                match = match._replace(
                    one=match.other,
                    other=match.one,
                    points=match.games - match.points,
                    elo=ahead,
                )
                a, b = b, a
            yield match, a.ponderated, b.ponderated


def _other_games(data: StudyData) -> Iterator[tuple[_Match, PairedMoves, PairedMoves]]:
    """Every match with all that both players moved elsewhere: its own games are no prediction."""
    for matches, place in _lots(_matches(data)):
        playing = {player for match in matches for player in (match.one, match.other)}

        def key(
            row: tuple[Any, ...], place: _Place = place, playing: set[int] = playing
        ) -> tuple[int, int | None] | None:
            return place(row) or ((row[1], None) if row[1] in playing else None)

        held = gather(data, key, lambda: PairedMoves(data.selection.gain))
        for at, match in enumerate(matches):
            a, b = (
                _together(data, (held[key] for key in held if key[0] == player and key[1] != at))
                for player in (match.one, match.other)
            )
            if a.counted and b.counted:
                yield match, a, b


def _together(data: StudyData, parts: Iterable[PairedMoves]) -> PairedMoves:
    """One player's parts as far as pairings are predicted by them."""
    found = PairedMoves(data.selection.gain)
    for part in parts:
        found.shortfalls.merge(part.shortfalls)
        found.tanh.merge(part.tanh)
        found.transitions.merge(part.transitions)
    return found


def _lots(matches: list[_Match]) -> Iterator[tuple[list[_Match], _Place]]:
    """Some matches at a time, as many as are held at once, and whose move of which of them a row
    is: the mover and the match's place in the lot.
    """
    for first in range(0, len(matches), MATCHES_AT_ONCE):
        lot = matches[first : first + MATCHES_AT_ONCE]
        places = {(match.one, match.other, match.event): at for at, match in enumerate(lot)}
        places |= {(match.other, match.one, match.event): at for at, match in enumerate(lot)}

        def place(
            row: tuple[Any, ...], places: dict[tuple[int, int, int | None], int] = places
        ) -> tuple[int, int] | None:
            at = places.get((row[1], row[5], row[4]))
            return None if at is None else (row[1], at)

        yield lot, place


def _names(data: StudyData, match: _Match) -> tuple[Cell, Cell, Cell]:
    return data.players[match.one], data.players[match.other], data.event_name(match.event)


def _both(as_white: Prediction, as_black: Prediction) -> float | None:
    if as_white.expected_score is None or as_black.expected_score is None:
        return None
    return (as_white.expected_score + 1 - as_black.expected_score) / 2
