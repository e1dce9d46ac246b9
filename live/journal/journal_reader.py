"""Reads a journal, for a restart and for commands; defines the types of its records.

Steps of games are defined in :mod:`live.games.game`. Reading does not wait for writers
in other processes or threads (SQLite in WAL mode).

Computed values of a game are stored so that a restart need not compute them again. They
are valid only under the same measure, which is everything that the values depend on.
Under another measure they are recomputed from changes and results.
"""

import contextlib
import hashlib
import logging
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, Self

import msgspec
import numpy as np

from live import __version__
from live.engine.search import SearchResult
from live.engine.search_key import SearchKey
from live.errors import InputError
from live.event.game_record import ArchivedDetails, ArchivedValues
from live.event.rate_game import Measure
from live.games.game import Game, GameGone, Step, apply_or_none
from live.human.question import HumanAnswer, HumanQuestion
from live.journal.journal_faults import (
    build_damage_error,
    build_missing_error,
    build_unreadable_error,
)
from live.journal.journal_file import (
    OLDEST_READABLE,
    RECORDS,
    VERSION,
    ForeignDatabase,
    compute_checksum,
    find_damaged_rows,
    find_page_damage,
    hash_search,
    open_connection,
    read_version,
)
from live.messages.values import FeedName, GameId, Value
from live.ratings.engine_scale import MeasuredEngine

log = logging.getLogger(__name__)

#: Kind of notes about jumps of the computer's clock. Their body is the number of
#: milliseconds by which the clock was set forward.
CLOCK_NOTE = "clock"


class JournalRun(msgspec.Struct, frozen=True, kw_only=True):
    """Description of a start of the service: its version, and everything that values
    computed in this run depend on.
    """

    version: str
    engine_name: str
    identity: str
    """Name and options of the engine. Results of searches depend on them and on the
    position.
    """
    limit: str
    """Search limit as text for people."""
    feeds: tuple[FeedName, ...] = ()
    settings: dict[str, object] = {}
    """The settings ``[engine]``, ``[rating]`` and ``[human]`` at the start."""
    measured: MeasuredEngine | None = None
    """Measurement of the engine on reference positions; None if computed values do not
    depend on it.
    """
    measure: bytes = b""
    """Digest of the measure; stored values are valid only under the same digest."""


class RecordedChange(Value):
    """A change of a game, with its number and time."""

    n: int
    at_ms: int
    step: Step


RecentChange = tuple[float, GameId, RecordedChange | None]
"""A recent change, as three values: its age in milliseconds when the journal's last
record was written; the game (in earlier versions empty for all games); and the change
(None if it cannot be decoded).
"""


class RecordedNote(Value):
    """A note about the event or one game, with its time. ``body`` is JSON."""

    n: int
    at_ms: int
    run: int
    game: GameId
    """Id of the game; empty if the note is not about a single game."""
    kind: str
    body: bytes


class Memory(NamedTuple):
    """A value stored under a kind and a subject; ``body`` None deletes the stored
    value.
    """

    kind: str
    about: str
    """The subject: a game, a source, or empty."""
    body: bytes | None


class RestorableGame(Value):
    """A game to continue: its stored values, if any, and its changes after they were
    stored.
    """

    game: GameId
    archived: bytes | None
    """Encoded :class:`live.event.game_record.ArchivedValues`."""
    since: tuple[RecordedChange, ...]
    damaged: bool = False
    """Whether the stored values are damaged, so that all changes of the game are
    needed.
    """


def _decode_text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _encode_array(value: object) -> object:
    """Encode a NumPy array, which msgpack does not support, as its shape and bytes."""
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes()
    raise NotImplementedError(f"{type(value).__name__} cannot be stored")


def _decode_array(kind: type, value: Any) -> object:
    shape, numbers = value
    return np.frombuffer(numbers).reshape(shape)


encode = msgspec.msgpack.Encoder(enc_hook=_encode_array).encode
decode_step = msgspec.msgpack.Decoder(Step).decode
decode_run = msgspec.msgpack.Decoder(JournalRun).decode
decode_result = msgspec.msgpack.Decoder(SearchResult).decode
decode_answer = msgspec.msgpack.Decoder(HumanAnswer).decode


_decode_archived = msgspec.msgpack.Decoder(
    ArchivedValues, dec_hook=_decode_array
).decode


def hash_measure(identity: str, limit: str, measure: Measure) -> bytes:
    """Return a digest of everything that computed values depend on.

    The digest includes the structure in which the values are stored. Stored values are
    valid while it stays the same.
    """
    _, shapes = msgspec.json.schema_components(
        (ArchivedValues, ArchivedDetails), schema_hook=lambda kind: {"type": "string"}
    )
    models = measure.models
    results = measure.results
    deciding = (
        __version__,
        identity,
        limit,
        measure.gain,
        measure.search_options,
        models.models,
        models.scale,
        models.note,
        results,
        measure.forecast,
        measure.human,
        measure.engine_gains.counts,
        shapes,
    )
    return hashlib.blake2b(encode(deciding), digest_size=16).digest()


def decode_archived(game: GameId, data: bytes) -> ArchivedValues | None:
    """Return the stored values of a game; None if they cannot be read."""
    try:
        return _decode_archived(data)
    except (msgspec.MsgspecError, TypeError, UnicodeError) as error:
        log.error("game %s: its stored data cannot be read (%s)", game, error)
        return None


def replay_game(id: GameId, changes: Iterable[RecordedChange]) -> Game | None:
    """Return the game after these changes; None if the changes contradict
    each other.
    """
    game: Game | None = None
    try:
        for change in changes:
            game = apply_or_none(game, change.step)
    except (ValueError, IndexError) as error:
        log.error("game %s cannot be restored: %s", id, error)
        return None
    return game


# --- reading ---

_CHANGES_SINCE_KEPT = (
    "SELECT c.n, c.at_ms, c.step, c.game FROM games g JOIN changes c ON c.game = g.game"
    " AND c.n > CASE WHEN g.measure IS ? THEN g.n ELSE g.opened - 1 END ORDER BY c.n"
)


#: Names for people of the tables that are checked when the file is opened.
_TABLE_NAMES = {
    "changes": "changes",
    "notes": "notes",
    "runs": "starts of the service",
    "games": "games as they stood",
    "remembered": "what alerts and moments rest on",
}
#: Tables that make up most of the file. A service does not check them, since a damaged
#: row in them only causes a repeated search or prediction.
_RESULT_TABLE_NAMES = {
    "results": "results of searches",
    "human": "what players would play",
}


class JournalReader:
    """A read-only connection to a journal. Close it, or use it as a context manager."""

    def __init__(self, path: Path) -> None:
        """Open the file.

        Raises:
            sqlite3.Error: the file cannot be read.
            ForeignDatabase: the file is not a journal.
        """
        self._path = path
        self._connection = open_connection(path, busy_s=0)
        self._connection.execute("PRAGMA query_only = ON")
        # Damaged text must not raise an error here, because its row's checksum shows
        # the damage.
        self._connection.text_factory = _decode_text
        self._connection.create_function("is_good", 2, self._is_good)
        # The numbers or keys of the damaged rows of each table.
        self._damaged_rows: dict[str, frozenset[Any]] = {}

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a journal for a command.

        Raises:
            InputError: the file does not exist, or is not a journal that this version
                can read.
        """
        if not path.is_file():
            raise build_missing_error(path)
        try:
            reader = cls(path)
            try:
                reader._check_readable()
            except BaseException:
                reader.close()
                raise
        except (sqlite3.Error, ForeignDatabase) as error:
            raise build_unreadable_error(path, error) from None
        return reader

    def _check_readable(self) -> None:
        """Raise InputError if the version cannot be read; log damage."""
        version = read_version(self._connection)
        if version == 0:
            raise InputError(
                str(self._path),
                "contains no event yet",
                "Follow an event with it first",
            )
        if version < OLDEST_READABLE:
            remedy = "Follow an event with it once, which updates it"
            raise InputError(
                str(self._path), f"is of version {version}, not {VERSION}", remedy
            )
        self.read_last_numbers()
        for problem in self.find_problems(results=True):
            log.error("journal %s: %s", self._path, problem)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: object, error: BaseException | None, trace: object
    ) -> None:
        """Close the connection.

        Raises:
            InputError: damage was found inside the block.
        """
        self.close()
        # A TypeError means that a value does not have the type of its column, which
        # only damage can cause.
        if isinstance(
            error, sqlite3.Error | msgspec.DecodeError | TypeError | UnicodeError
        ):
            raise build_damage_error(self._path, error) from None

    def close(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            self._connection.close()

    def read_last_numbers(self) -> tuple[int, int, int]:
        """Return the numbers of the last run, change and note; 0 for a kind without
        records.
        """
        row = self._connection.execute(
            "SELECT (SELECT ifnull(max(run), 0) FROM runs),"
            " (SELECT ifnull(max(n), 0) FROM changes),"
            " (SELECT ifnull(max(n), 0) FROM notes)"
        ).fetchone()
        return row[0], row[1], row[2]

    def find_problems(self, *, results: bool = False) -> list[str]:
        """Check pages and rows; return descriptions of the damage.

        Later reads ignore damaged rows. With ``results``, results of searches and
        answers of the neural network are checked too.
        """
        problems: list[str] = []
        rows = self._connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
        )
        # Earlier versions had fewer tables.
        tables = {name for (name,) in rows}
        for table, label in (
            _TABLE_NAMES | _RESULT_TABLE_NAMES if results else _TABLE_NAMES
        ).items():
            if table not in tables:
                continue
            if page_problems := find_page_damage(self._connection, table):
                suffix = (
                    f" and {len(page_problems) - 1} more"
                    if len(page_problems) > 1
                    else ""
                )
                problems.append(
                    f"{label}: pages of the file are damaged"
                    f" ({page_problems[0]}{suffix})"
                )
            damaged_rows = (
                find_damaged_rows(self._connection, table) if table in RECORDS else []
            )
            self._damaged_rows[table] = frozenset(damaged_rows)
            if damaged_rows:
                problems.append(f"{label}: {len(damaged_rows)} damaged, and left out")
        return problems

    def _is_good(self, table: str, n: int) -> bool:
        return n not in self._damaged_rows.get(table, ())

    def read_restorable_games(self, measure: bytes) -> list[RestorableGame]:
        """Return the games that existed at the end, in order of appearance, with their
        changes.

        Changes that a stored value already includes are left out. Values stored under
        another ``measure`` are ignored, and so are changes that cannot be decoded.
        """
        since: dict[GameId, list[RecordedChange]] = defaultdict(list)
        for n, at_ms, step, game in self._connection.execute(
            _CHANGES_SINCE_KEPT, (measure,)
        ):
            if not self._is_good("changes", n):
                continue
            with contextlib.suppress(ValueError):
                since[game].append(RecordedChange(n, at_ms, decode_step(step)))
        rows = self._connection.execute(
            "SELECT game, n, measure, CASE WHEN measure IS ? THEN rest END, sum"
            " FROM games ORDER BY opened",
            (measure,),
        )
        games = []
        for game, n, stored_measure, rest, record in rows:
            is_damaged = rest is not None and record not in (
                None,
                compute_checksum(game, n, stored_measure, rest),
            )
            if is_damaged:
                log.error("journal %s: the stored game %s is damaged", self._path, game)
                rest = None
            changes = tuple(since.get(game, ()))
            games.append(RestorableGame(game, rest, changes, is_damaged))
        return games

    def read_result(
        self, identity: str, search_key: SearchKey
    ) -> tuple[SearchResult, int | None] | None:
        """Return the result of a search by this engine, and its time, milliseconds
        since 1970 UTC.

        The time is None if it is unknown. Return None if there is no readable result.
        """
        key = hash_search(identity, search_key)
        row = self._connection.execute(
            "SELECT result, at_ms, sum FROM results WHERE key = ?", (key,)
        ).fetchone()
        if row is None or (
            row[2] is not None and row[2] != compute_checksum(key, *row[:2])
        ):
            return None
        with contextlib.suppress(ValueError, TypeError):
            return decode_result(row[0]), row[1]
        return None

    def read_answer(self, question: HumanQuestion) -> tuple[int, HumanAnswer] | None:
        """Return the time of an answer about human moves, milliseconds since 1970 UTC,
        and the answer.

        Return None if there is no readable answer.
        """
        rows = self._connection.execute(
            "SELECT answer, at_ms FROM human WHERE key = ?", (question.digest,)
        )
        with contextlib.suppress(ValueError, TypeError):
            for answer, at_ms in rows:
                return at_ms, decode_answer(answer)
        return None

    def has_human_answers(self) -> bool:
        """Return whether at least one answer about human moves is stored."""
        return bool(self._connection.execute("SELECT 1 FROM human LIMIT 1").fetchone())

    def read_runs(self) -> list[tuple[int, int, JournalRun]]:
        """Return the number, time (milliseconds since 1970 UTC) and description of each
        start of the service.
        """
        rows = self._connection.execute(
            "SELECT run, at_ms, about FROM runs ORDER BY run"
        )
        return [
            (run, at_ms, decode_run(body))
            for run, at_ms, body in rows
            if self._is_good("runs", run)
        ]

    def read_changes(self, to_ms: int | None = None) -> Iterator[RecordedChange]:
        """Yield the changes until the time ``to_ms``, milliseconds since 1970 UTC, in
        order.
        """
        rows = self._connection.execute(
            "SELECT n, at_ms, game, step FROM changes WHERE ?1 IS NULL"
            " OR n <= (SELECT max(n) FROM changes WHERE at_ms <= ?1) ORDER BY n",
            (to_ms,),
        )
        games: dict[GameId, None] = {}
        for n, at_ms, game, step in rows:
            if game and self._is_good("changes", n):
                games[game] = None
                yield RecordedChange(n, at_ms, decode_step(step))
            elif not game:
                # In earlier versions, this record means that all games are gone. The
                # records after it contain the games that continue.
                yield from (RecordedChange(n, at_ms, GameGone(id)) for id in games)
                games.clear()

    def read_changes_by_running_time(
        self, within_ms: float
    ) -> list[RecentChange] | None:
        """Return the changes of the last ``within_ms`` milliseconds of running time, in
        order.

        Time between two runs does not count, nor does time that the computer's clock
        skipped when it was set forward. Return None if damage hides the contents or the
        age of a change.
        """
        spans = self._connection.execute(
            "SELECT run, min(at_ms), max(at_ms) FROM"
            " (SELECT run, at_ms FROM runs WHERE is_good('runs', run)"
            " UNION ALL SELECT run, at_ms FROM changes WHERE is_good('changes', n)"
            " UNION ALL SELECT run, at_ms FROM notes WHERE is_good('notes', n))"
            " GROUP BY run"
        ).fetchall()
        notes = self.read_notes()
        steps = [
            (note.run, note.at_ms, int(note.body))
            for note in notes
            if note.kind == CLOCK_NOTE
        ]
        last: dict[int, int] = {run: last_ms for run, _, last_ms in spans}

        def left_ms(run: int, at_ms: int) -> int:
            """Return the milliseconds from a time to the end of its run, without jumps
            of the clock.
            """
            stepped = sum(
                by_ms
                for step_run, to_ms, by_ms in steps
                if step_run == run and to_ms > at_ms
            )
            return max(0, last[run] - at_ms - stepped)

        # For each run, the milliseconds from its end to the end of the journal.
        after: dict[int, float] = {}
        passed = 0.0
        for run, first_ms, _ in sorted(spans, reverse=True):
            after[run] = passed
            passed += left_ms(run, first_ms)
        # A damaged note might have recorded a jump of the clock, which matters only if
        # the note is recent.
        if damaged_notes := self._damaged_rows.get("notes"):
            newer_notes = (note for note in notes if note.n > max(damaged_notes))
            since_ms = (
                after[note.run] + left_ms(note.run, note.at_ms) for note in newer_notes
            )
            if max(since_ms, default=0.0) < within_ms:
                return None
        changes: list[RecentChange] = []
        for n, at_ms, run, game, step in self._connection.execute(
            "SELECT n, at_ms, run, game, step FROM changes ORDER BY n DESC"
        ):
            if not self._is_good("changes", n):
                return None
            passed_ms = after[run] + left_ms(run, at_ms)
            if passed_ms >= within_ms:
                break
            change = None
            with contextlib.suppress(ValueError):
                change = RecordedChange(n, at_ms, decode_step(step))
            changes.append((passed_ms, game, change))
        return changes[::-1]

    def read_last_change_times(self) -> dict[GameId, int]:
        """Return the time of the last change of each open game, milliseconds since 1970
        UTC.
        """
        return dict(self._connection.execute("SELECT game, at_ms FROM games"))

    def read_changes_of_game(self, game: GameId) -> list[RecordedChange]:
        """Return the changes of a game since it was last opened, in order."""
        rows = self._connection.execute(
            "SELECT c.n, c.at_ms, c.step FROM games g JOIN changes c ON c.game = g.game"
            " AND c.n >= g.opened WHERE g.game = ? ORDER BY c.n",
            (game,),
        )
        return [
            RecordedChange(n, at_ms, decode_step(step))
            for n, at_ms, step in rows
            if self._is_good("changes", n)
        ]

    def read_memories(self, kind: str) -> dict[str, bytes]:
        """Return the stored values of this kind, by subject; skip damaged rows."""
        rows = self._connection.execute(
            "SELECT about, body, sum FROM remembered WHERE kind = ?", (kind,)
        )
        return {
            about: body
            for about, body, record in rows
            if record == compute_checksum(kind, about, body)
        }

    def read_notes(self, to_ms: int | None = None) -> list[RecordedNote]:
        """Return the notes until the time ``to_ms``, milliseconds since 1970 UTC, in
        order.
        """
        rows = self._connection.execute(
            "SELECT n, at_ms, run, game, kind, body FROM notes"
            " WHERE ?1 IS NULL OR at_ms <= ?1 ORDER BY n",
            (to_ms,),
        )
        return [RecordedNote(*row) for row in rows if self._is_good("notes", row[0])]
