"""Connects an event with what brings reports to it, with its engines and its journal.

Nothing here serves or shows the event: ``analyze`` and the studies use the same parts
as the service (:mod:`live.app`).
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from functools import partial

from live.engine.engine_settings import describe_limit
from live.engine.engines import Engines
from live.engine.reference_searches import search_positions
from live.event.answer_intake import AnswerIntake
from live.event.bus import Bus
from live.event.choose_measure import open_event
from live.event.event import Event
from live.event.search_relay import SearchRelay
from live.games.game_retention import GameRetention
from live.games.player_lists import PlayerLists, open_player_lists
from live.human.human_queue import HumanQueue
from live.journal.arbiter_notes import JournalWatchStore
from live.journal.engine_measuring import EngineMeasuring
from live.journal.event_journal import EventJournal
from live.journal.measured_engines import EngineInUse, read_measured_engine
from live.journal.memories import build_memories
from live.journal.old_games import OldGames
from live.journal.report_intake import ReportIntake
from live.journal.restart import restore_event
from live.messages.health import FeedHealth
from live.messages.values import FeedName
from live.process.waiters import Waiters
from live.settings import Config
from live.sources.source_inbox import SourceInbox
from live.watch.arbiter_desk import ArbiterDesk
from live.watch.engine_watch import EngineWatch
from live.watch.moment_watch import MomentWatch


@dataclass(frozen=True)
class EventParts:
    """An event with its inputs and its listeners, connected to each other."""

    config: Config
    journal: EventJournal
    event: Event
    bus: Bus
    arbiter: ArbiterDesk
    moments: MomentWatch
    lists: PlayerLists
    intake: ReportIntake
    inbox: SourceInbox
    old_games: OldGames
    waiters: Waiters


@dataclass(frozen=True)
class EngineParts:
    """The engines of an event with the parts that use them, connected to each other."""

    engines: Engines
    watch: EngineWatch
    measuring: EngineMeasuring
    human: HumanQueue | None


def connect_event(config: Config, journal: EventJournal, event: Event) -> EventParts:
    """Return an event connected to all parts that need no engine."""
    bus = Bus()
    waiters = Waiters()

    def report_health(health: FeedHealth) -> None:
        bus.publish(event.update_feed_health(health))

    store = JournalWatchStore(journal.journal)
    arbiter = ArbiterDesk(
        bus.publish, store, time.time, event.find_record, report=report_health
    )
    moments = MomentWatch(
        bus.publish, store, time.time, event.game, alerts=arbiter.alerts
    )
    event.alerts = arbiter.alerts
    event.moments = moments.moments
    bus.follow(arbiter.follow)
    bus.follow(moments.follow)
    bus.subscribe(journal.mark_changed)
    lists = open_player_lists(config.feeds)
    retention = GameRetention(config.memory.finished_after_h * 3600)
    intake = ReportIntake(
        event,
        bus.publish,
        journal,
        lists,
        retention,
        lambda: build_memories(arbiter.memories(), moments.memories()),
        report_health,
    )
    inbox = SourceInbox(
        intake.take,
        event.list_reports,
        report_health,
        lambda: event.is_rated,
        waiters,
    )
    old_games = OldGames(event, bus.publish, retention)
    return EventParts(
        config,
        journal,
        event,
        bus,
        arbiter,
        moments,
        lists,
        intake,
        inbox,
        old_games,
        waiters,
    )


def connect_engines(
    parts: EventParts,
    engines: Engines,
    engine: EngineInUse,
    *,
    live: bool,
    human: bool,
) -> EngineParts:
    """Connect running engines to an event; return them with the parts that use them.

    ``live`` and ``human`` are as in :func:`run_event`.
    """
    event = parts.event
    bus = parts.bus
    answers = AnswerIntake(
        event,
        bus.publish,
        asyncio.get_running_loop().call_soon,
        parts.waiters.wake,
        engines.on_human_answer,
    )
    queue = None
    if human:
        store = parts.journal.journal
        queue = HumanQueue(parts.config.human, store, answers.on_human_answer)
        bus.follow(queue.follow)
    engines.connect(
        answers,
        event.predict_choices if live else None,
        event.find_human_shares if human else None,
    )
    bus.follow(SearchRelay(engines.desk, engines.end_boards).follow)
    read_human = queue.report_health if queue is not None else None
    watch = EngineWatch(event, bus.publish, engines.report_health, read_human)
    measuring = EngineMeasuring(
        engine,
        partial(search_positions, desk=engines.pool, lines=parts.config.engine.multipv),
        parts.config.rating,
        event,
        bus.publish,
        parts.journal,
        watch.show_measuring,
    )
    return EngineParts(engines, watch, measuring, queue)


@contextlib.asynccontextmanager
async def run_event(
    config: Config,
    journal: EventJournal,
    *,
    feeds: Sequence[FeedName] = (),
    live: bool = True,
    human: bool = False,
) -> AsyncIterator[tuple[EventParts, EngineParts]]:
    """Run an event and its engines during the block, with the games of ``feeds``
    restored from the journal.

    Args:
        config: the settings.
        journal: the journal, not opened yet.
        feeds: names of the sources.
        live: False if no further moves are expected; then nothing is searched ahead.
        human: whether to ask the neural network that predicts human moves, unless the
            settings forbid it.
    """
    human = human and config.human.enabled
    with journal.opened(config) as cache:
        engines = Engines(config.engine, cache)
        async with engines.pool as pool:
            limit = describe_limit(config.engine)
            measured = read_measured_engine(str(pool.identity), limit)
            engine = EngineInUse(pool.identity, limit, measured)
            event = open_event(
                config, engine.identity.name, limit, measured, human=human
            )
            parts = connect_event(config, journal, event)
            engine_parts = connect_engines(
                parts, engines, engine, live=live, human=human
            )
            async with contextlib.AsyncExitStack() as stack:
                if engine_parts.human is not None:
                    await stack.enter_async_context(engine_parts.human.running())
                await restore_event(
                    event,
                    parts.bus.publish,
                    journal,
                    parts.arbiter,
                    parts.moments,
                    engine,
                    pool.find_known_result,
                    feeds,
                )
                parts.old_games.watch_restored()
                try:
                    yield parts, engine_parts
                finally:
                    parts.arbiter.record_end()
                journal.journal.keep_memories(
                    build_memories(parts.arbiter.memories(), parts.moments.memories())
                )
