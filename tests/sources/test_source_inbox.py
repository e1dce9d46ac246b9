"""The queue of the reports of all sources."""

import asyncio

import pytest

from live.messages.from_sources import FeedReport
from live.messages.health import FeedHealth
from live.process.waiters import Waiters
from live.sources.source_inbox import SourceInbox


class Shown:
    """The health of a source, and an inbox whose reports fail while ``is_failing``."""

    def __init__(self) -> None:
        self.health = FeedHealth("hall", "live")
        self.is_failing = False
        self.inbox = SourceInbox(
            self._take_in,
            lambda feed: [],
            self._update_health,
            lambda: True,
            Waiters(),
        )

    async def _take_in(self, report: FeedReport) -> None:
        if self.is_failing:
            raise ValueError("a rule breaks")

    def _update_health(self, health: FeedHealth) -> None:
        self.health = health

    async def report(self, *, is_failing: bool) -> FeedHealth:
        self.is_failing = is_failing
        await self.inbox.report(FeedReport("hall", ()))
        await self.inbox.wait_until_rated()
        return self.health


async def test_the_latest_health_of_a_source_comes_back_after_lost_reports(
    caplog: pytest.LogCaptureFixture,
) -> None:
    shown = Shown()
    running = asyncio.create_task(shown.inbox.run())
    for _ in range(2):
        assert (await shown.report(is_failing=True)).detail.startswith("report lost")
    stale = FeedHealth("hall", "stale", "nothing received for 2 min")
    shown.inbox.health(stale)
    assert (await shown.report(is_failing=True)).detail.startswith("report lost")
    assert await shown.report(is_failing=False) == stale
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert len(caplog.records) == 3
