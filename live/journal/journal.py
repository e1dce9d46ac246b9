"""The journal of an event: what was seen and what was scored, kept over restarts and
crashes.

Everything is handed over without waiting and written by a thread of its own: whatever
waits goes into one transaction, again and again. Nothing is waited for before a commit,
so a result is lost to a crash only when it was found within the last milliseconds;
while one commit is under way the next batch gathers. The service never depends on the
file: what is wrong with it is said in ``problem``, and everything else goes on.

Loss policy: what cannot be written just now waits, and is tried again until it can be.
When much waits, because the file has taken nothing for long, what can be found or made
again is left out: results, answers, games kept whole. Changes and notes wait however
many they are, since nothing else knows them: an event of a thousand games has some 100
MB of them. A damaged file is given up for good and left as it is.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Self, TypeVar

from live.engine.search import MemoryResultCache, SearchKey, SearchResult
from live.games.game import GameGone, NewGame, Step
from live.human.question import HumanAnswer, HumanQuestion
from live.journal.journal_file import (
    BUSY_S,
    RECORDS,
    UNUSABLE_ERRORS,
    VERSION,
    check_is_journal,
    compute_checksum,
    describe_write_error,
    explain_unusable,
    hash_search,
    lock_journal,
    make_private,
    migrate,
    open_connection,
    read_error_code,
)
from live.journal.journal_reader import (
    CLOCK_NOTE,
    JournalReader,
    JournalRun,
    Memory,
    RecentChange,
    RecordedChange,
    RecordedNote,
    RestorableGame,
    encode,
)
from live.messages.values import GameId

log = logging.getLogger(__name__)

Answer = TypeVar("Answer")

#: So much may wait before what can be made again is left out, some 1.5 kB each: minutes
#: of a large event on a full disk.
MAX_WAITING = 20_000
#: Results of searches in memory beside the file, some 1.5 kB each.
RESULTS_IN_MEMORY = 250
#: A clock that is further ahead than this was put forward, milliseconds.
CLOCK_STEP_MS = 1_000
#: Records in one transaction.
BATCH_SIZE = 1000
#: How long to wait before a file that refused is tried again, seconds.
RETRY_S = 1.0

#: What no new attempt mends (primary result codes of SQLite).
_UNRECOVERABLE_CODES = {
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_MISMATCH,
}


class JournalWriter:
    """Owns the only connection that writes, on a thread of its own. Its queue holds
    groups of records: each record is a method of this class with its arguments.

    Args:
        report: gets, on the writer's thread, what is wrong for people, and "" when
            nothing is any more; ``hopeless`` where it stays so.
    """

    def __init__(
        self, path: Path, report: Callable[[str, bool], None], *, retry_s: float
    ) -> None:
        self._path = path
        self._report = report
        self._retry_s = retry_s
        self._waiting: deque[Sequence[Record]] = deque()
        # Those being written.
        self._taken: list[Sequence[Record]] = []
        self._closed = False
        self._changed = threading.Condition()
        self._connection: sqlite3.Connection | None = None
        self._execute: Callable[..., sqlite3.Cursor]
        self._thread = threading.Thread(
            target=self._write_batches, name="journal", daemon=True
        )
        self._thread.start()

    def __len__(self) -> int:
        """Return how many groups wait or are being written."""
        return len(self._waiting) + len(self._taken)

    def add_records(self, records: Sequence[Record]) -> None:
        """Queue these records, which are written together or not at all."""
        with self._changed:
            self._waiting.append(records)
            self._changed.notify_all()

    def wait_empty(self, timeout_s: float) -> bool:
        """Wait until everything is written; return whether it is."""
        with self._changed:
            return self._changed.wait_for(lambda: not len(self), timeout_s)

    def close(self) -> None:
        """Write what waits and fold the log into the file. A thread that hangs is not
        waited for.
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
        """Return the next groups as soon as there are any; none once closed and
        empty.
        """
        with self._changed:
            self._taken = []
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._waiting or self._closed)
            many = min(BATCH_SIZE, len(self._waiting))
            self._taken = [self._waiting.popleft() for _ in range(many)]
            return self._taken

    def _write_until_done(self, batch: Sequence[Record]) -> bool:
        """Write a batch, however long it takes; return False if the file is
        unrecoverable or the journal closed.
        """
        troubled = False
        while True:
            try:
                if not self._connection:
                    self._connection = open_connection(self._path)
                self._write_transaction(self._connection, batch)
            except sqlite3.Error as error:
                self._disconnect()
                hopeless = read_error_code(error) in _UNRECOVERABLE_CODES
                if not troubled or hopeless:
                    self._report(describe_write_error(error), hopeless)
                troubled = True
                with self._changed:
                    if hopeless or self._changed.wait_for(
                        lambda: self._closed, self._retry_s
                    ):
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
                    # Text no encoding has, a number beyond 64 bits: it costs nobody
                    # else anything, least of all the thread that writes.
                    log.exception(
                        "the journal leaves out what cannot be written: %r", values
                    )
            execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                execute("ROLLBACK")
            raise

    # --- records: each a method -------------------------------------------------------

    def _insert_record(self, table: str, *fields: object) -> None:
        """Insert a record, unless it is there."""
        places = "?, " * len(fields)
        insert = (
            f"INSERT OR IGNORE INTO {table} ({RECORDS[table]}, sum) VALUES ({places}?)"
        )
        self._execute(insert, (*fields, compute_checksum(*fields)))

    def write_run(self, number: int, at_ms: int, run: JournalRun) -> None:
        """Write a start of the service."""
        self._insert_record("runs", number, at_ms, encode(run))

    def write_note(
        self, n: int, at_ms: int, run: int, game: GameId, kind: str, body: bytes
    ) -> None:
        """Write a note."""
        self._insert_record("notes", n, at_ms, run, game, kind, body)

    def write_memories(self, memories: Iterable[Memory]) -> None:
        """Replace what is remembered about each subject; a body of None deletes it."""
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
        """Write a change of a game, and what is remembered since."""
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
        """Write a whole game as it stands after change ``n``."""
        self._execute(
            "UPDATE games SET n = ?, measure = ?, rest = ?, details = NULL, sum = ?"
            " WHERE game = ?",
            (n, measure, whole, compute_checksum(game, n, measure, whole), game),
        )

    def write_answer(
        self, at_ms: int, question: HumanQuestion, answer: HumanAnswer
    ) -> None:
        """Write what players would play."""
        row = (question.digest, encode(answer), at_ms)
        self._execute("INSERT OR REPLACE INTO human VALUES (?, ?, ?)", row)

    def write_result(
        self, at_ms: int, identity: str, search_key: SearchKey, found: SearchResult
    ) -> None:
        """Write what one search found."""
        self._insert_record(
            "results", hash_search(identity, search_key), encode(found), at_ms
        )


Record = tuple[Callable[..., None], tuple[object, ...]]


def read_wall_ms() -> int:
    """Return the time in milliseconds since 1970, UTC."""
    return time.time_ns() // 1_000_000


def _read_steady_ms() -> float:
    return time.monotonic() * 1000


class Journal:
    """One file that only this process writes, or none. Use as a context manager. A
    fault of the file never raises. Also a :class:`live.engine.search.ResultCache`.

    Args:
        now_ms: milliseconds since 1970, UTC.
        steady_ms: milliseconds of a clock that nobody can set; None: the machine's, or
            with a ``now_ms`` none.
    """

    def __init__(
        self,
        path: Path | None = None,
        *,
        now_ms: Callable[[], int] = read_wall_ms,
        memory: MemoryResultCache | None = None,
        backlog: int = MAX_WAITING,
        retry_s: float = RETRY_S,
        steady_ms: Callable[[], float] | None = None,
    ) -> None:
        self.has_file = path is not None
        """Whether there is a file; else nothing is written, and only results of
        searches are known."""
        self.path = (path or Path()).expanduser()
        self.problem = ""
        """For people; empty when all is well."""
        self.is_unrecoverable = False
        """Whether the problem stays: the file is not written any more."""
        self.damage: tuple[str, ...] = ()
        """For people: what was found damaged when it was opened."""
        self._now_ms = now_ms
        # Where there is a file, those used just now.
        few = (
            MemoryResultCache(RESULTS_IN_MEMORY)
            if self.has_file
            else MemoryResultCache()
        )
        self._memory = few if memory is None else memory
        self._backlog = backlog
        self._retry_s = retry_s
        # What is written as one is gathered here.
        self._gathered: list[Record] | None = None
        self._lock = contextlib.ExitStack()
        self._reader: JournalReader | None = None
        self._writer: JournalWriter | None = None
        self._run = self._n = self._note = 0
        self._last_ms = 0
        if steady_ms is None and now_ms is read_wall_ms:
            steady_ms = _read_steady_ms
        self._steady_ms = steady_ms
        self._last_steady_ms = 0.0

    # --- life -------------------------------------------------------------------------

    def __enter__(self) -> Self:
        if not self.has_file:
            return self
        path = self.path
        try:
            check_is_journal(path)  # before anything is made beside it
            path.parent.mkdir(parents=True, exist_ok=True)
            self._lock.enter_context(lock_journal(path))
            make_private(path)
            with contextlib.closing(open_connection(path)) as connection:
                had = migrate(connection)
            self._reader = JournalReader(path)
            self._run, self._n, self._note = self._reader.read_last_numbers()
            self.damage = tuple(self._reader.find_problems())
            for problem in self.damage:
                log.error("journal %s: %s", path, problem)
        except UNUSABLE_ERRORS as error:
            self._give_up(explain_unusable(path, error))
        else:
            if had not in (0, VERSION):
                log.info("journal %s is brought from version %d up to date", path, had)
            self._writer = JournalWriter(
                path, self._on_writer_problem, retry_s=self._retry_s
            )
        return self

    def __exit__(self, *error: object) -> None:
        self._close_reader()
        if self._writer is not None:
            self._writer.close()
        self._lock.close()

    def _close_reader(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _give_up(self, what: str) -> None:
        self._close_reader()
        self._lock.close()
        self.is_unrecoverable = True
        self._set_problem(
            f"{what}; nothing is kept over a restart. Name another with --journal"
        )

    def _on_writer_problem(self, problem: str, hopeless: bool) -> None:
        """Show what is wrong with the file; called on the writer's thread."""
        self.is_unrecoverable |= hopeless
        if not problem:
            log.warning("journal %s: is written again", self.path)
            self.problem = ""
        elif hopeless:
            self._set_problem(
                f"is damaged ({problem}) and written no more. "
                "Move it away, and start live-rate again"
            )
        else:
            self._set_problem(
                f"cannot be written ({problem}); "
                "what happens is kept in memory and written as soon as it can be"
            )

    def _set_problem(self, what: str) -> None:
        self.problem = f"journal {self.path}: {what}"
        log.error("%s", self.problem)

    def wait_until_written(self, timeout_s: float = BUSY_S) -> bool:
        """Wait until everything handed over is written; return whether it is. Not for
        the event loop.
        """
        return (
            self._writer is None
            or self.is_unrecoverable
            or self._writer.wait_empty(timeout_s)
        )

    # --- what the file held -----------------------------------------------------------

    def read_restorable_games(self, measure: bytes) -> list[RestorableGame]:
        """Return the games to go on with, in the order they appeared; empty if nothing
        can be read. Values kept under another ``measure`` are left out.
        """
        return self._ask_reader(
            lambda reader: reader.read_restorable_games(measure), []
        )

    def read_last_change_times(self) -> dict[GameId, int]:
        """Return when each open game changed last, in milliseconds."""
        return self._ask_reader(JournalReader.read_last_change_times, {})

    def read_recent_changes(self, within_ms: float) -> list[RecentChange] | None:
        """Return the changes of the last ``within_ms``; see
        :meth:`live.journal.journal_reader.JournalReader.read_recent_changes`. None also
        if the file cannot be read.
        """
        return self._ask_reader(
            lambda reader: reader.read_recent_changes(within_ms), None
        )

    def read_changes_of_game(self, game: GameId) -> list[RecordedChange]:
        """Return the changes of a game since it was opened last, in order."""
        return self._ask_reader(lambda reader: reader.read_changes_of_game(game), [])

    def read_notes(self) -> list[RecordedNote]:
        """Return all notes, in order."""
        return self._ask_reader(JournalReader.read_notes, [])

    def read_memories(self, kind: str) -> dict[str, bytes]:
        """Return what is remembered of this kind, by what it is about."""
        return self._ask_reader(lambda reader: reader.read_memories(kind), {})

    def _ask_reader(
        self, ask: Callable[[JournalReader], Answer], otherwise: Answer
    ) -> Answer:
        """Return what the file answers, or ``otherwise`` if it cannot be read."""
        if self._reader is None:
            return otherwise
        try:
            return ask(self._reader)
        except sqlite3.Error as error:
            self._on_read_error(error)
        except ValueError as error:  # of msgspec, and of what is no UTF-8
            log.error("journal %s: holds what cannot be read (%s)", self.path, error)
        return otherwise

    def _on_read_error(self, error: sqlite3.Error) -> None:
        if read_error_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            # Nothing is damaged: for this moment it is as if it were not known.
            log.warning("journal %s: could not be read just now (%s)", self.path, error)
            return
        self._close_reader()
        self._on_writer_problem(str(error), True)

    # --- what happens -----------------------------------------------------------------

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Write everything handed over in this block together, or nothing of it."""
        gathered: list[Record] = []
        self._gathered = gathered
        try:
            yield
        finally:
            self._gathered = None
            if gathered and self._writer is not None:
                self._writer.add_records(gathered)

    def begin_run(self, run: JournalRun) -> None:
        """Begin a run of the service, to which all later changes belong."""
        self._run += 1
        self._hand_over(JournalWriter.write_run, self._run, self._read_clock_ms(), run)

    def keep_game(self, game: GameId, measure: bytes, whole: bytes) -> bool:
        """Keep a game as it stands after all changes so far; return whether there was
        room.
        """
        room = self._has_room and not self.problem
        return room and self._hand_over(
            JournalWriter.write_game, game, self._n, measure, whole
        )

    def add_note(self, kind: str, body: bytes, game: GameId = "") -> None:
        """Add a note with its time; ``body`` is JSON."""
        self._note += 1
        self._hand_over(
            JournalWriter.write_note,
            self._note,
            self._read_clock_ms(),
            self._run,
            game,
            kind,
            body,
        )

    def add_change(
        self, step: Step, memories: Callable[[], Sequence[Memory]] = tuple
    ) -> None:
        """Add a change that was carried out, together with what is remembered since."""
        self._n += 1
        values = self._n, self._read_clock_ms(), self._run, step, memories()
        self._hand_over(JournalWriter.write_change, *values)

    def keep_memories(self, memories: Callable[[], Sequence[Memory]]) -> None:
        """Replace what is remembered about these subjects."""
        if found := memories():
            self._hand_over(JournalWriter.write_memories, found)

    @property
    def _has_room(self) -> bool:
        """Whether records that can be made again are still accepted."""
        return self._writer is not None and len(self._writer) < self._backlog

    def _hand_over(self, write: Callable[..., None], *values: object) -> bool:
        if self._writer is None or self.is_unrecoverable:
            return False
        if self._gathered is not None:
            self._gathered.append((write, values))
        else:
            self._writer.add_records([(write, values)])
        return True

    def _read_clock_ms(self) -> int:
        """Return the time, which never runs backwards within a run. Note first when the
        clock was put forward: how long ago something happened must not depend on it.
        """
        if self._steady_ms is None:
            self._last_ms = max(self._last_ms, self._now_ms())
            return self._last_ms
        before_ms = self._last_ms
        steady_ms = self._steady_ms()
        passed_ms = max(0.0, steady_ms - self._last_steady_ms)
        self._last_steady_ms = steady_ms
        # Not of the first: nothing is known of the time before it.
        going_on_ms = before_ms + round(passed_ms) if before_ms else 0
        self._last_ms = max(going_on_ms, self._now_ms())
        forward_ms = round(self._last_ms - before_ms - passed_ms)
        if before_ms and forward_ms > CLOCK_STEP_MS:
            self.add_note(CLOCK_NOTE, b"%d" % forward_ms)
        return self._last_ms

    # --- results of searches ----------------------------------------------------------

    def find_result(self, identity: str, search_key: SearchKey) -> SearchResult | None:
        known = self._memory.find_result(identity, search_key)
        if known is None:
            scored = self._ask_reader(
                lambda reader: reader.read_result(identity, search_key), None
            )
            if scored is not None:
                known, _ = scored
                self._memory.store_result(identity, search_key, known)
        return known

    def store_result(
        self, identity: str, search_key: SearchKey, result: SearchResult
    ) -> None:
        self._memory.store_result(identity, search_key, result)
        if self._has_room:
            self._hand_over(
                JournalWriter.write_result,
                self._read_clock_ms(),
                identity,
                search_key,
                result,
            )

    # --- what players would play ------------------------------------------------------

    def find_answer(self, question: HumanQuestion) -> HumanAnswer | None:
        """Return an earlier answer to this question, or None."""
        held = self._ask_reader(lambda reader: reader.read_answer(question), None)
        return held[1] if held is not None else None

    def store_answer(self, question: HumanQuestion, answer: HumanAnswer) -> None:
        """Store an answer, so that a restart shows the same without the network."""
        if self._has_room:
            self._hand_over(
                JournalWriter.write_answer, self._read_clock_ms(), question, answer
            )
