"""From the text after ``--feed`` to the source that follows it, and a look at what it
holds now.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module

from live.errors import ConfigError, LiveRateError
from live.messages.from_sources import FeedReport, GameReport
from live.messages.health import FeedHealth
from live.messages.values import FeedName, Value
from live.settings import FeedsConfig
from live.sources.feed import RETRY, Feed, FeedConditions
from live.sources.game_identity import Identified, identify_games
from live.sources.source_address import KINDS, recognise_source, redact_address


def open_feed(
    spec: str,
    config: FeedsConfig,
    *,
    conditions: FeedConditions | None = None,
    name: str = "",
    lasting: bool = False,
) -> Feed:
    """Return the source that ``--feed spec`` means, ready to run; nothing is asked of a
    network yet.

    Args:
        spec: ``demo``, ``-``, a path, a URL, or ``kind+`` any of these.
        config: ``[feeds]``.
        conditions: Time and chance for tests; the real ones when None.
        name: What to call it, where two sources would else have one name.
        lasting: Wait for a source that is not there yet, and go on looking when all its
            games are over: results are corrected, and the next round may come.

    Raises:
        UnknownFeed: the text names no kind of source; lists the kinds.
        FeedNotFound: a path where there is no file.
        FeedUnreadable: a path that is no file.
        ConfigError: ``[feeds.lichess] token_file`` cannot be used.
    """
    source = recognise_source(spec, lichess_url=config.lichess.base_url)
    conditions = conditions or FeedConditions(config)
    kind = KINDS[source.kind]
    if lasting:
        conditions = replace(conditions, lasting=not kind.once)
    # Each kind brings its own libraries: a demo needs no HTTP client.
    module, _, opener = kind.opener.partition(":")
    feed: Feed = getattr(import_module(f"live.sources.{module}"), opener)(
        source, conditions
    )
    feed.name = name or feed.name
    return feed


#: A source that has reported games and is silent for so long has reported them all.
QUIET_S = 1.0


class ProbedGame(Value):
    """One game as the source reports it now."""

    round: str
    board: int | None
    white: str
    black: str
    plies: int
    last_move: str
    result: str
    problem: str | None


class ProbedSource(Value):
    """What one source is and says."""

    feed: str
    kind: str
    """Empty where the text names no kind of source."""
    answers: bool
    detail: str
    """The source's last word on its health, or what is wrong with it."""
    games: tuple[ProbedGame, ...] = ()


async def probe_sources(
    specs: Sequence[str], config: FeedsConfig, *, within_s: float
) -> list[ProbedSource]:
    """Ask every source at the same time, each for ``within_s`` seconds at most; never
    raises for what is wrong with a source.
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
        # A setting is shown by its name; the source itself is shown beside the problem.
        about = f"{error.subject}: " if isinstance(error, ConfigError) else ""
        detail = f"{about}{error.problem}. {error.remedy}".strip(" .")
        return ProbedSource(name, kind, False, detail)
    answers = bool(listener.games) or listener.state in ("live", "stale", "finished")
    detail = listener.detail
    if not answers and listener.state in ("", "connecting"):
        detail = f"no answer within {within_s:g} s"
    elif not answers:
        detail = detail.partition(RETRY)[0]  # nobody tries again here
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
    """Keeps the last of everything one source says."""

    def __init__(self) -> None:
        self.games: Identified = {}
        self.state = ""
        self.detail = ""
        self._said = asyncio.Event()

    async def report(self, report: FeedReport) -> None:
        if report.complete:
            self.games.clear()
        self.games.update(zip(identify_games(report.games), report.games, strict=True))
        self._said.set()

    async def wait_until_rated(self) -> None:
        """Return at once: nothing is rated."""

    def known_games(self, feed: FeedName) -> Sequence[GameReport]:
        return ()

    def health(self, health: FeedHealth) -> None:
        self.state, self.detail = health.state, health.detail
        self._said.set()

    async def wait_until_silent(self, following: asyncio.Task[None]) -> None:
        """Wait until it is over or has failed; TimeoutError once it has reported games
        and is silent.
        """
        following.add_done_callback(lambda _: self._said.set())
        while not following.done():
            self._said.clear()
            async with asyncio.timeout(QUIET_S if self.games else None):
                await self._said.wait()
