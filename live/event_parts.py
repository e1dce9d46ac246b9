"""Connects an event with what brings reports to it, with its engines and its journal.

Nothing here serves or shows the event: ``analyze`` and the studies use the same parts
as the service (:mod:`live.app`).
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from live.engine.engine_settings import describe_limit
from live.engine.engines import Engines
from live.engine.reference_searches import search_positions
from live.event.answer_intake import AnswerIntake
from live.event.bus import Bus
from live.event.choose_measure import open_event
from live.event.event import Event
from live.event.old_games import OldGames
from live.games.game_retention import GameRetention
from live.games.player_lists import open_player_lists
from live.human.human_queue import HumanQueue
from live.journal.arbiter_notes import JournalWatchStore, reapply_rulings
from live.journal.engine_measuring import EngineMeasuring
from live.journal.event_journal import EventJournal, Known
from live.journal.measured_engines import EngineInUse, read_measured_engine
from live.journal.memories import build_memories
from live.messages.from_sources import FeedReport
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
    bus = Bus(journal.journal.transaction)
    waiters = Waiters()

    def take_report(report: FeedReport) -> Iterator[None]:
        for changes in event.apply_report(report):
            bus.publish(changes)
            yield

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
    event.lists = open_player_lists(config.feeds)
    journal.read_memories = lambda: build_memories(
        arbiter.memories(), moments.memories()
    )
    retention = GameRetention(config.memory.finished_after_h * 3600)
    old_games = OldGames(event, bus.publish, retention, time.monotonic)
    bus.follow(arbiter.follow)
    bus.follow(moments.follow)
    bus.follow(journal.follow)
    bus.follow(old_games.follow)
    inbox = SourceInbox(
        take_report,
        event.list_reports,
        event.find_feed_health,
        report_health,
        lambda: event.is_rated,
        waiters,
    )
    return EventParts(
        config, journal, event, bus, arbiter, moments, inbox, old_games, waiters
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
    bus.follow(engines.follow)
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


async def restore_event(
    parts: EventParts,
    engine: EngineInUse,
    find_result: Known,
    feeds: Sequence[FeedName],
) -> None:
    """Restore the games of ``feeds``, the alerts and the moments from the journal.

    ``find_result`` returns the result of a search if it is known.
    """
    event = parts.event
    journal = parts.journal
    # Restored alerts and moments must not be published a second time.
    parts.arbiter.restoring = True
    parts.moments.restoring = True
    await journal.restore(event, parts.bus.publish, engine, find_result, feeds)
    for changes in reapply_rulings(event, journal.journal.read_notes()):
        parts.bus.publish(changes)
    parts.arbiter.restoring = False
    parts.moments.restoring = False
    parts.arbiter.resume(event, feeds)
    # Alerts are restored first, because moments depend on whether a result is in doubt.
    parts.moments.resume(event.games())
    parts.old_games.start_restored_retention()


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
                await restore_event(parts, engine, pool.find_known_result, feeds)
                engine_parts.measuring.announce()
                try:
                    yield parts, engine_parts
                finally:
                    parts.arbiter.record_end()
                journal.journal.keep_memories(journal.read_memories())
