"""Settings that change while the service runs: on SIGHUP, and whenever their file changes.

What can be taken over without losing state is; of the rest it is said, by name, that it needs a new
start. A file that cannot be used changes nothing. :func:`diff` decides, purely;
:class:`SettingsReloader` looks at the file and notifies the parts. Part of the composition root.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from pathlib import Path
from typing import NamedTuple

import msgspec

from live.clock import Clock, LoopClock
from live.config import SETTINGS, Config
from live.errors import LiveRateError
from live.settings import flat, nested

log = logging.getLogger(__name__)

#: How often the file is looked at. Cheap, and right on every file system and for linked files.
LOOK_S = 1.0

#: What the port takes over.
PORT_KEYS = frozenset(
    {
        "server.frames",
        "server.hide_scores",
        "server.hosts",
        "server.max_connections",
        "server.max_connections_per_address",
        "server.origins",
        "server.public",
    }
)
#: What the delay of the public takes over.
DELAY_KEYS = frozenset(key for key in SETTINGS if key.startswith("feeds.delay_"))
#: What sources take over, by beginning anew: all but lists of players, which are read at the start,
#: and the demo, which would be played again.
SOURCE_KEYS = (
    frozenset(
        key
        for key in SETTINGS
        if key.startswith("feeds.")
        and not key.startswith(("feeds.demo.", "feeds.pairing_list", "feeds.rating_list"))
    )
    - DELAY_KEYS
)


class SettingsDifference(NamedTuple):
    """What a new reading of the settings means."""

    applied: tuple[str, ...]
    """Keys that are taken over now, in the order of ``config.toml``."""
    restart: tuple[str, ...]
    """Keys that count from the next start on."""

    def __str__(self) -> str:
        said = []
        if self.applied:
            said.append(f"taken over: {', '.join(self.applied)}")
        if self.restart:
            keys = ", ".join(self.restart)
            said.append(f"from the next start on: {keys} (start live-rate anew to have it count)")
        return "; ".join(said) or "nothing has changed"


def diff(old: Config, new: Config, live: Collection[str]) -> SettingsDifference:
    """Which settings differ, and which of them (``live``) a running service takes over.

    What a broker was sent stays there until it is sent something else, so scores are hidden from
    its readers by a new start alone.
    """
    before, after = _flat(old), _flat(new)
    changed = [key for key in SETTINGS if before[key] != after[key]]
    kept = {"server.hide_scores"} if old.mqtt.publish else set()
    applied = tuple(key for key in changed if key in live and key not in kept)
    return SettingsDifference(applied, tuple(key for key in changed if key not in applied))


def in_force(old: Config, new: Config, difference: SettingsDifference) -> Config:
    """The settings that count from now on: the old ones with what is taken over."""
    values, after = _flat(old), _flat(new)
    values |= {key: after[key] for key in difference.applied}
    return msgspec.convert(nested(values), Config)


def _flat(config: Config) -> dict[str, object]:
    return dict(flat(msgspec.to_builtins(config), SETTINGS))


class ReloadablePart(NamedTuple):
    """Something that takes settings over."""

    keys: Collection[str]
    """What it takes over, all of it; any other key needs a new start."""
    check: Callable[[Config], object]
    """Raises what is wrong with new settings, before anything is changed."""
    apply: Callable[[Config], None]


class SettingsReloader:
    """Brings a running service up to its settings. ``now`` is what is in force.

    Args:
        load: reads the settings anew, with the same environment and flags.
        path: the file to look at; None where there is none, and only a signal asks.
        now: the settings the service was started with.
        parts: who takes what over.
    """

    def __init__(
        self,
        load: Callable[[], Config],
        path: Path | None,
        now: Config,
        parts: Collection[ReloadablePart],
        *,
        clock: Clock | None = None,
    ) -> None:
        self.now = now
        self._load = load
        self._path = path
        self._parts = parts
        self._clock = clock or LoopClock()
        self._asked = asyncio.Event()
        self._stamp = self._seen()
        # What was said of keys that need a new start, so that it is said once.
        self._said: tuple[str, ...] = ()
        # What was read last could not be used.
        self._mistaken = False

    def ask(self) -> None:
        """Read the settings at the next opportunity, whether the file changed or not."""
        self._asked.set()

    async def run(self) -> None:
        """Look at the file until cancelled."""
        while True:
            try:
                async with self._clock.deadline(LOOK_S):
                    await self._asked.wait()
            except TimeoutError:
                stamp = self._seen()
                # A file that is gone for a moment is being replaced.
                if stamp is None or stamp == self._stamp:
                    continue
            asked = self._asked.is_set()
            self._asked.clear()
            self._stamp = self._seen()
            self.reload(asked=asked)

    def reload(self, *, asked: bool = False) -> SettingsDifference | None:
        """Take over what can be; None where the settings cannot be used. Says what it did, and
        also that there was nothing to do to who ``asked``, or has mended a mistake.
        """
        try:
            read = self._load()
            taken = {key for part in self._parts for key in part.keys}
            difference = diff(self.now, read, taken)
            wanted = in_force(self.now, read, difference)
            for part in self._concerned(difference):
                part.check(wanted)
        except LiveRateError as error:
            log.error("%s; the settings stay as they were", error)
            self._mistaken = True
            return None
        for part in self._concerned(difference):
            part.apply(wanted)
        self.now = wanted
        if difference.applied or difference.restart != self._said or asked or self._mistaken:
            log.warning("settings: %s", difference)
        self._said, self._mistaken = difference.restart, False
        return difference

    def _concerned(self, difference: SettingsDifference) -> list[ReloadablePart]:
        return [part for part in self._parts if any(key in part.keys for key in difference.applied)]

    def _seen(self) -> tuple[int, int, int] | None:
        if self._path is None:
            return None
        try:
            stat = self._path.stat()
        except OSError:
            return None
        return stat.st_mtime_ns, stat.st_size, stat.st_ino


def unchecked(config: Config) -> None:
    """Nothing can be wrong with a setting that has its type."""
