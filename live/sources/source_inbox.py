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
from live.sources.feed import Feed, build_failed_health
from live.user_files import escape_surrogates

log = logging.getLogger(__name__)

#: Number of reports that can wait.
BACKLOG = 64


class SourceInbox:
    """The :class:`live.sources.feed_session.FeedSink` of all sources.

    Args:
        take_in: processes a report, one step each time the iterator is advanced.
        list_games: returns the games of a source as they were when the service last
            stopped.
        find_health: returns the last health report of a source.
        update_health: receives the health reports of sources.
        is_rated: returns whether everything reported is rated.
        waiters: tasks that wait for the event; woken after every report, also after one
            that failed.
    """

    def __init__(
        self,
        take_in: Callable[[FeedReport], Iterable[None]],
        list_games: Callable[[FeedName], Sequence[GameReport]],
        find_health: Callable[[FeedName], FeedHealth | None],
        update_health: HealthReport,
        is_rated: Callable[[], bool],
        waiters: Waiters,
    ) -> None:
        self._take_in = take_in
        self._list_games = list_games
        self._find_health = find_health
        self._update_health = update_health
        self._is_rated = is_rated
        self._waiters = waiters
        self._reports: asyncio.Queue[FeedReport] = asyncio.Queue(BACKLOG)
        self._slices = LoopSlices()
        # For each source with a lost report: its health before the loss, and the health
        # that reports the loss.
        self._losses: dict[FeedName, tuple[FeedHealth, FeedHealth]] = {}
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
        health = msgspec.structs.replace(
            health, detail=escape_surrogates(health.detail)
        )
        if health.state not in ("connecting", "failed"):
            self._reached.add(health.feed)
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
            self.health(build_failed_health(feed.name, error))

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
                self._report_loss(report.feed, f"report lost: {explain_end(error)}")
            else:
                self._end_loss(report.feed)
            finally:
                self._reports.task_done()
                # A takeback can cancel the last search that a task waits for.
                self._waiters.wake()

    def _report_loss(self, feed: FeedName, lost: str) -> None:
        """Show in the health of a source that a report was lost, which the source
        itself does not notice.
        """
        loss = FeedHealth(feed, "retrying", escape_surrogates(lost))
        health = self._find_health(feed) or FeedHealth(feed, "live")
        if feed in self._losses and self._losses[feed][1] == health:
            # After several losses in a row, the health before the first one is
            # restored.
            health, _ = self._losses[feed]
        self._losses[feed] = health, loss
        self.health(loss)

    def _end_loss(self, feed: FeedName) -> None:
        """Report the health of a source again as it was before its reports were
        lost.
        """
        if feed not in self._losses:
            return
        health, loss = self._losses.pop(feed)
        if self._find_health(feed) == loss:
            self.health(health)
