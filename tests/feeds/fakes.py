"""Fakes that the tests of sources share: time that is driven, and a consumer that remembers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path

from live.config import FeedsConfig
from live.events import FeedHealth, FeedName, FeedReport, GameReport
from live.feeds.feed import Feed, FeedConditions
from live.feeds.pgn_decoder import PgnDecoder

DATA = Path(__file__).resolve().parent.parent / "data"


class DrivenClock:
    """A clock that only moves when a test says so, or when somebody sleeps.

    ``sleep`` returns at once and moves the time on, so that no test waits for back-offs and
    replays; a ``deadline`` fires only when :meth:`expire` says so.
    """

    def __init__(self) -> None:
        self.time_s = 1000.0
        self.slept: list[float] = []
        self._deadlines: dict[asyncio.Timeout, float] = {}

    def now(self) -> float:
        return self.time_s

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time_s += seconds
        await asyncio.sleep(0)

    def deadline(self, seconds: float | None) -> AbstractAsyncContextManager[object]:
        return self._deadline(seconds)

    @asynccontextmanager
    async def _deadline(self, seconds: float | None) -> AsyncIterator[None]:
        async with asyncio.timeout(None) as timeout:
            if seconds is not None:
                self._deadlines[timeout] = self.time_s + seconds
            try:
                yield
            finally:
                self._deadlines.pop(timeout, None)

    @property
    def next_deadline_s(self) -> float | None:
        """Seconds to the nearest deadline."""
        return min((at - self.time_s for at in self._deadlines.values()), default=None)

    async def expire(self) -> None:
        """Go to the nearest deadline and let it pass; waits until there is one."""
        await until(lambda: bool(self._deadlines))
        timeout, at_s = min(self._deadlines.items(), key=lambda item: item[1])
        self.time_s = max(self.time_s, at_s)
        timeout.reschedule(asyncio.get_running_loop().time())
        await until(lambda: timeout not in self._deadlines)


class Ledger:
    """A consumer that keeps what it is told."""

    def __init__(self) -> None:
        self.reports: list[FeedReport] = []
        self.healths: list[FeedHealth] = []
        self.games: dict[tuple[str, ...], GameReport] = {}
        """The last report of each game; a complete report forgets games not in it."""
        self.before: tuple[GameReport, ...] = ()
        """What a former run of the service knew."""

    async def report(self, report: FeedReport) -> None:
        self.reports.append(report)
        if report.complete:
            self.games.clear()
        self.games.update({told_by(game): game for game in report.games})

    async def rated(self) -> None:
        """Nothing is rated."""

    def known(self, feed: FeedName) -> tuple[GameReport, ...]:
        return self.before

    def health(self, health: FeedHealth) -> None:
        self.healths.append(health)

    @property
    def states(self) -> list[str]:
        return [health.state for health in self.healths]

    @property
    def last(self) -> FeedHealth:
        return self.healths[-1]


def told_by(game: GameReport) -> tuple[str, ...]:
    return (game.headers.round, game.headers.white.name, game.headers.black.name)


def substance(game: GameReport) -> tuple[object, ...]:
    """What every protocol must carry over unchanged: players, moves, clocks, result."""
    told = game.headers
    clocks = [move.clock_s for move in game.moves]
    moves = [move.uci for move in game.moves]
    return (told.white, told.black, told.round, moves, clocks, game.result, game.start_fen)


def decode(text: bytes) -> list[GameReport]:
    decoder = PgnDecoder()
    return [*decoder.feed(text), *decoder.finish()]


def conditions(
    config: FeedsConfig | None = None, clock: DrivenClock | None = None
) -> FeedConditions:
    return FeedConditions(config or FeedsConfig(), clock or DrivenClock(), lambda: 0.5)


async def until(condition: Callable[[], bool], within_s: float = 60) -> None:
    """Wait for something to become true: bounded, and without a clock of its own."""
    async with asyncio.timeout(within_s):
        while not condition():  # noqa: ASYNC110 - no one event tells of it
            # A real file, socket or thread is on its way; a millisecond keeps the processor free.
            await asyncio.sleep(0.001)


@asynccontextmanager
async def listening(
    talk: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
) -> AsyncIterator[int]:
    """A server on a free port while the block runs; leaving breaks its connections off."""
    tasks: set[asyncio.Task[None]] = set()

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await talk(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            tasks.discard(task)
            writer.transport.abort()

    server = await asyncio.start_server(connection, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()


@asynccontextmanager
async def running(feed: Feed, ledger: Ledger) -> AsyncIterator[asyncio.Task[None]]:
    """The feed runs while the block does."""
    task = asyncio.create_task(feed.run(ledger), name=f"feed {feed.name}")
    try:
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
