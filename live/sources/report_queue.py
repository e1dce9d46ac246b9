"""Reports of sources wait here, and are taken in one at a time.

Loss policy: a source that is faster than the reports are taken in waits. A report that
cannot be taken in costs its own source alone, and only until the next one, which is
whole again.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from live.messages.from_sources import FeedReport
from live.messages.health import FeedHealth, HealthReport
from live.messages.values import FeedName
from live.process.loop_slices import LoopSlices
from live.process.supervision import explain_end

log = logging.getLogger(__name__)

#: Reports waiting to be taken in.
BACKLOG = 64


class ReportQueue:
    """A bounded queue of reports and the task that empties it.

    Args:
        take_in: takes a report in.
        find_health: returns what was said of a source last.
        report_health: gets that a report was lost, and that this is over.
        on_done: is called after every report, whatever came of it.
    """

    def __init__(
        self,
        take_in: Callable[[FeedReport], Awaitable[None]],
        find_health: Callable[[FeedName], FeedHealth | None],
        report_health: HealthReport,
        on_done: Callable[[], None],
    ) -> None:
        self._take_in = take_in
        self._find_health = find_health
        self._report_health = report_health
        self._on_done = on_done
        self._reports: asyncio.Queue[FeedReport] = asyncio.Queue(BACKLOG)
        self._slices = LoopSlices()
        # What sources said before a report of theirs was lost, and what was said of the
        # loss.
        self._losses: dict[FeedName, tuple[FeedHealth, FeedHealth]] = {}

    @property
    def is_empty(self) -> bool:
        """Whether no report waits."""
        return self._reports.empty()

    async def put(self, report: FeedReport) -> None:
        """Queue a report; wait while the queue is full."""
        await self._reports.put(report)

    async def wait_empty(self) -> None:
        """Return once every report is taken in."""
        await self._reports.join()

    async def run(self) -> None:
        """Take reports in until cancelled, letting other work between the steps."""
        while True:
            # A queue that is not empty gives at once, and many small reports are a long
            # turn.
            await self._slices.yield_if_due()
            report = await self._reports.get()
            try:
                await self._take_in(report)
            except Exception as error:
                # Broad: any rule of ours may break here, and the other sources' reports
                # wait behind.
                log.exception("feed %s: a report could not be taken in", report.feed)
                self._report_loss(report.feed, f"report lost: {explain_end(error)}")
            else:
                self._end_loss(report.feed)
            finally:
                self._reports.task_done()
                self._on_done()

    def _report_loss(self, feed: FeedName, lost: str) -> None:
        """Report that a report of a source was lost, which the source does not know."""
        loss = FeedHealth(feed, "retrying", lost)
        if feed in self._losses:
            # Of several in a row, what the source itself said last is what comes back.
            said, _ = self._losses[feed]
        else:
            said = self._find_health(feed) or FeedHealth(feed, "live")
        self._losses[feed] = said, loss
        self._report_health(loss)

    def _end_loss(self, feed: FeedName) -> None:
        """Report of a source again what it said before its reports were lost."""
        if feed not in self._losses:
            return
        said, loss = self._losses.pop(feed)
        if self._find_health(feed) == loss:
            self._report_health(said)
