"""Results that were found before.

They are kept by engine identity and search key: in memory, and while a corpus is searched, or in a
journal (:mod:`live.store.journal`), on disk, so that a restart searches nothing twice.

The file is SQLite in WAL mode: one table, a digest of engine and search key to the result. Loss
policy: a crash loses at most what the last second found, and that is searched again. A file that
cannot be used is said clearly, once, and it goes on without; one that can only be read is read.
"""

from __future__ import annotations

import hashlib
import logging
import sqlite3
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, Protocol, Self

import msgspec

from live.engine.search import Recent, SearchKey, SearchResult


class ResultCache(Protocol):
    """Where results are looked up before an engine searches, and stored when it has finished.

    Both are called on the event loop and must return at once.
    """

    problem: str
    """For people: what is wrong with it; empty when nothing is."""

    def get(self, identity: str, search_key: SearchKey) -> SearchResult | None:
        """The result, or None. ``identity`` is the engine's name and options."""

    def put(self, identity: str, search_key: SearchKey, result: SearchResult) -> None:
        """Remember a result whose limit was reached."""


class MemoryResultCache:
    """The results used last, up to a number of them (about 1.5 kB each)."""

    problem = ""

    def __init__(self, capacity: int = 50_000) -> None:
        self._results: Recent[tuple[str, SearchKey], SearchResult] = Recent(capacity)

    def __len__(self) -> int:
        return len(self._results)

    def get(self, identity: str, search_key: SearchKey) -> SearchResult | None:
        result = self._results.get((identity, search_key))
        if result is not None:
            self._results.move_to_end((identity, search_key))
        return result

    def put(self, identity: str, search_key: SearchKey, result: SearchResult) -> None:
        self._results[identity, search_key] = result


class SqliteConnection(sqlite3.Connection):
    """Python decodes SQLite's messages as UTF-8, and the message about a damaged schema quotes the
    damage: then a UnicodeDecodeError comes out. Here it is what it is.
    """

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        """As ever.

        Raises:
            sqlite3.Error: also for damage that cannot be quoted.
        """
        try:
            return super().execute(sql, parameters)
        except UnicodeDecodeError:
            raise _damaged() from None

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
        """As ever; raises as :meth:`execute`."""
        try:
            return super().executemany(sql, parameters)
        except UnicodeDecodeError:
            raise _damaged() from None


def _damaged() -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError("database disk image is malformed")
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    error.sqlite_errorname = "SQLITE_CORRUPT"
    return error


log = logging.getLogger(__name__)

#: "live" in ASCII: SQLite's own mark of whose file it is (pragma application_id).
APPLICATION_ID: Final = 0x6C697665
#: Raised when what the rows mean changes; a file of another version is left alone. A journal
#: (:mod:`live.store.journal_file`) counts on from here.
VERSION: Final = 1
#: Between two commits, and how long another process's commit is waited for, seconds.
_COMMIT_S: Final = 1.0
_BUSY_S: Final = 5.0

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(SearchResult)


class ResultFile:
    """A :class:`ResultCache` over a file. Use as a context manager; never raises for the file's
    sake: ``problem`` says, for people, what is wrong with it.
    """

    def __init__(self, path: Path, memory: MemoryResultCache | None = None) -> None:
        self.problem = ""
        self._path = path.expanduser()
        self._memory = MemoryResultCache() if memory is None else memory
        self._db: sqlite3.Connection | None = None
        self._writable = True
        self._committed_s = time.monotonic()

    def __enter__(self) -> Self:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._db = _opened(self._path)
        except (sqlite3.Error, OSError, _Foreign) as error:
            why = "it is a folder" if self._path.is_dir() else error
            self._give_up(f"cannot be used ({why}); every position is searched anew")
        return self

    def __exit__(self, *error: object) -> None:
        self._commit()
        self._close()

    def get(self, identity: str, search_key: SearchKey) -> SearchResult | None:
        known = self._memory.get(identity, search_key)
        if known is not None or self._db is None:
            return known
        try:
            row = self._db.execute(
                "SELECT result FROM results WHERE key = ?", (digest(identity, search_key),)
            ).fetchone()
            if row is None:
                return None
            result = _decoder.decode(row[0])
        except (sqlite3.Error, msgspec.MsgspecError, TypeError) as error:
            self._close()
            self._give_up(f"can no longer be read ({error}); what it holds is searched anew")
            return None
        self._memory.put(identity, search_key, result)
        return result

    def put(self, identity: str, search_key: SearchKey, result: SearchResult) -> None:
        self._memory.put(identity, search_key, result)
        if self._db is None or not self._writable:
            return
        try:
            self._db.execute(
                "INSERT OR IGNORE INTO results VALUES (?, ?)",
                (digest(identity, search_key), _encoder.encode(result)),
            )
        except sqlite3.Error as error:
            self._takes_no_more(error)
        if time.monotonic() - self._committed_s >= _COMMIT_S:
            self._commit()

    def _commit(self) -> None:
        self._committed_s = time.monotonic()
        if self._db is not None:
            try:
                self._db.commit()
            except sqlite3.Error as error:
                self._takes_no_more(error)

    def _takes_no_more(self, error: sqlite3.Error) -> None:
        self._writable = False
        self._give_up(f"takes no more results ({error}); new ones are kept in memory only")

    def _close(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    def _give_up(self, what: str) -> None:
        self.problem = f"cache {self._path}: {what}"
        log.warning("%s. Move it away to have another made", self.problem)


class _Foreign(Exception):
    """The file is a database, and not this one."""


def digest(identity: str, search_key: SearchKey) -> bytes:
    """What a result is kept under: 16 bytes of engine, options, limit and position."""
    text = _encoder.encode((identity, search_key))
    return hashlib.blake2b(text, digest_size=16).digest()


def _opened(path: Path) -> sqlite3.Connection:
    """A connection to a file that is ours, made if there is none."""
    connection = sqlite3.connect(path, timeout=_BUSY_S, factory=SqliteConnection)
    try:
        # A power cut may cost the last commits, never the file.
        connection.execute("PRAGMA synchronous = NORMAL")
        mark = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if (mark, version) == (0, 0) and not connection.execute("PRAGMA schema_version").fetchone()[
            0
        ]:
            with connection:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS results"
                    " (key BLOB PRIMARY KEY, result BLOB NOT NULL) WITHOUT ROWID"
                )
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {VERSION}")
        elif mark != APPLICATION_ID:
            raise _Foreign("is another program's database")
        elif version != VERSION:
            raise _Foreign(f"is of version {version}, and this live-rate reads {VERSION}")
        connection.execute("SELECT result FROM results LIMIT 1").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection
