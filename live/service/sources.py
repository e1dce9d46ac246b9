"""All sources of one service run, each followed to its end, and anew when its settings change; and
settings that change while the service runs, whenever their file changes.

What can be taken over without losing state is; of the rest it is said, by name, that it needs a new
start. A file that cannot be used changes nothing. Part of the composition root.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from live.config import SETTINGS, Config, FeedsConfig, flat, nested
from live.errors import ConfigError, FeedError, LiveRateError
from live.process.clock import LOOP_CLOCK, Clock
from live.process.supervision import Supervisor
from live.process.wakeups import call_after_wakeup
from live.service.event_service import EventService
from live.sources.feed import Feed, describe_failure
from live.sources.open_feed import open_feed
from live.sources.source_address import FeedAddress, recognise_source
from live.user_files import on_own_thread

log = logging.getLogger(__name__)

#: Kinds that cannot be begun anew: what was read from them is gone, or would be played again.
_ONCE = frozenset({"stdin", "demo"})
#: The tables of ``[feeds]`` that are one kind's own, and what no source reads.
_OWN = ("lichess", "livechess_cloud", "mqtt")
_NOT_READ = ("delay_s", "rating_list", "pairing_list")
_DEFAULTS = FeedsConfig()


def open_feeds(
    specs: Sequence[str], config: FeedsConfig, opened: Callable[..., Feed]
) -> list[Feed]:
    """The sources to follow, each under a name of its own; ``opened`` opens one.

    Raises:
        ConfigError: the same source is given twice.
        FeedError: see :func:`live.sources.open_feed.open_feed`.
    """
    feeds: list[Feed] = []
    for spec in specs:
        if specs.count(spec) > 1:
            raise ConfigError(f"--feed {spec}", "is given twice", "Give it once")
        feed = opened(spec, config)
        if feed.name in [each.name for each in feeds]:
            # Two addresses may differ only in a secret, which names do not show.
            feed = opened(spec, config, name=f"{feed.name} ({len(feeds) + 1})")
        feeds.append(feed)
    return feeds


def settings_of(spec: str, config: FeedsConfig) -> tuple[str, FeedsConfig]:
    """What this source is and works under, without what it does not read."""
    kind = recognise_source(spec, lichess_url=config.lichess.base_url).kind
    others = (*_NOT_READ, *(each for each in _OWN if each != kind.replace("-", "_")))
    return kind, msgspec.structs.replace(
        config, **{name: getattr(_DEFAULTS, name) for name in others}
    )


@dataclass(eq=False)
class _Source:
    """One source and how it fares."""

    spec: str
    feed: Feed
    task: asyncio.Task[None] | None = None
    over: bool = False
    error: FeedError | None = None
    """Why it could not be followed at all."""


class SourceRunner:
    """The sources and their settings. Made before anything runs, so that a mistake shows first.

    ``lasting``: a source whose games are all over is looked at all the same, since the next round
    may come from it.

    Raises:
        ConfigError, FeedError: see :func:`open_feeds`.
    """

    def __init__(self, specs: Sequence[str], config: FeedsConfig, *, lasting: bool = False) -> None:
        self.config = config
        """The settings that hold now."""
        self.lost: list[FeedError] = []
        """Why sources could not be followed at all, the latest last."""
        self._open = partial(open_feed, lasting=lasting)
        feeds = open_feeds(specs, config, self._open)
        self._sources = [_Source(*each) for each in zip(specs, feeds, strict=True)]
        # While they are followed: what begins one.
        self._start: Callable[[_Source], None] | None = None
        self._all_over = asyncio.Event()
        # Settings have changed on the way: what fails from then on, nobody has just typed.
        self._renewed = False

    @property
    def exit_code(self) -> int:
        """That of the first source that could not be followed; 0 without one."""
        return self.lost[0].exit_code if self.lost else 0

    @property
    def names(self) -> list[str]:
        """What people call them, in the order they were given."""
        return [each.feed.name for each in self._sources]

    @property
    def folders(self) -> list[Path]:
        """Files and folders that are followed: lists of players may lie beside them."""
        found = [self._address(each) for each in self._sources]
        return [Path(each.target) for each in found if each.kind in ("file", "folder")]

    @property
    def fixed(self) -> list[str]:
        """Those that go on as they are whatever :meth:`reconfigure` is given."""
        return [each.feed.name for each in self._sources if self._address(each).kind in _ONCE]

    def _address(self, source: _Source) -> FeedAddress:
        return recognise_source(source.spec, lichess_url=self.config.lichess.base_url)

    @contextlib.asynccontextmanager
    async def running(self, service: EventService, supervisor: Supervisor) -> AsyncIterator[None]:
        """Every source followed while the block runs; one that is over waits for new settings."""
        async with asyncio.TaskGroup() as group:

            def start(source: _Source) -> None:
                before = source.task
                if before is not None:
                    before.cancel()
                following = self._follow(source, before, service, supervisor)
                source.task = group.create_task(following, name=f"follow {source.feed.name}")

            self._start = start
            sleeps = supervisor.keep("sleep watch", lambda: call_after_wakeup(self.begin_anew))
            watching = group.create_task(sleeps, name="keep sleep watch")
            for each in self._sources:
                start(each)
            yield
            self._start = None
            for task in (watching, *(each.task for each in self._sources)):
                if task is not None:
                    task.cancel()

    async def over(self) -> None:
        """Return once every source is over.

        Raises:
            FeedError: none of them could be followed at all.
        """
        await self._all_over.wait()
        if len(self.lost) == len(self._sources) and not self._renewed:
            # Somebody has just mistyped it, or has just changed it.
            raise self.lost[-1]

    def check(self, config: FeedsConfig) -> None:
        """Whether these settings can be used; raises as :func:`open_feeds` does."""
        open_feeds([each.spec for each in self._sources], config, self._open)

    def reconfigure(self, config: FeedsConfig) -> None:
        """Begin anew, with these settings, every source that they are other ones for: also one that
        is over or has failed, since they may be the remedy. Games stay: the next report is whole.
        """
        before, self.config = self.config, config
        concerned = [
            each
            for each in self._sources
            if settings_of(each.spec, before) != settings_of(each.spec, config)
        ]
        self._renewed |= bool(concerned)
        self._begin(concerned)

    def begin_anew(self) -> None:
        """Have every source that is not over connect and ask again, at once. Games stay."""
        self._begin([each for each in self._sources if not each.over])

    def _begin(self, concerned: Sequence[_Source]) -> None:
        for each in concerned:
            name = each.feed.name
            if self._address(each).kind in _ONCE:
                log.warning("%s goes on as it is: it cannot be begun anew", name)
                continue
            try:
                each.feed = self._open(each.spec, self.config, name=name)
            except LiveRateError as error:
                # A file may be missing just now; that must not keep the others from asking.
                log.error("%s; it goes on as it was", error)
                continue
            each.over = False
            if each.error is not None:
                self.lost.remove(each.error)
                each.error = None
            self._all_over.clear()
            if self._start is not None:
                self._start(each)

    async def _follow(
        self,
        source: _Source,
        before: asyncio.Task[None] | None,
        service: EventService,
        supervisor: Supervisor,
    ) -> None:
        """Follow one source to its end, once ``before``, which it replaces, has ended. One that
        cannot be followed at all is shown, and the others go on.
        """
        if before is not None:
            await asyncio.wait([before])
        feed = source.feed
        try:
            await supervisor.keep(
                feed.name,
                lambda: service.follow(feed),
                source=True,
                ends=True,
                fatal=lambda error: isinstance(error, FeedError),
            )
        except FeedError as error:
            source.error = error
            self.lost.append(error)
            # Where all are lost, that ends the service, and is reported there.
            if len(self.lost) < len(self._sources) or self._renewed:
                log.error("%s", error)
                service.health(describe_failure(feed.name, error))
        source.over = True
        if all(each.over for each in self._sources):
            self._all_over.set()


# --- settings that change -------------------------------------------------------------------------

#: How often the file is looked at. Cheap, and right on every file system and for linked files.
LOOK_S = 1.0

#: What the port takes over.
PORT_KEYS = frozenset(
    f"server.{name}"
    for name in ("frames", "hide_scores", "hosts", "max_connections", "origins", "public")
)
#: What the delay of the public takes over.
DELAY_KEYS = frozenset({"feeds.delay_s"})
#: What sources take over, by beginning anew: all but lists of players, which are read at the start.
_NOT_TAKEN = ("feeds.delay_s", "feeds.pairing_list", "feeds.rating_list")
SOURCE_KEYS = frozenset(
    key for key in SETTINGS if key.startswith("feeds.") and not key.startswith(_NOT_TAKEN)
)


class Reloaded(NamedTuple):
    """What became of settings that changed, by dotted key in the order of ``config.toml``."""

    applied: tuple[str, ...]
    restart: tuple[str, ...]
    """These count from the next start on."""


class ReloadablePart(NamedTuple):
    """Something that takes settings over."""

    keys: frozenset[str]
    """What it takes over, all of it; any other key needs a new start."""
    apply: Callable[[Config], None]
    check: Callable[[Config], object] = lambda config: None
    """Raises what is wrong with new settings, before anything is changed."""


class SettingsReloader:
    """Brings a running service up to its settings. ``now`` is what is in force.

    Args:
        load: reads the settings anew, with the same environment and flags.
        path: the file to look at.
        now: the settings the service was started with.
        parts: who takes what over.
        record: enters into the arbiters' log what was taken over.
    """

    def __init__(
        self,
        load: Callable[[], Config],
        path: Path,
        now: Config,
        parts: Collection[ReloadablePart],
        *,
        record: Callable[[str], None],
        clock: Clock = LOOP_CLOCK,
    ) -> None:
        self.now = now
        self._record = record
        self._load = load
        self._path = path
        self._parts = parts
        self._clock = clock
        self._stamp = self._seen()

    async def run(self) -> None:
        """Look at the file until cancelled."""
        while True:
            await self._clock.sleep(LOOK_S)
            # A file that is gone for a moment is being replaced.
            stamp = await on_own_thread(self._seen)
            if stamp not in (None, self._stamp):
                self._stamp = stamp
                self.reload(await on_own_thread(self.read))

    def read(self) -> Config | LiveRateError:
        """The settings as the file has them now, or why they cannot be used."""
        try:
            return self._load()
        except LiveRateError as error:
            return error

    def reload(self, found: Config | LiveRateError) -> Reloaded | None:
        """Take over what can be of what :meth:`read` has found; None where the settings cannot be
        used. Says what it did, and also that there was nothing to do to who has mended a mistake.
        """
        before = dict(flat(msgspec.to_builtins(self.now)))
        live = {key for part in self._parts for key in part.keys}
        if self.now.mqtt.publish:
            # What a broker was sent stays there until it is sent something else, so scores are
            # hidden from its readers by a new start alone.
            live.discard("server.hide_scores")
        try:
            if isinstance(found, LiveRateError):
                raise found
            after = dict(flat(msgspec.to_builtins(found)))
            changed = [key for key in SETTINGS if before[key] != after[key]]
            taken = tuple(key for key in changed if key in live)
            values = before | {key: after[key] for key in taken}
            wanted = msgspec.convert(nested(values), Config)
            concerned = [part for part in self._parts if not part.keys.isdisjoint(taken)]
            for part in concerned:
                part.check(wanted)
        except LiveRateError as error:
            log.error("%s; the settings stay as they were", error)
            return None
        for part in concerned:
            part.apply(wanted)
        self.now = wanted
        if taken:
            # What a setting says may be secret; how long the public waits belongs to the record.
            words = (f"{key} = {values[key]}" if key in DELAY_KEYS else key for key in taken)
            self._record(f"Settings taken over: {', '.join(words)}.")
        came = Reloaded(taken, tuple(key for key in changed if key not in taken))
        said = [f"taken over: {', '.join(taken)}"] if taken else []
        if came.restart:
            keys = ", ".join(came.restart)
            said.append(f"from the next start on: {keys} (start live-rate anew to have it count)")
        log.warning("settings: %s", "; ".join(said) or "nothing has changed")
        return came

    def _seen(self) -> tuple[int, int, int] | None:
        with contextlib.suppress(OSError):
            stat = self._path.stat()
            return stat.st_mtime_ns, stat.st_size, stat.st_ino
        return None
