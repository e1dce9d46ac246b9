"""The journal of an event: what was seen and what was scored, kept over restarts and crashes.

Everything is handed over without waiting and written by a thread of its own; see
:mod:`live.store.journal_writer` for what is lost when. The service never depends on the file: what
is wrong with it is said in ``problem``, and everything else goes on.

Loss policy: when the backlog is full, because the file has taken nothing for long, changes are left
out and the whole of the games is written anew once it takes them again (:meth:`Journal.restate`);
results and figures left out are found, or made, again.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, Self, TypeVar

import msgspec

from live.engine.results.result_cache import MemoryResultCache, ResultCache
from live.engine.results.sqlite_connection import SqliteConnection
from live.engine.search import SearchResult
from live.engine.search_key import SearchKey
from live.events import GameId
from live.games.game import Game, NewGame, Step
from live.human.question import HumanAnswer, HumanQuestion
from live.store.journal_faults import error_code, may_write, why_unusable
from live.store.journal_reader import JournalReader
from live.store.journal_records import (
    CLOCK,
    JournalRun,
    JournalStanding,
    RecordedAnswer,
    RecordedChange,
    RecordedNote,
    RecordedResult,
    Restated,
    StoredGame,
)
from live.store.journal_tables import (
    BUSY_S,
    VERSION,
    ForeignDatabase,
    connected,
    prepare,
    version_of,
)
from live.store.journal_writer import (
    RETRY_S,
    JournalWriter,
    JournalWriting,
    Record,
    WriteBacklog,
    WrittenResult,
    WrittenRun,
)

log = logging.getLogger(__name__)

Answer = TypeVar("Answer")

#: Records that may wait, some 1.5 kB each: minutes of a large event on a full disk.
BACKLOG: Final = 20_000


#: A clock that is further ahead than this was put forward, milliseconds.
STEP_MS: Final = 1_000


class JournalLocked(Exception):
    """Another process holds the lock."""


class JournalLock:
    """Lets one process at a time write a journal; held from :meth:`take` to :meth:`release`.

    It is an exclusive transaction on an empty database beside the journal: the system releases it
    however this process ends, on every platform that SQLite runs on.
    """

    def __init__(self, journal: Path) -> None:
        # By whatever name it is reached, a file has one lock.
        journal = journal.resolve()
        self._path = journal.with_name(journal.name + "-lock")
        self._connection: sqlite3.Connection | None = None

    def is_there(self) -> bool:
        """Whether anybody has ever taken it."""
        return self._path.exists()

    def take(self) -> None:
        """Take the lock, without waiting.

        Raises:
            JournalLocked: another process holds it.
            sqlite3.Error: the file cannot be made.
        """
        connection = sqlite3.connect(
            self._path, timeout=0, isolation_level=None, factory=SqliteConnection
        )
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            connection.close()
            if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
                raise JournalLocked from None
            raise
        self._connection = connection

    def release(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None


def keep_private(path: Path) -> None:
    """Make the file, if it is not there, and let its user alone read it: it holds what is withheld
    from the public. Beside a journal SQLite gives the files beside it the same rights.
    """
    if not path.exists():
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        return
    try:
        if path.is_file() and path.stat().st_mode & 0o077:
            path.chmod(0o600)
    except OSError as error:
        log.warning("%s: others can read it, and that cannot be changed (%s)", path, error)


def check_ours(path: Path) -> None:
    """Look whether a file is a journal or may become one; touches nothing.

    Raises:
        IsADirectoryError, sqlite3.Error, ForeignDatabase: it is not.
    """
    if path.is_dir():
        raise IsADirectoryError
    if not path.is_file() or not path.stat().st_size:
        return
    connection = connected(path, at_rest=True)
    try:
        version_of(connection)
    except sqlite3.Error as error:
        # Of one that is being written at this moment the rest may look odd.
        if error_code(error) == sqlite3.SQLITE_NOTADB:
            raise
    finally:
        connection.close()


def why_refused(path: Path) -> str:
    """Why a service could keep no journal in this file, for people, going on from its name; empty
    where it can. Touches nothing.
    """
    path = path.expanduser().absolute()
    try:
        check_ours(path)
        if JournalLock(path).is_there():
            (lock := JournalLock(path)).take()
            lock.release()
    except JournalLocked:
        return "is in use by another live-rate"
    except (sqlite3.Error, OSError, ForeignDatabase) as error:
        return why_unusable(path, error)
    folder = next(each for each in path.parents if each.exists())
    if not folder.is_dir():
        return f"cannot be used ({folder}: is no folder)"
    if not may_write(folder):
        return f"cannot be used ({folder}: this folder cannot be written)"
    if path.exists() and not may_write(path):
        return "cannot be used (this file cannot be written)"
    return ""


def wall_ms() -> int:
    """Now, milliseconds since 1970, UTC."""
    return time.time_ns() // 1_000_000


def _steady_ms() -> float:
    return time.monotonic() * 1000


class Journal:
    """One file, written by this process alone. Use as a context manager; never raises for the
    file's sake. Also a :class:`live.engine.results.result_cache.ResultCache`.

    Args:
        durable: every commit reaches the disk before the next, for machines that lose power.
        now_ms: milliseconds since 1970, UTC.
        steady_ms: milliseconds of a clock that nobody can set; None: the machine's, or with a
            ``now_ms`` none.
    """

    def __init__(
        self,
        path: Path,
        *,
        durable: bool = False,
        now_ms: Callable[[], int] = wall_ms,
        memory: MemoryResultCache | None = None,
        backlog: int = BACKLOG,
        retry_s: float = RETRY_S,
        steady_ms: Callable[[], float] | None = None,
    ) -> None:
        self.path = path.expanduser()
        self.problem = ""
        """For people; empty when all is well."""
        self.hopeless = False
        """Whether the problem stays: the file is not written any more."""
        self.damage: tuple[str, ...] = ()
        """For people: records that were found damaged or missing when it was opened."""
        self._durable = durable
        self._now_ms = now_ms
        self._memory = MemoryResultCache() if memory is None else memory
        self._backlog: WriteBacklog[Record] = WriteBacklog(backlog)
        self._retry_s = retry_s
        self._lock = JournalLock(self.path)
        self._reader: JournalReader | None = None
        self._writer: JournalWriter | None = None
        self._run = self._n = self._note = 0
        self._last_ms = 0
        if steady_ms is None and now_ms is wall_ms:
            steady_ms = _steady_ms
        self._steady_ms = steady_ms
        self._last_steady_ms = 0.0
        # Changes were left out: what the file says of the games is not what they are.
        self._missed = False
        # Made by this process, and nothing but its start is in it.
        self._empty = False

    # --- life -------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        try:
            check_ours(self.path)  # before anything is made beside it
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock.take()
            keep_private(self.path)
            connection = connected(self.path, durable=self._durable)
            try:
                had = prepare(connection)
            finally:
                connection.close()
            self._reader = JournalReader(self.path)
            self._run, self._n, self._note = self._reader.last_numbers()
            self.damage = tuple(self._reader.problems())
            for problem in self.damage:
                log.error("journal %s: %s", self.path, problem)
            self._empty = had == 0
        except JournalLocked:
            self._give_up("is in use by another live-rate", "Name another with --journal")
        except (sqlite3.Error, OSError, ForeignDatabase) as error:
            self._give_up(
                why_unusable(self.path, error), "Name another with --journal, or move it away"
            )
        else:
            if had not in (0, VERSION):
                log.info("journal %s is brought from version %d up to date", self.path, had)
            self._writer = JournalWriter(
                self.path, self._backlog, self._report, durable=self._durable, retry_s=self._retry_s
            )
            self._writer.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._backlog.close()
        if self._writer is not None:
            # A writer that is stuck is not waited for.
            self._writer.join(2 * BUSY_S)
        self._close_reader()
        if self._writer is not None:
            self._writer.close()
            if self._empty:
                # Nothing was ever followed: an address mistyped leaves no file behind.
                for suffix in ("", "-wal", "-shm"):
                    with contextlib.suppress(OSError):
                        self.path.with_name(self.path.name + suffix).unlink()
        self._lock.release()

    def _close_reader(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _give_up(self, what: str, remedy: str) -> None:
        self._close_reader()
        self._lock.release()
        self.hopeless = True
        self.problem = f"journal {self.path}: {what}; nothing is kept over a restart. {remedy}"
        log.error("%s", self.problem)

    def _report(self, problem: str, hopeless: bool) -> None:
        """The writer says what is wrong, from its thread."""
        if not problem:
            log.warning("journal %s: is written again", self.path)
            self.problem = ""
        elif hopeless:
            self.hopeless = True
            self.problem = (
                f"journal {self.path}: is damaged ({problem}) and written no more. "
                "Move it away, and start live-rate again"
            )
            log.error("%s", self.problem)
        else:
            self.problem = (
                f"journal {self.path}: cannot be written ({problem}); "
                "what happens is kept in memory and written as soon as it can be"
            )
            log.error("%s", self.problem)

    def flush(self, timeout_s: float = BUSY_S) -> bool:
        """Wait until everything handed over is written; whether it is. Not for the event loop."""
        return self.hopeless or self._backlog.wait_empty(timeout_s)

    # --- what the file held -----------------------------------------------------------------------

    def standing(self, measure: bytes) -> list[JournalStanding]:
        """The games to go on with, in the order they appeared; empty where nothing can be read.
        Of what was kept only that under the same ``measure`` counts.
        """
        return self._read(lambda reader: reader.standing(measure), [])

    def details(self, game: GameId) -> bytes | None:
        """What :meth:`keep` was last given as ``details`` of the game."""
        return self._read(lambda reader: reader.details(game), None)

    def last_changes(self) -> dict[GameId, int]:
        """When each game there is has changed last, milliseconds."""
        return self._read(JournalReader.last_changes, {})

    def recent(self, within_ms: float) -> list[tuple[float, GameId, RecordedChange | None]] | None:
        """See :meth:`live.store.journal_reader.JournalReader.recent`; None where the file cannot
        be read.
        """
        return self._read(lambda reader: reader.recent(within_ms), None)

    def changes_of(self, game: GameId) -> list[RecordedChange]:
        """What happened to a game there is, since it was opened last, in order."""
        return self._read(lambda reader: reader.changes_of(game), [])

    def notes(self) -> list[RecordedNote]:
        """Everything noted so far, in order."""
        return self._read(JournalReader.notes, [])

    def _read(self, ask: Callable[[JournalReader], Answer], otherwise: Answer) -> Answer:
        """What the file answers; ``otherwise`` where it cannot be read."""
        if self._reader is None:
            return otherwise
        try:
            return ask(self._reader)
        except sqlite3.Error as error:
            self._unreadable(error)
        except msgspec.MsgspecError as error:
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

    def begin(self, run: JournalRun) -> None:
        """From here on changes belong to this run of the service."""
        self._run += 1
        self._put(WrittenRun(self._run, self._clock_ms(), run))

    def change(self, step: Step) -> None:
        """A step that has been carried out."""
        self._change(step)

    def restate(self, games: Iterable[Game]) -> None:
        """Write all games anew, after changes had to be left out (:attr:`wants_restating`)."""
        self._missed = False
        self._change(Restated(), must=True)
        for game in games:
            self._change(NewGame(game), must=True)

    @property
    def wants_restating(self) -> bool:
        """Changes were left out, and could be written now."""
        return self._missed and not self.problem and not len(self._backlog)

    def keep(self, game: GameId, measure: bytes, rest: bytes, details: bytes) -> bool:
        """Keep a game as it stands after all changes so far; whether there was room."""
        return not self._missed and self._put(
            JournalWriting(StoredGame(game, self._n, measure, rest), details), spare=True
        )

    def note(self, kind: str, body: bytes, game: GameId = "") -> None:
        """Something else to be kept with its time; ``body`` is JSON."""
        self._note += 1
        self._put(RecordedNote(self._note, self._clock_ms(), self._run, game, kind, body))

    def _change(self, step: Step | Restated, *, must: bool = False) -> None:
        if self._missed:
            return
        self._n += 1
        if not self._put(RecordedChange(self._n, self._clock_ms(), step), must=must):
            self._missed = True

    def _put(self, record: Record, *, must: bool = False, spare: bool = False) -> bool:
        if self._writer is None or self.hopeless:
            return False
        self._empty = self._empty and isinstance(record, WrittenRun)
        # What can be made again gives way early.
        if spare and self.problem:
            return False
        return self._backlog.put(record, must=must)

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

    def get(self, identity: str, search_key: SearchKey) -> SearchResult | None:
        known = self._memory.get(identity, search_key)
        if known is not None or self._reader is None:
            return known
        try:
            scored = self._reader.result(identity, search_key)
        except sqlite3.Error as error:
            self._unreadable(error)
            return None
        if scored is None:
            return None
        self._memory.put(identity, search_key, scored.result)
        return scored.result

    def put(self, identity: str, search_key: SearchKey, result: SearchResult) -> None:
        self._memory.put(identity, search_key, result)
        self._put(WrittenResult(self._clock_ms(), RecordedResult(search_key, identity, result)))

    # --- what players would play ------------------------------------------------------------------

    def answer(self, question: HumanQuestion) -> HumanAnswer | None:
        """What was answered to this question before."""
        held = self._read(lambda reader: reader.answer(question), None)
        return held.answer if held is not None else None

    def put_answer(self, question: HumanQuestion, answer: HumanAnswer) -> None:
        """Keep an answer, so that a restart shows the same without the network."""
        self._put(RecordedAnswer(self._clock_ms(), question, answer))


class StoredResults:
    """A :class:`live.engine.results.result_cache.ResultCache`. What either knows is known, and the
    journal gets to know it too, since figures are explained from it.
    """

    def __init__(self, journal: Journal, shared: ResultCache | None = None) -> None:
        self.problem = shared.problem if shared else ""
        """Of the shared one; the journal's is reported on its own."""
        self._journal = journal
        self._shared = shared

    def get(self, identity: str, search_key: SearchKey) -> SearchResult | None:
        known = self._journal.get(identity, search_key)
        if known is None and self._shared is not None:
            known = self._shared.get(identity, search_key)
            self.problem = self._shared.problem
            if known is not None:
                self._journal.put(identity, search_key, known)
        return known

    def put(self, identity: str, search_key: SearchKey, result: SearchResult) -> None:
        self._journal.put(identity, search_key, result)
        if self._shared is not None:
            self._shared.put(identity, search_key, result)
            self.problem = self._shared.problem
