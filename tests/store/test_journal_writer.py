"""The thread that writes: what a failed commit leaves behind."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from live.store import journal as journal_module
from live.store.journal import Journal, WriteBacklog
from live.store.journal_file import connected
from tests.store.test_journal import RESULT, RUN, search_key


class FailsOnce:
    """A connection whose first commit fails as on a full disk; all else is the real one."""

    def __init__(self, real: sqlite3.Connection, failures: list[str]) -> None:
        self._real = real
        self._failures = failures

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
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

    with Journal(path, retry_s=0.01) as journal:
        # The writer connects when it has something to write.
        monkeypatch.setattr(journal_module, "connected", failing)
        journal.begin(RUN)
        journal.put("Engine; Hash=16", search_key(1), RESULT)
        assert journal.flush(20)
        assert not failures
    connection = connected(path)
    named = connection.execute("SELECT identity FROM results JOIN engines USING (engine)")
    assert named.fetchall() == [("Engine; Hash=16",)]
    connection.close()


def test_it_turns_away_what_is_too_much_unless_it_must() -> None:
    backlog: WriteBacklog[int] = WriteBacklog(2)
    assert backlog.put(1) and backlog.put(2)
    assert not backlog.put(3)
    assert backlog.put(4, must=True)
    assert backlog.take(10) == [1, 2, 4]


def test_what_is_being_written_still_takes_room() -> None:
    backlog: WriteBacklog[int] = WriteBacklog(2)
    backlog.put(1)
    backlog.put(2)
    assert backlog.take(1) == [1]
    assert len(backlog) == 2 and not backlog.put(3)
    assert backlog.take(1) == [2]
    assert backlog.put(3)


def test_it_is_empty_only_when_everything_was_written() -> None:
    backlog: WriteBacklog[int] = WriteBacklog(2)
    assert backlog.wait_empty(0)
    backlog.put(1)
    assert backlog.take(10) == [1]
    assert not backlog.wait_empty(0)
    backlog.close()
    assert backlog.take(10) == []
    assert backlog.wait_empty(0)


def test_closing_wakes_whoever_waits_and_takes_nothing_more() -> None:
    backlog: WriteBacklog[int] = WriteBacklog(2)
    told: list[object] = []
    waiting = threading.Thread(target=lambda: told.append(backlog.take(10)))
    waiting.start()
    backlog.close()
    waiting.join(10)
    assert told == [[]]
    assert not backlog.put(1, must=True)
    assert backlog.pause(1000)
