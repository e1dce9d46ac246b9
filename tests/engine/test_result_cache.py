"""Results on disk: kept over restarts, and never in the way."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from live.engine.result_cache import (
    MemoryResultCache,
    ResultFile,
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


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder that is not there" / "cache.sqlite"


def test_what_was_found_is_found_after_a_restart(path: Path) -> None:
    with ResultFile(path) as cache:
        assert cache.get("engine", QUESTION) is None
        for number in range(1_234):
            cache.put("engine", numbered(number), RESULT)
        assert cache.get("engine", QUESTION) == RESULT
    with ResultFile(path, MemoryResultCache(1)) as cache:
        assert cache.problem == ""
        assert all(cache.get("engine", numbered(number)) == RESULT for number in range(1_234))


def found(path: Path, numbers: range) -> list[int]:
    """Which of them the file has."""
    with ResultFile(path, MemoryResultCache(1)) as cache:
        return [number for number in numbers if cache.get("engine", numbered(number)) is not None]


def test_a_kill_costs_what_the_last_second_found(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock: Any = SimpleNamespace(now_s=0.0)
    clock.monotonic = lambda: clock.now_s
    monkeypatch.setattr("live.engine.result_cache.time", clock)
    with ResultFile(path) as cache:
        for number, clock.now_s in enumerate((0.5, 1.2, 1.3, 2.1)):
            cache.put("engine", numbered(number), RESULT)
        assert found(path, range(4)) == [0, 1]


def test_two_services_may_make_and_share_a_file(tmp_path: Path) -> None:
    for number in range(20):
        path = tmp_path / f"{number}.sqlite"
        with ResultFile(path) as one, ResultFile(path) as two:
            one.put("engine", numbered(1), RESULT)
            one._commit()
            two.put("engine", numbered(2), RESULT)
            two.put("engine", numbered(1), RESULT)
        assert one.problem == two.problem == ""
        assert found(path, range(3)) == [1, 2]


def garbage(path: Path) -> None:
    path.write_bytes(b"not a database, however you look at it" * 100)


def changed(path: Path, sql: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(sql)
        connection.commit()


def foreign(path: Path) -> None:
    changed(path, "CREATE TABLE diary (line TEXT)")


def newer(path: Path) -> None:
    with ResultFile(path):
        pass
    changed(path, "PRAGMA user_version = 99")


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (garbage, "file is not a database"),
        (foreign, "another program's database"),
        (newer, "is of version 99"),
        (Path.mkdir, "it is a folder"),
    ],
)
def test_a_file_that_is_no_cache_is_named_left_alone_and_done_without(
    tmp_path: Path, spoil: Callable[[Path], None], says: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "cache.sqlite"
    spoil(path)
    before = path.read_bytes() if path.is_file() else None
    with ResultFile(path) as cache:
        assert says in cache.problem and str(path) in cache.problem
        cache.put("engine", QUESTION, RESULT)
        assert cache.get("engine", QUESTION) == RESULT
    assert (path.read_bytes() if path.is_file() else None) == before
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_a_file_damaged_in_the_middle_is_done_without(path: Path) -> None:
    with ResultFile(path) as cache:
        for number in range(500):
            cache.put("engine", numbered(number), RESULT)
    data = bytearray(path.read_bytes())
    # All pages but the first two: the head and the root of the table.
    data[8192:] = b"\xff" * (len(data) - 8192)
    path.write_bytes(data)
    with ResultFile(path, MemoryResultCache(10)) as cache:
        assert [cache.get("engine", numbered(number)) for number in range(500)].count(None) == 500
        assert "can" in cache.problem
        cache.put("engine", numbered(1), RESULT)
        assert cache.get("engine", numbered(1)) == RESULT


def test_a_file_that_can_only_be_read_is_read(path: Path) -> None:
    with ResultFile(path) as cache:
        cache.put("engine", numbered(0), RESULT)
    # A database whose write version is above 2 must be treated as read-only (SQLite file format,
    # section 1.3.4); the owner of a file, or root, is not stopped by its permissions.
    changed(path, "PRAGMA journal_mode = DELETE")
    data = bytearray(path.read_bytes())
    data[18] = 3
    path.write_bytes(data)
    with ResultFile(path) as cache:
        assert cache.get("engine", numbered(0)) == RESULT
        cache.put("engine", numbered(1), RESULT)
        assert cache.get("engine", numbered(1)) == RESULT
    assert "takes no more results (attempt to write a readonly database)" in cache.problem
    assert path.read_bytes() == bytes(data)


def test_a_file_somebody_else_holds_locked_is_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("live.engine.result_cache._BUSY_S", 0.05)
    with ResultFile(path) as cache:
        cache.put("engine", numbered(0), RESULT)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with ResultFile(path) as cache:
        assert cache.get("engine", numbered(0)) == RESULT
        cache.put("engine", numbered(1), RESULT)
    holder.close()
    assert "takes no more results (database is locked)" in cache.problem


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
