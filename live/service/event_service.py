"""The parts of a running service, and their connections.

Only the task ``reports`` changes the state: reports from sources wait in a bounded
queue, answers from engines arrive in the event loop, and every change goes to the
listeners in order.

Old games are removed from memory, so that its use stays bounded over weeks. The journal
keeps them, so reports made from the journal contain them.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Sequence

import msgspec

from live.engine.engine_pool import EnginePool
from live.engine.engine_settings import describe_limit
from live.engine.engines import Engines
from live.engine.reference_searches import search_positions
from live.engine.search import Search, SearchFailure, SearchProgress, SearchResult
from live.engine.uci import EngineIdentity
from live.event.bus import Bus
from live.event.choose_measure import (
    build_engine_info,
    build_measure,
    select_models,
)
from live.event.event import Event
from live.event.game_change import EventChange, select_messages
from live.event.requests import RequestId, Urgency, build_priority
from live.games.game_retention import GameRetention
from live.games.player_lists import open_player_lists
from live.human.human_queue import HumanQueue
from live.human.question import HumanAnswer, HumanRequest
from live.journal.arbiter_notes import JournalWatchStore, reapply_rulings
from live.journal.event_journal import EventJournal, Known
from live.journal.journal_reader import Memory
from live.journal.measured_engines import keep_measured_engine, read_measured_engine
from live.journal.memories import build_memory
from live.messages.alerts import Alert
from live.messages.from_sources import FeedReport, GameReport
from live.messages.health import MeasuringProgress, part_health
from live.messages.to_clients import Change
from live.messages.values import FeedName
from live.process.loop_slices import LoopSlices
from live.process.memory import release_free_memory
from live.ratings.engine_scale import (
    MeasuredEngine,
    ScoredReference,
    load_reference,
    measure_engine,
)
from live.ratings.intrinsic_rating import predict_choices
from live.ratings.model_choice import Models
from live.server.public_audience import PublicAudience
from live.settings import Config
from live.sources.source_inbox import SourceInbox
from live.watch.arbiter_desk import ArbiterDesk
from live.watch.moment_watch import MomentWatch
from live.watch.overload import describe_overload

log = logging.getLogger(__name__)


#: Time between two messages about the engines, in seconds.
HEALTH_PERIOD_S = 1.0


class EventService:
    """The parts of a running service, and their connections."""

    def __init__(
        self,
        config: Config,
        journal: EventJournal | None = None,
        *,
        human: bool = False,
    ) -> None:
        """Create the parts; ``human``: use the network of human moves, unless the
        settings forbid it.
        """
        self.config = config
        self.lists = open_player_lists(config.feeds)
        self.journal = journal or EventJournal()
        self.state: Event
        self._human: HumanQueue | None = None
        if human and config.human.enabled:
            self._human = HumanQueue(config.human, self.journal.journal, self._answered)
        # None if scores come from elsewhere, or before the engines run.
        self._engines: Engines | None = None
        self.bus = Bus()
        self._changed = asyncio.Event()
        self.inbox = SourceInbox(
            self.take,
            self._list_known_games,
            lambda feed: self.state.find_feed_health(feed),
            lambda health: self.state.update_feed_health(health),
            self.wait_until_rated,
            # A takeback can cancel the last search that was waited for.
            on_done=self._changed.set,
        )
        self.public: PublicAudience | None = None
        """Readers without special rights, who can be shown less than the arbiters, or
        later.
        """
        store = JournalWatchStore(self.journal.journal)
        self.arbiter = ArbiterDesk(
            self.notify,
            store,
            time.time,
            lambda game: self.state.find_record(game),
            report=self.inbox.health,
            should_log=lambda: self.public is None or not self.public.is_withholding,
        )
        self.moment_watch = MomentWatch(
            # Moments are found again after a restart, so the journal does not keep
            # them.
            self.bus.publish,
            store,
            time.time,
            lambda game: self.state.game(game),
            alerts=self.alerts,
        )
        self.measured: MeasuredEngine | None = None
        """Measurements of the engine in use on the reference positions; None while
        unknown.
        """
        self._measuring: MeasuringProgress | None = None
        self._slices = LoopSlices()
        # The next call that updates the standings, while answers wait for it.
        self._rating: asyncio.Handle | None = None

    @contextlib.asynccontextmanager
    async def with_engine(
        self, *, live: bool = True, feeds: Sequence[FeedName] = ()
    ) -> AsyncIterator[None]:
        """Run the engines during the block, with the games of ``feeds`` restored from
        the journal.

        With ``live`` False, no further moves are expected, so nothing is searched
        ahead.
        """
        human = self._human
        with self.journal.opened(self.config) as cache:
            self._engines = Engines(
                self.config.engine,
                self,
                cache,
                self._predict_choices if live else None,
                (lambda game, at: self.state.find_human_shares(game, at.moves))
                if human
                else None,
            )
            asking = human.running() if human is not None else contextlib.nullcontext()
            async with self._engines.pool, asking:
                limit = describe_limit(self.config.engine)
                self.measured = read_measured_engine(str(self.pool.identity), limit)
                self.open_event(self.pool.identity.name, limit, human=human is not None)
                await self.bring_back(
                    self.pool.identity, self.pool.find_known_result, limit, feeds
                )
                for game in self.state.list_source_games():
                    is_over = game.result != "*"
                    self.retention.record_change(
                        game.id, game.feed, over=is_over, now_s=time.monotonic()
                    )
                try:
                    yield
                finally:
                    self.arbiter.record_end()
                self.journal.journal.keep_memories(self._memories())

    async def bring_back(
        self,
        identity: EngineIdentity,
        known_searches: Known,
        limit: str,
        feeds: Sequence[FeedName],
    ) -> None:
        """Restore the games of ``feeds`` and the alerts from the journal, as they
        were.
        """
        # Nobody is notified a second time of restored alerts and moments.
        self.arbiter.restoring = self.moment_watch.restoring = True
        await self.journal.restore(
            self.state, identity, known_searches, limit, feeds, self.measured
        )
        reapply_rulings(self.state, self.journal.journal.read_notes())
        self.arbiter.restoring = self.moment_watch.restoring = False
        self.arbiter.resume(self.state, feeds)
        # After the alerts, which say which results are in doubt.
        self.moment_watch.resume(self.state.games())

    @property
    def engines(self) -> Engines:
        """Engines that measure the games; :meth:`with_engine` must have been
        entered.
        """
        assert self._engines is not None, "enter with_engine first"
        return self._engines

    @property
    def pool(self) -> EnginePool:
        """Pool of the engine processes."""
        return self.engines.pool

    def _predict_choices(
        self, game: str, ply: int, behind_cp: Sequence[int]
    ) -> list[float]:
        """Return the probability that the mover of a ply chooses each move."""
        return predict_choices(self.state.find_mover_elo(game, ply), behind_cp)

    def open_event(
        self,
        engine_name: str,
        limit: str,
        *,
        engine_scores: bool = True,
        human: bool = False,
    ) -> None:
        """Start an empty event, measured by this engine.

        ``human``: whether there are answers about which moves people would play, stored
        or on request.
        """
        measure = build_measure(
            self.config,
            engine_name,
            limit,
            self.measured,
            human=human,
            engine_scores=engine_scores,
        )
        engine = build_engine_info(
            self.config.rating, engine_name, limit, measure.models
        )
        self.state = Event(
            measure,
            self,
            self.publish,
            self.alerts,
            self.ask,
            self.moment_watch.moments,
            engine=engine,
            engine_scores=engine_scores,
        )
        self.retention = GameRetention(self.config.memory.finished_after_h * 3600)

    def alerts(self) -> Sequence[Alert]:
        """Return the open alerts."""
        return self.arbiter.alerts()

    def publish(self, changes: Sequence[EventChange]) -> None:
        """Send changes of the state, and the alerts that they raise, to the
        listeners.
        """
        if self._engines is not None:
            self._engines.end_boards(select_messages(changes))
        self.notify(self.arbiter.with_alerts(changes))

    def notify(self, changes: Iterable[Change]) -> None:
        """Send changes, unaltered, to the search for moments, to the journal and to
        every listener.
        """
        changes = list(changes)
        self.moment_watch.follow(changes)
        self.journal.mark_changed(changes)
        self.bus.publish(changes)

    # --- searches requested by the state ----------------------------------------------

    def submit(self, search: Search, request_id: RequestId, urgency: Urgency) -> None:
        if self.journal.answer_search(search, request_id):
            return
        priority = build_priority(request_id, urgency)
        self.engines.desk.submit(search, request_id, priority)

    def drop(self, request_id: RequestId) -> None:
        self.engines.desk.drop(request_id)

    def put_on_air(self, games: Iterable[str]) -> None:
        """From now on, analyse these games before all others."""
        if self._engines is not None:
            self._engines.pool.put_on_air(games)

    # --- results of searches ----------------------------------------------------------

    def on_result(
        self, owner: Hashable, search: Search, result: SearchResult | SearchFailure
    ) -> None:
        assert isinstance(owner, RequestId)
        self.state.apply_result(owner, result, rate=False)
        self._rate_soon()
        # An answer that changes nothing visible can still be the last one that was
        # waited for.
        self._changed.set()

    def _rate_soon(self) -> None:
        """Update the standings once for all answers of this turn of the event loop.

        Many boards can wait for one answer, and the standings of all boards depend on
        every player.
        """
        if self._rating is None and self.state.has_unrated:
            self._rating = asyncio.get_running_loop().call_soon(self._rate)

    def _rate(self) -> None:
        self._rating = None
        self.state.rate()
        self._changed.set()

    def on_progress(self, owner: Hashable, progress: SearchProgress) -> None:
        assert isinstance(owner, RequestId)
        self.state.apply_progress(owner, progress)

    # --- answers about human moves ----------------------------------------------------

    def ask(self, request: HumanRequest) -> None:
        """Pass a question to the network of human moves."""
        assert self._human is not None, (
            "the event asks only where there is somebody to ask"
        )
        self._human.ask(request)

    def _answered(self, request: HumanRequest, answer: HumanAnswer | None) -> None:
        self.state.apply_answer(request, answer, rate=False)
        self._rate_soon()
        if request.newest and self._engines is not None:
            self._engines.on_human_answer(request.game)
        self._changed.set()

    # --- tasks ------------------------------------------------------------------------

    def _list_known_games(self, feed: FeedName) -> list[GameReport]:
        games = self.state.list_source_games()
        return [game.to_report() for game in games if game.feed == feed]

    async def take(self, report: FeedReport) -> None:
        """Bring the state up to date with ``report``."""
        report = self.lists.complete_report(report)
        if doubts := self.lists.doubt_text:
            detail = f"in doubt, so not used: {doubts}"
            self.state.update_feed_health(part_health("rating list", "stale", detail))
        for step in self.state.plan(self.retention.drop_forgotten(report)):
            # In one transaction: if the program were killed between the two writes, the
            # alert would be raised again after the restart.
            with self.journal.journal.transaction():
                self.state.apply(step)
                self.journal.add_step(step, self._memories())
            self.retention.record_step(
                step, self.state.get_shown_game(step.id), time.monotonic()
            )
            await self._slices.yield_if_due()

    async def watch_engines(self) -> None:
        while True:
            await asyncio.sleep(HEALTH_PERIOD_S)
            # Not earlier: with a mistyped address the program ends at once, and should
            # not leave a journal behind.
            self.arbiter.record_start(self.public.delay_s if self.public else 0.0)
            self.report_engines()
            self.arbiter.tick()
            self.moment_watch.tick()
            released = list(
                self.retention.forget_old_games(self.state.forget, time.monotonic())
            )
            for game in released:
                log.info("game %s ended long ago and was removed from memory", game.id)
            if released:
                release_free_memory()
            self.journal.report_and_save(self.inbox.health)

    def _memories(self) -> list[Memory]:
        memories = [*self.arbiter.memories(), *self.moment_watch.memories()]
        return [build_memory(*memory) for memory in memories]

    @property
    def unmeasured(self) -> bool:
        """Whether the figures come from models that do not know the engine in use."""
        return not self.state.measure.models.measured

    async def measure_engine(self) -> None:
        """Measure an engine that is still unknown on the reference positions, then rate
        every move again.

        The searches run while the engine has nothing else to do. Returns at once if the
        engine is known.
        """
        if not self.unmeasured:
            return
        room, config = self.pool, self.config
        name, limit = room.identity.name, describe_limit(config.engine)
        log.info("%s, %s: measured on the reference positions when idle", name, limit)
        lines = config.engine.multipv
        try:
            measured = await self._search_reference(room, lines)
        finally:
            self._measuring = None
            self.report_engines()
        if isinstance(measured, str):
            log.warning("%s, %s: %s", name, limit, measured)
            models = Models(note=f"no model for {name}, {limit}: {measured}")
        else:
            keep_measured_engine(str(room.identity), limit, measured)
            self.measured = measured
            models = select_models(
                config.rating.model, name, limit, config.rating.gain, measured
            )
        await self._slices.run(self.state.measure_by(models))
        if not isinstance(measured, str):
            log.info("%s, %s: %s", name, limit, self.state.engine().note)
            self.journal.begin_measured_run(measured)

    async def _search_reference(
        self, pool: EnginePool, lines: int
    ) -> MeasuredEngine | str:
        reference = load_reference()
        fens = [position.fen for position in reference.positions]
        searches = await search_positions(
            fens, pool, lines=lines, on_progress=self._show_measuring
        )
        scored = [
            None if search is None else ScoredReference(search.score.cp, search.nodes)
            for search in searches
        ]
        return measure_engine(reference, scored)

    def _show_measuring(self, measured: int, of: int) -> None:
        self._measuring = MeasuringProgress(measured, of)
        if measured % max(1, of // 20) == 0:
            self.report_engines()

    def report_engines(self) -> None:
        """Send current figures about the engines and about reports that were not taken
        in.
        """
        # Without the number of failures: otherwise a listener that fails on this
        # message would change the number and cause the message again.
        if self.bus.missed:
            reason = (
                "a program fault caused missed changes: the log says where;"
                " restart live-rate"
            )
            self.state.update_feed_health(part_health("changes", "failed", reason))
        health = self.engines.report_health()
        updates: dict[str, object] = {"measuring": self._measuring}
        if self._human is not None:
            updates["human"] = self._human.report_health()
        if health.queued:
            updates["behind"] = describe_overload(self.state.list_records())
        self.state.update_engine_health(msgspec.structs.replace(health, **updates))

    def busy(self) -> bool:
        """Return whether a report or a search is waiting."""
        return not self.inbox.is_empty or not self.state.is_analysed

    async def settled(self) -> None:
        """Return when every report is taken in and every search is answered."""
        await self._until(lambda: self.state.is_analysed)

    async def wait_until_rated(self) -> None:
        """Return when every report is taken in and every figure includes all moves."""
        await self._until(lambda: self.state.is_rated)

    async def _until(self, is_done: Callable[[], bool]) -> None:
        await self.inbox.wait_until_empty()
        while not is_done():
            self._changed.clear()
            await self._changed.wait()
