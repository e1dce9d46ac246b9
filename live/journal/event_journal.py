"""The journal of a running event: its file, its contents, and restoring after a
restart.

Before any source is followed, the games of the previous run are restored with all their
values. They are marked as restored until their source reports them again. A search
whose result is in the journal is not repeated. Sources report whole games, so the first
report of a game contains the moves that were played during the restart.
"""

import contextlib
import hashlib
import logging
import re
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from live import __version__
from live.engine.requests import RequestId, SearchRequest
from live.engine.result_cache import ResultCache
from live.engine.search import Search, SearchResult
from live.event.bus import TakeChanges
from live.event.event import Event
from live.event.game_change import EventChange, ReportedStep, select_messages
from live.event.game_record import ArchivedValues
from live.games.game import Game, GameConfirmed, Step
from live.journal.journal import Journal
from live.journal.journal_reader import (
    JournalRun,
    Memory,
    RecordedChange,
    decode_archived,
    encode,
    hash_measure,
    replay_game,
)
from live.journal.measured_engines import EngineInUse
from live.journal.unused_journal import remove_unused_journal
from live.messages.health import FeedState, HealthReport, part_health
from live.messages.to_clients import Change, GoneMessage, MomentMessage
from live.messages.values import FeedName, GameId, Value
from live.process.loop_slices import SLICE_S, LoopSlices
from live.process.memory import pause_collection
from live.ratings.engine_scale import MeasuredEngine
from live.settings import Config, JournalConfig
from live.watch.finding import format_count

#: Sources that start from the beginning each time. Their events are stored only if the
#: settings name a journal.
PASSING = frozenset({"demo", "standard input"})

_UNSAFE = re.compile(r"[^A-Za-z0-9]+")


class JournalPlace(Value):
    """Where the journal of an event is written."""

    path: Path | None = None
    """None if no journal is to be written."""
    is_named: bool = False
    """Whether a person named the file. It then stays, even if nothing is in it."""


def find_journal_place(
    config: JournalConfig, feeds: Sequence[FeedName], *, once: bool = False
) -> JournalPlace:
    """Return where the journal of an event of these sources is written.

    If the settings give no path, the file name is derived from the sources,
    independently of their order. So two events never share a journal, and a restart
    with the same sources continues the same journal.
    """
    if not config.enabled:
        return JournalPlace()
    if config.file:
        return JournalPlace(Path(config.file), is_named=True)
    if once or PASSING.issuperset(feeds):
        return JournalPlace()
    names = sorted(feeds)
    digest = hashlib.blake2b("\x1f".join(names).encode(), digest_size=4).hexdigest()
    words = _UNSAFE.sub("-", "-".join(names)).strip("-")[:60].strip("-")
    return JournalPlace(journals_folder() / f"{words}-{digest}.sqlite")


def journals_folder() -> Path:
    """Return the folder for journals whose path is not in the settings."""
    import platformdirs  # imported here because most commands need no journal

    return platformdirs.user_state_path("live-rate")


#: Name of the journal in lists of the service's parts.
PART = "journal"
#: Minimum time between two snapshots of a game in progress, seconds. After a restart,
#: later changes are applied to the snapshot.
KEEP_S = 5.0
#: Maximum time spent on snapshots of games when the service ends, seconds.
LAST_S = 2.0

log = logging.getLogger(__name__)

Known = Callable[[Search], SearchResult | None]

_Archived = tuple[ArchivedValues, list[Step]]
_Games = tuple[list[_Archived], list[Game], list[GameId]]


class EventJournal:
    """Writes an event to its journal and restores it. Does nothing if there is no
    journal.

    If the file cannot be written, see :class:`live.journal.journal.Journal` for what
    can be lost.

    Args:
        path: path of the file; None for no journal.
        removes_unused: whether the file is removed at the end if nothing was kept in
            it. That is wanted unless a person named the file.
    """

    def __init__(
        self, path: Path | None = None, *, removes_unused: bool = False
    ) -> None:
        self._removes_unused = removes_unused
        self.restored = 0
        """Number of games restored at the start."""
        self.journal = Journal(path)
        self._last_problem = ""
        self.read_memories: Callable[[], Sequence[Memory]] = tuple
        """Return the values to store with a step. The parts whose values these are must
        follow the event before the journal does.
        """
        self._settings: dict[str, object] = {}
        self._state: Event | None = None
        # Description of this run; None before it starts.
        self._run: JournalRun | None = None
        # Games that have changed since their last snapshot. The value is the earliest
        # time of the next snapshot, seconds of the monotonic clock.
        self._dirty: dict[GameId, float] = {}
        self._kept_s: dict[GameId, float] = {}
        # Games with an unreadable snapshot that has not been replaced yet.
        self._damaged: set[GameId] = set()

    @contextlib.contextmanager
    def opened(self, config: Config) -> Iterator[ResultCache]:
        """Open the journal for the duration of the block; yield the cache of search
        results.
        """
        # Settings that influence the computed values, stored together with them.
        self._settings = {
            "engine": msgspec.to_builtins(config.engine),
            "rating": msgspec.to_builtins(config.rating),
            "human": msgspec.to_builtins(config.human),
        }
        try:
            with self.journal:
                yield self.journal
                self._write_due_snapshots(time.monotonic() + LAST_S, all_of_them=True)
        finally:
            if self._removes_unused and self.journal.has_file:
                remove_unused_journal(self.journal.path)

    # --- restart ----------------------------------------------------------------------

    async def restore(
        self,
        state: Event,
        publish: TakeChanges,
        engine: EngineInUse,
        find_result: Known,
        feeds: Sequence[FeedName],
    ) -> None:
        """Restore the games of the previous run with all their values.

        Args:
            state: an empty event.
            publish: receives the changes, without the searches whose results are known.
            engine: the engine that measures the games.
            find_result: returns the result of a search if it is known.
            feeds: sources whose games are restored.
        """
        if not self.journal.has_file:
            return
        run = JournalRun(
            version=__version__,
            engine_name=engine.identity.name,
            identity=str(engine.identity),
            limit=engine.limit,
            feeds=tuple(feeds),
            settings=self._settings,
            measured=engine.measured,
            measure=hash_measure(str(engine.identity), engine.limit, state.measure),
        )
        self._state, self._run = state, run
        began_s = time.monotonic()
        slices = LoopSlices()
        with pause_collection():
            archived, unarchived, appeared = await slices.run(self._read_games(run))
            publish(await slices.run(state.resume([values for values, _ in archived])))
        self._dirty.clear()
        answers = KnownAnswers(find_result)
        for changes in _restore_games(state, archived, unarchived):
            publish(answers.drop_known_requests(changes))
            await slices.yield_if_due()
            while answers.found:
                changes = state.apply_result(*answers.found.popleft())
                publish(answers.drop_known_requests(changes))
                await slices.yield_if_due()
        state.set_order(appeared)
        self.restored = sum(1 for _ in state.list_source_games())
        self.journal.begin_run(run)
        if self.summary:
            log.info("%s in %.1f s", self.summary, time.monotonic() - began_s)

    def _read_games(self, run: JournalRun) -> Generator[None, None, _Games]:
        """Return the games of the followed sources. Yields None before each game.

        Returns:
            The games with a snapshot, each with its later changes; the games without a
            snapshot; and the ids of all games in the order in which they appeared.
        """
        archived: list[_Archived] = []
        unarchived: list[Game] = []
        appeared: list[GameId] = []
        waiting = deque(self.journal.read_restorable_games(run.measure))
        while waiting:
            yield
            # Games are decoded one by one, because 1,000 decoded games take 15 MB.
            stored = waiting.popleft()
            id = stored.game
            appeared.append(id)
            values = None
            is_damaged = stored.damaged
            if stored.archived is not None:
                values = decode_archived(id, stored.archived)
                is_damaged = values is None
            if values is not None:
                if values.game.feed in run.feeds:
                    archived.append((values, [change.step for change in stored.since]))
                continue
            changes: Sequence[RecordedChange] = stored.since
            if is_damaged:
                # Everything is computed again from the moves.
                self._damaged.add(id)
                changes = self.journal.read_changes_of_game(id)
            game = replay_game(id, changes)
            if game is not None and game.feed in run.feeds:
                unarchived.append(game)
        return archived, unarchived, appeared

    @property
    def problem(self) -> str:
        """Text for people about the journal's problem; empty if there is none."""
        if self.journal.problem:
            return self.journal.problem
        damage = list(self.journal.damage)
        if self._damaged:
            games = format_count(len(self._damaged), "game")
            damage.append(f"{games} cannot be read as stored: rebuilt from the moves")
        if not damage:
            return ""
        return f"journal {self.journal.path}: is damaged: {'; '.join(damage)}"

    @property
    def summary(self) -> str:
        """Text for people about the journal's path and the number of restored games.

        Empty without a journal, or if the journal has a problem (see :attr:`problem`).
        """
        if not self.journal.has_file or self.journal.problem:
            return ""
        if not self.restored:
            return f"kept in {self.journal.path}"
        games = format_count(self.restored, "game")
        return f"{games} restored from {self.journal.path}"

    def begin_measured_run(self, measured: MeasuredEngine) -> None:
        """Start a new run of the journal, because measuring the engine changes all
        computed values.
        """
        if self._state is None or self._run is None:
            return
        run = self._run
        measure = hash_measure(run.identity, run.limit, self._state.measure)
        self._run = msgspec.structs.replace(run, measured=measured, measure=measure)
        self.journal.begin_run(self._run)
        self._dirty.update((game.id, 0.0) for game in self._state.list_source_games())

    # --- changes ----------------------------------------------------------------------

    def follow(self, changes: Iterable[EventChange]) -> None:
        """Store the steps of reports, and note which games need a new snapshot."""
        if not self.journal.has_file:
            return
        for change in changes:
            if isinstance(change, ReportedStep):
                self._add_step(change.step)
        self._mark_changed(select_messages(changes))

    def _add_step(self, step: Step) -> None:
        """Store a step that has been applied to the event, together with memories."""
        memories = self.read_memories()
        if isinstance(step, GameConfirmed):
            self.journal.keep_memories(memories)
        else:
            self.journal.add_change(step, memories)

    def _mark_changed(self, changes: Iterable[Change]) -> None:
        """Mark the games of these changes as needing a new snapshot."""
        for change in changes:
            if isinstance(change, MomentMessage):
                continue  # moments are computed again after a restart
            game = getattr(change, "game", None)
            if isinstance(change, GoneMessage):
                self._dirty.pop(change.game, None)
                self._kept_s.pop(change.game, None)
            elif game is not None:
                id = game if isinstance(game, str) else game.id
                if id not in self._dirty:
                    self._dirty[id] = self._kept_s.pop(id, 0.0)

    def _write_due_snapshots(self, end_s: float, *, all_of_them: bool = False) -> None:
        """Write snapshots of changed games until ``end_s``, seconds of the monotonic
        clock.

        Games in progress get one snapshot every few seconds at most, unless
        ``all_of_them`` is set.
        """
        if self._state is None or self._run is None or self.journal.problem:
            return
        now_s = time.monotonic()
        for game, not_before_s in list(self._dirty.items()):
            if now_s < not_before_s and not all_of_them:
                continue
            if time.monotonic() > end_s:
                return
            archived = self._state.archive(game)
            if archived is None:
                # The game has open searches, is reported by several sources, has
                # already been archived, or no longer exists.
                continue
            if not self.journal.store_game_snapshot(
                game, self._run.measure, encode(archived)
            ):
                return
            del self._dirty[game]
            self._damaged.discard(game)
            self._state.rest(archived)
            if archived.view.running:
                self._kept_s[game] = now_s + KEEP_S

    def report_and_save(self, report: HealthReport) -> None:
        """Report the journal's problem, and write snapshots that are due.

        Call this about once a second.
        """
        problem = self.problem
        if problem != self._last_problem:
            self._last_problem = problem
            if self._damaged:
                log.error("%s", problem)
            health: FeedState = "live"
            if problem:
                health = "failed" if self.journal.is_unrecoverable else "retrying"
            report(part_health(PART, health, problem))
        # Snapshots can repair damage. They are written last, so that the damage is
        # reported before.
        self._write_due_snapshots(time.monotonic() + SLICE_S)


class KnownAnswers:
    """Results of an earlier run for searches that are requested again.

    Args:
        find_result: returns the result of a search if it is known.
    """

    def __init__(self, find_result: Known) -> None:
        self._find_result = find_result
        self.found: deque[tuple[RequestId, SearchResult]] = deque()
        """Known results of requests, in the order of the requests."""

    def drop_known_requests(self, changes: Iterable[EventChange]) -> list[EventChange]:
        """Return the changes without the search requests whose results are known.

        The known results are added to :attr:`found`.
        """
        others: list[EventChange] = []
        for change in changes:
            result = None
            if isinstance(change, SearchRequest):
                result = self._find_result(change.search)
                if result is not None:
                    self.found.append((change.id, result))
            if result is None:
                others.append(change)
        return others


def _restore_games(
    state: Event, archived: Sequence[_Archived], unarchived: Sequence[Game]
) -> Iterator[Sequence[EventChange]]:
    """Apply later changes to games with a snapshot, and restore games without a
    snapshot.

    Yields the changes of the event after every step.
    """
    for _, since in archived:
        for step in since:
            try:
                yield state.apply_step(step)
            except (ValueError, KeyError, IndexError) as error:
                log.error("game %s: a change cannot be restored (%s)", step.id, error)
    for game in unarchived:
        yield from state.restore(game)
