"""Probe of sources: what they answer and which games they have now."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from live.errors import ConfigError, LiveRateError
from live.messages.from_sources import FeedReport, GameReport
from live.messages.health import FeedHealth
from live.messages.values import FeedName, Value
from live.settings import FeedsConfig
from live.sources.feed import RETRY
from live.sources.feed_session import FeedConditions
from live.sources.game_identity import Identified, identify_games
from live.sources.open_feed import open_feed
from live.sources.source_address import recognise_source, redact_address

#: Once a source has reported games, so many seconds without another game mean that it
#: has reported all.
QUIET_S = 1.0


class ProbedGame(Value):
    """A game as the source reports it now."""

    round: str
    board: int | None
    white: str
    black: str
    plies: int
    last_move: str
    result: str
    problem: str | None


class ProbedSource(Value):
    """Result of probing one source."""

    feed: str
    kind: str
    """Kind of the source; empty if the text names none."""
    answers: bool
    detail: str
    """Detail of the source's last reported health, or a description of the error."""
    games: tuple[ProbedGame, ...] = ()


async def probe_sources(
    specs: Sequence[str], config: FeedsConfig, *, within_s: float
) -> list[ProbedSource]:
    """Probe all sources at the same time, each for at most ``within_s`` seconds. Errors
    of a source are returned in its result, never raised.
    """
    return await asyncio.gather(
        *(_probe_source(spec, config, within_s) for spec in specs)
    )


async def _probe_source(
    spec: str, config: FeedsConfig, within_s: float
) -> ProbedSource:
    listener = _Listener()
    kind = ""
    name = redact_address(spec.strip())
    try:
        source = recognise_source(spec, lichess_url=config.lichess.base_url)
        kind, name = source.kind, source.name
        feed = open_feed(spec, config, conditions=FeedConditions(config, passing=True))
        following = asyncio.create_task(feed.run(listener), name=f"probe {name}")
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(within_s):
                    await listener.wait_until_silent(following)
        finally:
            following.cancel()
            (error,) = await asyncio.gather(following, return_exceptions=True)
        if isinstance(error, LiveRateError):
            raise error
    except LiveRateError as error:
        # The error of a setting includes the setting's name; the source's own name is
        # shown next to the problem anyway.
        subject = f"{error.subject}: " if isinstance(error, ConfigError) else ""
        detail = f"{subject}{error.problem}. {error.remedy}".strip(" .")
        return ProbedSource(name, kind, False, detail)
    answers = bool(listener.games) or listener.state in ("live", "stale", "finished")
    detail = listener.detail
    if not answers and listener.state in ("", "connecting"):
        detail = f"no answer within {within_s:g} s"
    elif not answers:
        detail = detail.partition(RETRY)[0]  # a probe does not try again
    return ProbedSource(
        name,
        kind,
        answers,
        detail,
        tuple(map(_describe_probed, listener.games.values())),
    )


def _describe_probed(game: GameReport) -> ProbedGame:
    heads, plies = game.headers, len(game.moves)
    names = heads.white.name, heads.black.name
    last = game.moves[-1].san if plies else ""
    return ProbedGame(
        heads.round, heads.board, *names, plies, last, game.result, game.problem
    )


class _Listener:
    """Sink that keeps the latest games and health of one source."""

    def __init__(self) -> None:
        self.games: Identified = {}
        self.state = ""
        self.detail = ""
        self._news = asyncio.Event()

    async def report(self, report: FeedReport) -> None:
        known = len(self.games)
        if report.complete:
            self.games.clear()
        self.games.update(zip(identify_games(report.games), report.games, strict=True))
        # A source that only sends moves, as the demo does, is not waited for.
        if len(self.games) != known:
            self._news.set()

    async def wait_until_rated(self) -> None:
        """Return at once: a probe rates nothing."""

    def known_games(self, feed: FeedName) -> Sequence[GameReport]:
        return ()

    def health(self, health: FeedHealth) -> None:
        self.state, self.detail = health.state, health.detail
        self._news.set()

    async def wait_until_silent(self, following: asyncio.Task[None]) -> None:
        """Wait until following the source has ended. Raises TimeoutError when the
        source has reported games and then no other game.
        """
        following.add_done_callback(lambda _: self._news.set())
        while not following.done():
            self._news.clear()
            async with asyncio.timeout(QUIET_S if self.games else None):
                await self._news.wait()
