"""Helpers for tests of sources: a clock that the test controls, a consumer that records
reports, and real servers.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from live.messages.from_sources import FeedReport, GameReport
from live.messages.health import FeedHealth
from live.messages.values import FeedName
from live.rehearse.rehearsal import PgnUrlRehearsal
from live.rehearse.web_server import Handler, ServedReply, ServedRequest
from live.settings import FeedsConfig
from live.sources.feed import Feed
from live.sources.feed_session import FeedConditions
from live.sources.movetext import Movetext
from live.sources.open_feed import open_feed
from live.sources.pgn_decoder import PgnDecoder

T = TypeVar("T")

DATA = Path(__file__).resolve().parent.parent / "data"
CONFIG = FeedsConfig(timeout_s=5.0)


class DrivenClock:
    """A clock that advances only when a test advances it or a task sleeps.

    ``sleep`` returns at once and advances the time, so that no test waits for retries
    and replays. A ``deadline`` expires only when :meth:`expire` is called.
    """

    #: Real time in seconds that each sleep gives to other tasks.
    pause_s = 0.0

    def __init__(self) -> None:
        self.time_s = 1000.0
        self.slept: list[float] = []
        self._deadlines: dict[asyncio.Timeout, float] = {}

    def now(self) -> float:
        return self.time_s

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time_s += seconds
        await asyncio.sleep(self.pause_s)

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
        """Seconds to the nearest deadline; None if there is none."""
        return min((at - self.time_s for at in self._deadlines.values()), default=None)

    async def expire(self) -> None:
        """Wait until there is a deadline, advance to the nearest one, and let it
        expire.
        """
        await until(lambda: bool(self._deadlines))
        timeout, at_s = min(self._deadlines.items(), key=lambda item: item[1])
        self.time_s = max(self.time_s, at_s)
        timeout.reschedule(asyncio.get_running_loop().time())
        await until(lambda: timeout not in self._deadlines)


class Ledger:
    """A consumer that records the reports and the health of a source."""

    def __init__(self) -> None:
        self.reports: list[FeedReport] = []
        self.healths: list[FeedHealth] = []
        self.games: dict[tuple[str, ...], GameReport] = {}
        """The last report of each game; a complete report forgets games not in it."""
        self.before: tuple[GameReport, ...] = ()
        """Games that a former run of the service recorded."""

    async def report(self, report: FeedReport) -> None:
        self.reports.append(report)
        if report.complete:
            self.games.clear()
        self.games.update({identify_game(game): game for game in report.games})

    async def wait_until_rated(self) -> None:
        """Return at once, because nothing is rated."""

    def known_games(self, feed: FeedName) -> tuple[GameReport, ...]:
        return self.before

    def health(self, health: FeedHealth) -> None:
        self.healths.append(health)

    @property
    def states(self) -> list[str]:
        return [health.state for health in self.healths]

    @property
    def last(self) -> FeedHealth:
        return self.healths[-1]


def identify_game(game: GameReport) -> tuple[str, ...]:
    return (game.headers.round, game.headers.white.name, game.headers.black.name)


def substance(game: GameReport) -> tuple[object, ...]:
    """Return what every protocol must transmit unchanged: players, moves, clocks,
    result.
    """
    told = game.headers
    clocks = [move.clock_s for move in game.moves]
    moves = [move.uci for move in game.moves]
    return (
        told.white,
        told.black,
        told.round,
        moves,
        clocks,
        game.result,
        game.start_fen,
    )


def sans(game: GameReport | Movetext) -> str:
    return " ".join(move.san for move in game.moves)


def decode(text: bytes) -> list[GameReport]:
    decoder = PgnDecoder()
    return [*decoder.decode(text), *decoder.finish_input()]


#: Four finished games of one round, with clocks.
GAMES = decode((DATA / "four-boards.pgn").read_bytes())


def upto(game: GameReport, ply: int) -> GameReport:
    """Return the game as it was after ``ply`` plies, still without a result."""
    return msgspec.structs.replace(game, moves=game.moves[:ply], result="*")


def conditions(
    config: FeedsConfig | None = None, clock: DrivenClock | None = None
) -> FeedConditions:
    return FeedConditions(config or FeedsConfig(), clock or DrivenClock(), lambda: 0.5)


async def until(condition: Callable[[], bool], within_s: float = 60) -> None:
    """Wait until the condition is true, at most ``within_s`` seconds of real time."""
    async with asyncio.timeout(within_s):
        while not condition():  # noqa: ASYNC110 - no single event signals it
            # The condition depends on a real file, socket or thread. A sleep of one
            # millisecond leaves the processor free for it.
            await asyncio.sleep(0.001)


async def turns(count: int) -> None:
    """Let other tasks run for ``count`` turns of the event loop."""
    for _ in range(count):
        await asyncio.sleep(0)


@asynccontextmanager
async def run_feed(feed: Feed, ledger: Ledger) -> AsyncIterator[asyncio.Task[None]]:
    """Run the feed while the block is active."""
    task = asyncio.create_task(feed.run(ledger), name=f"feed {feed.name}")
    try:
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


class Followed:
    """A source under test, with its clock, its task, and a record of its reports."""

    def __init__(
        self,
        source: str | Callable[[FeedConditions], Feed],
        config: FeedsConfig,
        *,
        clock: DrivenClock | None = None,
        ledger: Ledger | None = None,
        lasting: bool = False,
    ) -> None:
        self.clock, self.ledger = clock or DrivenClock(), ledger or Ledger()
        under = conditions(config, self.clock)
        if isinstance(source, str):
            self.feed = open_feed(source, config, conditions=under, lasting=lasting)
        else:
            self.feed = source(under)
        self.task: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Run the feed until it ends or raises."""
        async with asyncio.timeout(20):
            await self.feed.run(self.ledger)

    @property
    def done(self) -> bool:
        return self.task is not None and self.task.done()

    @property
    def games(self) -> list[GameReport]:
        return list(self.ledger.games.values())

    @property
    def plies(self) -> dict[str, int]:
        """Number of moves of each game, by White's name."""
        return {game.headers.white.name: len(game.moves) for game in self.games}

    @property
    def states(self) -> list[str]:
        return [health.state for health in self.ledger.healths]

    @property
    def details(self) -> list[str]:
        return [health.detail for health in self.ledger.healths]

    @property
    def detail(self) -> str:
        """Text of the last health report; empty if there is none."""
        return self.details[-1] if self.details else ""

    async def wait_for_games(self, count: int) -> None:
        """Wait until the source has reported this number of games."""
        await until(lambda: len(self.ledger.games) == count)

    async def wait_for_moves(self, count: int) -> None:
        """Wait until the games of the source have this number of moves in total."""
        await until(lambda: sum(self.plies.values()) == count)

    async def wait_for_pause(self) -> None:
        """Wait until the source waits for a deadline or has ended."""
        await until(lambda: self.done or self.clock.next_deadline_s is not None)

    async def end(self) -> None:
        """Let deadlines expire until the source ends."""
        while not self.done:
            await self.wait_for_pause()
            if not self.done:
                await self.clock.expire()
        assert self.task is not None
        await self.task


@asynccontextmanager
async def follow_source(
    source: str | Callable[[FeedConditions], Feed],
    config: FeedsConfig = CONFIG,
    **how: Any,
) -> AsyncIterator[Followed]:
    """Follow the source while the block runs. An error that ends it is not raised here:
    for errors use ``Followed(...).run()``.
    """
    seen = Followed(source, config, **how)
    async with run_feed(seen.feed, seen.ledger) as seen.task:
        yield seen


class PgnPage(PgnUrlRehearsal):
    """A page of PGN over HTTP. Handlers in ``instead`` answer the first requests."""

    def __init__(self, games: Sequence[GameReport], *, weak: bool = False) -> None:
        super().__init__(games)
        self.weak = "W/" * weak
        self.instead: deque[Handler] = deque()
        self.requests: list[ServedRequest] = []

    async def answer_request(self, request: ServedRequest, reply: ServedReply) -> None:
        self.requests.append(request)
        if self.instead:
            answer = self.instead.popleft()
            await answer(request, reply)
        else:
            await super().answer_request(request, reply)


def answer_with(status: int, body: bytes = b"", **headers: str) -> Handler:
    """Return a handler that gives the same answer to every request."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}

    async def answer(request: ServedRequest, reply: ServedReply) -> None:
        await reply.send_whole(status, body, named)

    return answer
