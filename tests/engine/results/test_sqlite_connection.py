"""Damage of any kind is told as damage."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from live.engine.result_cache import SqliteConnection


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


def test_anything_else_is_as_ever(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "new.sqlite", factory=SqliteConnection)) as connection:
        connection.execute("CREATE TABLE t (n)")
        connection.executemany("INSERT INTO t VALUES (?)", [(1,), (2,)])
        assert connection.execute("SELECT sum(n) FROM t WHERE n > ?", (0,)).fetchone() == (3,)
        with pytest.raises(sqlite3.OperationalError, match="no such table"):
            connection.execute("SELECT 1 FROM u")
