"""Takes settings over while the service runs, whenever their file changes.

What can change without losing state changes at once; the other changed settings are
named, since they need a new start. A file that cannot be used changes nothing.
"""

import contextlib
import logging
from collections.abc import Callable, Collection
from pathlib import Path
from typing import NamedTuple

import msgspec

from live.errors import LiveRateError
from live.process.clock import LOOP_CLOCK, Clock
from live.setting_keys import SETTINGS, flatten, nest
from live.settings import Config
from live.user_files import on_own_thread

log = logging.getLogger(__name__)

#: How often the file is looked at, seconds. Cheap, and right on every file system.
LOOK_S = 1.0

#: What the port takes over.
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
#: What the delay of the public takes over.
DELAY_KEYS = frozenset({"feeds.delay_s"})
#: What sources take over, by a restart: all but player lists, which are read once.
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
    """They hold from the next start on."""


class ReloadablePart(NamedTuple):
    """A part that takes settings over."""

    keys: frozenset[str]
    """All that it takes over; any other key needs a new start."""
    apply: Callable[[Config], None]
    check: Callable[[Config], object] = lambda config: None
    """Raises what is wrong with new settings, before anything changes."""


class SettingsReloader:
    """Takes over the settings of a running service; ``now`` are those in force.

    Args:
        load: reads the settings again, with the same environment and flags.
        path: the file to look at.
        now: the settings the service was started with.
        parts: what takes settings over.
        record: enters into the arbiters' log what was taken over.
        clock: for waits.
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
        """Look at the file until cancelled."""
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

    def reload(self, found: Config | LiveRateError) -> Reloaded | None:
        """Take over what can be of what :meth:`read` returned, and log what was done.

        Return None if the settings cannot be used. That nothing changed is logged, too:
        it tells that a mistake is mended.
        """
        before = dict(flatten(msgspec.to_builtins(self.now)))
        live: set[str] = set()
        for part in self._parts:
            live |= part.keys
        if self.now.mqtt.publish:
            # A broker keeps what it was sent until it is sent something else: only a
            # new start hides scores from its readers.
            live.discard("server.hide_scores")
        try:
            if isinstance(found, LiveRateError):
                raise found
            after = dict(flatten(msgspec.to_builtins(found)))
            changed = [key for key in SETTINGS if before[key] != after[key]]
            taken = tuple(key for key in changed if key in live)
            values = before | {key: after[key] for key in taken}
            wanted = msgspec.convert(nest(values), Config)
            concerned = [
                part for part in self._parts if not part.keys.isdisjoint(taken)
            ]
            for part in concerned:
                part.check(wanted)
        except LiveRateError as error:
            log.error("%s; the settings stay unchanged", error)
            return None
        for part in concerned:
            part.apply(wanted)
        self.now = wanted
        if taken:
            # A value may be secret; but the delay of the public belongs to the record.
            words = [
                f"{key} = {values[key]}" if key in DELAY_KEYS else key for key in taken
            ]
            self._record(f"Settings applied: {', '.join(words)}.")
        later = tuple(key for key in changed if key not in taken)
        parts = [f"applied: {', '.join(taken)}"] if taken else []
        if later:
            keys = ", ".join(later)
            later_text = f"at the next start: {keys}"
            parts.append(f"{later_text} (restart live-rate to apply)")
        log.warning("settings: %s", "; ".join(parts) or "nothing has changed")
        return Reloaded(taken, later)

    def _read_stamp(self) -> tuple[int, int, int] | None:
        with contextlib.suppress(OSError):
            stat = self._path.stat()
            return stat.st_mtime_ns, stat.st_size, stat.st_ino
        return None
