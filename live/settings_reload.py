"""Applies changed settings while the service runs, whenever their file changes.

Settings that can change without loss of state change at once. Other changed settings
need a restart, and their names are logged. A file that cannot be used changes nothing.
"""

import contextlib
import logging
from collections.abc import Callable, Collection
from pathlib import Path
from typing import NamedTuple

import msgspec

from live.errors import LiveRateError
from live.journal.journal import Journal
from live.process.clock import LOOP_CLOCK, Clock
from live.process.stderr_log import set_log_level
from live.server.listening import check_exposure
from live.server.public_delay import set_delay_from_settings
from live.server.server import Publisher
from live.setting_keys import SETTINGS, flatten, nest
from live.settings import Config
from live.sources.source_runner import SourceRunner
from live.user_files import on_own_thread

log = logging.getLogger(__name__)

#: Time between two checks of the file, in seconds. Polling costs little, and works on
#: every file system.
LOOK_S = 1.0

#: Settings that can change on an open port.
PORT_KEYS = frozenset(
    f"server.{name}"
    for name in (
        "frames",
        "hide_scores",
        "hosts",
        "max_connections",
        "origins",
        "public",
    )
)
#: Settings that can change the delay of the public.
DELAY_KEYS = frozenset({"feeds.delay_s"})
#: Source settings that a restart of the sources cannot apply: the delay, which is
#: applied elsewhere, and the player lists, which are read only once.
_NOT_TAKEN = ("feeds.delay_s", "feeds.pairing_list", "feeds.rating_list")
SOURCE_KEYS = frozenset(
    key
    for key in SETTINGS
    if key.startswith("feeds.") and not key.startswith(_NOT_TAKEN)
)


class Reloaded(NamedTuple):
    """Settings that changed, by dotted key in the order of ``config.toml``."""

    applied: tuple[str, ...]
    restart: tuple[str, ...]
    """Settings that apply only after a restart of the service."""


class ReloadablePart(NamedTuple):
    """A part of the service that can apply changed settings."""

    keys: frozenset[str]
    """Keys that the part can apply; any other key needs a restart."""
    apply: Callable[[Config], None]
    check: Callable[[Config], object] = lambda config: None
    """Raises an error if the new settings are wrong, before anything changes."""


def list_reloadable_parts(
    sources: SourceRunner, publisher: Publisher, journal: Journal
) -> tuple[ReloadablePart, ...]:
    """Return the parts of the service that can apply changed settings."""
    return (
        ReloadablePart(
            frozenset({"log.level"}), lambda new: set_log_level(new.log.level)
        ),
        ReloadablePart(
            PORT_KEYS,
            lambda new: publisher.reconfigure(new.server),
            lambda new: check_exposure(new.server),
        ),
        ReloadablePart(
            # Sources that cannot be restarted cannot use new settings.
            SOURCE_KEYS
            if len(sources.names_never_restarted) < len(sources.names)
            else frozenset(),
            lambda new: sources.reconfigure(new.feeds),
            lambda new: sources.check(new.feeds),
        ),
        ReloadablePart(
            DELAY_KEYS,
            lambda new: set_delay_from_settings(
                publisher.public, journal, new.feeds.delay_s
            ),
        ),
    )


class SettingsReloader:
    """Applies changed settings to a running service; ``now`` are the settings in use.

    Args:
        load: reads the settings again, with the same environment and flags.
        path: the file to check for changes.
        now: the settings with which the service was started.
        parts: the parts that can apply changed settings.
        record: writes the applied changes into the arbiters' log.
        clock: used to wait.
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
        self._stamp = self._read_stamp()

    async def run(self) -> None:
        """Check the file until cancelled."""
        while True:
            await self._clock.sleep(LOOK_S)
            # A file that is missing for a moment is being replaced.
            stamp = await on_own_thread(self._read_stamp)
            if stamp not in (None, self._stamp):
                self._stamp = stamp
                self.reload(await on_own_thread(self.read))

    def read(self) -> Config | LiveRateError:
        """Return the settings of the file, or the error if they cannot be used."""
        try:
            return self._load()
        except LiveRateError as error:
            return error

    def reload(self, loaded: Config | LiveRateError) -> Reloaded | None:
        """Apply the settings that :meth:`read` returned, as far as possible.

        Log the result.

        Returns the settings that changed, or None if the settings cannot be used. If
        nothing changed, that is also logged: it shows that a mistake is corrected.
        """
        before = dict(flatten(msgspec.to_builtins(self.now)))
        live_keys: set[str] = set()
        for part in self._parts:
            live_keys |= part.keys
        if self.now.mqtt.publish:
            # A broker keeps the last message until it receives another one, so scores
            # can be hidden from its readers only by a restart.
            live_keys.discard("server.hide_scores")
        try:
            if isinstance(loaded, LiveRateError):
                raise loaded
            after = dict(flatten(msgspec.to_builtins(loaded)))
            changed = [key for key in SETTINGS if before[key] != after[key]]
            applied = tuple(key for key in changed if key in live_keys)
            values = before | {key: after[key] for key in applied}
            config = msgspec.convert(nest(values), Config)
            concerned = [
                part for part in self._parts if not part.keys.isdisjoint(applied)
            ]
            for part in concerned:
                part.check(config)
        except LiveRateError as error:
            log.error("%s; the settings stay unchanged", error)
            return None
        for part in concerned:
            part.apply(config)
        self.now = config
        if applied:
            # Values can be secret, so only names are recorded; but the delay of the
            # public must be on record.
            words = [
                f"{key} = {values[key]}" if key in DELAY_KEYS else key
                for key in applied
            ]
            self._record(f"Settings applied: {', '.join(words)}.")
        later = tuple(key for key in changed if key not in applied)
        parts = [f"applied: {', '.join(applied)}"] if applied else []
        if later:
            keys = ", ".join(later)
            later_text = f"at the next start: {keys}"
            parts.append(f"{later_text} (restart live-rate to apply)")
        log.warning("settings: %s", "; ".join(parts) or "nothing has changed")
        return Reloaded(applied, later)

    def _read_stamp(self) -> tuple[int, int, int] | None:
        with contextlib.suppress(OSError):
            stat = self._path.stat()
            return stat.st_mtime_ns, stat.st_size, stat.st_ino
        return None
