"""The database of a corpus: every game once, and what is known of its positions.

==============  ====================================================================
``players``     one row a player; ``player_keys`` holds the FIDE ids and names of each
``events``      by name
``games``       moves packed, ratings and dates as the source has them
``sources``     files read, how far, and what was wrong in them (``damaged``)
``settings``    engine, limit, lines and version: what results may be pooled
``results``     by game and setting, everything a search reported of every position
==============  ====================================================================

Written in batches, one transaction each, so that a kill costs the last batch at most and the same
command goes on from there. SQLite in WAL mode, read by whoever likes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Self

import msgspec

from live.engine.results.sqlite_connection import SqliteConnection
from live.errors import InputError
from live.studies.corpus_game import STANDARD_FEN, CorpusGame, CorpusPlayer, packed, unpacked
from live.studies.searched_game import SearchedGame, decode_searched, encode_searched

#: "lrco" in ASCII: SQLite's own mark of whose file it is.
APPLICATION_ID: Final = 0x6C72636F
VERSION: Final = 1
#: Writes in one transaction.
BATCH: Final = 500

_TABLES: Final = (
    "CREATE TABLE players (player INTEGER PRIMARY KEY, name TEXT NOT NULL)",
    "CREATE TABLE player_keys (key TEXT PRIMARY KEY, player INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE events (event INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
    "CREATE TABLE sources (source INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
    " mark TEXT NOT NULL, texts INTEGER NOT NULL, finished INTEGER NOT NULL)",
    "CREATE TABLE damaged (source INTEGER NOT NULL, text INTEGER NOT NULL, game TEXT NOT NULL,"
    " problem TEXT NOT NULL, PRIMARY KEY (source, text)) WITHOUT ROWID",
    "CREATE TABLE games (game INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE,"
    " white INTEGER, black INTEGER, white_elo INTEGER, black_elo INTEGER,"
    " event INTEGER, round TEXT NOT NULL, date TEXT NOT NULL, year INTEGER,"
    " result TEXT NOT NULL, other_result TEXT, time_control TEXT NOT NULL,"
    " start_fen TEXT, chess960 INTEGER NOT NULL, plies INTEGER NOT NULL, moves BLOB NOT NULL)",
    "CREATE TABLE settings (setting INTEGER PRIMARY KEY, engine TEXT NOT NULL,"
    " bound TEXT NOT NULL, lines INTEGER NOT NULL, version TEXT NOT NULL,"
    " UNIQUE (engine, bound, lines, version))",
    "CREATE TABLE results (setting INTEGER NOT NULL, game INTEGER NOT NULL,"
    " positions BLOB NOT NULL, PRIMARY KEY (setting, game)) WITHOUT ROWID",
)


class SearchSetting(msgspec.Struct, frozen=True):
    """What makes results comparable: only those of one setting are ever pooled."""

    engine: str
    """What the engine calls itself, with what changes its scores."""
    bound: str
    """The limit of a search: ``100000 nodes``."""
    lines: int = 1
    version: str = ""
    """Of live-rate, which reads what engines print; empty for evaluations that a file gave."""

    def __str__(self) -> str:
        told = "lines" in self.bound or self.lines == 1
        return f"{self.engine}, {self.bound}{'' if told else f', {self.lines} lines'}"


class NumberedGame(msgspec.Struct, frozen=True):
    """A game with its number and those of its players and event."""

    game: int
    white: int | None
    black: int | None
    white_elo: int | None
    black_elo: int | None
    event: int | None
    date: str
    year: int | None
    result: str
    """``*`` also where sources contradict each other."""
    start_fen: str
    chess960: bool
    moves: tuple[str, ...]


_GAME_COLUMNS = (
    "games.game, white, black, white_elo, black_elo, event, date, year,"
    " CASE WHEN other_result IS NULL THEN result ELSE '*' END, start_fen, chess960, moves"
)


class CorpusDatabase:
    """One corpus. Use as a context manager; leaving it commits what is pending.

    Raises InputError, naming the file, for one that is no corpus or cannot be used; errors while
    writing (a full disk) come out as InputError too, with everything committed before kept.
    """

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self._path = path
        if not create and not path.is_file():
            raise InputError(
                str(path), "no such corpus", f"Make it with: live-rate study add {path} GAMES"
            )
        try:
            self._db = sqlite3.connect(path, factory=SqliteConnection, isolation_level=None)
            self._open(create)
        except sqlite3.Error as error:
            raise self._unusable(error) from None
        self._pending = 0
        self._players: dict[str, int] = {}
        self._events: dict[str, int] = {}

    def _open(self, create: bool) -> None:
        db = self._db
        mark = db.execute("PRAGMA application_id").fetchone()[0]
        version = db.execute("PRAGMA user_version").fetchone()[0]
        empty = not db.execute("PRAGMA schema_version").fetchone()[0]
        if empty and create:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("BEGIN IMMEDIATE")
            for statement in _TABLES:
                db.execute(statement)
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            db.execute(f"PRAGMA user_version = {VERSION}")
            db.execute("COMMIT")
        elif mark != APPLICATION_ID:
            raise InputError(str(self._path), "is no corpus", "Name another file")
        elif version != VERSION:
            raise InputError(
                str(self._path),
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

    # --- writing ----------------------------------------------------------------------------------

    def wrote(self) -> None:
        """Count one write more; commits when a batch is full."""
        self._pending += 1
        if self._pending >= BATCH:
            self.commit()

    def commit(self) -> None:
        """Have everything so far on disk."""
        self._pending = 0
        if self._db.in_transaction:
            self._run("COMMIT")

    def roll_back(self) -> None:
        """Forget what is not on disk yet."""
        self._pending = 0
        self._players.clear()
        self._events.clear()
        if self._db.in_transaction:
            self._run("ROLLBACK")

    def add_game(self, game: CorpusGame) -> tuple[int, bool]:
        """The game's number, and whether it is new.

        A game that is there with another result is marked: neither result counts from then on.
        """
        digest = game.digest
        known = self._run(
            "SELECT game, result, other_result FROM games WHERE digest = ?", (digest,)
        ).fetchone()
        if known is not None:
            number, result, other = known
            if result != game.result and game.result != "*":
                if result == "*":
                    self._write("UPDATE games SET result = ? WHERE game = ?", (game.result, number))
                elif other is None:
                    self._write(
                        "UPDATE games SET other_result = ? WHERE game = ?", (game.result, number)
                    )
            return number, False
        cursor = self._write(
            "INSERT INTO games (digest, white, black, white_elo, black_elo, event, round, date,"
            " year, result, time_control, start_fen, chess960, plies, moves)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                digest,
                self._player(game.white),
                self._player(game.black),
                game.white_elo,
                game.black_elo,
                self._event(game.event),
                game.round,
                game.date,
                game.year,
                game.result,
                game.time_control,
                None if game.start_fen == STANDARD_FEN else game.start_fen,
                game.chess960,
                len(game.moves),
                packed(game.moves),
            ),
        )
        assert cursor.lastrowid is not None
        return cursor.lastrowid, True

    def add_results(self, setting: int, game: int, searched: SearchedGame) -> bool:
        """Keep what is known of a game's positions; False when it was known already."""
        cursor = self._write(
            "INSERT OR IGNORE INTO results VALUES (?, ?, ?)",
            (setting, game, encode_searched(searched)),
        )
        return cursor.rowcount > 0

    def setting(self, setting: SearchSetting) -> int:
        """Its number, made if there is none."""
        row = (setting.engine, setting.bound, setting.lines, setting.version)
        self._write(
            "INSERT OR IGNORE INTO settings (engine, bound, lines, version) VALUES (?, ?, ?, ?)",
            row,
        )
        found: int = self._run(
            "SELECT setting FROM settings WHERE engine = ? AND bound = ? AND lines = ?"
            " AND version = ?",
            row,
        ).fetchone()[0]
        return found

    def source(self, name: str, mark: str) -> tuple[int, int, bool]:
        """A file about to be read: its number, the texts of it that are in, and whether all are.

        ``mark`` changes when the file does; then it is read from its beginning.
        """
        row = self._run(
            "SELECT source, mark, texts, finished FROM sources WHERE name = ?", (name,)
        ).fetchone()
        if row is not None and row[1] == mark and mark:
            return row[0], row[2], bool(row[3])
        if row is not None:
            self._write("DELETE FROM damaged WHERE source = ?", (row[0],))
        self._write(
            "INSERT INTO sources (name, mark, texts, finished) VALUES (?, ?, 0, 0) ON CONFLICT"
            " (name) DO UPDATE SET mark = excluded.mark, texts = 0, finished = 0",
            (name, mark),
        )
        number: int = self._run("SELECT source FROM sources WHERE name = ?", (name,)).fetchone()[0]
        return number, 0, False

    def read_so_far(self, source: int, texts: int, *, finished: bool = False) -> None:
        """So many texts of a source are in, in the same transaction as what they hold."""
        self._write(
            "UPDATE sources SET texts = ?, finished = ? WHERE source = ?",
            (texts, finished, source),
        )

    def damage(self, source: int, text: int, game: str, problem: str) -> None:
        """A text of a source that is no game; it was gone past."""
        self._write(
            "INSERT OR REPLACE INTO damaged VALUES (?, ?, ?, ?)", (source, text, game, problem)
        )

    def index_players(self) -> None:
        """Have games found by their players quickly, from now on."""
        for color in ("white", "black"):
            self._run(f"CREATE INDEX IF NOT EXISTS games_of_{color} ON games ({color})")

    def _player(self, player: CorpusPlayer) -> int | None:
        """The number of a player: by FIDE id, else by name, as in the feeds."""
        by_id = f"fide-{player.fide_id}" if player.fide_id is not None else ""
        keys = [key for key in (by_id, player.words) if key]
        if not keys:
            return None
        together = "\x1f".join(keys)
        cached = self._players.get(together)
        if cached is not None:
            return cached
        found: int | None = None
        for key in keys:
            row = self._run("SELECT player FROM player_keys WHERE key = ?", (key,)).fetchone()
            # A name that belongs to somebody with another FIDE id is a namesake's.
            if row is not None and not (key != by_id and by_id and self._has_id(row[0])):
                found = row[0]
                break
        if found is None:
            found = self._write("INSERT INTO players (name) VALUES (?)", (player.name,)).lastrowid
            assert found is not None
        for key in keys:
            self._write("INSERT OR IGNORE INTO player_keys VALUES (?, ?)", (key, found))
        if len(self._players) > 50_000:
            self._players.clear()
        self._players[together] = found
        return found

    def _has_id(self, player: int) -> bool:
        row = self._run(
            "SELECT 1 FROM player_keys WHERE key >= 'fide-' AND key < 'fide.' AND player = ?",
            (player,),
        ).fetchone()
        return row is not None

    def _event(self, name: str) -> int | None:
        if not name:
            return None
        found = self._events.get(name)
        if found is None:
            self._write("INSERT OR IGNORE INTO events (name) VALUES (?)", (name,))
            found = self._run("SELECT event FROM events WHERE name = ?", (name,)).fetchone()[0]
            if len(self._events) > 10_000:
                self._events.clear()
            self._events[name] = found
        assert found is not None
        return found

    def _write(self, sql: str, parameters: tuple[object, ...]) -> sqlite3.Cursor:
        if not self._db.in_transaction:
            self._run("BEGIN IMMEDIATE")
        return self._run(sql, parameters)

    def _run(self, sql: str, parameters: tuple[object, ...] = ()) -> sqlite3.Cursor:
        try:
            return self._db.execute(sql, parameters)
        except sqlite3.Error as error:
            raise self._unusable(error) from None

    def _unusable(self, error: sqlite3.Error) -> InputError:
        name = getattr(error, "sqlite_errorname", "")
        if name == "SQLITE_FULL":
            remedy = "Make room and give the same command again: it goes on from there"
        elif name == "SQLITE_NOTADB":
            remedy = "Name a corpus that `live-rate study add` made"
        else:
            remedy = "Close other programs that write it, or name another file"
        return InputError(str(self._path), f"cannot be used ({error})", remedy)

    # --- reading ----------------------------------------------------------------------------------

    def rows(self, sql: str, parameters: tuple[object, ...] = ()) -> Iterator[tuple[Any, ...]]:
        """What a query gives, row by row."""
        yield from self._run(sql, parameters)

    def settings(self) -> dict[int, SearchSetting]:
        """All settings by number."""
        return {
            row[0]: SearchSetting(*row[1:])
            for row in self._run(
                "SELECT setting, engine, bound, lines, version FROM settings ORDER BY setting"
            )
        }

    def count(self, table: str, where: str = "1", parameters: tuple[object, ...] = ()) -> int:
        """Rows of a table."""
        found: int = self._run(
            f"SELECT count(*) FROM {table} WHERE {where}", parameters
        ).fetchone()[0]
        return found

    def players(self) -> dict[int, str]:
        """Names by number."""
        return dict(self._run("SELECT player, name FROM players"))

    def events(self) -> dict[int, str]:
        """Names by number."""
        return dict(self._run("SELECT event, name FROM events"))

    def stored(self, game: int) -> NumberedGame:
        """One game. Raises InputError when there is none of that number."""
        row = self._run(f"SELECT {_GAME_COLUMNS} FROM games WHERE game = ?", (game,)).fetchone()
        if row is None:
            raise InputError(str(self._path), f"holds no game {game}", "See study status")
        return _stored(row)

    def searched(
        self, setting: int, first: int, beyond: int
    ) -> Iterator[tuple[NumberedGame, SearchedGame]]:
        """Games numbered from ``first`` to before ``beyond`` that have results, in order.

        Raises InputError for results that cannot be read.
        """
        for row in self._run(
            f"SELECT {_GAME_COLUMNS}, positions FROM games JOIN results USING (game)"
            " WHERE setting = ? AND games.game >= ? AND games.game < ? ORDER BY games.game",
            (setting, first, beyond),
        ):
            try:
                searched = decode_searched(row[-1])
            except (ValueError, msgspec.MsgspecError) as error:
                raise InputError(
                    str(self._path),
                    f"results of game {row[0]} cannot be read ({error})",
                    "Restore the file from a copy",
                ) from None
            yield _stored(row[:-1]), searched


def _stored(row: tuple[Any, ...]) -> NumberedGame:
    *values, start_fen, chess960, moves = row
    rest = (start_fen or STANDARD_FEN, bool(chess960), unpacked(moves))
    return NumberedGame(*(*values, *rest))
