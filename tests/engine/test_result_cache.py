"""Results in memory, and what SQLite says of a damaged file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from live.engine.result_cache import (
    MemoryResultCache,
    SqliteConnection,
)
from live.engine.search import Limit, Line, SearchKey, SearchResult
from live.events import Score

KINGS = "4k3/8/8/8/8/8/8/4K2R w - - 0 1"
QUESTION = SearchKey(KINGS, (), Limit(nodes=400))
RESULT = SearchResult(
    score=Score(3900, 2),
    best="e1e2",
    depth=9,
    by_depth=(None, Score(12), Score(-7, -3)),
    nodes=400,
    time_ms=3,
    exact_best="e1e2",
    lines=(Line("e1e2", Score(12), 9),),
)


def numbered(number: int) -> SearchKey:
    return SearchKey(f"4k3/8/8/8/8/8/8/4K2R w - - {number} 1", (), Limit(nodes=400))


def test_the_least_used_goes_first() -> None:
    cache = MemoryResultCache(capacity=2)
    for number in (1, 2):
        cache.put("engine", numbered(number), RESULT)
    cache.get("engine", numbered(1))
    cache.put("engine", numbered(3), RESULT)
    held = [cache.get("engine", numbered(number)) for number in (1, 2, 3)]
    assert (len(cache), held) == (2, [RESULT, None, RESULT])


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A database whose schema names a table in bytes that are no UTF-8."""
    path = tmp_path / "d.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE abcdefgh (n)")
        connection.execute("CREATE INDEX ijklmnop ON abcdefgh (n)")
        connection.commit()
    data = path.read_bytes()
    assert data.count(b"TABLE abcdefgh") == 1
    path.write_bytes(
        data.replace(b"TABLE abcdefgh", b"TABLF abcde\xa8gh").replace(b"abc", b"\xa8bc")
    )
    return path


def test_what_python_cannot_quote_is_damage(damaged: Path) -> None:
    with closing(sqlite3.connect(damaged)) as connection, pytest.raises(UnicodeDecodeError):
        connection.execute("SELECT n FROM abcdefgh")
    with closing(sqlite3.connect(damaged, factory=SqliteConnection)) as connection:
        with pytest.raises(sqlite3.DatabaseError, match="malformed") as told:
            connection.execute("SELECT n FROM abcdefgh")
        assert told.value.sqlite_errorcode == sqlite3.SQLITE_CORRUPT
        with pytest.raises(sqlite3.DatabaseError, match="malformed"):
            connection.executemany("INSERT INTO abcdefgh VALUES (?)", [(1,)])
