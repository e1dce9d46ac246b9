"""The thread that writes a journal: whatever waits goes into one transaction, again and again.

Nothing is waited for before a commit, so a result is lost to a crash only when it was found within
the last milliseconds; while one commit is under way the next batch gathers.

Loss policy: what cannot be written for want of room, or because the file cannot be written just
now, stays at the head of the backlog and is tried again until it can be. A damaged file is given up
for good and left as it is.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import msgspec

from live.engine.results.result_file import digest
from live.games.game import GameGone, NewGame
from live.store.journal_checksums import CHAINED, START, heads, link, sum_of, together
from live.store.journal_faults import error_code, in_words
from live.store.journal_records import (
    JournalRun,
    RecordedAnswer,
    RecordedChange,
    RecordedNote,
    RecordedResult,
    Restated,
    StoredGame,
    encode,
)
from live.store.journal_tables import connected

Item = TypeVar("Item")


log = logging.getLogger(__name__)

#: Records in one transaction.
BATCH: Final = 1000
#: How long to wait before a file that refused is tried again, seconds.
RETRY_S: Final = 1.0

#: What no new attempt mends (primary result codes of SQLite).
_HOPELESS: Final = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_MISMATCH}


class WriteBacklog(Generic[Item]):
    """A bounded queue, filled by one thread and emptied by another; neither waits long.

    Loss policy: when it is full, :meth:`put` rejects the item, and its caller decides what that
    means.
    """

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._items: deque[Item] = deque()
        self._changed = threading.Condition()
        # Items handed out by the last take and not yet reported as written.
        self._taken = 0
        self._closed = False

    def __len__(self) -> int:
        """How many wait, those being written included."""
        return len(self._items) + self._taken

    def put(self, item: Item, *, must: bool = False) -> bool:
        """Add one, if there is room (``must``: in any case); whether it was."""
        with self._changed:
            if self._closed or (not must and len(self) >= self._bound):
                return False
            self._items.append(item)
            self._changed.notify_all()
            return True

    def take(self, most: int) -> list[Item]:
        """The next ones, as soon as there is one; none when closed and empty. What was taken
        before counts as written now.
        """
        with self._changed:
            self._taken = 0
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._items or self._closed)
            taken = [self._items.popleft() for _ in range(min(most, len(self._items)))]
            self._taken = len(taken)
            return taken

    def wait_empty(self, timeout_s: float) -> bool:
        """Wait until all is written; whether it is."""
        with self._changed:
            return self._changed.wait_for(lambda: not len(self), timeout_s)

    def pause(self, seconds: float) -> bool:
        """Wait for that long, or until closed; whether it is closed."""
        with self._changed:
            return self._changed.wait_for(lambda: self._closed, seconds)

    def close(self) -> None:
        """Nothing more comes."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()


class JournalWriting(msgspec.Struct, frozen=True):
    """A game as it stands, whole: ``details`` is what is read only when somebody asks."""

    kept: StoredGame
    details: bytes


class WrittenResult(msgspec.Struct, frozen=True):
    """A result with its time."""

    at_ms: int
    result: RecordedResult


class WrittenRun(msgspec.Struct, frozen=True):
    """A run with its number and time."""

    number: int
    at_ms: int
    run: JournalRun


Record = (
    RecordedChange | WrittenResult | RecordedAnswer | RecordedNote | WrittenRun | JournalWriting
)


class JournalWriter:
    """Owns the only connection that writes.

    Args:
        report: gets, on the writer's thread, what is wrong for people, and "" when nothing is any
            more; ``hopeless`` where it stays so.
    """

    def __init__(
        self,
        path: Path,
        backlog: WriteBacklog[Record],
        report: Callable[[str, bool], None],
        *,
        durable: bool,
        retry_s: float = RETRY_S,
    ) -> None:
        self._path = path
        self._backlog = backlog
        self._report = report
        self._durable = durable
        self._retry_s = retry_s
        self._run = 0
        self._engines: dict[str, int] = {}
        # Where the chains of checksums end; empty until read.
        self._heads: dict[str, tuple[int, bytes]] = {}
        self._connection: sqlite3.Connection | None = None
        self._thread = threading.Thread(target=self._work, name="journal", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def join(self, timeout_s: float) -> None:
        self._thread.join(timeout_s)

    def _work(self) -> None:
        while batch := self._backlog.take(BATCH):
            if not self._persist(batch):
                return

    def _persist(self, batch: Sequence[Record]) -> bool:
        """Write a batch however long it takes; False when there is no hope or no more time."""
        troubled = False
        while True:
            try:
                if not self._connection:
                    self._connection = connected(self._path, durable=self._durable)
                self._write(self._connection, batch)
            except sqlite3.Error as error:
                self._disconnect()
                hopeless = error_code(error) in _HOPELESS
                if not troubled or hopeless:
                    self._report(in_words(error), hopeless)
                troubled = True
                if hopeless or self._backlog.pause(self._retry_s):
                    return False
            else:
                if troubled:
                    self._report("", False)
                return True

    def _disconnect(self) -> None:
        # After a failed write a new connection knows nothing wrong.
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None
        self._engines.clear()
        self._heads.clear()

    def close(self) -> None:
        """After the thread has ended: fold the log into the file."""
        self._disconnect()

    def _write(self, connection: sqlite3.Connection, batch: Sequence[Record]) -> None:
        execute = connection.execute
        execute("BEGIN IMMEDIATE")
        try:
            if not self._heads:
                self._heads = heads(connection)
            before = dict(self._heads)
            for record in batch:
                try:
                    self._record(execute, record)
                except (TypeError, ValueError, OverflowError):
                    # Text no encoding has, a number beyond 64 bits: it costs nobody else anything.
                    log.exception("the journal leaves out what cannot be written: %r", record)
            for name, (n, chain) in self._heads.items():
                if before.get(name) != (n, chain):
                    execute("INSERT OR REPLACE INTO heads VALUES (?, ?, ?)", (name, n, chain))
            execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                execute("ROLLBACK")
            raise

    def _record(self, execute: Callable[..., Any], record: Record) -> None:
        match record:
            case RecordedChange():
                self._write_change(execute, record)
            case WrittenResult(at_ms=at_ms, result=found):
                self._write_result(execute, at_ms, found)
            case RecordedAnswer(at_ms=at_ms, question=question, answer=answer):
                execute(
                    "INSERT OR REPLACE INTO human VALUES (?, ?, ?)",
                    (question.digest, encode(answer), at_ms),
                )
            case JournalWriting(kept=kept, details=details):
                execute(
                    "UPDATE games SET n = ?, measure = ?, rest = ?, details = ?, sum = ?"
                    " WHERE game = ?",
                    (
                        kept.n,
                        kept.measure,
                        kept.rest,
                        details,
                        sum_of(kept.game, kept.n, kept.measure, kept.rest),
                        kept.game,
                    ),
                )
            case RecordedNote():
                fields = (
                    record.n,
                    record.at_ms,
                    record.run,
                    record.game,
                    record.kind,
                    record.body,
                )
                self._chain(execute, "notes", fields)
            case WrittenRun(number=number, at_ms=at_ms, run=run):
                self._chain(execute, "runs", (number, at_ms, encode(run)))
                self._run = number

    def _chain(self, execute: Callable[..., Any], table: str, fields: tuple[Any, ...]) -> None:
        """Write a record behind the last of its table."""
        record = sum_of(*fields)
        _, before = self._heads.get(table, (0, START))
        chain = link(before, record)
        places = ", ".join("?" * (len(fields) + 2))
        execute(
            f"INSERT OR REPLACE INTO {table} ({CHAINED[table]}, sum, chain) VALUES ({places})",
            (*fields, record, chain),
        )
        self._heads[table] = (fields[0], chain)

    def _write_result(self, execute: Callable[..., Any], at_ms: int, found: RecordedResult) -> None:
        key, result = digest(found.identity, found.search_key), encode(found.result)
        about = (self._engine(execute, found.identity), str(found.search_key.limit), at_ms)
        if execute("SELECT 1 FROM results WHERE key = ?", (key,)).fetchone() is not None:
            # Taken over from a cache of searches, which does not know these.
            execute(
                "UPDATE results SET engine = ?, bound = ?, at_ms = ?"
                " WHERE key = ? AND at_ms IS NULL",
                (*about, key),
            )
            return
        record = sum_of(key, result, at_ms)
        execute(
            "INSERT INTO results (key, result, engine, bound, at_ms, sum)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (key, result, *about, record),
        )
        count, sums = self._heads.get("results", (0, START))
        self._heads["results"] = (count + 1, together(sums, record))

    def _write_change(self, execute: Callable[..., Any], change: RecordedChange) -> None:
        step = change.step
        game = "" if isinstance(step, Restated) else step.id
        fields = (change.n, change.at_ms, self._run, game, encode(step))
        self._chain(execute, "changes", fields)
        match step:
            case Restated():
                execute("DELETE FROM games")
            case NewGame():
                execute(
                    "INSERT OR REPLACE INTO games (game, opened, at_ms) VALUES (?, ?, ?)",
                    (game, change.n, change.at_ms),
                )
            case GameGone():
                execute("DELETE FROM games WHERE game = ?", (game,))
            case _:
                execute("UPDATE games SET at_ms = ? WHERE game = ?", (change.at_ms, game))

    def _engine(self, execute: Callable[..., Any], identity: str) -> int:
        if identity not in self._engines:
            execute("INSERT OR IGNORE INTO engines (identity) VALUES (?)", (identity,))
            row = execute("SELECT engine FROM engines WHERE identity = ?", (identity,)).fetchone()
            self._engines[identity] = row[0]
        return self._engines[identity]
