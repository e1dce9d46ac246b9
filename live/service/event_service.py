"""The parts of a running service and how they call each other.

State has one writer, the task ``keep``: reports wait in a bounded queue, answers of
engines come on the loop's own turn, and every change goes to the listeners in the order
it happened.

Old games are let go, so that memory stays bounded over weeks; the journal keeps them,
and reports made from it hold them.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Sequence

import msgspec

from live.config import Config
from live.engine.engine_pool import EnginePool
from live.engine.move_forecast import ForecastPolicy, rank_speculation
from live.engine.search import Search, SearchFailure, SearchProgress, SearchResult
from live.engine.search_queue import SearchKind, SearchPriority
from live.engine.uci import EngineIdentity
from live.errors import FeedError
from live.event.event import Event
from live.event.game_change import EventChange, select_messages
from live.event.game_record import GameRecord
from live.event.requests import RequestId, Urgency
from live.games.game import side_to_play
from live.games.game_retention import GameRetention
from live.games.player_lists import open_player_lists
from live.human.human_queue import HumanQueue
from live.human.question import HumanAnswer, HumanRequest
from live.journal.arbiter_notes import BoardRuling, reapply_rulings, write_note
from live.journal.event_journal import EventJournal, Known
from live.journal.journal_reader import Memory
from live.messages.alerts import Alert
from live.messages.figures import EngineInfo, PlyView
from live.messages.from_sources import FeedReport, GameReport, Player
from live.messages.health import FeedHealth, MeasuringProgress, part_health
from live.messages.to_clients import Change, ChangeListener
from live.messages.values import FeedName, GameId
from live.process.loop_slices import LoopSlices
from live.process.memory import release_free_memory
from live.process.supervision import FaultLog, explain_end
from live.ratings.engine_scale import MeasuredEngine, load_reference
from live.ratings.model_choice import Models
from live.server.public_audience import PublicAudience
from live.service.alert_service import AlertService
from live.service.engine_service import (
    EngineService,
    advice,
    fitting,
    keep_measured,
    limit_text,
    measure_of,
    measured_before,
    measured_on,
)
from live.service.story_service import StoryService
from live.sources.feed import Feed, describe_failure
from live.user_files import in_print
from live.watch.finding import count_things
from live.watch.incident_log import board_words

log = logging.getLogger(__name__)


#: What the engine counts until the field has spoken, and what the field is drawn
#: towards: Algorithm 3 over an open of mean Elo 2055.
STORED_ENGINE_RATING = 2160
#: How often engine figures are sent to people, seconds.
HEALTH_PERIOD_S = 1.0
#: Reports waiting to be taken in; a feed that is faster waits.
REPORT_BACKLOG = 64

KINDS: dict[Urgency, SearchKind] = {
    "head": SearchKind.HEAD,
    "closing": SearchKind.CLOSING,
    "backlog": SearchKind.BACKLOG,
    "finished": SearchKind.FINISHED,
    # As looking ahead asks for the same scouts, so that they cost nothing there.
    "spare": SearchKind.SPECULATE,
}
_SPARE_RANK = rank_speculation(ForecastPolicy().scout)


class EventService:
    """The parts of a running service, and how they call each other."""

    def __init__(
        self, config: Config, journal: EventJournal | None = None, *, human: bool = False
    ) -> None:
        """``human``: ask the network of human moves, unless the settings say
        otherwise.
        """
        self.config = config
        self.lists = open_player_lists(config.feeds)
        self.journal = journal or EventJournal()
        self.state: Event
        self._human: HumanQueue | None = None
        if human and config.human.enabled:
            self._human = HumanQueue(config.human, self.journal.journal, self._answered)
        # None while another's scores are shown, or before they run.
        self._engines: EngineService | None = None
        self._listeners: list[ChangeListener] = []
        self._faults = FaultLog("a listener could not take in a change")
        self.public: PublicAudience | None = None
        """The public, which may be shown less than the arbiters, or later."""
        self.arbiter = AlertService(
            self.notify,
            lambda game: self.state.find_record(game),
            report=self.health,
            journal=self.journal.journal,
            should_log=lambda: self.public is None or not self.public.is_withholding,
        )
        self.story = StoryService(
            self._tell,
            lambda game: self.state.game(game),
            alerts=self.alerts,
            journal=self.journal.journal,
        )
        self._reports: asyncio.Queue[FeedReport] = asyncio.Queue(REPORT_BACKLOG)
        self._changed = asyncio.Event()
        self.measured: MeasuredEngine | None = None
        """What the reference positions have shown of the engine in use; None while not
        known.
        """
        self._measuring: MeasuringProgress | None = None
        # What feeds said before a report of theirs was lost, and what was said of the
        # loss.
        self._losses: dict[FeedName, tuple[FeedHealth, FeedHealth]] = {}
        self._slices = LoopSlices()
        # The standings' next turn, where answers wait for it.
        self._rating: asyncio.Handle | None = None
        # Feeds past their start: what fails from then on ends nothing else.
        self._reached: set[str] = set()

    @contextlib.asynccontextmanager
    async def with_engine(
        self, *, live: bool = True, feeds: Sequence[FeedName] = ()
    ) -> AsyncIterator[None]:
        """Run the engines during the block, with the games of ``feeds`` that the
        journal holds.

        ``live`` False: nobody will move, so nothing is searched ahead.
        """
        human = self._human
        with self.journal.opened(self.config) as cache:
            self._engines = EngineService(
                *(self.config, self, cache),
                self.mover_elo if live else None,
                (lambda game, at: self.state.find_human_shares(game, at.moves)) if human else None,
            )
            asking = human.running() if human is not None else contextlib.nullcontext()
            async with self._engines.room, asking:
                limit = limit_text(self.config.engine)
                self.measured = measured_before(str(self.room.identity), limit)
                self.open_ledger(self.room.identity.name, limit, human=human is not None)
                await self.bring_back(self.room.identity, self.room.find_known_result, limit, feeds)
                for game in self.state.list_source_games():
                    over = game.result != "*"
                    self.retention.record_change(
                        game.id, game.feed, over=over, now_s=time.monotonic()
                    )
                try:
                    yield
                finally:
                    self.arbiter.record_end()
                self.journal.journal.keep_memories(self._memories)

    async def bring_back(
        self, identity: EngineIdentity, known: Known, limit: str, feeds: Sequence[FeedName]
    ) -> None:
        """The games of ``feeds`` that the journal holds, and the alerts, as they stood
        before.
        """
        # Nobody is notified again of what is restored.
        self.arbiter.restoring = self.story.restoring = True
        await self.journal.restore(self.state, identity, known, limit, feeds, self.measured)
        reapply_rulings(self.state, self.journal.journal.read_notes())
        self.arbiter.restoring = self.story.restoring = False
        self.arbiter.resume(self.state, feeds)
        # After the alerts: they say which results are doubted.
        self.story.resume(self.state.games())

    def remove_board(self, game: GameId) -> None:
        """The arbiter takes a board off all screens, points and reports; the log says
        so.
        """
        view = self.state.game(game)
        if view is not None:
            write_note(self.journal.journal, BoardRuling(game, True))
            self.arbiter.enter(f"Board removed: {board_words(view)}", game)
            self.state.remove(game)

    def bring_back_board(self) -> str:
        """Undo the latest removal; returns which board it was, empty where none is
        removed.
        """
        words = ""
        for game in self.state.removed_ids()[-1:]:
            write_note(self.journal.journal, BoardRuling(game, False))
            self.state.restore_removed(game)
            view = self.state.game(game)
            words = board_words(view) if view is not None else game
            self.arbiter.enter(f"Board brought back: {words}", game)
        return words

    @property
    def engines(self) -> EngineService:
        """What measures; there must be one."""
        assert self._engines is not None, "enter with_engine first"
        return self._engines

    @property
    def room(self) -> EnginePool:
        """The engines themselves."""
        return self.engines.room

    def mover_elo(self, game: str, ply: int) -> int | None:
        """Elo of the player who makes this ply, if it is known."""
        held = self.state.get_shown_game(game)
        if held is None:
            return None
        player: Player = getattr(held.headers, side_to_play(held.start_fen, ply))
        return player.elo

    def open_ledger(
        self, engine_name: str, limit: str, *, engine_scores: bool = True, human: bool = False
    ) -> None:
        """Start an empty event, measured by this engine; ``human``: what players would
        play is known or asked for.
        """
        measure = measure_of(
            *(self.config, engine_name, limit, self.measured),
            human=human,
            engine_scores=engine_scores,
        )
        models, rating = measure.models.models, self.config.rating.engine_rating
        source = "fixed"
        if rating == "field":
            rating = models[0].engine_rating if models else STORED_ENGINE_RATING
            source = "calibration"
        self.state = Event(
            measure,
            self,
            self.publish,
            self.alerts,
            self.ask,
            self.story.moments,
            engine=EngineInfo(engine_name, limit, rating, source),
            engine_scores=engine_scores,
        )
        self.retention = GameRetention(self.config.memory.finished_after_h * 3600)

    def listen(self, listener: ChangeListener) -> None:
        """``listener`` gets every change from now on, in order, and must not wait; it
        is :meth:`guarded`.
        """
        self._listeners.append(self.guarded(listener))

    def guarded(self, listener: ChangeListener) -> ChangeListener:
        """A listener that may fail and costs the others nothing.

        Loss policy: what it fails on is lost to it alone, and health says so.
        """
        return self._faults.guarded()(listener)

    def alerts(self) -> Sequence[Alert]:
        """The alerts that stand now."""
        return self.arbiter.alerts()

    def publish(self, changes: Sequence[EventChange]) -> None:
        """The state's way out: its changes and the alerts they raise go to the
        listeners.

        A recorded event overrides this: its alerts are those of then.
        """
        if self._engines is not None:
            self._engines.published(select_messages(changes))
        self.notify(self.arbiter.with_alerts(changes))

    def notify(self, changes: Iterable[Change]) -> None:
        """Give changes to the journal, to the story, and to every listener, as they
        are.
        """
        changes = list(changes)
        self.story.published(changes)
        self.journal.mark_changed(changes)
        self._tell(changes)

    def _tell(self, changes: Iterable[Change]) -> None:
        """Give changes to every listener; moments are found anew and not kept."""
        for listener in self._listeners:
            listener(changes)

    # --- searches that the state asks for ---------------------------------------------

    def submit(self, search: Search, request_id: RequestId, urgency: Urgency) -> None:
        if self.journal.answer_search(search, request_id):
            return
        rank = _SPARE_RANK if urgency == "spare" else 0
        priority = SearchPriority(KINDS[urgency], request_id.game, request_id.ply, rank)
        self.engines.desk.submit(search, request_id, priority)

    def drop(self, request_id: RequestId) -> None:
        self.engines.desk.drop(request_id)

    def put_on_air(self, games: Iterable[str]) -> None:
        """From now on these games are analysed before all others."""
        if self._engines is not None:
            self._engines.room.put_on_air(games)

    # --- results of searches ----------------------------------------------------------

    def on_result(
        self, owner: Hashable, search: Search, result: SearchResult | SearchFailure
    ) -> None:
        if isinstance(owner, asyncio.Future):
            # A reference position.
            if not owner.done():
                owner.set_result(result)
            return
        assert isinstance(owner, RequestId)
        self.state.apply_result(owner, result, rate=False)
        self._rate_soon()
        # An answer may change nothing that is shown, and still be the last one waited
        # for.
        self._changed.set()

    def _rate_soon(self) -> None:
        """Renew the standings once for all answers of this turn of the loop: many
        boards may wait for one answer, and the standings of all look at everybody.
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

    # --- what players would play ------------------------------------------------------

    def ask(self, request: HumanRequest) -> None:
        """Have the network of human moves answer."""
        assert self._human is not None, "the ledger asks only where there is somebody to ask"
        self._human.ask(request)

    def _answered(self, request: HumanRequest, answer: HumanAnswer | None) -> None:
        self.state.apply_answer(request, answer, rate=False)
        self._rate_soon()
        if request.newest and self._engines is not None:
            self._engines.on_human_answer(request.game)
        self._changed.set()

    # --- reports of feeds -------------------------------------------------------------

    async def report(self, report: FeedReport) -> None:
        self._reached.add(report.feed)
        await self._reports.put(report)

    def known_games(self, feed: FeedName) -> Sequence[GameReport]:
        return [game.to_report() for game in self.state.list_source_games() if game.feed == feed]

    def health(self, health: FeedHealth) -> None:
        # What it says may name files, whose names need not be text.
        health = msgspec.structs.replace(health, detail=in_print(health.detail))
        if health.state not in ("connecting", "failed"):
            self._reached.add(health.feed)
        self.state.update_feed_health(health)

    # --- tasks ------------------------------------------------------------------------

    async def keep(self) -> None:
        """Take reports in, one at a time, letting other work between the steps.

        A report that cannot be taken in costs its own feed alone, and only until the
        next one, which is whole again.
        """
        while True:
            # A queue that is not empty gives at once, and many small reports are a long
            # turn.
            await self._slices.yield_if_due()
            report = await self._reports.get()
            try:
                await self.take(report)
            except Exception as error:
                # Broad: any rule of ours may break here, and the other feeds' reports
                # wait behind.
                log.exception("feed %s: a report could not be taken in", report.feed)
                self._taken(report.feed, f"report lost: {explain_end(error)}")
            else:
                self._taken(report.feed)
            finally:
                self._reports.task_done()
                # A takeback may drop the last search that was waited for.
                self._changed.set()

    def _taken(self, feed: FeedName, lost: str = "") -> None:
        """A report was taken in, or ``lost``. The feed says nothing of a loss it does
        not know of: with the next report what it said before holds again.
        """
        now = next((each for each in self.state.feeds() if each.feed == feed), None)
        said, loss = self._losses.pop(feed, (None, None))
        if lost:
            # Of several in a row, what the feed itself said last is what comes back.
            loss = FeedHealth(feed, "retrying", lost)
            self._losses[feed] = said or now or FeedHealth(feed, "live"), loss
            self.health(loss)
        elif said is not None and now == loss:
            self.health(said)

    async def take(self, report: FeedReport) -> None:
        """Bring what is held to what ``report`` says."""
        report = self.lists.complete_report(report)
        if doubts := self.lists.doubt_text:
            detail = f"in doubt, so not used: {doubts}"
            self.state.update_feed_health(part_health("rating list", "stale", detail))
        for step in self.state.plan(self.retention.drop_forgotten(report)):
            # A kill between the two would have an alert raised again by what raised it.
            with self.journal.journal.transaction():
                self.state.apply(step)
                self.journal.add_step(step, self._memories)
            self.retention.record_step(step, self.state.get_shown_game(step.id), time.monotonic())
            await self._slices.yield_if_due()

    async def watch_engines(self) -> None:
        while True:
            await asyncio.sleep(HEALTH_PERIOD_S)
            # Not sooner: a mistyped address ends at once, and leaves no journal behind.
            self.arbiter.record_start(self.public.delay_s if self.public else 0.0)
            self.report_engines()
            self.arbiter.tick()
            self.story.tick()
            released = list(self.retention.forget_old_games(self.state.forget, time.monotonic()))
            for game in released:
                log.info("game %s is over for long, and is let go", game.id)
            if released:
                release_free_memory()
            self.journal.look_after(self.health)

    def _memories(self) -> list[Memory]:
        return [*self.arbiter.memories(), *self.story.memories()]

    @property
    def models_summary(self) -> str:
        """What reads the engine's scores and what would be better, one line, for
        people.
        """
        models = self.state.measure.models
        names = ", ".join(each.name for each in models.models) or "none"
        return "; ".join(filter(None, (f"model {names}", models.note, advice(models))))

    @property
    def unmeasured(self) -> bool:
        """Whether figures rest on models that do not know the engine in use."""
        return not self.state.measure.models.measured

    async def measure_engine(self) -> None:
        """Search the reference positions with an engine that nobody has measured,
        whenever it has nothing else to do; then rate every move anew. Returns at once
        where that is not needed.
        """
        if not self.unmeasured:
            return
        room, config = self.room, self.config
        name, limit = room.identity.name, limit_text(config.engine)
        log.info("%s, %s: measured on the reference positions when idle", name, limit)
        lines = config.engine.multipv
        try:
            measured = await measured_on(
                load_reference(), room, lines=lines, progressed=self._show_measuring
            )
        finally:
            self._measuring = None
            self.report_engines()
        if isinstance(measured, str):
            log.warning("%s, %s: %s", name, limit, measured)
            models = Models(note=f"no model for {name}, {limit}: {measured}")
        else:
            keep_measured(str(room.identity), limit, measured)
            self.measured = measured
            models = fitting(config.rating.model, name, limit, config.rating.gain, measured)
        await self._slices.run(self.state.measure_by(models))
        if not isinstance(measured, str):
            log.info("%s, %s: %s", name, limit, self.state.engine().note)
            self.journal.begin_measured_run(measured)

    def _show_measuring(self, done: int, of: int) -> None:
        self._measuring = MeasuringProgress(done, of)
        if done % max(1, of // 20) == 0:
            self.report_engines()

    def report_engines(self) -> None:
        """Engine figures as of now, and what was not taken in."""
        # Without their number: what is said of them may be missed again.
        if self._faults.count:
            why = "some were missed by a fault of ours: the log says where; start it again"
            self.state.update_feed_health(part_health("changes", "failed", why))
        health = self.engines.health()
        more: dict[str, object] = {"measuring": self._measuring}
        if self._human is not None:
            more["human"] = self._human.report_health()
        if health.queued:
            more["behind"] = describe_overload(self.state.list_records())
        self.state.update_engine_health(msgspec.structs.replace(health, **more))

    async def follow(self, feed: Feed) -> None:
        """Run one feed. What no retry can mend ends the service while the feed has said
        nothing yet: somebody has just typed it. Later it is shown as failed, and the
        others go on.
        """
        try:
            await feed.run(self)
        except FeedError as error:
            if feed.name not in self._reached:
                raise
            log.error("%s", error)
            self.health(describe_failure(feed.name, error))

    def busy(self) -> bool:
        """Whether a report or a search waits."""
        return not self._reports.empty() or not self.state.is_analysed

    async def settled(self) -> None:
        """Return once every report is taken in and every search answered."""
        await self._until(lambda: self.state.is_analysed)

    async def wait_until_rated(self) -> None:
        """Return once every report is taken in and every figure rests on all moves."""
        await self._until(lambda: self.state.is_rated)

    async def _until(self, done: Callable[[], bool]) -> None:
        await self._reports.join()
        while not done():
            self._changed.clear()
            await self._changed.wait()


#: Fewer moves behind are nothing to act on: the next one is being searched.
LEAST_BEHIND = 3


def count_moves_behind(moves: Sequence[PlyView]) -> int:
    """Return by how many moves of one player the figures are behind, of the player for
    whom these are more.
    """
    newest_first = moves[::-1]
    return max(
        next((at for at, view in enumerate(own) if view.gain_cp is not None), len(own))
        for own in (newest_first[::2], newest_first[1::2])
    )


def describe_overload(records: Iterable[GameRecord]) -> str:
    """Return how far figures are behind the boards, for people, with what to do; empty
    where the engines keep up.
    """
    behind: list[int] = []
    for record in records:
        view = record.view
        is_measured = view.running and view.variant in ("standard", "chess960")
        if is_measured and view.plies_played - view.plies_scored >= LEAST_BEHIND:
            behind.append(count_moves_behind(record.moves))
    behind = [moves for moves in behind if moves >= LEAST_BEHIND]
    if not behind:
        return ""
    boards = count_things(len(behind), "board")
    return (
        f"figures are up to {max(behind)} moves behind on {boards}: "
        "if that lasts, follow fewer boards, or give more engines or fewer nodes"
    )
