"""The queue of the reports of all sources."""

import asyncio
from collections.abc import Iterator, Sequence

import pytest

from live.event.game_change import EventChange
from live.messages.from_sources import FeedReport
from live.messages.health import FeedHealth
from live.process.waiters import Waiters
from live.sources import demo_feed
from live.sources.source_inbox import SourceInbox
from tests.event.answered_event import open_unscored


class Shown:
    """The health of a source, and an inbox whose reports fail while ``is_failing``."""

    def __init__(self) -> None:
        self.health = FeedHealth("hall", "live")
        self.is_failing = False
        self.inbox = SourceInbox(
            self._take_in,
            lambda feed: [],
            lambda feed: self.health,
            self._update_health,
            lambda: True,
            Waiters(),
        )

    def _take_in(self, report: FeedReport) -> Iterator[None]:
        if self.is_failing:
            raise ValueError("a rule breaks")
        yield

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


@pytest.mark.parametrize(
    "newer", [None, FeedHealth("feed", "stale", "no answer for 60 s")]
)
async def test_a_feed_whose_reports_were_lost_is_well_again_with_the_next(
    newer: FeedHealth | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The feed knows nothing of the loss, and so cannot say that it is over; what it
    says later holds.
    """
    service = open_unscored()
    proper, faults = (
        service.state.apply_report,
        [KeyError("a fault of ours"), KeyError("and again")],
    )

    def broken(
        report: FeedReport,
    ) -> Iterator[Sequence[EventChange]]:
        if faults:
            raise faults.pop()
        return proper(report)

    monkeypatch.setattr(service.state, "apply_report", broken)
    keep = asyncio.create_task(service.inbox.run())
    live = FeedHealth("feed", "live", "1 game")
    service.inbox.health(live)
    states = []
    for number in range(3):
        if number == 2 and newer is not None:
            service.inbox.health(newer)
        await service.inbox.report(
            FeedReport("feed", (demo_feed.read_demo_games()[0],))
        )
        await service.settled()
        states.append(service.state.feeds())
    keep.cancel()
    assert [health.state for (health,) in states[:2]] == ["retrying", "retrying"]
    assert states[-1] == (newer or live,)
