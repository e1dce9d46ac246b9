"""Data from which a table is made: a corpus, one of its settings, and a selection of
its games and players.

Moves are read from Parquet files, one row a move (:mod:`live.studies.move_files`).
Encounters between players are counted in the database.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import polars
from polars import DataFrame, col

from live.errors import InputError
from live.messages.figures import GainKind
from live.messages.values import Value
from live.studies.corpus_database import CorpusDatabase
from live.studies.corpus_games import find_named
from live.studies.move_files import COLUMNS, update_move_files
from live.studies.searched_games import SearchSetting

#: Default number of players in a table.
TOP = 20
#: Largest number of players that an error lists if several players match.
_LISTED = 6


class Selection(Value, kw_only=True):
    """Selection of the games and players of a table."""

    players: tuple[str, ...] = ()
    """Names or parts of names; empty for the players with the most searched games."""
    top: int | None = None
    """Number of players with the most searched games; None for ``TOP``."""
    events: tuple[str, ...] = ()
    """Parts of names of events; a game of any matching event is included. Empty for all
    games.
    """
    first_year: int | None = None
    last_year: int | None = None
    min_moves: int = 0
    """Players, or player-years, with fewer moves are left out."""
    gain: GainKind = "same-search"


def choose_gain_column(gain: GainKind) -> str:
    """Return the column that contains gains of this kind."""
    return "gain_cp" if gain == "same-search" else "successive_cp"


class ChosenGames(NamedTuple):
    """Numbers of the games that a table uses, and the people in them whom the table is
    about.
    """

    games: Sequence[int]
    people: Mapping[str, Sequence[int]]
    """For each person by name: all numbers in the corpus, because sources spell one
    person in several ways.
    """


class Encounter(NamedTuple):
    """Counts of games of one player against another, from the first player's side."""

    won: int = 0
    drawn: int = 0
    lost: int = 0
    elo: float = 0
    """Sum of the rating leads of the player, over games with a result and both
    ratings.
    """
    rated: int = 0
    """Number of games with a result and both ratings."""

    @classmethod
    def sum(cls, encounters: Iterable[Encounter]) -> Encounter:
        """Return the counts over several sets of games."""
        return cls(*map(sum, zip(*encounters, strict=True)))

    @property
    def decided(self) -> int:
        """Number of games that have exactly one result."""
        return self.won + self.drawn + self.lost

    @property
    def points(self) -> float:
        """Points that the player scored."""
        return self.won + 0.5 * self.drawn


class StudyData:
    """Games and players of one selection. Files of moves are brought up to date when
    they are first read.

    If ``number`` is None, all games are included, searched or not, and there are no
    rows of moves.
    """

    def __init__(
        self,
        database: CorpusDatabase,
        number: int | None,
        setting: SearchSetting,
        selection: Selection,
        chosen_games: ChosenGames | None = None,
    ) -> None:
        """Select the games of ``selection``, or only those of them that are in
        ``chosen_games``, if given.
        """
        self.database = database
        self.setting = setting
        self.selection = selection
        self._number = number
        self._chosen_games = chosen_games
        self.events = database.read_events()
        """Names of all events by number."""
        self._events = self._choose_events()
        self.players = self._choose_players()
        """Names of the selected players by number, in the order of the table."""

    def read_moves(
        self, columns: Sequence[str], *, all_players: bool = False
    ) -> Iterator[DataFrame]:
        """Yield rows of the selected games, one file at a time, in the order of games
        and plies.
        """
        for file in self._files:
            moves = self._filter_moves(polars.scan_parquet(file), all_players)
            yield moves.select(columns).collect()

    def scan_moves(self, *, all_players: bool = False) -> polars.LazyFrame:
        """Return the rows of :meth:`read_moves` from all files as one lazy frame, which
        reads nothing until it is collected.
        """
        if self._files:
            moves = polars.scan_parquet(self._files)
        else:
            moves = polars.LazyFrame(schema=COLUMNS)
        return self._filter_moves(moves, all_players)

    @cached_property
    def _files(self) -> list[Path]:
        if self._number is None:
            return []
        return update_move_files(self.database, self._number)

    def _filter_moves(
        self, moves: polars.LazyFrame, all_players: bool
    ) -> polars.LazyFrame:
        selected = moves.filter(polars.sql_expr(self.sql_condition))
        if self._chosen_games is not None:
            first: dict[int, int] = {}
            for numbers in filter(None, self._chosen_games.people.values()):
                first |= dict.fromkeys(numbers, numbers[0])
            selected = selected.filter(
                col("game").is_in([*self._chosen_games.games])
            ).with_columns(col("player").replace(first), col("opponent").replace(first))
        if all_players:
            return selected
        return selected.filter(col("player").is_in([*self.players]))

    @property
    def sql_condition(self) -> str:
        """SQL condition that selects the games, valid for the table ``games`` and for
        rows of moves.
        """
        parts = ["TRUE"]
        if self._events is not None:
            parts.append(f"event IN ({', '.join(map(str, self._events))})")
        if self.selection.first_year is not None:
            parts.append(f"year >= {self.selection.first_year:d}")
        if self.selection.last_year is not None:
            parts.append(f"year <= {self.selection.last_year:d}")
        return " AND ".join(parts)

    def _write_condition(self, searched: bool) -> str:
        results = f"(SELECT game FROM results WHERE setting = {self._number})"
        return (
            f"{self.sql_condition} AND game IN {results}"
            if searched
            else self.sql_condition
        )

    def count_encounters(
        self, *, searched: bool
    ) -> dict[tuple[int, int | None, int | None], Encounter]:
        """Count the games of the selected players, by player, opponent and event. With
        ``searched``, count only games that are searched in this setting.
        """
        condition = self._write_condition(searched)
        rows = self.database.execute(
            "WITH told AS (SELECT white, black, event, CASE WHEN other_result IS NOT"
            " NULL THEN NULL WHEN result = '1-0' THEN 1.0 WHEN result = '0-1' THEN"
            " 0.0 WHEN result = '1/2-1/2' THEN 0.5 END AS points, white_elo -"
            f" black_elo AS ahead FROM games WHERE {condition}), sides AS (SELECT white"
            " AS player, black AS opponent, event, points, ahead FROM told UNION ALL"
            " SELECT black, white, event, 1 - points, -ahead FROM told) SELECT"
            " player, opponent, event, count(CASE points WHEN 1 THEN 1 END),"
            " count(CASE points WHEN 0.5 THEN 1 END), count(CASE points WHEN 0 THEN 1"
            " END), total(ahead * (points IS NOT NULL)), count(ahead + points) FROM"
            " sides WHERE player IS NOT opponent GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
        )
        return {
            tuple(row[:3]): Encounter(*row[3:])
            for row in rows
            if row[0] in self.players
        }

    def _choose_events(self) -> list[int | None] | None:
        if not self.selection.events:
            return None
        # Empty texts are left out, because they are part of every name.
        parts = [part.casefold() for part in self.selection.events if part]
        numbers: list[int | None] = []
        for number, name in self.events.items():
            if any(part in name.casefold() for part in parts):
                numbers.append(number)
        if not numbers:
            problem = f"no event is called {self.selection.events[0]!r}"
            raise InputError("--event", problem, "See study status")
        return numbers

    def _choose_players(self) -> dict[int, str]:
        if self._chosen_games is not None:
            people = self._chosen_games.people.items()
            return {numbers[0]: name for name, numbers in people if numbers}
        if self.selection.players:
            names = self.database.read_players()
            return dict(
                self._find_named(part, names) for part in self.selection.players
            )
        condition = self._write_condition(self._number is not None)
        rows = self.database.execute(
            "SELECT player, name FROM (SELECT white AS player FROM games WHERE"
            f" {condition} UNION ALL SELECT black FROM games WHERE {condition}) JOIN"
            " players USING (player) GROUP BY player ORDER BY count(*) DESC, name,"
            " player LIMIT ?",
            (self.selection.top or TOP,),
        )
        return dict(map(tuple, rows))

    def _find_named(self, part: str, names: dict[int, str]) -> tuple[int, str]:
        numbers = find_named(part, names)
        if len(numbers) == 1:
            return numbers[0], names[numbers[0]]
        if not numbers:
            raise InputError(
                "--player", f"nobody is called {part!r}", "See study status"
            )
        listed = "; ".join(names[number] for number in numbers[:_LISTED])
        raise InputError(
            "--player", f"{part!r} may be {listed}", "Give more of the name"
        )
