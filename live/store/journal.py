"""The journal of an event: what was seen and what was scored, kept over restarts and crashes.

Everything is handed over without waiting and written by a thread of its own: whatever waits goes
into one transaction, again and again. Nothing is waited for before a commit, so a result is lost to
a crash only when it was found within the last milliseconds; while one commit is under way the next
batch gathers. The service never depends on the file: what is wrong with it is said in ``problem``,
and everything else goes on.

Loss policy: what cannot be written just now waits, and is tried again until it can be. When much
waits, because the file has taken nothing for long, what can be found or made again is left out:
results, answers, games kept whole. Changes and notes wait however many they are, since nothing
else knows them: an event of a thousand games has some 100 MB of them. A damaged file is given up
for good and left as it is.
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
from live.events import GameId
from live.games.game import GameGone, NewGame, Step
from live.human.question import HumanAnswer, HumanQuestion
from live.store.journal_file import (
    BUSY_S,
    RECORDS,
    UNUSABLE,
    VERSION,
    check_ours,
    connected,
    digest,
    error_code,
    in_words,
    keep_private,
    locked,
    prepare,
    sum_of,
    why_unusable,
)
from live.store.journal_reader import (
    CLOCK,
    JournalReader,
    JournalRun,
    JournalStanding,
    Memory,
    RecentChange,
    RecordedChange,
    RecordedNote,
    encode,
)

log = logging.getLogger(__name__)

Answer = TypeVar("Answer")

#: So much may wait before what can be made again is left out, some 1.5 kB each: minutes of a large
#: event on a full disk.
BACKLOG = 20_000
#: Results of searches in memory beside the file, some 1.5 kB each.
RESULTS = 250
#: A clock that is further ahead than this was put forward, milliseconds.
STEP_MS = 1_000
#: Records in one transaction.
BATCH = 1000
#: How long to wait before a file that refused is tried again, seconds.
RETRY_S = 1.0

#: What no new attempt mends (primary result codes of SQLite).
_HOPELESS = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_MISMATCH}


class JournalWriter:
    """Owns the only connection that writes, on a thread of its own. What waits for it are records
    that belong together, each one of its methods with what it is to be given.

    Args:
        report: gets, on the writer's thread, what is wrong for people, and "" when nothing is any
            more; ``hopeless`` where it stays so.
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
        self._thread = threading.Thread(target=self._work, name="journal", daemon=True)
        self._thread.start()

    def __len__(self) -> int:
        """How much waits, or is being written."""
        return len(self._waiting) + len(self._taken)

    def put(self, records: Sequence[Record]) -> None:
        """Have these written, all at once or none."""
        with self._changed:
            self._waiting.append(records)
            self._changed.notify_all()

    def wait_empty(self, timeout_s: float) -> bool:
        """Wait until all is written; whether it is."""
        with self._changed:
            return self._changed.wait_for(lambda: not len(self), timeout_s)

    def close(self) -> None:
        """Write what waits, and fold the log into the file; a thread that is stuck is not waited
        for.
        """
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join(2 * BUSY_S)
        self._disconnect()

    def _work(self) -> None:
        while batch := self._take():
            if not self._persist(list(chain.from_iterable(batch))):
                return

    def _take(self) -> Sequence[Sequence[Record]]:
        """What is next, as soon as there is something; nothing once closed and empty."""
        with self._changed:
            self._taken = []
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._waiting or self._closed)
            many = min(BATCH, len(self._waiting))
            self._taken = [self._waiting.popleft() for _ in range(many)]
            return self._taken

    def _persist(self, batch: Sequence[Record]) -> bool:
        """Write a batch however long it takes; False when there is no hope or no more time."""
        troubled = False
        while True:
            try:
                if not self._connection:
                    self._connection = connected(self._path)
                self._write(self._connection, batch)
            except sqlite3.Error as error:
                self._disconnect()
                hopeless = error_code(error) in _HOPELESS
                if not troubled or hopeless:
                    self._report(in_words(error), hopeless)
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

    def _write(self, connection: sqlite3.Connection, batch: Sequence[Record]) -> None:
        self._execute = execute = connection.execute
        execute("BEGIN IMMEDIATE")
        try:
            for write, values in batch:
                try:
                    write(self, *values)
                except sqlite3.Error:
                    raise
                except Exception:
                    # Text no encoding has, a number beyond 64 bits: it costs nobody else anything,
                    # least of all the thread that writes.
                    log.exception(
                        "the journal leaves out what cannot be written: %r", values
                    )
            execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                execute("ROLLBACK")
            raise

    # --- records: each a method -------------------------------------------------------------------

    def _record(self, table: str, *fields: object) -> None:
        """Write a record that is not there yet."""
        places = "?, " * len(fields)
        insert = (
            f"INSERT OR IGNORE INTO {table} ({RECORDS[table]}, sum) VALUES ({places}?)"
        )
        self._execute(insert, (*fields, sum_of(*fields)))

    def run(self, number: int, at_ms: int, run: JournalRun) -> None:
        """A start of the service."""
        self._record("runs", number, at_ms, encode(run))

    def note(
        self, n: int, at_ms: int, run: int, game: GameId, kind: str, body: bytes
    ) -> None:
        """Something said."""
        self._record("notes", n, at_ms, run, game, kind, body)

    def remember(self, memories: Iterable[Memory]) -> None:
        """What is remembered of something is this now."""
        for kind, about, body in memories:
            if body is None:
                self._execute(
                    "DELETE FROM remembered WHERE kind = ? AND about = ?", (kind, about)
                )
            else:
                row = (kind, about, body, sum_of(kind, about, body))
                self._execute(
                    "INSERT OR REPLACE INTO remembered VALUES (?, ?, ?, ?)", row
                )

    def change(
        self,
        n: int,
        at_ms: int,
        run: int,
        step: Step,
        memories: Iterable[Memory] = (),
    ) -> None:
        """Something that happened, and what is remembered since."""
        self.remember(memories)
        game = step.id
        self._record("changes", n, at_ms, run, game, encode(step))
        match step:
            case NewGame():
                self._execute(
                    "INSERT OR REPLACE INTO games (game, opened, at_ms) VALUES (?, ?, ?)",
                    (game, n, at_ms),
                )
            case GameGone():
                self._execute("DELETE FROM games WHERE game = ?", (game,))
            case _:
                self._execute(
                    "UPDATE games SET at_ms = ? WHERE game = ?", (at_ms, game)
                )

    def game(self, game: GameId, n: int, measure: bytes, whole: bytes) -> None:
        """A game as it stands after change ``n``, whole."""
        self._execute(
            "UPDATE games SET n = ?, measure = ?, rest = ?, details = NULL, sum = ? WHERE game = ?",
            (n, measure, whole, sum_of(game, n, measure, whole), game),
        )

    def answer(self, at_ms: int, question: HumanQuestion, answer: HumanAnswer) -> None:
        """What players would play."""
        row = (question.digest, encode(answer), at_ms)
        self._execute("INSERT OR REPLACE INTO human VALUES (?, ?, ?)", row)

    def result(
        self, at_ms: int, identity: str, search_key: SearchKey, found: SearchResult
    ) -> None:
        """What one search found."""
        self._record("results", digest(identity, search_key), encode(found), at_ms)


Record = tuple[Callable[..., None], tuple[object, ...]]


def wall_ms() -> int:
    """Now, milliseconds since 1970, UTC."""
    return time.time_ns() // 1_000_000


def _steady_ms() -> float:
    return time.monotonic() * 1000


class Journal:
    """One file, written by this process alone, or none. Use as a context manager; never raises for
    the file's sake. Also a :class:`live.engine.search.ResultCache`.

    Args:
        now_ms: milliseconds since 1970, UTC.
        steady_ms: milliseconds of a clock that nobody can set; None: the machine's, or with a
            ``now_ms`` none.
    """

    def __init__(
        self,
        path: Path | None = None,
        *,
        now_ms: Callable[[], int] = wall_ms,
        memory: MemoryResultCache | None = None,
        backlog: int = BACKLOG,
        retry_s: float = RETRY_S,
        steady_ms: Callable[[], float] | None = None,
    ) -> None:
        self.named = path is not None
        """Whether there is a file; else nothing is written, and only results of searches are
        known."""
        self.path = (path or Path()).expanduser()
        self.problem = ""
        """For people; empty when all is well."""
        self.hopeless = False
        """Whether the problem stays: the file is not written any more."""
        self.damage: tuple[str, ...] = ()
        """For people: what was found damaged when it was opened."""
        self._now_ms = now_ms
        # Where there is a file, those used just now.
        few = MemoryResultCache(RESULTS) if self.named else MemoryResultCache()
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
        if steady_ms is None and now_ms is wall_ms:
            steady_ms = _steady_ms
        self._steady_ms = steady_ms
        self._last_steady_ms = 0.0

    # --- life -------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        if not self.named:
            return self
        path = self.path
        try:
            check_ours(path)  # before anything is made beside it
            path.parent.mkdir(parents=True, exist_ok=True)
            self._lock.enter_context(locked(path))
            keep_private(path)
            with contextlib.closing(connected(path)) as connection:
                had = prepare(connection)
            self._reader = JournalReader(path)
            self._run, self._n, self._note = self._reader.last_numbers()
            self.damage = tuple(self._reader.problems())
            for problem in self.damage:
                log.error("journal %s: %s", path, problem)
        except UNUSABLE as error:
            self._give_up(why_unusable(path, error))
        else:
            if had not in (0, VERSION):
                log.info("journal %s is brought from version %d up to date", path, had)
            self._writer = JournalWriter(path, self._report, retry_s=self._retry_s)
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
        self.hopeless = True
        self._say(
            f"{what}; nothing is kept over a restart. Name another with --journal"
        )

    def _report(self, problem: str, hopeless: bool) -> None:
        """The writer says what is wrong, from its thread."""
        self.hopeless |= hopeless
        if not problem:
            log.warning("journal %s: is written again", self.path)
            self.problem = ""
        elif hopeless:
            self._say(
                f"is damaged ({problem}) and written no more. "
                "Move it away, and start live-rate again"
            )
        else:
            self._say(
                f"cannot be written ({problem}); "
                "what happens is kept in memory and written as soon as it can be"
            )

    def _say(self, what: str) -> None:
        self.problem = f"journal {self.path}: {what}"
        log.error("%s", self.problem)

    def flush(self, timeout_s: float = BUSY_S) -> bool:
        """Wait until everything handed over is written; whether it is. Not for the event loop."""
        return (
            self._writer is None or self.hopeless or self._writer.wait_empty(timeout_s)
        )

    # --- what the file held -----------------------------------------------------------------------

    def standing(self, measure: bytes) -> list[JournalStanding]:
        """The games to go on with, in the order they appeared; empty where nothing can be read.
        Of what was kept only that under the same ``measure`` counts.
        """
        return self._read(lambda reader: reader.standing(measure), [])

    def last_changes(self) -> dict[GameId, int]:
        """When each game there is has changed last, milliseconds."""
        return self._read(JournalReader.last_changes, {})

    def recent(self, within_ms: float) -> list[RecentChange] | None:
        """See :meth:`live.store.journal_reader.JournalReader.recent`; None also where
        the file cannot be read.
        """
        return self._read(lambda reader: reader.recent(within_ms), None)

    def changes_of(self, game: GameId) -> list[RecordedChange]:
        """What happened to a game there is, since it was opened last, in order."""
        return self._read(lambda reader: reader.changes_of(game), [])

    def notes(self) -> list[RecordedNote]:
        """Everything noted so far, in order."""
        return self._read(JournalReader.notes, [])

    def memories(self, kind: str) -> dict[str, bytes]:
        """What was remembered of this kind, by what it is about."""
        return self._read(lambda reader: reader.memories(kind), {})

    def _read(
        self, ask: Callable[[JournalReader], Answer], otherwise: Answer
    ) -> Answer:
        """What the file answers; ``otherwise`` where it cannot be read."""
        if self._reader is None:
            return otherwise
        try:
            return ask(self._reader)
        except sqlite3.Error as error:
            self._unreadable(error)
        except ValueError as error:  # of msgspec, and of what is no UTF-8
            log.error("journal %s: holds what cannot be read (%s)", self.path, error)
        return otherwise

    def _unreadable(self, error: sqlite3.Error) -> None:
        if error_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            # Nothing is damaged: for this moment it is as if it were not known.
            log.warning("journal %s: could not be read just now (%s)", self.path, error)
            return
        self._close_reader()
        self._report(str(error), True)

    # --- what happens -----------------------------------------------------------------------------

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """All that is handed over within is in the file then, or nothing of it."""
        gathered: list[Record] = []
        self._gathered = gathered
        try:
            yield
        finally:
            self._gathered = None
            if gathered and self._writer is not None:
                self._writer.put(gathered)

    def begin(self, run: JournalRun) -> None:
        """From here on changes belong to this run of the service."""
        self._run += 1
        self._put(JournalWriter.run, self._run, self._clock_ms(), run)

    def keep(self, game: GameId, measure: bytes, whole: bytes) -> bool:
        """Keep a game as it stands after all changes so far; whether there was room."""
        room = self._has_room and not self.problem
        return room and self._put(JournalWriter.game, game, self._n, measure, whole)

    def note(self, kind: str, body: bytes, game: GameId = "") -> None:
        """Something else to be kept with its time; ``body`` is JSON."""
        self._note += 1
        self._put(
            JournalWriter.note,
            self._note,
            self._clock_ms(),
            self._run,
            game,
            kind,
            body,
        )

    def change(
        self, step: Step, memories: Callable[[], Sequence[Memory]] = tuple
    ) -> None:
        """A step that has been carried out, and what is remembered since, in one."""
        self._n += 1
        values = self._n, self._clock_ms(), self._run, step, memories()
        self._put(JournalWriter.change, *values)

    def remember(self, memories: Callable[[], Sequence[Memory]]) -> None:
        """What is remembered of something is this now."""
        if found := memories():
            self._put(JournalWriter.remember, found)

    @property
    def _has_room(self) -> bool:
        """For what can be made again, which gives way."""
        return self._writer is not None and len(self._writer) < self._backlog

    def _put(self, write: Callable[..., None], *values: object) -> bool:
        if self._writer is None or self.hopeless:
            return False
        if self._gathered is not None:
            self._gathered.append((write, values))
        else:
            self._writer.put([(write, values)])
        return True

    def _clock_ms(self) -> int:
        """Now; within a run time goes on where the clock is set back. That it was put forward is
        noted first: how long ago something was must not rest on it.
        """
        if self._steady_ms is None:
            self._last_ms = max(self._last_ms, self._now_ms())
            return self._last_ms
        before_ms, steady_ms = self._last_ms, self._steady_ms()
        passed_ms = max(0.0, steady_ms - self._last_steady_ms)
        self._last_steady_ms = steady_ms
        # Not of the first: nothing is known of the time before it.
        going_on_ms = before_ms + round(passed_ms) if before_ms else 0
        self._last_ms = max(going_on_ms, self._now_ms())
        forward_ms = round(self._last_ms - before_ms - passed_ms)
        if before_ms and forward_ms > STEP_MS:
            self.note(CLOCK, b"%d" % forward_ms)
        return self._last_ms

    # --- results of searches ----------------------------------------------------------------------

    def find_result(self, identity: str, search_key: SearchKey) -> SearchResult | None:
        known = self._memory.find_result(identity, search_key)
        if known is None:
            scored = self._read(
                lambda reader: reader.result(identity, search_key), None
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
            self._put(
                JournalWriter.result, self._clock_ms(), identity, search_key, result
            )

    # --- what players would play ------------------------------------------------------------------

    def answer(self, question: HumanQuestion) -> HumanAnswer | None:
        """What was answered to this question before."""
        held = self._read(lambda reader: reader.answer(question), None)
        return held[1] if held is not None else None

    def put_answer(self, question: HumanQuestion, answer: HumanAnswer) -> None:
        """Keep an answer, so that a restart shows the same without the network."""
        if self._has_room:
            self._put(JournalWriter.answer, self._clock_ms(), question, answer)
