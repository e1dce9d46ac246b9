"""All sources of one service run: each followed to its end, and anew when its settings change.

Part of the composition root.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from live.config import FeedsConfig
from live.errors import ConfigError, FeedError
from live.events import FeedHealth
from live.feeds.base import Feed
from live.feeds.kinds import recognise
from live.feeds.open import open_feed
from live.service.hall import Hall
from live.service.supervision import Supervisor
from live.service.waking import watch

log = logging.getLogger(__name__)

#: Kinds that cannot be begun anew: what was read from them is gone, or would be played again.
_ONCE = frozenset({"stdin", "demo"})


def open_feeds(specs: Sequence[str], config: FeedsConfig) -> list[Feed]:
    """The sources to follow, each under a name of its own.

    Raises:
        ConfigError: the same source is given twice.
        FeedError: see :func:`live.feeds.open.open_feed`.
    """
    feeds: list[Feed] = []
    names: set[str] = set()
    for spec in specs:
        if specs.count(spec) > 1:
            raise ConfigError(f"--feed {spec}", "is given twice", "Give it once")
        feed = open_feed(spec, config)
        if feed.name in names:
            # Two addresses may differ only in a secret, which names do not show.
            feed = open_feed(spec, config, name=f"{feed.name} ({len(feeds) + 1})")
        names.add(feed.name)
        feeds.append(feed)
    return feeds


class Following:
    """The sources and their settings. Made before anything runs, so that a mistake is told first.

    Raises:
        ConfigError, FeedError: see :func:`open_feeds`.
    """

    def __init__(self, specs: Sequence[str], config: FeedsConfig) -> None:
        self._specs = specs
        self._config = config
        self._feeds = open_feeds(specs, config)
        self._anew = [asyncio.Event() for _ in specs]
        self.lost: list[FeedError] = []
        """Why sources could not be followed at all."""

    @property
    def names(self) -> list[str]:
        """What people call them, in the order they were given."""
        return [feed.name for feed in self._feeds]

    @property
    def config(self) -> FeedsConfig:
        """The settings that hold now."""
        return self._config

    @property
    def fixed(self) -> list[str]:
        """Those that go on as they are whatever :meth:`reconfigure` is told."""
        return [
            feed.name
            for spec, feed in zip(self._specs, self._feeds, strict=True)
            if self._begun_once(spec)
        ]

    def _begun_once(self, spec: str) -> bool:
        return recognise(spec, lichess_url=self._config.lichess.base_url).kind in _ONCE

    async def run(self, hall: Hall, supervisor: Supervisor) -> None:
        """Until every source is over.

        Raises:
            FeedError: none of them could be followed at all.
        """
        sleeps = supervisor.keep("sleep watch", lambda: watch(self.begin_anew))
        watching = asyncio.create_task(sleeps, name="keep sleep watch")
        try:
            async with asyncio.TaskGroup() as tasks:
                for index, feed in enumerate(self._feeds):
                    tasks.create_task(self._stay(index, hall, supervisor), name=f"feed {feed.name}")
        finally:
            watching.cancel()
            await asyncio.wait([watching])
        if len(self.lost) == len(self._feeds):
            # Somebody has just mistyped it, or is told to look.
            raise self.lost[0]

    def check(self, config: FeedsConfig) -> None:
        """Whether these settings can be used; raises as :func:`open_feeds` does."""
        open_feeds(self._specs, config)

    def reconfigure(self, config: FeedsConfig) -> None:
        """Begin every source anew with these settings. Games stay: the next report is whole.

        With a longer delay nothing shown is taken back, and with a shorter one what was held back
        is told again by the source.
        """
        if config == self._config:
            return
        self._config = config
        self.begin_anew()

    def begin_anew(self) -> None:
        """Have every source connect and ask again, at once. Games stay."""
        config = self._config
        for index, feed in enumerate(open_feeds(self._specs, config)):
            if self._begun_once(self._specs[index]):
                log.info("%s goes on as it is: it cannot be begun anew", feed.name)
                continue
            self._feeds[index] = feed
            self._anew[index].set()

    async def _stay(self, index: int, hall: Hall, supervisor: Supervisor) -> None:
        """Follow one source to its end, from its beginning whenever its settings change."""
        anew = self._anew[index]
        while True:
            anew.clear()
            feed = self._feeds[index]
            following = asyncio.create_task(
                self._follow(feed, hall, supervisor), name=f"follow {feed.name}"
            )
            changed = asyncio.create_task(anew.wait(), name=f"settings of {feed.name}")
            both = {following, changed}
            try:
                await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
                if following.done():
                    return await following
            finally:
                for task in both:
                    task.cancel()
                await asyncio.wait(both)

    async def _follow(self, feed: Feed, hall: Hall, supervisor: Supervisor) -> None:
        """One that cannot be followed at all is shown, and the others go on."""
        try:
            await supervisor.keep(
                feed.name,
                lambda: hall.follow(feed),
                source=True,
                ends=True,
                fatal=lambda error: isinstance(error, FeedError),
            )
        except FeedError as error:
            self.lost.append(error)
            if len(self.lost) < len(self._feeds):  # else it ends the service, and is told there
                log.error("%s", error)
                hall.health(FeedHealth(feed.name, "failed", str(error)))
