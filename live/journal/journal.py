"""The journal of an event: all received and computed data, preserved over restarts and
crashes.

Adding a record does not wait for the disk. A separate thread repeatedly writes all
waiting records in one transaction. A crash loses only the records of the last
milliseconds. The service never depends on the file: a fault is described in
``problem``, and everything else continues.

If the file cannot be written, records wait, and writing is repeated until it succeeds.
If too many records wait, records that can be recomputed are dropped: results, answers
and snapshots of games. Changes and notes are never dropped, since they cannot be
recomputed; those of an event of a thousand games take some 100 MB. A damaged file is
left unchanged and is no longer written.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Self, TypeVar

from live.engine.result_cache import MemoryResultCache
from live.engine.search import SearchResult
from live.engine.search_key import SearchKey
from live.games.game import Step
from live.human.question import HumanAnswer, HumanQuestion
from live.journal.journal_faults import explain_unusable
from live.journal.journal_file import (
    BUSY_S,
    UNUSABLE_ERRORS,
    VERSION,
    JournalLocked,
    check_is_journal,
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
)
from live.journal.journal_writer import JournalWriter, Record
from live.messages.values import GameId

log = logging.getLogger(__name__)

Answer = TypeVar("Answer")

#: Number of waiting groups of records above which records that can be recomputed are
#: dropped. A group has some 1.5 kB; a large event with a full disk reaches this number
#: within minutes.
MAX_WAITING = 20_000
#: Number of search results that are kept in memory in addition to the file. Each has
#: some 1.5 kB.
RESULTS_IN_MEMORY = 250
#: Minimum jump of the clock that shows that it was set forward, milliseconds.
CLOCK_STEP_MS = 1_000
#: Time between two attempts to write, seconds, after an attempt has failed.
RETRY_S = 1.0


def read_wall_ms() -> int:
    """Return the time in milliseconds since 1970 UTC."""
    return time.time_ns() // 1_000_000


def _read_steady_ms() -> float:
    return time.monotonic() * 1000


class Journal:
    """A journal, with or without a file. Use it as a context manager.

    Only this process writes the file. Faults of the file never raise an error. The
    class also implements :class:`live.engine.result_cache.ResultCache`.

    Args:
        now_ms: function that returns the time in milliseconds since 1970 UTC.
        steady_ms: function that returns the time in milliseconds of a clock that nobody
            can set. By default, this is the computer's monotonic clock, or none if
            ``now_ms`` is given.
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
        """Whether there is a file. Without a file, only search results are stored, in
        memory.
        """
        self.path = (path or Path()).expanduser()
        self.problem = ""
        """Text for people about the journal's problem; empty if there is none."""
        self.is_unrecoverable = False
        """Whether the problem is permanent, so that the file is no longer written."""
        self.damage: tuple[str, ...] = ()
        """Texts for people about damage found when the file was opened."""
        self._now_ms = now_ms
        # With a file, only the most recent results are also kept in memory.
        few_results = (
            MemoryResultCache(RESULTS_IN_MEMORY)
            if self.has_file
            else MemoryResultCache()
        )
        self._memory = few_results if memory is None else memory
        self._backlog = backlog
        self._retry_s = retry_s
        # Records of the present transaction; None outside a transaction.
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

    # --- opening and closing ----------------------------------------------------------

    def __enter__(self) -> Self:
        if not self.has_file:
            return self
        path = self.path
        try:
            check_is_journal(path)  # checked before any files are created next to it
            path.parent.mkdir(parents=True, exist_ok=True)
            self._lock.enter_context(lock_journal(path))
            make_private(path)
            with contextlib.closing(open_connection(path)) as connection:
                version = migrate(connection)
            self._reader = JournalReader(path)
            self._run, self._n, self._note = self._reader.read_last_numbers()
            self.damage = tuple(self._reader.find_problems())
            for problem in self.damage:
                log.error("journal %s: %s", path, problem)
        except UNUSABLE_ERRORS as error:
            remedy = "Name another file with --journal"
            if isinstance(error, JournalLocked):
                remedy = "End the other one, or name another file with --journal"
            self._give_up(explain_unusable(path, error), remedy)
        else:
            if version not in (0, VERSION):
                log.info(
                    "journal %s: converted from version %d to the current version",
                    path,
                    version,
                )
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

    def _give_up(self, problem: str, remedy: str) -> None:
        self._close_reader()
        self._lock.close()
        self.is_unrecoverable = True
        self._set_problem(f"{problem}; nothing is kept over a restart. {remedy}")

    def _on_writer_problem(self, problem: str, is_hopeless: bool) -> None:
        """Set the problem of the file and log it; called on the writer's thread."""
        self.is_unrecoverable |= is_hopeless
        if not problem:
            log.warning("journal %s: can be written again", self.path)
            self.problem = ""
        elif is_hopeless:
            self._set_problem(
                f"is damaged ({problem}) and no longer written. "
                "Move the file away, and restart live-rate"
            )
        else:
            self._set_problem(
                f"cannot be written ({problem}); "
                "changes stay in memory until it can be written"
            )

    def _set_problem(self, problem: str) -> None:
        self.problem = f"journal {self.path}: {problem}"
        log.error("%s", self.problem)

    def wait_until_written(self, timeout_s: float = BUSY_S) -> bool:
        """Wait until all records are written; return whether this succeeded.

        Do not call this on the event loop.
        """
        return (
            self._writer is None
            or self.is_unrecoverable
            or self._writer.wait_empty(timeout_s)
        )

    # --- reading ----------------------------------------------------------------------

    def read_restorable_games(self, measure: bytes) -> list[RestorableGame]:
        """Return the games to continue, in order of appearance; empty if nothing can be
        read.

        Values stored under another ``measure`` are left out.
        """
        return self._ask_reader(
            lambda reader: reader.read_restorable_games(measure), []
        )

    def read_last_change_times(self) -> dict[GameId, int]:
        """Return the time of the last change of each open game, milliseconds since 1970
        UTC.
        """
        return self._ask_reader(JournalReader.read_last_change_times, {})

    def read_changes_by_running_time(
        self, within_ms: float
    ) -> list[RecentChange] | None:
        """Return the changes of the last ``within_ms`` milliseconds of running time.

        See the method of the same name of
        :class:`live.journal.journal_reader.JournalReader`. Return None also if the file
        cannot be read.
        """
        return self._ask_reader(
            lambda reader: reader.read_changes_by_running_time(within_ms), None
        )

    def read_changes_of_game(self, game: GameId) -> list[RecordedChange]:
        """Return the changes of a game since it was last opened, in order."""
        return self._ask_reader(lambda reader: reader.read_changes_of_game(game), [])

    def read_notes(self) -> list[RecordedNote]:
        """Return all notes, in order."""
        return self._ask_reader(JournalReader.read_notes, [])

    def read_memories(self, kind: str) -> dict[str, bytes]:
        """Return the stored values of a kind, by subject."""
        return self._ask_reader(lambda reader: reader.read_memories(kind), {})

    def _ask_reader(
        self, ask: Callable[[JournalReader], Answer], default: Answer
    ) -> Answer:
        """Return the result of a query to the file; ``default`` if the file cannot be
        read.
        """
        if self._reader is None:
            return default
        try:
            return ask(self._reader)
        except sqlite3.Error as error:
            self._on_read_error(error)
        except ValueError as error:  # from msgspec, or for bytes that are not UTF-8
            log.error(
                "journal %s: contains an unreadable record (%s)", self.path, error
            )
        return default

    def _on_read_error(self, error: sqlite3.Error) -> None:
        if read_error_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            # The file is not damaged. For now, the value counts as unknown.
            log.warning(
                "journal %s: cannot be read at the moment (%s)", self.path, error
            )
            return
        self._close_reader()
        self._on_writer_problem(str(error), True)

    # --- writing ----------------------------------------------------------------------

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all records that are added in this block together, or none of them."""
        gathered: list[Record] = []
        self._gathered = gathered
        try:
            yield
        finally:
            self._gathered = None
            if gathered and self._writer is not None:
                self._writer.add_records(gathered)

    def begin_run(self, run: JournalRun) -> None:
        """Start a run of the service, to which all later changes belong."""
        self._run += 1
        self._hand_over(JournalWriter.write_run, self._run, self._read_clock_ms(), run)

    def store_game_snapshot(self, game: GameId, measure: bytes, whole: bytes) -> bool:
        """Store a snapshot of a game after all changes so far.

        Return False if the snapshot is dropped, because too many records wait or the
        file has a problem.
        """
        room = self._has_room and not self.problem
        return room and self._hand_over(
            JournalWriter.write_game, game, self._n, measure, whole
        )

    def add_note(self, kind: str, body: bytes, game: GameId = "") -> None:
        """Add a note with the present time; ``body`` is JSON."""
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

    def add_change(self, step: Step, memories: Sequence[Memory] = ()) -> None:
        """Add a change that has been applied to the event, together with
        ``memories``.
        """
        self._n += 1
        values = self._n, self._read_clock_ms(), self._run, step, memories
        self._hand_over(JournalWriter.write_change, *values)

    def keep_memories(self, memories: Sequence[Memory]) -> None:
        """Store these values, replacing those with the same kind and subject."""
        if memories:
            self._hand_over(JournalWriter.write_memories, memories)

    @property
    def _has_room(self) -> bool:
        """Whether records that can be recomputed are still accepted."""
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
        """Return the time in milliseconds since 1970 UTC; it never decreases within a
        run.

        If the clock was set forward, first add a note about the jump, because the jump
        must not count as part of the age of records.
        """
        if self._steady_ms is None:
            self._last_ms = max(self._last_ms, self._now_ms())
            return self._last_ms
        before_ms = self._last_ms
        steady_ms = self._steady_ms()
        passed_ms = max(0.0, steady_ms - self._last_steady_ms)
        self._last_steady_ms = steady_ms
        # For the first record of a run, the previous time is unknown.
        going_on_ms = before_ms + round(passed_ms) if before_ms else 0
        self._last_ms = max(going_on_ms, self._now_ms())
        forward_ms = round(self._last_ms - before_ms - passed_ms)
        if before_ms and forward_ms > CLOCK_STEP_MS:
            self.add_note(CLOCK_NOTE, b"%d" % forward_ms)
        return self._last_ms

    # --- results of searches ----------------------------------------------------------

    def find_result(self, identity: str, search_key: SearchKey) -> SearchResult | None:
        result = self._memory.find_result(identity, search_key)
        if result is None:
            scored = self._ask_reader(
                lambda reader: reader.read_result(identity, search_key), None
            )
            if scored is not None:
                result, _ = scored
                self._memory.store_result(identity, search_key, result)
        return result

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

    # --- answers about human moves ----------------------------------------------------

    def find_answer(self, question: HumanQuestion) -> HumanAnswer | None:
        """Return the stored answer to this question; None if there is none."""
        record = self._ask_reader(lambda reader: reader.read_answer(question), None)
        return record[1] if record is not None else None

    def store_answer(self, question: HumanQuestion, answer: HumanAnswer) -> None:
        """Store an answer, so that a restart does not repeat the work of the neural
        network.
        """
        if self._has_room:
            self._hand_over(
                JournalWriter.write_answer, self._read_clock_ms(), question, answer
            )
