"""Runner of all sources of a service; it restarts them when their settings change."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from live.errors import ConfigError, FeedError, LiveRateError
from live.messages.health import HealthReport
from live.process.supervision import Supervisor
from live.process.wakeups import call_after_wakeup
from live.settings import FeedsConfig
from live.sources.feed import Feed, build_failed_health
from live.sources.open_feed import open_feed
from live.sources.source_address import KINDS, FeedAddress, recognise_source

log = logging.getLogger(__name__)

#: Sections of ``[feeds]`` for a single kind of source, and settings that no source
#: reads.
_OWN = ("lichess", "livechess_cloud", "mqtt")
_NOT_READ = ("delay_s", "rating_list", "pairing_list")
_DEFAULTS = FeedsConfig()


def open_feeds(
    specs: Sequence[str], config: FeedsConfig, *, lasting: bool
) -> list[Feed]:
    """Open the sources, each under a unique name.

    Raises:
        ConfigError: the same source is given twice.
        FeedError: see :func:`live.sources.open_feed.open_feed`.
    """
    feeds: list[Feed] = []
    for spec in specs:
        if specs.count(spec) > 1:
            raise ConfigError(f"--feed {spec}", "is given twice", "Give it once")
        feed = open_feed(spec, config, lasting=lasting)
        if feed.name in [opened.name for opened in feeds]:
            # Two addresses might differ only in a secret, which is not part of a name.
            name = f"{feed.name} ({len(feeds) + 1})"
            feed = open_feed(spec, config, name=name, lasting=lasting)
        feeds.append(feed)
    return feeds


def select_settings(spec: str, config: FeedsConfig) -> tuple[str, FeedsConfig]:
    """Return the kind of a source, and a configuration in which all settings that it
    does not read have their defaults.
    """
    kind = recognise_source(spec, lichess_url=config.lichess.base_url).kind
    other_kinds = [name for name in _OWN if name != kind.replace("-", "_")]
    unread = {name: getattr(_DEFAULTS, name) for name in (*_NOT_READ, *other_kinds)}
    return kind, msgspec.structs.replace(config, **unread)


@dataclass(eq=False)
class _Source:
    """A source and its state."""

    spec: str
    feed: Feed
    task: asyncio.Task[None] | None = None
    is_over: bool = False
    error: FeedError | None = None
    """Error because of which the source could not be followed at all."""


class SourceRunner:
    """The sources of a service and their settings. Create this before anything else
    runs, so that mistakes are shown first.

    If ``lasting``, a source whose games have all ended is still polled, since the next
    round might follow.

    Raises:
        ConfigError, FeedError: see :func:`open_feeds`.
    """

    def __init__(
        self, specs: Sequence[str], config: FeedsConfig, *, lasting: bool = False
    ) -> None:
        self.config = config
        """The present settings."""
        self.lost: list[FeedError] = []
        """Errors of sources that could not be followed at all, the latest last."""
        self._lasting = lasting
        feeds = open_feeds(specs, config, lasting=lasting)
        self._sources = [_Source(*pair) for pair in zip(specs, feeds, strict=True)]
        # Function that starts following a source; None unless :meth:`running`.
        self._start: Callable[[_Source], None] | None = None
        self._all_over = asyncio.Event()
        # Whether settings have changed. Errors after that are not typing mistakes in
        # the command.
        self._is_reconfigured = False

    @property
    def exit_code(self) -> int:
        """Exit code for the first source that could not be followed; 0 if there is
        none.
        """
        return self.lost[0].exit_code if self.lost else 0

    @property
    def names(self) -> list[str]:
        """Names of the sources for people, in the order in which they were given."""
        return [source.feed.name for source in self._sources]

    @property
    def folders(self) -> list[Path]:
        """Followed files and folders; player lists might be next to them."""
        addresses = [self._recognise(source) for source in self._sources]
        return [
            Path(address.target)
            for address in addresses
            if address.kind in ("file", "folder")
        ]

    @property
    def names_never_restarted(self) -> list[str]:
        """Names of the sources that :meth:`reconfigure` never restarts."""
        return [
            source.feed.name for source in self._sources if self._is_read_once(source)
        ]

    def _recognise(self, source: _Source) -> FeedAddress:
        return recognise_source(source.spec, lichess_url=self.config.lichess.base_url)

    def _is_read_once(self, source: _Source) -> bool:
        """Return whether the input of a source is gone once it was read, or would be
        replayed from the start.
        """
        return KINDS[self._recognise(source).kind].once

    @contextlib.asynccontextmanager
    async def running(
        self,
        follow: Callable[[Feed], Awaitable[None]],
        report: HealthReport,
        supervisor: Supervisor,
    ) -> AsyncIterator[None]:
        """Follow all sources for the duration of the block. A source that has ended can
        be started again.

        Args:
            follow: function that follows one source to its end.
            report: function that receives the health of a source that cannot be
                followed.
            supervisor: restarts sources that fail.
        """
        async with asyncio.TaskGroup() as group:

            def start(source: _Source) -> None:
                before = source.task
                if before is not None:
                    before.cancel()
                following = self._follow(source, before, follow, report, supervisor)
                source.task = group.create_task(
                    following, name=f"follow {source.feed.name}"
                )

            self._start = start
            sleeps = supervisor.keep(
                "sleep watch", lambda: call_after_wakeup(self.restart)
            )
            watching = group.create_task(sleeps, name="keep sleep watch")
            for followed in self._sources:
                start(followed)
            yield
            self._start = None
            for task in (watching, *(followed.task for followed in self._sources)):
                if task is not None:
                    task.cancel()

    async def wait_until_over(self) -> None:
        """Wait until every source has ended.

        Raises:
            FeedError: no source could be followed at all.
        """
        await self._all_over.wait()
        if len(self.lost) == len(self._sources) and not self._is_reconfigured:
            # The sources have probably been mistyped in the command.
            raise self.lost[-1]

    def check(self, config: FeedsConfig) -> None:
        """Check that these settings can be used. Raises as :func:`open_feeds` does."""
        specs = [source.spec for source in self._sources]
        open_feeds(specs, config, lasting=self._lasting)

    def reconfigure(self, config: FeedsConfig) -> None:
        """Restart every source whose settings change, even if it has ended or failed.

        Games are kept, since the next report contains them all.
        """
        before = self.config
        self.config = config
        changed_sources = [
            source
            for source in self._sources
            if select_settings(source.spec, before)
            != select_settings(source.spec, config)
        ]
        self._is_reconfigured |= bool(changed_sources)
        self._restart(changed_sources)

    def restart(self) -> None:
        """Reconnect every source that has not ended, at once. Games are kept."""
        self._restart([source for source in self._sources if not source.is_over])

    def _restart(self, sources: Sequence[_Source]) -> None:
        for source in sources:
            name = source.feed.name
            if self._is_read_once(source):
                log.warning("%s continues as before: it cannot be restarted", name)
                continue
            try:
                source.feed = open_feed(
                    source.spec, self.config, name=name, lasting=self._lasting
                )
            except LiveRateError as error:
                # A file might be missing at this moment; the other sources are started
                # all the same.
                log.error("%s; it continues as before", error)
                continue
            source.is_over = False
            if source.error is not None:
                self.lost.remove(source.error)
                source.error = None
            self._all_over.clear()
            if self._start is not None:
                self._start(source)

    async def _follow(
        self,
        source: _Source,
        before: asyncio.Task[None] | None,
        follow: Callable[[Feed], Awaitable[None]],
        report: HealthReport,
        supervisor: Supervisor,
    ) -> None:
        """Follow one source to its end, after waiting for the end of ``before``, the
        task that it replaces.

        A source that cannot be followed at all is reported, and the others continue.
        """
        if before is not None:
            await asyncio.wait([before])
        feed = source.feed
        try:
            await supervisor.keep(
                feed.name,
                lambda: follow(feed),
                source=True,
                ends=True,
                fatal=lambda error: isinstance(error, FeedError),
            )
        except FeedError as error:
            source.error = error
            self.lost.append(error)
            # If all sources are lost, the service ends and reports the error.
            if len(self.lost) < len(self._sources) or self._is_reconfigured:
                log.error("%s", error)
                report(build_failed_health(feed.name, error))
        source.is_over = True
        if all(followed.is_over for followed in self._sources):
            self._all_over.set()
