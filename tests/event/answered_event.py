"""An event whose engine is a function, with or without a journal: what tests of a whole
service and drills share.
"""

import asyncio
import contextlib
import itertools
import shutil
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Self

import msgspec

from live.commands.read_settings import read_settings
from live.engine.requests import RequestId, SearchDropped, SearchRequest, Urgency
from live.engine.search import Search, SearchFailure, SearchResult
from live.engine.uci import EngineIdentity
from live.event.answer_intake import AnswerIntake
from live.event.choose_measure import open_event
from live.event.game_change import EventChange
from live.event_parts import (
    EngineParts,
    EventParts,
    connect_event,
    restore_event,
    run_event,
)
from live.journal.event_journal import EventJournal, Known
from live.journal.measured_engines import EngineInUse
from live.messages.from_sources import FeedReport, GameReport
from live.messages.values import FeedName
from live.server.analysis import Analysis, build_analysis
from live.settings import Config
from tests.event.arithmetic import answer

FEED = "test"

Answer = Callable[[Search], SearchResult]


#: What answers in place of engines.
ARITHMETIC = EngineIdentity("arithmetic", ())
LIMIT = "1 look"


def settings(**changes: object) -> Config:
    """Two real engines with a small limit, unless they are changed."""
    return read_settings(
        None, {}, {"engine.nodes": 500, "engine.engines": 2, **changes}
    )


@contextlib.asynccontextmanager
async def open_service(
    config: Config,
    journal: Path | None = None,
    feeds: Sequence[FeedName] = (FEED,),
    *,
    live: bool = False,
    human: bool = False,
) -> AsyncIterator["RunningEvent"]:
    """An event with real engines, and with this file as its journal."""
    kept = EventJournal(journal)
    async with open_running(config, kept, feeds, live=live, human=human) as service:
        yield service


@contextlib.asynccontextmanager
async def open_running(
    config: Config,
    journal: EventJournal,
    feeds: Sequence[FeedName] = (FEED,),
    *,
    live: bool = False,
    human: bool = False,
) -> AsyncIterator["RunningEvent"]:
    """An event with real engines, and with this journal."""
    running = run_event(config, journal, feeds=feeds, live=live, human=human)
    async with running as (parts, engine_parts):
        yield RunningEvent(parts, engine_parts)


class FollowedEvent:
    """The parts of an event, by the names that tests use."""

    def __init__(self, parts: EventParts) -> None:
        self.config = parts.config
        self.parts = parts
        self.journal = parts.journal
        self.state = parts.event
        self.bus = parts.bus
        self.arbiter = parts.arbiter
        self.moment_watch = parts.moments
        self.inbox = parts.inbox

    async def take(self, report: FeedReport) -> None:
        """As the inbox does it."""
        await self.parts.inbox.take(report)

    async def settled(self) -> None:
        """Every report is taken in and every search is answered."""
        await self.inbox.wait_until(lambda: self.state.is_analysed)

    def publish(self, changes: Sequence[EventChange]) -> None:
        """What the event has returned goes to those who follow it."""
        self.bus.publish(changes)


class RunningEvent(FollowedEvent):
    """An event with real engines."""

    def __init__(self, parts: EventParts, engine_parts: EngineParts) -> None:
        super().__init__(parts)
        self.pool = engine_parts.engines.pool
        self.measuring = engine_parts.measuring
        self._watch = engine_parts.watch

    def report_engines(self) -> None:
        """As it is done once a second."""
        self.bus.report_missed(self.inbox.health)
        self._watch.report()


async def report_and_settle(
    service: FollowedEvent, *games: GameReport, feed: FeedName = FEED
) -> Analysis:
    """What is shown once these, all games of the source, are taken in and searched."""
    await service.take(FeedReport(feed, games, complete=True))
    await service.settled()
    return build_analysis(service.state)


def open_unscored(journal: Path | None = None, **settings: object) -> FollowedEvent:
    """An event that searches nothing."""
    config = read_settings(None, {}, settings)
    event = open_event(config, "none", "as given", engine_scores=False)
    return FollowedEvent(connect_event(config, EventJournal(journal), event))


def open_ticking_journal(path: Path) -> EventJournal:
    """A journal whose clock moves one second with each thing written."""
    journal, seconds = EventJournal(path), itertools.count(1_000)
    journal.journal._now_ms = lambda: next(seconds) * 1000
    return journal


class AnsweredEvent(FollowedEvent):
    """Searches wait until they are answered: none while reports are taken in."""

    def __init__(
        self, journal: Path | None = None, engine: Answer = answer, **settings: object
    ) -> None:
        config = read_settings(None, {}, settings)
        event = open_event(config, ARITHMETIC.name, LIMIT)
        super().__init__(connect_event(config, EventJournal(journal), event))
        self.engine = engine
        self.asked: deque[tuple[Search, RequestId]] = deque()
        self.bus.follow(self._follow)
        self.answers = AnswerIntake(
            event,
            self.publish,
            lambda rate: asyncio.get_running_loop().call_soon(rate),
            self.parts.waiters.wake,
            lambda game: None,
        )

    def _follow(self, changes: Sequence[EventChange]) -> None:
        for change in changes:
            match change:
                case SearchRequest(id=request_id, search=search, urgency=urgency):
                    self.submit(search, request_id, urgency)
                case SearchDropped(id=request_id):
                    self.drop(request_id)

    def submit(self, search: Search, request_id: RequestId, urgency: Urgency) -> None:
        self.asked.append((search, request_id))

    def drop(self, request_id: RequestId) -> None:
        """An answer that nobody waits for changes nothing."""

    async def restore(self, find_result: Known | None = None) -> None:
        """As a start does it, with all results in the journal."""
        engine = EngineInUse(ARITHMETIC, LIMIT, None)
        await restore_event(self.parts, engine, find_result or self.engine, [FEED])

    @contextlib.asynccontextmanager
    async def started(self) -> AsyncIterator[Self]:
        """Its journal open, and what that holds shown again."""
        with self.journal.opened(self.config):
            await self.restore()
            yield self

    def answer_all(self) -> None:
        while self.asked:
            search, request_id = self.asked.popleft()
            self.apply_result(request_id, self.engine(search))

    def apply_result(
        self, request_id: RequestId, result: SearchResult | SearchFailure
    ) -> None:
        """An answer, and at once what it means for the standings."""
        self.publish(self.state.apply_result(request_id, result))

    def flush(self) -> None:
        """All that was handed to the journal is in its file."""
        assert self.journal.journal.wait_until_written()


def confirm_games(whole: Analysis) -> Analysis:
    """As when every source has reported its games again."""
    games = tuple(msgspec.structs.replace(game, restored=False) for game in whole.games)
    return msgspec.structs.replace(whole, games=games)


def left_behind(path: Path, folder: Path, name: str) -> Path:
    """The files as a kill at this moment leaves them."""
    copy = folder / f"{name}.sqlite"
    # The log first: it is folded into the file, never the other way round.
    for suffix in ("-wal", ""):
        if (source := path.with_name(path.name + suffix)).exists():
            shutil.copy(source, copy.with_name(copy.name + suffix))
    return copy
