"""The thread that writes a journal.

A record is a pair: a method of :class:`JournalWriter`, and its arguments. Records that
belong together are added as a group. A group is written completely or not at all.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path

from live.engine.search import SearchResult
from live.engine.search_key import SearchKey
from live.games.game import GameGone, NewGame, Step
from live.human.question import HumanAnswer, HumanQuestion
from live.journal.journal_faults import describe_write_error
from live.journal.journal_file import (
    BUSY_S,
    RECORDS,
    compute_checksum,
    hash_search,
    open_connection,
    read_error_code,
)
from live.journal.journal_reader import JournalRun, Memory, encode
from live.messages.values import GameId

log = logging.getLogger(__name__)

Record = tuple[Callable[..., None], tuple[object, ...]]
"""A method of :class:`JournalWriter` that writes a record, and its arguments."""

#: Maximum number of groups of records in one transaction.
BATCH_SIZE = 1000


#: SQLite's primary result codes of errors that every further attempt would repeat.
_UNRECOVERABLE_CODES = {
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_MISMATCH,
}


class JournalWriter:
    """Writes records on a separate thread, with the only connection that writes the
    file.

    Args:
        report: function called on the writer's thread with two arguments: the text of a
            problem (empty when the problem is over), and whether the problem is
            permanent.
    """

    def __init__(
        self, path: Path, report: Callable[[str, bool], None], *, retry_s: float
    ) -> None:
        self._path = path
        self._report = report
        self._retry_s = retry_s
        self._waiting: deque[Sequence[Record]] = deque()
        # Groups that are being written.
        self._batch: list[Sequence[Record]] = []
        self._closed = False
        self._changed = threading.Condition()
        self._connection: sqlite3.Connection | None = None
        self._execute: Callable[..., sqlite3.Cursor]
        self._thread = threading.Thread(
            target=self._write_batches, name="journal", daemon=True
        )
        self._thread.start()

    def __len__(self) -> int:
        """Return the number of groups that wait or are being written."""
        return len(self._waiting) + len(self._batch)

    def add_records(self, records: Sequence[Record]) -> None:
        """Add a group of records, which are written together or not at all."""
        with self._changed:
            self._waiting.append(records)
            self._changed.notify_all()

    def wait_empty(self, timeout_s: float) -> bool:
        """Wait until all records are written; return whether this succeeded."""
        with self._changed:
            return self._changed.wait_for(lambda: not len(self), timeout_s)

    def close(self) -> None:
        """Write all waiting records, and merge SQLite's write-ahead log into the file.

        Do not wait for a thread that hangs.
        """
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join(2 * BUSY_S)
        self._disconnect()

    def _write_batches(self) -> None:
        while batch := self._take_batch():
            if not self._write_until_done(list(chain.from_iterable(batch))):
                return

    def _take_batch(self) -> Sequence[Sequence[Record]]:
        """Wait for the next groups and return them.

        Return no groups if the writer is closed and its queue is empty.
        """
        with self._changed:
            self._batch = []
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._waiting or self._closed)
            count = min(BATCH_SIZE, len(self._waiting))
            self._batch = [self._waiting.popleft() for _ in range(count)]
            return self._batch

    def _write_until_done(self, batch: Sequence[Record]) -> bool:
        """Write a batch, and repeat this until it succeeds.

        Return False if the file is unrecoverable, or if the journal was closed in the
        meantime.
        """
        has_trouble = False
        while True:
            try:
                if not self._connection:
                    self._connection = open_connection(self._path)
                self._write_transaction(self._connection, batch)
            except sqlite3.Error as error:
                self._disconnect()
                is_hopeless = read_error_code(error) in _UNRECOVERABLE_CODES
                if not has_trouble or is_hopeless:
                    self._report(describe_write_error(error), is_hopeless)
                has_trouble = True
                with self._changed:
                    if is_hopeless or self._changed.wait_for(
                        lambda: self._closed, self._retry_s
                    ):
                        return False
            else:
                if has_trouble:
                    self._report("", False)
                return True

    def _disconnect(self) -> None:
        # A failed write can leave the connection in an undefined state, so a new
        # connection is opened.
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _write_transaction(
        self, connection: sqlite3.Connection, batch: Sequence[Record]
    ) -> None:
        self._execute = execute = connection.execute
        execute("BEGIN IMMEDIATE")
        try:
            for write, values in batch:
                try:
                    write(self, *values)
                except sqlite3.Error:
                    raise
                except Exception:
                    # The values contain text that cannot be encoded, or an integer of
                    # more than 64 bits. Only this record is dropped, so that the thread
                    # continues.
                    log.exception(
                        "the journal drops a record that cannot be written: %r", values
                    )
            execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                execute("ROLLBACK")
            raise

    # --- records ----------------------------------------------------------------------

    def _insert_record(self, table: str, *fields: object) -> None:
        """Insert a record unless its key already exists."""
        places = "?, " * len(fields)
        insert = (
            f"INSERT OR IGNORE INTO {table} ({RECORDS[table]}, sum) VALUES ({places}?)"
        )
        self._execute(insert, (*fields, compute_checksum(*fields)))

    def write_run(self, number: int, at_ms: int, run: JournalRun) -> None:
        """Write the description of a start of the service."""
        self._insert_record("runs", number, at_ms, encode(run))

    def write_note(
        self, n: int, at_ms: int, run: int, game: GameId, kind: str, body: bytes
    ) -> None:
        """Write a note."""
        self._insert_record("notes", n, at_ms, run, game, kind, body)

    def write_memories(self, memories: Iterable[Memory]) -> None:
        """Replace the stored value of each kind and subject; a body of None deletes the
        value.
        """
        for kind, about, body in memories:
            if body is None:
                self._execute(
                    "DELETE FROM remembered WHERE kind = ? AND about = ?", (kind, about)
                )
            else:
                row = (kind, about, body, compute_checksum(kind, about, body))
                self._execute(
                    "INSERT OR REPLACE INTO remembered VALUES (?, ?, ?, ?)", row
                )

    def write_change(
        self,
        n: int,
        at_ms: int,
        run: int,
        step: Step,
        memories: Iterable[Memory] = (),
    ) -> None:
        """Write a change of a game, and the values that must be stored with it."""
        self.write_memories(memories)
        game = step.id
        self._insert_record("changes", n, at_ms, run, game, encode(step))
        match step:
            case NewGame():
                self._execute(
                    "INSERT OR REPLACE INTO games (game, opened, at_ms) VALUES (?, ?,"
                    " ?)",
                    (game, n, at_ms),
                )
            case GameGone():
                self._execute("DELETE FROM games WHERE game = ?", (game,))
            case _:
                self._execute(
                    "UPDATE games SET at_ms = ? WHERE game = ?", (at_ms, game)
                )

    def write_game(self, game: GameId, n: int, measure: bytes, whole: bytes) -> None:
        """Write a snapshot of a game after change ``n``."""
        self._execute(
            "UPDATE games SET n = ?, measure = ?, rest = ?, details = NULL, sum = ?"
            " WHERE game = ?",
            (n, measure, whole, compute_checksum(game, n, measure, whole), game),
        )

    def write_answer(
        self, at_ms: int, question: HumanQuestion, answer: HumanAnswer
    ) -> None:
        """Write the answer to a question about human moves."""
        row = (question.digest, encode(answer), at_ms)
        self._execute("INSERT OR REPLACE INTO human VALUES (?, ?, ?)", row)

    def write_result(
        self, at_ms: int, identity: str, search_key: SearchKey, result: SearchResult
    ) -> None:
        """Write the result of a search."""
        self._insert_record(
            "results", hash_search(identity, search_key), encode(result), at_ms
        )
