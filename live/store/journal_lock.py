"""One service at a time writes a journal.

The lock is an exclusive transaction on an empty database beside it: the system lets go of it
however this process ends, on every platform that SQLite runs on.
"""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from live.engine.results.sqlite_connection import SqliteConnection


class JournalLocked(Exception):
    """Another process holds the lock."""


class JournalLock:
    """Held from :meth:`take` to :meth:`release`."""

    def __init__(self, journal: Path) -> None:
        # By whatever name it is reached, a file has one lock.
        journal = journal.resolve()
        self._path = journal.with_name(journal.name + "-lock")
        self._connection: sqlite3.Connection | None = None

    def take(self) -> None:
        """Raises Locked at once where another process has it; sqlite3.Error where no file can be
        made.
        """
        connection = sqlite3.connect(
            self._path, timeout=0, isolation_level=None, factory=SqliteConnection
        )
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            connection.close()
            if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
                raise JournalLocked from None
            raise
        self._connection = connection

    def release(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None
