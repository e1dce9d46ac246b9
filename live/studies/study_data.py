"""What a table is made from: a corpus, one of its settings, and a selection of its games."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from live.errors import InputError
from live.events import GainKind
from live.games.player_identity import name_words
from live.studies.corpus_database import CorpusDatabase, SearchSetting
from live.studies.move_columns import MoveFolder, import_polars, schema

if TYPE_CHECKING:
    import polars

#: Players that a table is about, unless it is said how many.
TOP: Final = 20
#: Games found by a part of a name are listed up to here when it fits several.
_LISTED = 6


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """Which games and players a table is about."""

    players: tuple[str, ...] = ()
    """Names or parts of them; empty: those with the most searched games."""
    top: int | None = None
    """How many of those; None: ``TOP``."""
    events: tuple[str, ...] = ()
    """Parts of names; a game of any of them counts. Empty: all games."""
    first_year: int | None = None
    last_year: int | None = None
    min_moves: int = 0
    """Players, or player-years, with fewer moves are left out."""
    gain: GainKind = "same-search"


#: Of a study that asks no engine.
NO_SETTING: Final = SearchSetting("", "")


class StudyData:
    """One selection. Files of moves are brought up to date when first asked for.

    ``number`` None: games count whether they are searched or not, and there are no moves.
    """

    def __init__(
        self,
        database: CorpusDatabase,
        corpus: Path,
        number: int | None,
        setting: SearchSetting,
        selection: Selection,
    ) -> None:
        self.database = database
        self.setting = setting
        self.selection = selection
        self._number = number
        self._folder = MoveFolder(corpus, number) if number is not None else None
        self._files: list[Path] | None = None
        self._events = self._chosen_events()
        self.players = self._chosen_players()
        """Names by number, in the order of the table."""

    @property
    def engine(self) -> str:
        """For people."""
        return f"{self.setting}, {self.selection.gain} gain"

    def moves(
        self, columns: Sequence[str], *, all_players: bool = False
    ) -> Iterator[polars.DataFrame]:
        """Rows of the selected games, a file at a time, in the order of games and plies."""
        for file in self._parquet():
            chosen = import_polars().scan_parquet(file).filter(self._rows(all_players))
            yield chosen.select(columns).collect()

    def scan(self, *, all_players: bool = False) -> polars.LazyFrame:
        """The same rows of all files as one lazy frame: nothing is read until it is collected."""
        polars = import_polars()
        files, types = self._parquet(), schema()
        known = polars.scan_parquet(files) if files else polars.LazyFrame(schema=types)
        return known.filter(self._rows(all_players))

    def _parquet(self) -> list[Path]:
        import_polars()
        if self._files is None:
            self._files = self._folder.refresh(self.database) if self._folder else []
        return self._files

    def _rows(self, all_players: bool) -> polars.Expr:
        polars = import_polars()
        first, last = self.selection.first_year, self.selection.last_year
        wanted = {
            "player": None if all_players else list(self.players),
            "event": self._events,
        }
        chosen = polars.lit(True)
        for name, numbers in wanted.items():
            if numbers is not None:
                chosen &= polars.col(name).is_in(numbers)
        if first is not None:
            chosen &= polars.col("year") >= first
        if last is not None:
            chosen &= polars.col("year") <= last
        return chosen

    @property
    def where(self) -> tuple[str, tuple[object, ...]]:
        """The same choice of games as a condition of SQL over ``games``."""
        parts, values = ["1"], list[object]()
        if self._events is not None:
            parts.append(f"event IN ({', '.join(map(str, self._events)) or 'NULL'})")
        if self.selection.first_year is not None:
            parts.append("year >= ?")
            values.append(self.selection.first_year)
        if self.selection.last_year is not None:
            parts.append("year <= ?")
            values.append(self.selection.last_year)
        return " AND ".join(parts), tuple(values)

    @property
    def searched_where(self) -> tuple[str, tuple[object, ...]]:
        """Of these the games that are searched in this setting."""
        where, values = self.where
        searched = "game IN (SELECT game FROM results WHERE setting = ?)"
        return f"{where} AND {searched}", (*values, self._number)

    def event_name(self, number: int | None) -> str:
        """Empty where a game has none."""
        rows = self.database.rows("SELECT name FROM events WHERE event = ?", (number,))
        return next((str(name) for (name,) in rows), "")

    def _chosen_events(self) -> list[int] | None:
        if not self.selection.events:
            return None
        # A name of nothing is part of every name.
        wanted = [part.casefold() for part in self.selection.events if part]
        found = [
            number
            for number, name in self.database.events().items()
            if any(part in name.casefold() for part in wanted)
        ]
        if not found:
            raise InputError(
                "--event", f"no event is called {self.selection.events[0]!r}", "See study status"
            )
        return found

    def _chosen_players(self) -> dict[int, str]:
        if self.selection.players:
            names = self.database.players()
            return dict(self._named(part, names) for part in self.selection.players)
        where, values = self.where
        searched = ""
        if self._number is not None:
            searched = " JOIN results USING (game)"
            where, values = f"setting = ? AND {where}", (self._number, *values)
        rows = self.database.rows(
            f"SELECT player, name FROM (SELECT white AS player FROM games{searched} WHERE"
            f" {where} UNION ALL SELECT black FROM games{searched} WHERE {where})"
            " JOIN players USING (player) GROUP BY player ORDER BY count(*) DESC, name, player"
            " LIMIT ?",
            (*values, *values, self.selection.top or TOP),
        )
        return dict(rows)

    def _named(self, part: str, names: dict[int, str]) -> tuple[int, str]:
        words = set(name_words(part).split()) or {part.casefold()}
        exact = [item for item in names.items() if item[1].casefold() == part.casefold()]
        found = exact or [
            item for item in names.items() if words <= set(name_words(item[1]).split())
        ]
        if len(found) == 1:
            return found[0]
        if not found:
            raise InputError("--player", f"nobody is called {part!r}", "See study status")
        listed = "; ".join(name for _, name in found[:_LISTED])
        raise InputError("--player", f"{part!r} may be {listed}", "Give more of the name")
