"""The file of a journal: its tables and their versions, the conversion from each
version to the next, its lock and its checksums.

SQLite stores two marks in the file: ``application_id`` shows that the file is a
journal, and ``user_version`` is the version of its tables. Version 1 is the file of
``[engine] cache_file``, which contains only results of searches; it becomes a journal
when it is given as one.

The tables are:

* ``runs``: each start of the service, with its time, engine, limit and settings
* ``changes``: every step of every game in order, with its time (:mod:`live.games.game`)
* ``results``: results of searches, by a digest of engine and question
* ``human``: predictions of human moves, by a digest of the question
  (:mod:`live.human.question`)
* ``games``: the present games, each with a snapshot of its state
* ``notes``: other records with a time, such as alerts and remarks of arbiters
* ``remembered``: present values, per game or source, that alerts and moments depend on

Times are in milliseconds since 1970 UTC, from the computer's clock. Records are ordered
only by ``n``, since clocks can be set. The snapshot of a game in ``rest`` can be
recomputed from the other tables. The columns ``details`` and ``chain`` and the table
``heads`` of earlier versions are not read.

Records are written in transactions, so a record is in the file completely or not at
all. Later damage by a disk is detected when the file is opened: in pages and indexes by
SQLite's ``integrity_check``, in rows by a checksum per row. Rows with a wrong checksum
are ignored. Rows of version 2 have no checksum and are accepted.
"""

import contextlib
import hashlib
import logging
import os
import sqlite3
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from live.engine.search_key import SearchKey

log = logging.getLogger(__name__)

#: The word "live" in ASCII, with which SQLite marks the file as a journal (pragma
#: application_id).
APPLICATION_ID = 0x6C697665

#: Statements that convert each version of the file to the next one, starting with an
#: empty file. Entries of released versions never change; new versions are appended.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE results (key BLOB PRIMARY KEY, result BLOB NOT NULL) WITHOUT"
        " ROWID",
    ),
    (
        "CREATE TABLE runs (run INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, about BLOB"
        " NOT NULL)",
        "CREATE TABLE engines (engine INTEGER PRIMARY KEY, identity TEXT NOT NULL"
        " UNIQUE)",
        "ALTER TABLE results ADD COLUMN engine INTEGER REFERENCES engines (engine)",
        "ALTER TABLE results ADD COLUMN bound TEXT",
        "ALTER TABLE results ADD COLUMN at_ms INTEGER",
        "CREATE TABLE changes (n INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL,"
        " run INTEGER NOT NULL, game TEXT NOT NULL, step BLOB NOT NULL)",
        "CREATE INDEX changes_of_game ON changes (game, n)",
        "CREATE TABLE games (game TEXT PRIMARY KEY, opened INTEGER NOT NULL,"
        " at_ms INTEGER NOT NULL, n INTEGER NOT NULL DEFAULT 0, measure BLOB,"
        " rest BLOB, details BLOB)",
        "CREATE INDEX games_in_order ON games (opened)",
        "CREATE TABLE notes (n INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL,"
        " run INTEGER NOT NULL, game TEXT NOT NULL, kind TEXT NOT NULL,"
        " body BLOB NOT NULL)",
    ),
    (
        *(
            f"ALTER TABLE {table} ADD COLUMN sum BLOB"
            for table in ("changes", "notes", "runs")
        ),
        *(
            f"ALTER TABLE {table} ADD COLUMN chain BLOB"
            for table in ("changes", "notes", "runs")
        ),
        "ALTER TABLE results ADD COLUMN sum BLOB",
        "ALTER TABLE games ADD COLUMN sum BLOB",
        "CREATE TABLE heads (name TEXT PRIMARY KEY, n INTEGER NOT NULL,"
        " chain BLOB NOT NULL) WITHOUT ROWID",
    ),
    (
        "CREATE TABLE human (key BLOB PRIMARY KEY, answer BLOB NOT NULL,"
        " at_ms INTEGER NOT NULL) WITHOUT ROWID",
    ),
    (
        "CREATE TABLE remembered (kind TEXT NOT NULL, about TEXT NOT NULL,"
        " body BLOB NOT NULL, sum BLOB NOT NULL, PRIMARY KEY (kind, about))"
        " WITHOUT ROWID",
    ),
    # This version no longer updates ``heads``. Its empty step raises the version
    # number, so that older programs, which read ``heads``, reject the file.
    (),
)
VERSION = len(MIGRATIONS)
#: Oldest version that reports can be made from: the version of live-rate 0.2.
OLDEST_READABLE = 4

#: Maximum wait for a transaction of another process, seconds.
BUSY_S = 5.0


class SqliteConnection(sqlite3.Connection):
    """A connection that raises only ``sqlite3.Error``.

    Python decodes SQLite's messages as UTF-8. The message about a damaged schema quotes
    the damaged bytes, so Python itself would raise UnicodeDecodeError.
    """

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        """Execute a statement.

        Raises:
            sqlite3.Error: for any failure, even if its message cannot be decoded.
        """
        try:
            return super().execute(sql, parameters)
        except UnicodeDecodeError:
            error = sqlite3.DatabaseError("database disk image is malformed")
            error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
            raise error from None


class ForeignDatabase(Exception):
    """Raised for a database that this version cannot use."""


class JournalLocked(Exception):
    """Raised if another process holds the lock."""


#: Errors that mean that a service cannot use a file as its journal.
UNUSABLE_ERRORS = (JournalLocked, ForeignDatabase, sqlite3.Error, OSError)


def open_connection(
    path: Path, *, busy_s: float = BUSY_S, at_rest: bool = False
) -> sqlite3.Connection:
    """Return a connection that does not start transactions implicitly.

    A power failure can lose the last commits. Neither a power failure nor the end of
    this process can damage the file. ``at_rest`` opens the file for reading while no
    process writes it, without creating files next to it.
    """
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?immutable=1" if at_rest else path,
        uri=at_rest,
        timeout=busy_s,
        isolation_level=None,
        check_same_thread=False,
        factory=SqliteConnection,
    )
    connection.execute("PRAGMA synchronous = NORMAL")
    # The operating system already caches the file's pages, and SQLite's own cache would
    # grow to 2 MB within hours.
    connection.execute("PRAGMA cache_size = -512")
    return connection


def migrate(connection: sqlite3.Connection) -> int:
    """Convert the file to the newest version; return the version it had before.

    Raises:
        ForeignDatabase: the file belongs to another program, or to a later version of
            this one.
        sqlite3.Error: the file is damaged, or cannot be written.
    """
    version = read_version(connection)
    # A copy made with VACUUM INTO is not in this mode. In any other mode, readers would
    # block the writer.
    connection.execute("PRAGMA journal_mode = WAL")
    if version == VERSION:
        return version
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        # Another process might have converted the file in the meantime.
        version = read_version(connection)
        for statement in chain.from_iterable(MIGRATIONS[version:]):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
    return version


def read_version(connection: sqlite3.Connection) -> int:
    """Return the version of the file; 0 for an empty file.

    Raises:
        ForeignDatabase: see :func:`migrate`.
    """
    mark, version, written = read_marks(connection)
    if not (mark or version or written):
        return 0
    if mark != APPLICATION_ID:
        raise ForeignDatabase("is another program's database")
    if not 1 <= version <= VERSION:
        raise ForeignDatabase(f"is of version {version}, written by a newer live-rate")
    return version


def read_marks(connection: sqlite3.Connection) -> list[int]:
    """Return the file's application id, its version, and the number of changes to its
    tables.

    Each number is 0 if it was never set.
    """
    names = ("application_id", "user_version", "schema_version")
    return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names]


#: Length of a checksum, bytes. One case of damage in 2^64 remains undetected.
CHECKSUM_BYTES = 8

_encode = msgspec.msgpack.Encoder().encode

#: Tables with checksums, with the columns that the checksum covers. The first column
#: identifies the row.
RECORDS: dict[str, str] = {
    "changes": "n, at_ms, run, game, step",
    "notes": "n, at_ms, run, game, kind, body",
    "runs": "run, at_ms, about",
    "results": "key, result, at_ms",
    "remembered": "kind, about, body",
}


def compute_checksum(*fields: object) -> bytes:
    """Return the checksum of a row from its fields, in the order of :data:`RECORDS`."""
    return hashlib.blake2b(_encode(fields), digest_size=CHECKSUM_BYTES).digest()


def hash_search(identity: str, search_key: SearchKey) -> bytes:
    """Return the key of a search result: a digest of 16 bytes of engine, options, limit
    and position.
    """
    text = _encode((identity, search_key))
    return hashlib.blake2b(text, digest_size=16).digest()


def find_page_damage(connection: sqlite3.Connection, table: str) -> list[str]:
    """Return SQLite's messages about damaged pages of a table and its indexes.

    Each message is one line.
    """
    try:
        rows = connection.execute(f"PRAGMA integrity_check({table})").fetchall()
    except sqlite3.DatabaseError as error:
        # The damage can be on any page of the file; the rows of this table might still
        # be readable.
        return [str(error)]
    return [" ".join(text.split()) for (text,) in rows if text != "ok"]


def find_damaged_rows(connection: sqlite3.Connection, table: str) -> list[Any]:
    """Return the first field (number or key) of each row whose checksum is wrong."""
    rows = connection.execute(
        f"SELECT {RECORDS[table]}, sum FROM {table} WHERE sum IS NOT NULL"
    )
    return [
        fields[0] for *fields, written in rows if written != compute_checksum(*fields)
    ]


def read_error_code(error: sqlite3.Error) -> int:
    """Return the primary result code of an error (sqlite.org/rescode.html)."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


@contextlib.contextmanager
def lock_journal(journal: Path, *, make: bool = True) -> Iterator[None]:
    """Lock a journal for writing for the duration of the block; fail at once if it is
    locked.

    If not ``make``, do nothing if the journal has never been locked.

    The lock is an exclusive transaction on an empty database next to the journal. The
    operating system releases the lock however this process ends, on every platform of
    SQLite.

    Raises:
        JournalLocked: another process holds the lock.
        sqlite3.Error: the lock file cannot be created.
    """
    # Different paths of the same file must give the same lock.
    journal = journal.resolve()
    path = journal.with_name(journal.name + "-lock")
    if not (make or path.exists()):
        yield
        return
    connection = sqlite3.connect(
        path, timeout=0, isolation_level=None, factory=SqliteConnection
    )
    with contextlib.closing(connection):
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if read_error_code(error) == sqlite3.SQLITE_BUSY:
                raise JournalLocked from None
            raise
        yield


def make_private(path: Path) -> None:
    """Allow only the current user to read a file; create the file if it does not exist.

    The file contains information that is withheld from the public. SQLite gives the
    same rights to its files next to a journal.
    """
    if not path.exists():
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        return
    try:
        if path.is_file() and path.stat().st_mode & 0o077:
            path.chmod(0o600)
    except OSError as error:
        log.warning(
            "%s: other users can read it; its permissions cannot be changed (%s)",
            path,
            error,
        )


def check_is_journal(path: Path) -> None:
    """Check that a file is a journal or can become one, without changing it.

    Raises:
        IsADirectoryError, sqlite3.Error, ForeignDatabase: it is not a journal.
    """
    if path.is_dir():
        raise IsADirectoryError
    if not path.is_file() or not path.stat().st_size:
        return
    with contextlib.closing(open_connection(path, at_rest=True)) as connection:
        try:
            read_version(connection)
        except sqlite3.Error as error:
            # Other errors can be temporary, while another process writes the file.
            if read_error_code(error) == sqlite3.SQLITE_NOTADB:
                raise
