"""Queue of the reports of all sources, which are processed one at a time.

A source that reports faster than its reports are processed has to wait. If a report
cannot be processed, only its source is affected, and only until its next report, which
contains the whole games again.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence

import msgspec

from live.errors import FeedError
from live.messages.from_sources import FeedReport, GameReport
from live.messages.health import FeedHealth, HealthReport
from live.messages.values import FeedName
from live.process.loop_slices import LoopSlices
from live.process.supervision import explain_end
from live.process.waiters import Waiters
from live.sources.feed import Feed, describe_failure
from live.user_files import in_print

log = logging.getLogger(__name__)

#: Number of reports that can wait.
BACKLOG = 64


class SourceInbox:
    """The :class:`live.sources.feed_session.FeedSink` of all sources.

    Args:
        take_in: processes a report, one step each time the iterator is advanced.
        list_games: returns the games of a source as they were when the service last
            stopped.
        update_health: receives the health reports of sources.
        is_rated: returns whether everything reported is rated.
        waiters: tasks that wait for the event; woken after every report, also after one
            that failed.
    """

    def __init__(
        self,
        take_in: Callable[[FeedReport], Iterable[None]],
        list_games: Callable[[FeedName], Sequence[GameReport]],
        update_health: HealthReport,
        is_rated: Callable[[], bool],
        waiters: Waiters,
    ) -> None:
        self._take_in = take_in
        self._list_games = list_games
        self._update_health = update_health
        self._is_rated = is_rated
        self._waiters = waiters
        self._reports: asyncio.Queue[FeedReport] = asyncio.Queue(BACKLOG)
        self._slices = LoopSlices()
        self._told: dict[FeedName, FeedHealth] = {}
        """Last health that each source reported."""
        self._losing: set[FeedName] = set()
        """Sources whose health is shown as that of a lost report."""
        # Sources that have reported something; their failures no longer end the
        # service.
        self._reached: set[FeedName] = set()

    # --- for sources ------------------------------------------------------------------

    async def report(self, report: FeedReport) -> None:
        self._reached.add(report.feed)
        await self._reports.put(report)

    async def wait_until_rated(self) -> None:
        await self.wait_until(self._is_rated)

    def known_games(self, feed: FeedName) -> Sequence[GameReport]:
        return self._list_games(feed)

    def health(self, health: FeedHealth) -> None:
        # The detail can contain file names, which are not always valid text.
        health = msgspec.structs.replace(health, detail=in_print(health.detail))
        if health.state not in ("connecting", "failed"):
            self._reached.add(health.feed)
        self._told[health.feed] = health
        self._losing.discard(health.feed)
        self._update_health(health)

    # --- for the service --------------------------------------------------------------

    @property
    def is_empty(self) -> bool:
        """Whether no report is waiting."""
        return self._reports.empty()

    async def wait_until(self, is_true: Callable[[], bool]) -> None:
        """Return once every report has been processed and ``is_true`` returns True."""
        await self._reports.join()
        await self._waiters.wait_until(is_true)

    async def follow(self, feed: Feed) -> None:
        """Follow a source to its end.

        A permanent error ends the service if the source has reported nothing yet,
        because somebody has just typed its address. Later, the source is shown as
        failed and the others continue.

        Raises:
            FeedError: the source has reported nothing yet.
        """
        try:
            await feed.run(self)
        except FeedError as error:
            if feed.name not in self._reached:
                raise
            log.error("%s", error)
            self.health(describe_failure(feed.name, error))

    async def take(self, report: FeedReport) -> None:
        """Process a report; let other tasks run between the steps."""
        for _ in self._take_in(report):
            await self._slices.yield_if_due()

    async def run(self) -> None:
        """Process reports until cancelled; give other tasks a turn between the
        steps.
        """
        while True:
            # A queue with entries returns at once, so many small reports would block
            # the loop.
            await self._slices.yield_if_due()
            report = await self._reports.get()
            try:
                await self.take(report)
            except Exception as error:
                # Every exception is caught, because any part of the program can fail
                # here, and the reports of other sources are waiting.
                log.exception("feed %s: a report could not be processed", report.feed)
                # The source itself does not notice the loss.
                self._losing.add(report.feed)
                lost = in_print(f"report lost: {explain_end(error)}")
                self._update_health(FeedHealth(report.feed, "retrying", lost))
            else:
                if report.feed in self._losing:
                    live = FeedHealth(report.feed, "live")
                    self.health(self._told.get(report.feed, live))
            finally:
                self._reports.task_done()
                # A takeback can cancel the last search that a task waits for.
                self._waiters.wake()
