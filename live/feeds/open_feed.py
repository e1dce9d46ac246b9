"""From the text after ``--feed`` to the source that follows it, and a look at what it holds now."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec

from live.config import FeedsConfig
from live.errors import ConfigError, FeedNotFound, FeedUnreadable, LiveRateError, UnknownFeed
from live.events import FeedHealth, FeedName, FeedReport, GameReport
from live.feeds.feed import RETRY, Feed, FeedConditions, Identity, identities
from live.feeds.source_address import (
    LICHESS,
    FeedAddress,
    Kind,
    lichess_target,
    livechess_cloud,
    mqtt_address,
    origin,
    public_name,
    recognise,
    split,
    unknown,
    wrong_topic,
)

#: What stands before the first slash of an address that was copied without its ``https://``.
_HOST = re.compile(r"(?:[A-Za-z0-9-]+\.)+[A-Za-z0-9-]+(?::\d+)?/")
#: A drive of Windows.
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
#: Kinds that end: what is read once is not there a second time.
_ENDING: frozenset[Kind] = frozenset({"demo", "stdin"})

#: Opens the source of a plugin.
PluginFeeds = Callable[[FeedAddress, FeedConditions], Feed]


def no_plugins(source: FeedAddress, conditions: FeedConditions) -> Feed:
    """For those who follow no source of a plugin."""
    remedy = "Give it to live-rate --feed, with [plugins] use naming it"
    raise UnknownFeed(f'--feed "{source.name}"', "plugins are not in use here", remedy)


def open_feed(
    spec: str,
    config: FeedsConfig,
    *,
    conditions: FeedConditions | None = None,
    env: Mapping[str, str] | None = None,
    name: str = "",
    lasting: bool = False,
    plugins: PluginFeeds = no_plugins,
) -> Feed:
    """The source that ``--feed spec`` means, ready to run; nothing is asked of a network yet.

    Args:
        spec: ``demo``, ``-``, a path, a URL, or ``kind+`` any of these.
        config: ``[feeds]``.
        conditions: Time and chance for tests; the real ones when None.
        env: The environment, for ``LICHESS_TOKEN``; the real one when None.
        name: What to call it, where two sources would else have one name.
        lasting: Wait for a source that is not there yet, and go on looking when all its games are
            over: results are corrected, and the next round may come.
        plugins: Opens the source of a plugin.

    Raises:
        UnknownFeed: the text names no kind of source; lists the kinds.
        FeedNotFound: a path where there is no file.
        FeedUnreadable: a path that is no file.
        ConfigError: ``[feeds.lichess] token_file`` cannot be used.
    """
    source = recognise(spec, lichess_url=config.lichess.base_url)
    conditions = conditions or FeedConditions(config)
    if lasting:
        conditions = replace(conditions, lasting=source.kind not in _ENDING)
    feed = _open(source, conditions, os.environ if env is None else env, plugins)
    feed.name = name or feed.name
    return feed


def _open(
    source: FeedAddress,
    conditions: FeedConditions,
    env: Mapping[str, str],
    plugins: PluginFeeds,
) -> Feed:
    # Each kind brings its own libraries: a demo needs no HTTP client.
    match source.kind:
        case "demo":
            from live.feeds.demo_feed import DemoFeed

            return DemoFeed(source.name, conditions)
        case "stdin":
            from live.feeds.file_feed import StdinFeed

            return StdinFeed("standard input", conditions)
        case "file" | "folder":
            return _file(source, conditions)
        case "pgn-url":
            if not _is_http(source.target):
                raise unknown(source.name, "is no http or https address")
            from live.feeds.web_page_feed import WebPageFeed

            return WebPageFeed(source.name, source.target, conditions)
        case "lichess":
            return _lichess(source, conditions, env)
        case "dgt-board":
            from live.feeds.livechess import LiveChessFeed

            return LiveChessFeed(source.name, source.target, conditions)
        case "livechess-cloud":
            return _livechess_cloud(source, conditions)
        case "mqtt":
            return _mqtt(source, conditions)
        case "plugin":
            return plugins(source, conditions)


def _file(source: FeedAddress, conditions: FeedConditions) -> Feed:
    text = source.target
    if text.lower().startswith("file://"):
        text = unquote(urlsplit(text).path)
    path = Path(text)
    try:
        path = path.expanduser()
        there = path.exists()
        elsewhere = _HOST.match(text) or (os.name != "nt" and _DRIVE.match(text))
        may_come = conditions.lasting and not elsewhere
    except (OSError, ValueError, RuntimeError):
        # No name that a file could have (too long, with a zero byte), or nobody's home.
        there = may_come = False
    if not there and not may_come:
        remedy = "Check the path"
        if _HOST.match(text):
            remedy += ", or write https:// in front if it is an address"
        elif _DRIVE.match(text):
            remedy += ": it is one of Windows"
        elif text.endswith(".pgn"):
            remedy += "; a service that lasts waits for it"
        raise FeedNotFound(source.name, "there is no such file", remedy)
    if path.is_dir() if there else source.kind == "folder" or path.suffix.lower() != ".pgn":
        if source.forced and source.kind == "file":
            raise FeedUnreadable(source.name, "is a folder", "Give a file, or leave file+ out")
        from live.feeds.file_feed import FolderFeed

        return FolderFeed(source.name, path, conditions)
    if there and not path.is_dir() and not path.is_file():
        # A pipe or a device may wait for ever, and is read once.
        remedy = "Give a file or a folder, or pipe it into standard input, which is called -"
        raise FeedUnreadable(source.name, "is no file that can be followed", remedy)
    if there and source.kind == "folder":
        raise FeedUnreadable(source.name, "is no folder", "Give a folder, or leave folder+ out")
    from live.feeds.file_feed import FileFeed

    return FileFeed(source.name, path, conditions)


def _lichess(source: FeedAddress, conditions: FeedConditions, env: Mapping[str, str]) -> Feed:
    settings = conditions.config.lichess
    target = lichess_target(source.target)
    if target is None or not _is_http(source.target):
        raise unknown(
            source.name, "is no lichess broadcast or game: its URL ends in an eight-letter id"
        )
    # A forced kind names its own server (a rehearsal, a private instance); otherwise requests
    # go where the configuration says, whatever host the URL was copied from.
    given = origin(source.target)
    base_url = given if source.forced and given != LICHESS else settings.base_url
    same = origin(base_url) == origin(settings.base_url)
    from live.feeds.lichess import LichessBroadcastFeed, LichessGameFeed, LichessToken

    token = LichessToken(settings.token_file, env, sent=same)
    if target.what == "page":
        from live.feeds.web_page_feed import WebPageFeed

        url = f"{base_url.rstrip('/')}{target.id}"
        return WebPageFeed(source.name, url, conditions, poll_s=target.poll_s, token=token)
    kind = LichessGameFeed if target.what in ("game", "tv") else LichessBroadcastFeed
    return kind(source.name, base_url, target, conditions, token)


def _livechess_cloud(source: FeedAddress, conditions: FeedConditions) -> Feed:
    found = livechess_cloud(source.target)
    if found is None or not _is_http(source.target):
        raise unknown(source.name, "is no LiveChess Cloud address: it ends in #ID or #ID/ROUND")
    base_url = conditions.config.livechess_cloud.base_url
    host = urlsplit(source.target).hostname or ""
    if source.forced and not host.endswith("livechesscloud.com"):
        base_url = origin(source.target)
    from live.feeds.livechess_cloud import LiveChessCloudFeed

    return LiveChessCloudFeed(source.name, *found, conditions, base_url)


def _mqtt(source: FeedAddress, conditions: FeedConditions) -> Feed:
    address = mqtt_address(source.target)
    if address is None:
        raise unknown(source.name, "is no broker's address: it looks like mqtt://BROKER/TOPIC")
    if wrong := wrong_topic(address.topic):
        raise unknown(source.name, f"{wrong}: it looks like mqtt://BROKER/chess/#")
    from live.feeds.mqtt_feed import MqttFeed

    return MqttFeed(source.name, address, conditions)


def _is_http(url: str) -> bool:
    parts = split(url)
    return parts is not None and parts.scheme in ("http", "https") and bool(parts.hostname)


#: A source that has reported games and is silent for so long has reported them all.
QUIET_S = 1.0


class ProbedGame(msgspec.Struct, frozen=True):
    """One game as the source reports it now."""

    round: str
    board: int | None
    white: str
    black: str
    plies: int
    last_move: str
    result: str
    problem: str | None


class ProbedSource(msgspec.Struct, frozen=True):
    """What one source is and says."""

    feed: str
    kind: str
    """Empty where the text names no kind of source."""
    answers: bool
    detail: str
    """The source's last word on its health, or what is wrong with it."""
    games: tuple[ProbedGame, ...] = ()


async def probe(
    specs: Sequence[str], config: FeedsConfig, *, within_s: float
) -> list[ProbedSource]:
    """Ask every source at the same time, each for ``within_s`` seconds at most; never raises
    for what is wrong with a source.
    """
    return await asyncio.gather(*(_probe(spec, config, within_s) for spec in specs))


async def _probe(spec: str, config: FeedsConfig, within_s: float) -> ProbedSource:
    listener = _Listener()
    kind = ""
    name = public_name(spec.strip())
    try:
        source = recognise(spec, lichess_url=config.lichess.base_url)
        kind, name = source.kind, source.name
        feed = open_feed(spec, config, conditions=FeedConditions(config, passing=True))
        following = asyncio.create_task(feed.run(listener), name=f"probe {name}")
        try:
            async with asyncio.timeout(within_s):
                await listener.fell_silent(following)
        except TimeoutError:
            pass
        finally:
            following.cancel()
            ended = await asyncio.gather(following, return_exceptions=True)
        error = ended[0]
        if isinstance(error, LiveRateError):
            raise error
    except LiveRateError as error:
        # A setting is shown by its name; the source itself is shown beside the problem.
        about = f"{error.subject}: " if isinstance(error, ConfigError) else ""
        return ProbedSource(
            name, kind, False, f"{about}{error.problem}. {error.remedy}".strip(" .")
        )
    answers = bool(listener.games) or listener.state in ("live", "stale", "finished")
    detail = listener.detail
    if not answers and listener.state in ("", "connecting"):
        detail = f"no answer within {within_s:g} s"
    elif not answers:
        detail = detail.partition(RETRY)[0]  # nobody tries again here
    return ProbedSource(name, kind, answers, detail, tuple(map(_held, listener.games.values())))


def _held(game: GameReport) -> ProbedGame:
    told = game.headers
    return ProbedGame(
        round=told.round,
        board=told.board,
        white=told.white.name,
        black=told.black.name,
        plies=len(game.moves),
        last_move=game.moves[-1].san if game.moves else "",
        result=game.result,
        problem=game.problem,
    )


class _Listener:
    """Keeps the last of everything one source says."""

    def __init__(self) -> None:
        self.games: dict[Identity, GameReport] = {}
        self.state = ""
        self.detail = ""
        self._said = asyncio.Event()

    async def report(self, report: FeedReport) -> None:
        if report.complete:
            self.games.clear()
        self.games.update(zip(identities(report.games), report.games, strict=True))
        self._said.set()

    async def rated(self) -> None:
        """Nothing is rated."""

    def known(self, feed: FeedName) -> Sequence[GameReport]:
        return ()

    def health(self, health: FeedHealth) -> None:
        self.state, self.detail = health.state, health.detail
        self._said.set()

    async def fell_silent(self, following: asyncio.Task[None]) -> None:
        """Wait until it has reported games and is silent, is over, or has failed."""
        following.add_done_callback(lambda _: self._said.set())
        while not following.done():
            self._said.clear()
            try:
                async with asyncio.timeout(QUIET_S if self.games else None):
                    await self._said.wait()
            except TimeoutError:
                return
