"""What a journal keeps, as values, and what it says: for a restart, and for the
commands that read a finished or running event. Steps of games are those of
:mod:`live.games.game`.

Reading waits for nobody: a writer in another process or thread is not in its way
(SQLite, WAL).

Figures of a game are kept ready, so that a restart need not work them out again. They
count only under the very measure they were made with; under any other they are made
anew from changes and results.
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
from live.engine.search import SearchKey, SearchResult
from live.errors import InputError
from live.event.game_record import ArchivedDetails, ArchivedValues
from live.event.rate_game import Measure
from live.games.game import Game, GameGone, Step, apply_or_none
from live.human.question import HumanAnswer, HumanQuestion
from live.journal.journal_file import (
    OLDEST_READABLE,
    RECORDS,
    VERSION,
    ForeignDatabase,
    build_damage_error,
    build_missing_error,
    build_unreadable_error,
    check_pages,
    compute_checksum,
    find_damaged_rows,
    hash_search,
    open_connection,
    read_version,
)
from live.messages.values import FeedName, GameId, Value
from live.ratings.engine_scale import MeasuredEngine

log = logging.getLogger(__name__)

#: Of notes that say by how many milliseconds the machine's clock was put forward just
#: then.
CLOCK_NOTE = "clock"


class JournalRun(msgspec.Struct, frozen=True, kw_only=True):
    """One start of the service: its version, and what everything since was measured
    with.
    """

    version: str
    engine_name: str
    identity: str
    """Engine name and options: what results depend on besides the question."""
    limit: str
    """As it is shown to people."""
    feeds: tuple[FeedName, ...] = ()
    settings: dict[str, object] = {}
    """Of ``[engine]`` and ``[rating]``, as they were."""
    measured: MeasuredEngine | None = None
    """What reference positions have shown of the engine, where figures rest on that."""
    measure: bytes = b""
    """Equal where figures kept ready are still right."""


class RecordedChange(Value):
    """A change of a game, with its number and time."""

    n: int
    at_ms: int
    step: Step


RecentChange = tuple[float, GameId, RecordedChange | None]
"""How long before the journal's last record, milliseconds, to which game (empty, of
earlier versions: all), and what; None where that cannot be decoded.
"""


class RecordedNote(Value):
    """A note about the event or one game, with its time. ``body`` is JSON."""

    n: int
    at_ms: int
    run: int
    game: GameId
    """Empty: about no single game."""
    kind: str
    body: bytes


class Memory(NamedTuple):
    """What is remembered about something now; ``body`` None: nothing any more."""

    kind: str
    about: str
    """A game, a source, or nothing."""
    body: bytes | None


class RestorableGame(Value):
    """A game to go on with: its kept values, if any, and its changes since."""

    game: GameId
    kept: bytes | None
    """As :class:`live.event.game_record.ArchivedValues`."""
    since: tuple[RecordedChange, ...]
    damaged: bool = False
    """Whether it had been kept, and that cannot be used any more."""


def _decode_text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _encode_array(value: object) -> object:
    """Encode an array, which msgpack does not know, as shape and bytes."""
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes()
    raise NotImplementedError(f"{type(value).__name__} cannot be kept")


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
    """Return a digest that is equal when figures are: it covers all that they depend
    on, and the shape in which they are kept.
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
    """Return a game's kept values, or None if they cannot be read."""
    try:
        return _decode_archived(data)
    except (msgspec.MsgspecError, TypeError, UnicodeError) as error:
        log.error("game %s: what was kept of it cannot be read (%s)", game, error)
        return None


def replay_game(id: GameId, changes: Iterable[RecordedChange]) -> Game | None:
    """Return the game that these changes lead to, or None if they do not fit
    together.
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


#: What people call the tables that are looked at when the file is opened.
_TABLE_NAMES = {
    "changes": "changes",
    "notes": "notes",
    "runs": "starts of the service",
    "games": "games as they stood",
    "remembered": "what alerts and moments rest on",
}
#: One row of these costs no more than a search or an answer, and they are most of the
#: file.
_RESULT_TABLE_NAMES = {
    "results": "results of searches",
    "human": "what players would play",
}


class JournalReader:
    """A connection that only reads. Close it, or use it as a context manager."""

    def __init__(self, path: Path) -> None:
        """Raises sqlite3.Error, or
        :class:`live.journal.journal_file.ForeignDatabase` for what is no journal.
        """
        self._path = path
        self._connection = open_connection(path, busy_s=0)
        self._connection.execute("PRAGMA query_only = ON")
        # A damaged text has another checksum however it is read.
        self._connection.text_factory = _decode_text
        self._connection.create_function("is_good", 2, self._is_good)
        # Records that are damaged, by table.
        self._damaged_rows: dict[str, frozenset[Any]] = {}

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a journal for a command.

        Raises:
            InputError: there is no such file, or it is no journal of this version.
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
        """Raise InputError for a version that cannot be read; log damage."""
        version = read_version(self._connection)
        if version == 0:
            raise InputError(
                str(self._path), "holds no event yet", "Follow one with it first"
            )
        if version < OLDEST_READABLE:
            remedy = "Follow an event with it once, which brings it up to date"
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
        """Raises InputError for what turned out unreadable on the way."""
        self.close()
        # TypeError: a value of another type than the table's, which only damage brings
        # about.
        if isinstance(
            error, sqlite3.Error | msgspec.DecodeError | TypeError | UnicodeError
        ):
            raise build_damage_error(self._path, error) from None

    def close(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            self._connection.close()

    def read_last_numbers(self) -> tuple[int, int, int]:
        """Return the numbers of the last run, change and note; 0 for none."""
        row = self._connection.execute(
            "SELECT (SELECT ifnull(max(run), 0) FROM runs),"
            " (SELECT ifnull(max(n), 0) FROM changes),"
            " (SELECT ifnull(max(n), 0) FROM notes)"
        ).fetchone()
        return row[0], row[1], row[2]

    def find_problems(self, *, results: bool = False) -> list[str]:
        """Check pages and rows, and skip damaged ones from now on; return what is
        wrong. With ``results``, check also what searches and the network found.
        """
        found: list[str] = []
        rows = self._connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
        )
        # Earlier versions had fewer.
        tables = {name for (name,) in rows}
        for table, what in (
            _TABLE_NAMES | _RESULT_TABLE_NAMES if results else _TABLE_NAMES
        ).items():
            if table not in tables:
                continue
            if wrong := check_pages(self._connection, table):
                more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
                found.append(
                    f"{what}: pages of the file are damaged ({wrong[0]}{more})"
                )
            bad = find_damaged_rows(self._connection, table) if table in RECORDS else []
            self._damaged_rows[table] = frozenset(bad)
            if bad:
                found.append(f"{what}: {len(bad)} damaged, and left out")
        return found

    def _is_good(self, table: str, n: int) -> bool:
        return n not in self._damaged_rows.get(table, ())

    def read_restorable_games(self, measure: bytes) -> list[RestorableGame]:
        """Return the games that were open last, in the order they appeared, each with
        the changes to apply to it.

        What was kept under another ``measure`` is as if it had not been; a change that
        cannot be decoded is left out.
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
        found = []
        for game, n, of, rest, record in rows:
            changes = tuple(since.get(game, ()))
            is_damaged = rest is not None and record not in (
                None,
                compute_checksum(game, n, of, rest),
            )
            if is_damaged:
                log.error(
                    "journal %s: game %s as it was kept is damaged", self._path, game
                )
                rest = None
                changes = tuple(self.read_changes_of_game(game))
            found.append(RestorableGame(game, rest, changes, is_damaged))
        return found

    def read_result(
        self, identity: str, search_key: SearchKey
    ) -> tuple[SearchResult, int | None] | None:
        """Return what this engine found and when, in milliseconds; None if it was not
        asked or the result is unreadable.
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
        """Return when an answer about human moves came, in milliseconds, and the
        answer; None if there is none or it is unreadable.
        """
        rows = self._connection.execute(
            "SELECT answer, at_ms FROM human WHERE key = ?", (question.digest,)
        )
        with contextlib.suppress(ValueError, TypeError):
            for answer, at_ms in rows:
                return at_ms, decode_answer(answer)
        return None

    def has_human_answers(self) -> bool:
        """Return whether any answer about human moves was kept."""
        return bool(self._connection.execute("SELECT 1 FROM human LIMIT 1").fetchone())

    def read_runs(self) -> list[tuple[int, int, JournalRun]]:
        """Return number, time (milliseconds) and particulars of each start of the
        service.
        """
        rows = self._connection.execute(
            "SELECT run, at_ms, about FROM runs ORDER BY run"
        )
        return [
            (run, at_ms, decode_run(about))
            for run, at_ms, about in rows
            if self._is_good("runs", run)
        ]

    def read_changes(self, to_ms: int | None = None) -> Iterator[RecordedChange]:
        """Yield all changes in order, up to the last one not later than ``to_ms``."""
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
                # Of earlier versions: all games follow as they stood then.
                yield from (RecordedChange(n, at_ms, GameGone(each)) for each in games)
                games.clear()

    def read_recent_changes(self, within_ms: float) -> list[RecentChange] | None:
        """Return the changes of the last ``within_ms`` in order; None if damage hides
        what they are or how long ago they were.

        Between two starts no time passes, nor where the machine's clock was put
        forward.
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
            """Return the time from then to the end of the run, without clock steps."""
            stepped = sum(
                by_ms for of, to_ms, by_ms in steps if of == run and to_ms > at_ms
            )
            return max(0, last[run] - at_ms - stepped)

        # From the end of each run to the end of the journal.
        after: dict[int, float] = {}
        passed = 0.0
        for run, first_ms, _ in sorted(spans, reverse=True):
            after[run] = passed
            passed += left_ms(run, first_ms)
        # A damaged note may have said that the clock was put forward, unless that was
        # long ago.
        if bad := self._damaged_rows.get("notes"):
            newer = (note for note in notes if note.n > max(bad))
            since_ms = (
                after[note.run] + left_ms(note.run, note.at_ms) for note in newer
            )
            if max(since_ms, default=0.0) < within_ms:
                return None
        found: list[RecentChange] = []
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
            found.append((passed_ms, game, change))
        return found[::-1]

    def read_last_change_times(self) -> dict[GameId, int]:
        """Return when each open game changed last, in milliseconds."""
        return dict(self._connection.execute("SELECT game, at_ms FROM games"))

    def read_changes_of_game(self, game: GameId) -> list[RecordedChange]:
        """Return the changes of a game since it was opened last, in order."""
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
        """Return what is remembered of this kind, by what it is about; skip damaged
        rows.
        """
        rows = self._connection.execute(
            "SELECT about, body, sum FROM remembered WHERE kind = ?", (kind,)
        )
        return {
            about: body
            for about, body, record in rows
            if record == compute_checksum(kind, about, body)
        }

    def read_notes(self, to_ms: int | None = None) -> list[RecordedNote]:
        """Return all notes in order, up to a time."""
        rows = self._connection.execute(
            "SELECT n, at_ms, run, game, kind, body FROM notes"
            " WHERE ?1 IS NULL OR at_ms <= ?1 ORDER BY n",
            (to_ms,),
        )
        return [RecordedNote(*row) for row in rows if self._is_good("notes", row[0])]
