"""All sources of one service run: each followed to its end, and anew when its settings change.

Part of the composition root.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import msgspec

from live.config import FeedsConfig
from live.errors import ConfigError, FeedError, LiveRateError
from live.feeds.feed import Feed, failed
from live.feeds.open_feed import PluginFeeds, no_plugins, open_feed
from live.feeds.source_address import Kind, recognise
from live.service.event_service import EventService
from live.service.process import watch
from live.service.supervision import Supervisor

log = logging.getLogger(__name__)

#: Kinds that cannot be begun anew: what was read from them is gone, or would be played again.
_ONCE = frozenset({"stdin", "demo"})
#: Which table of ``[feeds]`` is one kind's own.
_TABLES: dict[Kind, str] = {
    "demo": "demo",
    "lichess": "lichess",
    "livechess-cloud": "livechess_cloud",
    "mqtt": "mqtt",
}
_DEFAULTS = FeedsConfig()
_NOT_READ = ("delay_s", "delay_rounds", "delay_finished", "rating_list", "pairing_list")


def open_feeds(
    specs: Sequence[str],
    config: FeedsConfig,
    *,
    lasting: bool = False,
    plugins: PluginFeeds = no_plugins,
) -> list[Feed]:
    """The sources to follow, each under a name of its own.

    Raises:
        ConfigError: the same source is given twice.
        FeedError: see :func:`live.feeds.open_feed.open_feed`.
    """
    feeds: list[Feed] = []
    names: set[str] = set()
    for spec in specs:
        if specs.count(spec) > 1:
            raise ConfigError(f"--feed {spec}", "is given twice", "Give it once")
        feed = open_feed(spec, config, lasting=lasting, plugins=plugins)
        if feed.name in names:
            # Two addresses may differ only in a secret, which names do not show.
            name = f"{feed.name} ({len(feeds) + 1})"
            feed = open_feed(spec, config, name=name, lasting=lasting, plugins=plugins)
        names.add(feed.name)
        feeds.append(feed)
    return feeds


def settings_of(spec: str, config: FeedsConfig) -> tuple[Kind, FeedsConfig]:
    """What this source is and works under: without what only sources of other kinds do, and
    without what sources do not read: the delay, which is the public's, and lists of players.
    """
    kind = recognise(spec, lichess_url=config.lichess.base_url).kind
    others = {table: getattr(_DEFAULTS, table) for each, table in _TABLES.items() if each != kind}
    return kind, msgspec.structs.replace(
        config, **{name: getattr(_DEFAULTS, name) for name in _NOT_READ}, **others
    )


class SourceRunner:
    """The sources and their settings. Made before anything runs, so that a mistake shows first.

    ``lasting``: a source whose games are all over is looked at all the same, since the next round
    may come from it.

    Raises:
        ConfigError, FeedError: see :func:`open_feeds`.
    """

    def __init__(
        self,
        specs: Sequence[str],
        config: FeedsConfig,
        *,
        lasting: bool = False,
        plugins: PluginFeeds = no_plugins,
    ) -> None:
        self._specs = specs
        self._config = config
        self._lasting = lasting
        self._plugins = plugins
        self._feeds = open_feeds(specs, config, lasting=lasting, plugins=plugins)
        # While they are followed: each one's task, and what begins one.
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._start: Callable[[int], asyncio.Task[None]] | None = None
        self._over: set[int] = set()
        self._all_over = asyncio.Event()
        self._lost: dict[int, FeedError] = {}
        # Settings have changed on the way: what fails from then on, nobody has just typed.
        self._renewed = False

    @property
    def lost(self) -> list[FeedError]:
        """Why sources could not be followed at all, the latest last."""
        return list(self._lost.values())

    @property
    def names(self) -> list[str]:
        """What people call them, in the order they were given."""
        return [feed.name for feed in self._feeds]

    @property
    def folders(self) -> list[Path]:
        """Files and folders that are followed: lists of players may lie beside them."""
        found = [recognise(spec, lichess_url=self._config.lichess.base_url) for spec in self._specs]
        return [Path(each.target) for each in found if each.kind in ("file", "folder")]

    @property
    def config(self) -> FeedsConfig:
        """The settings that hold now."""
        return self._config

    @property
    def fixed(self) -> list[str]:
        """Those that go on as they are whatever :meth:`reconfigure` is given."""
        return [
            feed.name
            for spec, feed in zip(self._specs, self._feeds, strict=True)
            if self._begun_once(spec)
        ]

    def _begun_once(self, spec: str) -> bool:
        return recognise(spec, lichess_url=self._config.lichess.base_url).kind in _ONCE

    @contextlib.asynccontextmanager
    async def running(self, service: EventService, supervisor: Supervisor) -> AsyncIterator[None]:
        """Every source followed while the block runs; one that is over waits for new settings."""
        async with asyncio.TaskGroup() as group:

            def start(index: int) -> asyncio.Task[None]:
                before = self._tasks.get(index)
                following = self._follow(index, before, service, supervisor)
                return group.create_task(following, name=f"follow {self.names[index]}")

            self._start = start
            sleeps = supervisor.keep("sleep watch", lambda: watch(self.begin_anew))
            watching = group.create_task(sleeps, name="keep sleep watch")
            self._tasks = {index: start(index) for index in range(len(self._feeds))}
            yield
            self._start = None
            for task in (watching, *self._tasks.values()):
                task.cancel()

    @property
    def exit_code(self) -> int:
        """That of the first source that could not be followed; 0 without one."""
        return self.lost[0].exit_code if self.lost else 0

    async def over(self) -> None:
        """Return once every source is over.

        Raises:
            FeedError: none of them could be followed at all.
        """
        await self._all_over.wait()
        if len(self._lost) == len(self._feeds) and not self._renewed:
            # Somebody has just mistyped it, or has just changed it.
            raise self.lost[-1]

    def check(self, config: FeedsConfig) -> None:
        """Whether these settings can be used; raises as :func:`open_feeds` does."""
        open_feeds(self._specs, config, plugins=self._plugins)

    def reconfigure(self, config: FeedsConfig) -> None:
        """Begin anew, with these settings, every source that they are other ones for: also one that
        is over or has failed, since they may be the remedy. Games stay: the next report is whole.
        """
        before, self._config = self._config, config
        concerned = [
            index
            for index, spec in enumerate(self._specs)
            if settings_of(spec, before) != settings_of(spec, config)
        ]
        self._renewed = self._renewed or bool(concerned)
        self._begin(concerned)

    def begin_anew(self) -> None:
        """Have every source that is not over connect and ask again, at once. Games stay."""
        self._begin([index for index in range(len(self._specs)) if index not in self._over])

    def _begin(self, concerned: Sequence[int]) -> None:
        for index in concerned:
            spec, name = self._specs[index], self._feeds[index].name
            if self._begun_once(spec):
                log.warning("%s goes on as it is: it cannot be begun anew", name)
                continue
            try:
                feed = open_feed(
                    spec, self._config, name=name, lasting=self._lasting, plugins=self._plugins
                )
            except LiveRateError as error:
                # A file may be missing just now; that must not keep the others from asking.
                log.error("%s; it goes on as it was", error)
            else:
                self._feeds[index] = feed
                self._over.discard(index)
                self._lost.pop(index, None)
                self._all_over.clear()
                if self._start is not None:
                    self._tasks[index] = self._start(index)

    async def _follow(
        self,
        index: int,
        before: asyncio.Task[None] | None,
        service: EventService,
        supervisor: Supervisor,
    ) -> None:
        """Follow one source to its end, once ``before``, which it replaces, has ended. One that
        cannot be followed at all is shown, and the others go on.
        """
        if before is not None:
            before.cancel()
            await asyncio.wait([before])
        feed = self._feeds[index]
        try:
            await supervisor.keep(
                feed.name,
                lambda: service.follow(feed),
                source=True,
                ends=True,
                fatal=lambda error: isinstance(error, FeedError),
            )
        except FeedError as error:
            self._lost[index] = error
            # Where all are lost, that ends the service, and is reported there.
            if len(self._lost) < len(self._feeds) or self._renewed:
                log.error("%s", error)
                service.health(failed(feed.name, error))
        self._over.add(index)
        if len(self._over) == len(self._feeds):
            self._all_over.set()
