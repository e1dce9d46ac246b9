"""Database of a corpus: every game once, with all search results for its positions.

==============  ====================================================================
``players``     one row per player; ``player_keys`` has each player's FIDE id and names
``events``      by name
``games``       packed moves, with ratings and dates as the source has them
``sources``     files read, and how far; ``damaged`` lists their unreadable texts
``settings``    engine, limit, lines and version: only equal settings can be pooled
``results``     by game and setting: all that a search reported about each position
==============  ====================================================================

The database is written in batches of one transaction each. If the process is killed, at
most the last batch is lost, and the same command continues from there. It is an SQLite
file in WAL mode, which any program can read.

Search results come from this project's engines or from a file.

Scores are centipawns from White's side; a forced mate is ±3900. Everything that a
search reports is stored: depth, selective depth, time, nodes, tablebase hits and the
score after each depth, so that a later method needs no new search (Alliot 2017, section
4.1, asks for this).

Results of other people's runs are accepted if engine, limit, lines and version agree.
"""

import sqlite3
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import msgspec

from live.errors import InputError
from live.journal.journal_file import SqliteConnection, read_marks
from live.messages.values import Value
from live.studies.corpus_games import STANDARD_FEN, CorpusGame, pack_moves, unpack_moves
from live.studies.searched_games import SearchedGame, SearchSetting

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(SearchedGame)
#: "lrco" in ASCII: the number by which SQLite files state which application wrote them.
APPLICATION_ID = 0x6C72636F
VERSION = 1
#: Number of games in one transaction.
BATCH = 200
_TABLES = (
    "CREATE TABLE players (player INTEGER PRIMARY KEY, name TEXT NOT NULL)",
    "CREATE TABLE player_keys (key TEXT PRIMARY KEY, player INTEGER NOT NULL) WITHOUT"
    " ROWID",
    "CREATE TABLE events (event INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
    "CREATE TABLE sources (source INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
    " mark TEXT NOT NULL, texts INTEGER NOT NULL, finished INTEGER NOT NULL)",
    "CREATE TABLE damaged (source INTEGER NOT NULL, text INTEGER NOT NULL, game TEXT"
    " NOT NULL, problem TEXT NOT NULL, PRIMARY KEY (source, text)) WITHOUT ROWID",
    "CREATE TABLE games (game INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, white"
    " INTEGER, black INTEGER, white_elo INTEGER, black_elo INTEGER, event INTEGER,"
    " round TEXT NOT NULL, date TEXT NOT NULL, year INTEGER, result TEXT NOT NULL,"
    " other_result TEXT, time_control TEXT NOT NULL, start_fen TEXT, chess960 INTEGER"
    " NOT NULL, plies INTEGER NOT NULL, moves BLOB NOT NULL)",
    "CREATE TABLE settings (setting INTEGER PRIMARY KEY, engine TEXT NOT NULL,"
    " bound TEXT NOT NULL, lines INTEGER NOT NULL, version TEXT NOT NULL,"
    " UNIQUE (engine, bound, lines, version))",
    "CREATE TABLE results (setting INTEGER NOT NULL, game INTEGER NOT NULL,"
    " positions BLOB NOT NULL, PRIMARY KEY (setting, game)) WITHOUT ROWID",
)


class NumberedGame(Value):
    """A game with its number and the numbers of its players and event."""

    game: int
    white: int | None
    black: int | None
    white_elo: int | None
    black_elo: int | None
    event: int | None
    date: str
    year: int | None
    result: str
    """Result of the game; ``*`` also if sources contradict each other."""
    start_fen: str
    chess960: bool
    moves: tuple[str, ...]


_GAME_COLUMNS = (
    "games.game, white, black, white_elo, black_elo, event, date, year, CASE WHEN"
    " other_result IS NULL THEN result ELSE '*' END, start_fen, chess960, moves"
)
#: Query for the player with the key ?1. ?2 is true if the game gives a FIDE id: then a
#: stored player with the same name and a FIDE id is a different person.
_PLAYER = (
    "SELECT player FROM player_keys AS known WHERE key = ?1 AND (key LIKE 'fide-%' OR"
    " NOT ?2 OR NOT EXISTS (SELECT 1 FROM player_keys WHERE player = known.player AND"
    " key LIKE 'fide-%'))"
)
_REMEDIES = {
    "SQLITE_FULL": "Make room and give the same command again: it goes on from there",
    "SQLITE_NOTADB": "Name a corpus that `live-rate study add` made",
}
#: Statement that records the result ?1 of game ?2. If two results of a game contradict
#: each other, neither of them counts afterwards.
_RESULT = (
    "UPDATE games SET result = CASE result WHEN '*' THEN ?1 ELSE result END,"
    " other_result = CASE WHEN result = '*' OR ?1 IN ('*', result) THEN other_result"
    " ELSE ifnull(other_result, ?1) END WHERE game = ?2"
)


class CorpusDatabase:
    """Database of one corpus. Use it as a context manager; leaving the block commits
    pending changes.

    Raises:
        InputError: the file is not a corpus or cannot be used, or writing fails (as on
            a full disk). The error names the file. Everything committed before is kept.
    """

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self.path = path
        if not create and not path.is_file():
            raise InputError(
                str(path),
                "no such corpus",
                f"Make it with: live-rate study add {path} GAMES",
            )
        try:
            self._db = sqlite3.connect(
                path, factory=SqliteConnection, isolation_level="IMMEDIATE"
            )
            self._db.row_factory = sqlite3.Row
            self._open(create)
        except sqlite3.Error as error:
            raise self._build_input_error(error) from None

    def _open(self, create: bool) -> None:
        db = self._db
        mark, version, written = read_marks(db)
        if create and not written:
            db.execute("PRAGMA journal_mode = WAL")
            with db:
                db.execute("BEGIN IMMEDIATE")
                for statement in _TABLES:
                    db.execute(statement)
                db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                db.execute(f"PRAGMA user_version = {VERSION}")
        elif mark != APPLICATION_ID:
            raise InputError(str(self.path), "is no corpus", "Name another file")
        elif version != VERSION:
            raise InputError(
                str(self.path),
                f"is of version {version}, and this live-rate reads {VERSION}",
                "Use the live-rate that made it, or add the games to a new corpus",
            )
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA cache_size = -16000")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        try:
            if kind is None:
                self.commit()
        finally:
            self._db.close()

    # --- writing ----------------------------------------------------------------------

    def commit(self) -> None:
        """Write all changes so far to disk."""
        if self._db.in_transaction:
            self.execute("COMMIT")

    def add_game(self, game: CorpusGame) -> tuple[int, bool]:
        """Add a game; return its number, and whether it is new."""
        columns = (
            "white_elo",
            "black_elo",
            "round",
            "date",
            "year",
            "result",
            "time_control",
        )
        row = {name: getattr(game, name) for name in (*columns, "digest", "chess960")}
        return self.add_game_row(
            row
            | {
                "white": self.add_player(game.white.name, game.white.keys),
                "black": self.add_player(game.black.name, game.black.keys),
                "event": self.add_event(game.event),
                "start_fen": None if game.start_fen == STANDARD_FEN else game.start_fen,
                "plies": len(game.moves),
                "moves": pack_moves(game.moves),
            }
        )

    def add_game_row(self, row: Mapping[str, Any]) -> tuple[int, bool]:
        """Add a game given by its columns; return its number, and whether it is new."""
        query = "SELECT game FROM games WHERE digest = ?"
        for (number,) in self.execute(query, (row["digest"],)).fetchall():
            self.execute(_RESULT, (row["result"], number))
            return number, False
        return self._find_or_insert("games", row), True

    def add_results(
        self, setting: int, game: int, searched: SearchedGame | bytes
    ) -> bool:
        """Store the search results of a game's positions; return False if the corpus
        already has results of this setting for the game.
        """
        packed = isinstance(searched, bytes)
        positions = searched if packed else zlib.compress(_encoder.encode(searched), 3)
        insert = "INSERT OR IGNORE INTO results VALUES (?, ?, ?)"
        return self.execute(insert, (setting, game, positions)).rowcount > 0

    def add_setting(self, setting: SearchSetting) -> int:
        """Add a setting if it is new; return its number."""
        return self._find_or_insert("settings", msgspec.structs.asdict(setting))

    def register_file(self, name: str, mark: str) -> tuple[int, int, bool]:
        """Register a file that is about to be read. Return its number, how many of its
        texts were added before, and whether the whole file was added.

        If ``mark`` differs from the stored one, the file has changed, and it is read
        again from its beginning.
        """
        query = (
            "SELECT source, texts, finished FROM sources WHERE name = ? AND mark = ?"
        )
        for number, texts, finished in (
            self.execute(query, (name, mark)) if mark else ()
        ):
            return number, texts, bool(finished)
        [[number]] = self.execute(
            "INSERT INTO sources (name, mark, texts, finished) VALUES (?, ?, 0, 0) ON"
            " CONFLICT (name) DO UPDATE SET mark = excluded.mark, texts = 0, finished"
            " = 0 RETURNING source",
            (name, mark),
        )
        self.execute("DELETE FROM damaged WHERE source = ?", (number,))
        return number, 0, False

    def record_texts(self, source: int, texts: int, *, finished: bool = False) -> None:
        """Record how many texts of a source were added, in the same transaction as
        their games.
        """
        self.execute(
            "UPDATE sources SET texts = ?, finished = ? WHERE source = ?",
            (texts, finished, source),
        )

    def record_damage(self, source: int, text: int, game: str, problem: str) -> None:
        """Record a text that contains no readable game and was skipped."""
        self.execute(
            "INSERT OR REPLACE INTO damaged VALUES (?, ?, ?, ?)",
            (source, text, game, problem),
        )

    def add_player(self, name: str, keys: Sequence[str]) -> int | None:
        """Add a player if new; return the player's number, or None for a player without
        a key. A player is identified by FIDE id, which is the first key, or else by
        name, as in the feeds.
        """
        by_id = bool(keys) and keys[0].startswith("fide-")
        number: int | None = None
        for key in keys:
            if number is None:
                number = next(iter(self.execute(_PLAYER, (key, by_id))), (None,))[0]
        if number is None and keys:
            number = self._find_or_insert("players", {"name": name})
        for key in keys:
            self.execute(
                "INSERT OR IGNORE INTO player_keys VALUES (?, ?)", (key, number)
            )
        return number

    def add_event(self, name: str) -> int | None:
        """Add an event if it is new; return its number, or None for an event without a
        name.
        """
        return self._find_or_insert("events", {"name": name}) if name else None

    def _find_or_insert(self, table: str, row: Mapping[str, object]) -> int:
        """Insert a row with these unique values if there is none; return its number."""
        first = next(iter(row))
        names = ", ".join(row)
        marks = ", ".join("?" * len(row))
        [[number]] = self.execute(
            f"INSERT INTO {table} ({names}) VALUES ({marks})"
            f" ON CONFLICT DO UPDATE SET {first} = {first} RETURNING rowid",
            [*row.values()],
        )
        return int(number)

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> sqlite3.Cursor:
        """Run a statement and return its cursor; a statement that writes begins a
        transaction.
        """
        try:
            return self._db.execute(sql, parameters)
        except sqlite3.Error as error:
            raise self._build_input_error(error) from None

    def _build_input_error(self, error: sqlite3.Error) -> InputError:
        remedy = _REMEDIES.get(
            getattr(error, "sqlite_errorname", ""),
            "Close other programs that write it, or name another file",
        )
        return InputError(str(self.path), f"cannot be used ({error})", remedy)

    # --- reading ----------------------------------------------------------------------

    def query_dicts(
        self, sql: str, parameters: Sequence[object] = ()
    ) -> list[dict[str, Any]]:
        """Return all rows as dictionaries by column name."""
        return [dict(row) for row in self.execute(sql, parameters)]

    def read_settings(self) -> dict[int, SearchSetting]:
        """Return all settings by number."""
        query = (
            "SELECT setting, engine, bound, lines, version FROM settings ORDER BY"
            " setting"
        )
        return {number: SearchSetting(*row) for number, *row in self.execute(query)}

    def count_rows(self, table: str, condition: str = "TRUE") -> int:
        """Return the number of rows of a table that satisfy the SQL condition
        ``condition``.
        """
        [[n]] = self.execute(f"SELECT count(*) FROM {table} WHERE {condition}")
        return int(n)

    def read_players(self) -> dict[int, str]:
        """Return the name of each player, by the player's number."""
        return dict(self.execute("SELECT player, name FROM players"))

    def read_events(self) -> dict[int | None, str]:
        """Return the name of each event, by the event's number."""
        return dict(self.execute("SELECT event, name FROM events"))

    def read_game(self, game: int) -> NumberedGame:
        """Return one game.

        Raises:
            InputError: no game has this number.
        """
        row = self.execute(
            f"SELECT {_GAME_COLUMNS} FROM games WHERE game = ?", (game,)
        ).fetchone()
        if row is None:
            raise InputError(
                str(self.path), f"holds no game {game}", "See study status"
            )
        return _read_game_row(row)

    def read_searched_games(
        self, setting: int, first: int = 0, beyond: int = sys.maxsize
    ) -> Iterator[tuple[NumberedGame, SearchedGame]]:
        """Yield each game that has search results, in the order of the games' numbers,
        from ``first`` up to but not including ``beyond``.

        Raises:
            InputError: stored results cannot be read.
        """
        for row in self.execute(
            f"SELECT {_GAME_COLUMNS}, positions FROM games JOIN results USING (game)"
            " WHERE setting = ? AND games.game >= ? AND games.game < ? ORDER BY"
            " games.game",
            (setting, first, beyond),
        ):
            try:
                searched = _decoder.decode(zlib.decompress(row[-1]))
            except (zlib.error, ValueError, msgspec.MsgspecError) as error:
                raise InputError(
                    str(self.path),
                    f"results of game {row[0]} cannot be read ({error})",
                    "Restore the file from a copy",
                ) from None
            yield _read_game_row(row[:-1]), searched


def _read_game_row(row: tuple[Any, ...]) -> NumberedGame:
    *values, start_fen, chess960, moves = row
    values += [start_fen or STANDARD_FEN, bool(chess960), unpack_moves(moves)]
    return NumberedGame(*values)
