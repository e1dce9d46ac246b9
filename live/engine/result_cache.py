"""Results that were found before.

They are kept by engine identity and search key, in memory, and on disk, so that a restart, or
another event, searches nothing twice.

SQLite in WAL mode: one table, a digest of engine and search key to the result. Results are read on
the event loop, since it costs some tens of microseconds (WAL readers wait for nobody); writing is
done in batches by a thread of its own, since a commit waits for the disk. What is not written yet
is found in memory, where every result used lately is kept.

The file is bounded: the same thread deletes what nobody needed for a year, and of more than a
million results those unused for longest. The space is used again, so the file stops growing.

Loss policy: a crash loses at most what the last second found, and that is searched again. A file
that cannot be used is said clearly, once, and the service goes on without it; one that can only be
read is read.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable
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
#: Results written in one commit, and how long the first of them may wait, seconds.
_BATCH: Final = 200
_LINGER_S: Final = 1.0
#: Results that may wait to be written; further ones stay in memory only.
_BACKLOG: Final = 10_000
#: Results written between two looks at how many there are.
_LOOK_EVERY: Final = 10_000
_DAY_S: Final = 86_400
#: How long a writer waits for another process's commit, seconds.
_BUSY_S: Final = 5.0

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(SearchResult)
#: Key, result (None: it is there, and was used again) and day of use.
_Row = tuple[bytes, bytes | None, int]


class ResultFileBounds(msgspec.Struct, frozen=True):
    """How much a file keeps."""

    results: int = 1_000_000
    """About 300 bytes each, with one line."""
    unused_days: int = 365


class ResultFile:
    """A :class:`live.engine.result_cache.ResultCache` over a file. Use as a context
    manager; never raises for the file's sake: ``problem`` says, for people, what is wrong with it.
    """

    def __init__(
        self,
        path: Path,
        memory: MemoryResultCache | None = None,
        *,
        bounds: ResultFileBounds = ResultFileBounds(),  # noqa: B008  # frozen
        clock: Callable[[], float] = time.time,
    ) -> None:
        """``clock`` gives seconds since 1970; only whole days of it count."""
        self.problem = ""
        self._bounds = bounds
        self._clock = clock
        self._path = path.expanduser()
        self._memory = MemoryResultCache() if memory is None else memory
        self._reader: sqlite3.Connection | None = None
        # None ends the writer.
        self._unwritten: queue.Queue[_Row | None] = queue.Queue(_BACKLOG)
        self._writer: threading.Thread | None = None
        self._writable = True

    def __enter__(self) -> Self:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._reader = _opened(self._path)
        except (sqlite3.Error, OSError, _Foreign) as error:
            why = "it is a folder" if self._path.is_dir() else error
            self._give_up(f"cannot be used ({why}); every position is searched anew")
            return self
        self._writer = threading.Thread(target=self._write, name="cache writer", daemon=True)
        self._writer.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._writer is not None:
            # A writer that is behind by so much, or stuck, is not waited for.
            with contextlib.suppress(queue.Full):
                self._unwritten.put(None, timeout=_BUSY_S)
                self._writer.join(2 * _BUSY_S)
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def get(self, identity: str, search_key: SearchKey) -> SearchResult | None:
        known = self._memory.get(identity, search_key)
        if known is not None or self._reader is None:
            return known
        try:
            row = self._reader.execute(
                "SELECT result FROM results WHERE key = ?", (key := digest(identity, search_key),)
            ).fetchone()
            if row is None:
                return None
            result = _decoder.decode(row[0])
        except (sqlite3.Error, msgspec.MsgspecError, TypeError) as error:
            self._reader.close()
            self._reader = None
            self._give_up(f"can no longer be read ({error}); what it holds is searched anew")
            return None
        self._memory.put(identity, search_key, result)
        self._write_later((key, None, self._today))
        return result

    def put(self, identity: str, search_key: SearchKey, result: SearchResult) -> None:
        self._memory.put(identity, search_key, result)
        self._write_later((digest(identity, search_key), _encoder.encode(result), self._today))

    @property
    def _today(self) -> int:
        return int(self._clock() // _DAY_S)

    def _write_later(self, row: _Row) -> None:
        if self._writer is not None and self._writable:
            with contextlib.suppress(queue.Full):
                self._unwritten.put_nowait(row)

    def _write(self) -> None:
        """The writer thread: batches until it is asked to end, or until the file takes no more."""
        try:
            with contextlib.closing(_connected(self._path)) as connection:
                _date(connection, self._today)
                more, unlooked = True, _LOOK_EVERY
                while more:
                    if unlooked >= _LOOK_EVERY:
                        _prune(connection, self._bounds, self._today)
                        unlooked = 0
                    rows, more = self._batch()
                    unlooked += len(rows)
                    with connection:
                        connection.executemany(
                            "INSERT OR IGNORE INTO results VALUES (?, ?)",
                            [(key, result) for key, result, _ in rows if result is not None],
                        )
                        connection.executemany(
                            "INSERT OR REPLACE INTO used VALUES (?, ?)",
                            [(key, day) for key, _, day in rows],
                        )
        except sqlite3.Error as error:
            self._writable = False
            self._give_up(f"takes no more results ({error}); new ones are kept in memory only")

    def _batch(self) -> tuple[list[_Row], bool]:
        """What to write next, and whether more may come."""
        rows: list[_Row] = []
        timeout, due_s = None, 0.0
        while len(rows) < _BATCH:
            try:
                row = self._unwritten.get(timeout=timeout)
            except queue.Empty:
                break
            if row is None:
                return rows, False
            rows.append(row)
            if timeout is None:
                due_s = time.monotonic() + _LINGER_S
            # Time from the first one on: else a search a second would put a commit off for ever.
            timeout = max(0.0, due_s - time.monotonic())
        return rows, True

    def _give_up(self, what: str) -> None:
        self.problem = f"cache {self._path}: {what}"
        log.warning("%s. Name another with [engine] cache_file, or move it away", self.problem)


class _Foreign(Exception):
    """The file is a database, and not this one."""


def digest(identity: str, search_key: SearchKey) -> bytes:
    """What a result is kept under: 16 bytes of engine, options, limit and position."""
    text = _encoder.encode((identity, search_key))
    return hashlib.blake2b(text, digest_size=16).digest()


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_BUSY_S, factory=SqliteConnection)
    # A power cut may cost the last commits, never the file.
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def _date(connection: sqlite3.Connection, today: int) -> None:
    """Have days of last use beside the results; those of a file that had none count from now."""
    with connection:
        if not connection.execute("PRAGMA table_info(used)").fetchall():
            # Another service may do the same at this moment: the second finds it done.
            connection.execute(
                "CREATE TABLE IF NOT EXISTS used"
                " (key BLOB PRIMARY KEY, day INTEGER NOT NULL) WITHOUT ROWID"
            )
            connection.execute("INSERT OR IGNORE INTO used SELECT key, ? FROM results", (today,))


def _prune(connection: sqlite3.Connection, bounds: ResultFileBounds, today: int) -> None:
    """Delete what is beyond the bounds, a tenth more than needed where there is too much."""
    with connection:
        before = connection.total_changes
        connection.execute("DELETE FROM used WHERE day < ?", (today - bounds.unused_days,))
        count = connection.execute("SELECT count(*) FROM used").fetchone()[0]
        if count > bounds.results:
            connection.execute(
                "DELETE FROM used WHERE key IN (SELECT key FROM used ORDER BY day LIMIT ?)",
                (count - bounds.results * 9 // 10,),
            )
        if connection.total_changes > before:
            connection.execute("DELETE FROM results WHERE key NOT IN (SELECT key FROM used)")


def _opened(path: Path) -> sqlite3.Connection:
    """A connection to a file that is ours, made if there is none."""
    connection = _connected(path)
    try:
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
        # Nobody is waited for on the event loop.
        connection.execute("PRAGMA busy_timeout = 0")
        connection.execute("SELECT result FROM results LIMIT 1").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection
