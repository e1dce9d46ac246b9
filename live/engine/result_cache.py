"""Results that were found before, by engine identity and search key, so that nothing is searched
twice: in memory here, on disk in a journal (:mod:`live.store.journal`).
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable
from typing import Any, Final, Protocol

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


#: "live" in ASCII: SQLite's own mark of whose file it is (pragma application_id).
APPLICATION_ID: Final = 0x6C697665

_encoder = msgspec.msgpack.Encoder()


def digest(identity: str, search_key: SearchKey) -> bytes:
    """What a result is kept under: 16 bytes of engine, options, limit and position."""
    text = _encoder.encode((identity, search_key))
    return hashlib.blake2b(text, digest_size=16).digest()
