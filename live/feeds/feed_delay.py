"""``--delay SECONDS``: everything a source reports is held back, so moves and scores are both late.

Tournaments require it against cheating. Reports are whole games, so what waits is every report
with its time; health is passed on at once, because the arbiter must see trouble when it starts.

Loss policy: lossless. What waits is bounded by what changes during the delay, since reports share
the games that did not change.
"""

from __future__ import annotations

import asyncio
from collections import deque

from live.clock import Clock, LoopClock
from live.events import FeedHealth, FeedName, FeedReport
from live.feeds.feed import Feed, FeedSink

#: Reports waiting at most; beyond that the source waits (ten moves a second for an hour).
MAX_WAITING = 36_000


class DelayedReports:
    """Reports and when each may be passed on. Pure."""

    def __init__(self, delay_s: float) -> None:
        self._delay_s = delay_s
        self._queue: deque[tuple[float, FeedReport]] = deque()

    def put(self, report: FeedReport, now_s: float) -> None:
        """A report heard now."""
        self._queue.append((now_s + self._delay_s, report))

    def due(self, now_s: float) -> FeedReport | None:
        """The oldest report if its time has come; it waits no more then."""
        if self._queue and self._queue[0][0] <= now_s:
            return self._queue.popleft()[1]
        return None

    def next_s(self, now_s: float) -> float | None:
        """Seconds until the oldest is due; None when nothing waits."""
        return max(0.0, self._queue[0][0] - now_s) if self._queue else None

    def __len__(self) -> int:
        return len(self._queue)


class DelayedFeed:
    """A source that reports everything ``delay_s`` seconds late."""

    def __init__(self, feed: Feed, delay_s: float, clock: Clock | None = None) -> None:
        if not delay_s > 0:
            raise ValueError(f"a delay must be above 0 seconds, not {delay_s}")
        self.name: FeedName = feed.name
        self._feed = feed
        self._delay_s = delay_s
        self._clock = clock or LoopClock()

    async def run(self, sink: FeedSink) -> None:
        """Ends when the source has ended and all it reported was passed on."""
        late = _LateSink(sink, self._delay_s, self._clock)
        telling = asyncio.create_task(late.tell(), name=f"delay {self.name}")
        try:
            await self._feed.run(late)
            await late.close()
            await telling
        finally:
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)


class _LateSink:
    """Takes from the source at once, gives to the consumer late."""

    def __init__(self, sink: FeedSink, delay_s: float, clock: Clock) -> None:
        self._sink = sink
        self._clock = clock
        self._waiting = DelayedReports(delay_s)
        self._changed = asyncio.Condition()
        self._closed = False
        self._passing = False
        self._last: FeedHealth | None = None

    async def report(self, report: FeedReport) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: len(self._waiting) < MAX_WAITING)
            self._waiting.put(report, self._clock.now())
            self._changed.notify_all()

    def health(self, health: FeedHealth) -> None:
        self._last = None
        if health.state == "finished" and (self._passing or len(self._waiting)):
            self._last = health  # true only when the last report was passed on
        else:
            self._sink.health(health)

    async def close(self) -> None:
        """The source is over."""
        async with self._changed:
            self._closed = True
            self._changed.notify_all()

    async def tell(self) -> None:
        """Pass on what is due until the source is over and nothing waits."""
        while True:
            async with self._changed:
                await self._changed.wait_for(lambda: len(self._waiting) or self._closed)
                now_s = self._clock.now()
                report = self._waiting.due(now_s)
                wait_s = self._waiting.next_s(now_s)
                self._changed.notify_all()
                self._passing = report is not None
            if report is not None:
                await self._sink.report(report)
                self._passing = False
                self._conclude()
            elif wait_s is not None:
                await self._clock.sleep(wait_s)
            else:
                break
        self._conclude()

    def _conclude(self) -> None:
        """Say that the source has finished, if it has and all it reported was passed on."""
        if self._last is not None and not len(self._waiting):
            self._sink.health(self._last)
            self._last = None
