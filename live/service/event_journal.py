"""The journal of a running service: which file, what goes into it, and what comes back after a
restart.

After a restart the games stand as they stood before any feed is asked, with everything that was
known of them, marked as restored until their source reports them again. A search whose result is in
the journal is not made again. Feeds report whole games, so what was missed meanwhile comes with
their first report, as the same steps as ever.
"""

import contextlib
import hashlib
import logging
import re
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import msgspec

from live import __version__
from live.config import Config, JournalConfig
from live.engine.search import ResultCache, Search, SearchResult
from live.engine.uci import EngineIdentity
from live.event.event import Event
from live.event.game_record import ArchivedValues
from live.event.requests import RequestId
from live.games.game import Game, GameConfirmed, Step
from live.journal.journal import Journal
from live.journal.journal_reader import (
    JournalRun,
    Memory,
    decode_archived,
    encode,
    hash_measure,
    replay_game,
)
from live.messages.health import FeedState, HealthReport, part_health
from live.messages.to_clients import Change, GoneMessage
from live.messages.values import FeedName, GameId
from live.process.loop_slices import SLICE_S, LoopSlices
from live.process.memory import pause_collection
from live.ratings.engine_scale import MeasuredEngine
from live.screens.terminal.text import counted

#: Sources that begin anew with each start: nothing is kept unless a file is named.
PASSING = frozenset({"demo", "standard input"})

_UNSAFE = re.compile(r"[^A-Za-z0-9]+")


def journal_path(
    config: JournalConfig, feeds: Sequence[FeedName], *, once: bool = False
) -> Path | None:
    """Which file; None for none.

    Without a name of its own it goes by the sources, whatever order they are given in, so that two
    events never mix and the same command goes on where it stopped.
    """
    if not config.enabled:
        return None
    if config.file:
        return Path(config.file)
    if once or PASSING.issuperset(feeds):
        return None
    named = sorted(feeds)
    digest = hashlib.blake2b("\x1f".join(named).encode(), digest_size=4).hexdigest()
    words = _UNSAFE.sub("-", "-".join(named)).strip("-")[:60].strip("-")
    return journals_folder() / f"{words}-{digest}.sqlite"


def journals_folder() -> Path:
    """Where journals are that were given no name."""
    import platformdirs  # only here: most commands need no journal

    return platformdirs.user_state_path("live-rate")


#: What the journal is called where parts of the service are listed.
PART = "journal"
#: A game that moves on is kept whole at most so often, seconds: what came since is replayed.
KEEP_S = 5.0
#: How long keeping games may hold up the end of the service, seconds.
LAST_S = 2.0

log = logging.getLogger(__name__)

Known = Callable[[Search], SearchResult | None]

_Kept = tuple[ArchivedValues, list[Step]]
_Standing = tuple[list[_Kept], list[Game], list[GameId]]


class EventJournal:
    """The service's side of its journal; does nothing where there is none.

    Loss policy: see :class:`live.journal.journal.Journal`.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.restored = 0
        """Games brought back at the start."""
        self.journal = Journal(path)
        self._last_problem = ""
        # Answers found in the journal while games are brought back; None when that is over.
        self._answers: deque[tuple[RequestId, SearchResult]] | None = None
        self._known: Known | None = None
        self._settings: dict[str, object] = {}
        self._state: Event | None = None
        # The particulars of this start; None before it.
        self._run: JournalRun | None = None
        # Games that have changed since they were kept, each with when to keep it again.
        self._dirty: dict[GameId, float] = {}
        self._kept_s: dict[GameId, float] = {}
        # Games that were kept and cannot be read, until they are kept again.
        self._damaged: set[GameId] = set()

    @contextlib.contextmanager
    def opened(self, config: Config) -> Iterator[ResultCache]:
        """Gives where results are looked up and put."""
        # What figures depend on, to be kept with them.
        sections = {"engine": config.engine, "rating": config.rating, "human": config.human}
        self._settings = {name: msgspec.to_builtins(each) for name, each in sections.items()}
        with self.journal:
            yield self.journal
            self._keep(time.monotonic() + LAST_S, all_of_them=True)

    # --- coming back ------------------------------------------------------------------------------

    async def restore(
        self,
        state: Event,
        identity: EngineIdentity,
        known: Known,
        limit: str,
        feeds: Sequence[FeedName],
        measured: MeasuredEngine | None = None,
    ) -> None:
        """Hold the games of before again; returns when they stand with all that was known.
        ``known`` gives results that need no search; ``limit`` is that of one, for people;
        ``measured`` is what the reference positions have shown of the engine.
        """
        if not self.journal.has_file:
            return
        run = JournalRun(
            version=__version__,
            engine_name=identity.name,
            identity=str(identity),
            limit=limit,
            feeds=tuple(feeds),
            settings=self._settings,
            measured=measured,
            measure=hash_measure(str(identity), limit, state.measure),
        )
        self._state, self._run = state, run
        began_s, slices = time.monotonic(), LoopSlices()
        with pause_collection():
            kept, others, appeared = await slices.run(self._standing(run))
            await slices.run(state.resume([values for values, _ in kept]))
        self._dirty.clear()
        self._answers, self._known = deque(), known
        missed = (_applied(state, step) for _, since in kept for step in since)
        try:
            for pieces in chain(missed, map(state.restore, others)):
                for _ in pieces:
                    await slices.yield_if_due()
                    while self._answers:
                        state.apply_result(*self._answers.popleft())
                        await slices.yield_if_due()
        finally:
            self._answers = self._known = None
        state.set_order(appeared)
        self.restored = sum(1 for _ in state.list_source_games())
        self.journal.begin_run(run)
        if self.summary:
            log.info("%s in %.1f s", self.summary, time.monotonic() - began_s)

    def _standing(self, run: JournalRun) -> Generator[None, None, _Standing]:
        """The games of the followed sources: those kept whole, with what happened since, and those
        of which only that is known. Then all, in the order they appeared. Yields after every game.
        """
        kept: list[_Kept] = []
        others: list[Game] = []
        appeared: list[GameId] = []
        waiting = deque(self.journal.read_restorable_games(run.measure))
        while waiting:
            yield
            standing = waiting.popleft()  # of 1,000 games 15 MB, which are unpacked here
            id, since = standing.game, standing.since
            appeared.append(id)
            if standing.damaged:
                self._damaged.add(id)
            if standing.kept is not None:
                values = decode_archived(id, standing.kept)
                if values is not None:
                    if values.game.feed in run.feeds:
                        kept.append((values, [each.step for each in since]))
                    continue
                # What rests on its moves is made anew from them.
                self._damaged.add(id)
                since = tuple(self.journal.read_changes_of_game(id))
            game = replay_game(id, since)
            if game is not None and game.feed in run.feeds:
                others.append(game)
        return kept, others, appeared

    @property
    def problem(self) -> str:
        """What is wrong with the journal, for people; empty when all is well, or without one."""
        if self.journal.problem:
            return self.journal.problem
        found = list(self.journal.damage)
        if lost := len(self._damaged):
            found.append(
                f"{counted(lost, 'game')} cannot be read as kept: made anew from the moves"
            )
        return f"journal {self.journal.path}: is damaged: {'; '.join(found)}" if found else ""

    @property
    def summary(self) -> str:
        """Where the event is kept and what came back of it, for people; empty without a journal,
        and where it cannot be used, which is said elsewhere (:attr:`problem`).
        """
        if not self.journal.has_file or self.journal.problem:
            return ""
        verb = f"{counted(self.restored, 'game')} restored from" if self.restored else "kept in"
        return f"{verb} {self.journal.path}"

    def answers(self, search: Search, request_id: RequestId) -> bool:
        """Whether the answer to ``ask`` is known and comes by itself."""
        known = self._known(search) if self._known is not None else None
        if known is None or self._answers is None:
            return False
        self._answers.append((request_id, known))
        return True

    def remeasured(self, measured: MeasuredEngine) -> None:
        """The engine in use has been measured, and every figure is another: all that follows
        belongs to a start of its own.
        """
        if self._state is None or self._run is None:
            return
        run, held = self._run, self._state.measure
        self._run = msgspec.structs.replace(
            run, measured=measured, measure=hash_measure(run.identity, run.limit, held)
        )
        self.journal.begin_run(self._run)
        self._dirty.update((game.id, 0.0) for game in self._state.list_source_games())

    # --- going on ---------------------------------------------------------------------------------

    def applied(self, step: Step, memories: Callable[[], Sequence[Memory]] = tuple) -> None:
        """A step has been carried out; ``memories``: what there is to remember since."""
        if isinstance(step, GameConfirmed):
            self.journal.keep_memories(memories)
        else:
            self.journal.add_change(step, memories)

    def published(self, changes: Iterable[Change]) -> None:
        """These changes have been published: their games are to be kept anew."""
        if not self.journal.has_file:
            return
        for change in changes:
            game = getattr(change, "game", None)
            if isinstance(change, GoneMessage):
                self._dirty.pop(change.game, None)
                self._kept_s.pop(change.game, None)
            elif game is not None:
                id = game if isinstance(game, str) else game.id
                if id not in self._dirty:
                    self._dirty[id] = self._kept_s.pop(id, 0.0)

    def _keep(self, end_s: float, *, all_of_them: bool = False) -> None:
        """Keep games that have changed, whole, as long as there is time for it; those that move on
        every few seconds at most.
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
                continue  # it is being searched or shared, rests already, or is gone
            if not self.journal.keep_game(game, self._run.measure, encode(archived)):
                return
            del self._dirty[game]
            self._damaged.discard(game)
            self._state.rest(archived)
            if archived.view.running:
                self._kept_s[game] = now_s + KEEP_S

    def look_after(self, report: HealthReport) -> None:
        """To be called about once a second: say what is wrong, write what had to be left out."""
        if (problem := self.problem) != self._last_problem:
            self._last_problem = problem
            if self._damaged:
                log.error("%s", problem)
            health: FeedState = "live"
            if problem:
                health = "failed" if self.journal.is_unrecoverable else "retrying"
            report(part_health(PART, health, problem))
        # Last: what was damaged is said once at least, however soon it is made good.
        self._keep(time.monotonic() + SLICE_S)


def _applied(state: Event, step: Step) -> Iterator[None]:
    """What happened to a game after it was kept."""
    try:
        state.apply(step)
    except (ValueError, KeyError, IndexError) as error:
        log.error("game %s: a change cannot be restored (%s)", step.id, error)
    yield
