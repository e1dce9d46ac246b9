"""The tables of a journal, their versions, and how each version becomes the next.

A file has SQLite's own marks of whose it is: ``application_id`` says that it is ours, and
``user_version`` which version its tables have. Version 1 is the file of ``[engine] cache_file``,
which has results of searches only; it becomes a journal when it is named as one.

==========  ==========================================================================
``runs``    each start of the service: when, which engine, limit and settings
``changes`` every step of every game, in order, with its time (:mod:`live.games.game`)
``results`` what searches found, by a digest of engine and question
``human``   what players would play, by a digest of the question (:mod:`live.human.question`)
``games``   the games there are, and how each stood after its last change written here
``notes``   whatever else is to be kept with its time: alerts, remarks of arbiters
``heads``   where the chains of checksums end (:mod:`live.store.journal_checksums`)
==========  ==========================================================================

Times are milliseconds since 1970, UTC, by the machine's clock; order is that of ``n`` alone, since
clocks are set. ``rest`` and ``details`` can be made again from the other tables.
"""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from typing import Final

from live.engine.results.result_file import APPLICATION_ID
from live.engine.results.sqlite_connection import SqliteConnection

#: From each version to the next, beginning with an empty file. A released entry never changes:
#: later versions are added behind it.
MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (
    ("CREATE TABLE results (key BLOB PRIMARY KEY, result BLOB NOT NULL) WITHOUT ROWID",),
    (
        "CREATE TABLE runs (run INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, about BLOB NOT NULL)",
        "CREATE TABLE engines (engine INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE)",
        "ALTER TABLE results ADD COLUMN engine INTEGER REFERENCES engines (engine)",
        "ALTER TABLE results ADD COLUMN bound TEXT",
        "ALTER TABLE results ADD COLUMN at_ms INTEGER",
        "CREATE TABLE changes (n INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL,"
        " run INTEGER NOT NULL, game TEXT NOT NULL, step BLOB NOT NULL)",
        "CREATE INDEX changes_of_game ON changes (game, n)",
        "CREATE TABLE games (game TEXT PRIMARY KEY, opened INTEGER NOT NULL,"
        " at_ms INTEGER NOT NULL, n INTEGER NOT NULL DEFAULT 0, measure BLOB, rest BLOB,"
        " details BLOB)",
        "CREATE INDEX games_in_order ON games (opened)",
        "CREATE TABLE notes (n INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL,"
        " run INTEGER NOT NULL, game TEXT NOT NULL, kind TEXT NOT NULL, body BLOB NOT NULL)",
    ),
    (
        *(f"ALTER TABLE {table} ADD COLUMN sum BLOB" for table in ("changes", "notes", "runs")),
        *(f"ALTER TABLE {table} ADD COLUMN chain BLOB" for table in ("changes", "notes", "runs")),
        "ALTER TABLE results ADD COLUMN sum BLOB",
        "ALTER TABLE games ADD COLUMN sum BLOB",
        "CREATE TABLE heads (name TEXT PRIMARY KEY, n INTEGER NOT NULL, chain BLOB NOT NULL)"
        " WITHOUT ROWID",
    ),
    (
        "CREATE TABLE human (key BLOB PRIMARY KEY, answer BLOB NOT NULL, at_ms INTEGER NOT NULL)"
        " WITHOUT ROWID",
    ),
)
VERSION: Final = len(MIGRATIONS)
#: The oldest version whose tables a report can be made from.
READABLE: Final = 2
#: The oldest version whose records have checksums.
SUMMED: Final = 3

#: How long another process's commit is waited for, seconds.
BUSY_S: Final = 5.0


class ForeignDatabase(Exception):
    """The file is a database, and not one this version can use."""


def connected(
    path: Path, *, durable: bool = False, busy_s: float = BUSY_S, at_rest: bool = False
) -> sqlite3.Connection:
    """A connection that begins no transaction by itself.

    ``durable``: a commit has reached the disk when it returns, so that a power cut costs nothing.
    Else a power cut may cost the last commits; neither it nor the end of this process ever costs
    the file. ``at_rest``: for reading alone, while nobody writes; nothing is made beside the file.
    """
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?immutable=1" if at_rest else path,
        uri=at_rest,
        timeout=busy_s,
        isolation_level=None,
        check_same_thread=False,
        factory=SqliteConnection,
    )
    connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
    return connection


def prepare(connection: sqlite3.Connection) -> int:
    """Bring the file to the newest version; gives the version it had.

    Raises:
        Foreign: it belongs to another program, or to a later version of this one.
        sqlite3.Error: it is damaged, or cannot be written.
    """
    had = version_of(connection)
    # A copy made with VACUUM INTO has lost the mode, and its readers would be in the writer's way.
    connection.execute("PRAGMA journal_mode = WAL")
    if had == VERSION:
        return had
    connection.execute("BEGIN IMMEDIATE")
    try:
        had = version_of(connection)  # somebody else may just have done it
        for statements in MIGRATIONS[had:]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
    return had


def version_of(connection: sqlite3.Connection) -> int:
    """Which version the file is; 0 for an empty one.

    Raises:
        Foreign: see :func:`prepare`.
    """
    mark = _pragma(connection, "application_id")
    version = _pragma(connection, "user_version")
    if (mark, version) == (0, 0) and not _pragma(connection, "schema_version"):
        return 0
    if mark != APPLICATION_ID:
        raise ForeignDatabase("is another program's database")
    if not 1 <= version <= VERSION:
        raise ForeignDatabase(f"is of version {version}, and this live-rate knows up to {VERSION}")
    return version


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])
