"""What the tests of sources share: time that is driven, a consumer that remembers, real
servers.
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
    """A clock that only moves when a test says so, or when somebody sleeps.

    ``sleep`` returns at once and moves the time on, so that no test waits for back-offs
    and replays; a ``deadline`` fires only when :meth:`expire` says so.
    """

    #: How long others have for what happened meanwhile.
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

    async def wait_until_rated(self) -> None:
        """Nothing is rated."""

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


def told_by(game: GameReport) -> tuple[str, ...]:
    return (game.headers.round, game.headers.white.name, game.headers.black.name)


def substance(game: GameReport) -> tuple[object, ...]:
    """What every protocol must carry over unchanged: players, moves, clocks, result."""
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
    """The game while it was played."""
    return msgspec.structs.replace(game, moves=game.moves[:ply], result="*")


def conditions(
    config: FeedsConfig | None = None, clock: DrivenClock | None = None
) -> FeedConditions:
    return FeedConditions(config or FeedsConfig(), clock or DrivenClock(), lambda: 0.5)


async def until(condition: Callable[[], bool], within_s: float = 60) -> None:
    """Wait for something to become true: bounded, and without a clock of its own."""
    async with asyncio.timeout(within_s):
        while not condition():  # noqa: ASYNC110 - no one event tells of it
            # A real file, socket or thread is on its way; a millisecond keeps the
            # processor free.
            await asyncio.sleep(0.001)


async def turns(count: int) -> None:
    """Let others go on, so often."""
    for _ in range(count):
        await asyncio.sleep(0)


@asynccontextmanager
async def run_feed(feed: Feed, ledger: Ledger) -> AsyncIterator[asyncio.Task[None]]:
    """The feed runs while the block does."""
    task = asyncio.create_task(feed.run(ledger), name=f"feed {feed.name}")
    try:
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


class Followed:
    """A source that is followed: its time, what it says, and the task."""

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
        """To its end, or to what it raises."""
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
        """How many moves each game has, by White's name."""
        return {game.headers.white.name: len(game.moves) for game in self.games}

    @property
    def states(self) -> list[str]:
        return [health.state for health in self.ledger.healths]

    @property
    def details(self) -> list[str]:
        return [health.detail for health in self.ledger.healths]

    @property
    def detail(self) -> str:
        """What it said last, if anything."""
        return self.details[-1] if self.details else ""

    async def wait_for_games(self, count: int) -> None:
        """Wait until it has so many games."""
        await until(lambda: len(self.ledger.games) == count)

    async def wait_for_moves(self, count: int) -> None:
        """Wait until its games have so many moves in all."""
        await until(lambda: sum(self.plies.values()) == count)

    async def wait_for_pause(self) -> None:
        """Wait until it waits itself."""
        await until(lambda: self.done or self.clock.next_deadline_s is not None)

    async def end(self) -> None:
        """Let time pass until it is over."""
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
    """Answers in ``instead`` are sent first, each once, then the page."""

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
    """A web server's answer to whatever it is asked."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}

    async def answer(request: ServedRequest, reply: ServedReply) -> None:
        await reply.send_whole(status, body, named)

    return answer
