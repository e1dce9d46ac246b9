"""An event whose engine is a function, with or without a journal: what tests of a whole
service and drills share.
"""

import contextlib
import itertools
import shutil
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Self

import msgspec

from live.commands.read_settings import read_settings
from live.engine.search import Search, SearchResult
from live.engine.uci import EngineIdentity
from live.event.requests import RequestId, Urgency
from live.journal.event_journal import EventJournal
from live.messages.from_sources import FeedReport, GameReport
from live.messages.values import FeedName
from live.server.analysis import Analysis, build_analysis
from live.service.event_service import EventService
from live.settings import Config
from tests.event.arithmetic import answer

FEED = "test"

Answer = Callable[[Search], SearchResult]


#: What answers in place of engines.
ARITHMETIC = EngineIdentity("arithmetic", ())


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
) -> AsyncIterator[EventService]:
    """A service with real engines."""
    service = EventService(config, EventJournal(journal), human=human)
    async with service.with_engine(live=live, feeds=feeds):
        yield service


async def report_and_settle(
    service: EventService, *games: GameReport, feed: FeedName = FEED
) -> Analysis:
    """What is shown once these, all games of the source, are taken in and searched."""
    await service.take(FeedReport(feed, games, complete=True))
    await service.settled()
    return build_analysis(service.state)


def open_unscored(journal: Path | None = None, **settings: object) -> EventService:
    """A service that searches nothing."""
    service = EventService(read_settings(None, {}, settings), EventJournal(journal))
    service.open_event("none", "as given", engine_scores=False)
    return service


def open_ticking_journal(path: Path) -> EventJournal:
    """A journal whose clock moves one second with each thing written."""
    journal, seconds = EventJournal(path), itertools.count(1_000)
    journal.journal._now_ms = lambda: next(seconds) * 1000
    return journal


class AnsweredEvent(EventService):
    """Searches wait until they are answered: none while reports are taken in."""

    def __init__(
        self, journal: Path | None = None, engine: Answer = answer, **settings: object
    ) -> None:
        super().__init__(read_settings(None, {}, settings), EventJournal(journal))
        self.engine = engine
        self.asked: deque[tuple[Search, RequestId]] = deque()
        self.open_event("arithmetic", "1 look")

    def submit(self, search: Search, request_id: RequestId, urgency: Urgency) -> None:
        if not self.journal.answer_search(search, request_id):
            self.asked.append((search, request_id))

    def drop(self, request_id: RequestId) -> None:
        """An answer that nobody waits for changes nothing."""

    async def restore(self) -> None:
        """As a start does it, with all results in the journal."""
        await self.bring_back(ARITHMETIC, self.engine, "1 look", [FEED])

    @contextlib.asynccontextmanager
    async def started(self) -> AsyncIterator[Self]:
        """Its journal open, and what that holds shown again."""
        with self.journal.opened(self.config):
            await self.restore()
            yield self

    def answer_all(self) -> None:
        while self.asked:
            search, request_id = self.asked.popleft()
            self.state.apply_result(request_id, self.engine(search))

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
