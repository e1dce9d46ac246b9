import asyncio
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.errors import FeedNotFound
from live.events import FeedHealth, FeedReport, GameReport, Headers, Player
from live.feeds.demo.demo_feed import DemoFeed, games
from live.feeds.feed import FeedSink
from live.feeds.feed_delay import DelayedFeed, DelayedReports
from tests.feeds.fakes import DrivenClock, Ledger, conditions, told_by, until


@given(st.lists(st.floats(0, 1000)), st.floats(0.1, 100))
def test_reports_come_in_order_each_exactly_its_delay_later(
    pauses: list[float], delay_s: float
) -> None:
    waiting, now_s, heard = DelayedReports(delay_s), 0.0, []
    for number, pause in enumerate(pauses):
        now_s += pause
        waiting.put(FeedReport(str(number), ()), now_s)
        heard.append(now_s)
    for number, at_s in enumerate(heard):
        assert waiting.due(at_s + delay_s - 1e-3) is None
        report = waiting.due(at_s + delay_s)
        assert report is not None and report.feed == str(number)
    assert waiting.next_s(now_s) is None and len(waiting) == 0


class Timed(Ledger):
    """Notes when each report came."""

    def __init__(self, clock: DrivenClock) -> None:
        super().__init__()
        self._clock = clock
        self.at_s: list[float] = []

    async def report(self, report: FeedReport) -> None:
        await super().report(report)
        self.at_s.append(self._clock.now())


async def test_a_whole_feed_comes_late_and_complete() -> None:
    clock = DrivenClock()
    ledger = Timed(DrivenClock())
    feed = DelayedFeed(DemoFeed("demo", conditions(clock=clock)), 900, ledger._clock)
    assert feed.name == "demo"
    async with asyncio.timeout(20):
        await feed.run(ledger)
    assert ledger.games == {told_by(game): game for game in games()}
    assert ledger.at_s[0] >= 1000 + 900
    assert all(a <= b for a, b in pairwise(ledger.at_s))
    assert ledger.states[0] == "connecting" and ledger.states[-1] == "finished"


class Once:
    """Tells one game, then waits, ends, or fails."""

    name = "once"

    def __init__(self, error: Exception | None) -> None:
        self._error = error

    async def run(self, sink: FeedSink) -> None:
        sink.health(FeedHealth(self.name, "live"))
        player = Player("A")
        report = GameReport("k", Headers(player, player), "8/8/8/8/8/8/8/K1k5 w - - 0 1")
        await sink.report(FeedReport(self.name, (report,)))
        sink.health(FeedHealth(self.name, "finished"))
        if self._error is not None:
            raise self._error


async def test_finished_is_said_last() -> None:
    said: list[str] = []

    class Order(Ledger):
        async def report(self, report: FeedReport) -> None:
            said.append("report")

        def health(self, health: FeedHealth) -> None:
            said.append(health.state)

    await DelayedFeed(Once(None), 60, DrivenClock()).run(Order())
    assert said == ["live", "report", "finished"]


async def test_finished_is_said_of_a_source_that_lasts_and_taken_back_when_it_goes_on() -> None:
    clock, ledger = DrivenClock(), Ledger()
    player = Player("A")
    game = GameReport("k", Headers(player, player), "8/8/8/8/8/8/8/K1k5 w - - 0 1")

    class Lasting:
        name = "lasting"

        async def run(self, sink: FeedSink) -> None:
            for _ in range(2):
                await sink.report(FeedReport(self.name, (game,)))
                sink.health(FeedHealth(self.name, "live"))
                sink.health(FeedHealth(self.name, "finished"))
                await until(lambda: ledger.states[-1:] == ["finished"])
            await sink.report(FeedReport(self.name, (game,)))
            sink.health(FeedHealth(self.name, "finished"))
            sink.health(FeedHealth(self.name, "live"))

    await DelayedFeed(Lasting(), 60, clock).run(ledger)
    assert ledger.states == ["live", "finished", "live", "finished", "live"]
    assert len(ledger.reports) == 3


async def test_what_ends_the_source_ends_the_delayed_one() -> None:
    with pytest.raises(FeedNotFound):
        await DelayedFeed(Once(FeedNotFound("x", "gone")), 60, DrivenClock()).run(Ledger())


@pytest.mark.parametrize("delay_s", [0.0, -1.0, float("nan")])
def test_a_delay_is_above_nothing(delay_s: float) -> None:
    with pytest.raises(ValueError, match="above 0"):
        DelayedFeed(Once(None), delay_s)
