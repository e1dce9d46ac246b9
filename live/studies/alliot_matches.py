"""Alliot's tables of matches (2017): Table 5, and Figures 7 and 8.

A match is all games of two players at one event, four and more.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

from live.ratings.alliot.conformance import PONDERATED, AccumulatedConformance
from live.ratings.alliot.prediction import Prediction
from live.ratings.expected_score import expected_score_of
from live.ratings.score_interval import score_interval
from live.studies.alliot_games import STEPS_CP, line_sums, share_ahead
from live.studies.alliot_players import PAIRINGS, predictor_by
from live.studies.player_moves import PairedMoves, gather
from live.studies.study_data import StudyData
from live.studies.study_table import Cell, StudyTable, TableColumn

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
    rows: list[tuple[Cell, ...]] = []
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
    return StudyTable(
        "alliot-5",
        "Matches predicted from the players' other games, beside their results",
        "Alliot 2017, Table 5",
        data.engine,
        (
            *_MATCH,
            TableColumn("result", 3),
            TableColumn("by elo", 3),
            TableColumn("moves", None, "counted moves of the one with fewer"),
            *(TableColumn(by, 3) for by in PAIRINGS),
        ),
        tuple(rows),
        ("Matches of four games and more. Alliot's predictors were out by 3.6 to 6 %.",),
    )


_MATCH: Final = (
    TableColumn("player"),
    TableColumn("opponent"),
    TableColumn("event"),
    TableColumn("games"),
)


def score_table(data: StudyData) -> StudyTable:
    """Figure 7, left: results of matches beside what the conformance in the same games expects."""
    indicator = functools.partial(share_ahead, kind=PONDERATED, steps_cp=_X_CP)
    [lines] = line_sums(data, [indicator], len(_X_CP))
    fits = [lines.fit(index) for index in range(len(_X_CP))]
    rows: list[tuple[Cell, ...]] = []
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
    return StudyTable(
        "alliot-matches",
        "Results of matches beside what the conformance in their own games expects",
        "Alliot 2017, section 4.2.2, Figure 7 (left)",
        data.engine,
        (
            *_MATCH,
            TableColumn("result", 3, "of the player, points a game"),
            TableColumn("by p(0.3)", 3, "expected from ponderated conformance within 30 cp"),
            TableColumn("by p(0)", 3, "from perfect moves"),
        ),
        tuple(rows),
        (f"beta of single games of this corpus: {note or 'unknown'}. Four games and more.",),
    )


def conformance_table(data: StudyData) -> StudyTable:
    """Figures 7 (right) and 8: p(x) of winner and loser of each match."""
    rows: list[tuple[Cell, ...]] = []
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
    return StudyTable(
        "alliot-match-conformance",
        "Ponderated conformance of both players of a match",
        "Alliot 2017, section 4.2.2, Figures 7 (right) and 8",
        data.engine,
        (
            TableColumn("player", None, "the winner, where there is one"),
            *_MATCH[1:3],
            TableColumn("result", 3, "of the player, points a game"),
            TableColumn("x_cp"),
            TableColumn("p(x)", 3, "of the player"),
            TableColumn("low", 3, "95 % interval of it"),
            TableColumn("high", 3),
            TableColumn("opponent's p(x)", 3),
            TableColumn("opponent's low", 3),
            TableColumn("opponent's high", 3),
            TableColumn("difference", 3),
        ),
        tuple(rows),
        ("Matches of four games and more.",),
    )


class _MatchMoves:
    """One side's ponderated conformance."""

    def __init__(self) -> None:
        self.ponderated = AccumulatedConformance(PONDERATED)

    def add(self, row: tuple[Any, ...]) -> None:
        """One move: the values of ``player_moves.COLUMNS``."""
        *_, best_cp, gain_cp, _, _, ply, forced = row
        if gain_cp is not None:
            self.ponderated.add(best_cp, gain_cp, ply=ply, forced=forced)


def _own_games(
    data: StudyData,
) -> Iterator[tuple[_Match, AccumulatedConformance, AccumulatedConformance]]:
    """Every match with both players' conformance in it, the winner first."""
    for matches, place in _lots(_matches(data)):
        held = gather(data, place, _MatchMoves)
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
