"""SQLite connections whose every fault is an ``sqlite3.Error``."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any


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
