"""The thread that writes: what a failed commit leaves behind."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from live.store import journal_writer
from live.store.journal import Journal
from live.store.journal_tables import connected
from tests.store.test_journal import RESULT, RUN, question


class FailsOnce:
    """A connection whose first commit fails as on a full disk; all else is the real one."""

    def __init__(self, real: sqlite3.Connection, failures: list[str]) -> None:
        self._real = real
        self._failures = failures

    def execute(self, sql: str, *values: object) -> sqlite3.Cursor:
        if sql == "COMMIT" and self._failures:
            raise sqlite3.OperationalError(self._failures.pop())
        return self._real.execute(sql, *values)

    def close(self) -> None:
        self._real.close()


def test_after_a_failed_commit_the_writer_begins_with_a_new_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it knew of the engines' numbers was rolled back with the commit."""
    path = tmp_path / "journal.sqlite"
    failures = ["database or disk is full"]

    def failing(path: Path, *, durable: bool) -> FailsOnce:
        return FailsOnce(connected(path, durable=durable), failures)

    monkeypatch.setattr(journal_writer, "connected", failing)
    with Journal(path, retry_s=0.01) as journal:
        journal.begin(RUN)
        journal.put("Engine; Hash=16", question(1), RESULT)
        assert journal.flush(20)
        assert not failures
    connection = connected(path)
    named = connection.execute("SELECT identity FROM results JOIN engines USING (engine)")
    assert named.fetchall() == [("Engine; Hash=16",)]
    connection.close()
