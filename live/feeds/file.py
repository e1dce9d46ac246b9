"""``--feed PATH.pgn``: a PGN file that is still being written.

Watched where the system can, and looked at now and then in any case (network drives do not tell
of changes). The folder is watched, not the file: a writer that replaces the file atomically
leaves a watched file behind under no name.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

from live.errors import FeedNotFound, FeedUnreadable
from live.feeds.base import FeedSink
from live.feeds.retry import LASTING_S, Trouble
from live.feeds.snapshots import Snapshots
from live.feeds.voice import Conditions, Voice, follow

log = logging.getLogger(__name__)

#: Sets the event whenever the path may have changed; returns when it cannot watch.
Watch = Callable[[Path, asyncio.Event], Awaitable[None]]


class FileFeed:
    """Reports the games of one PGN file whenever it changes.

    Over when every game has a result and the file has been left alone for the grace period.
    """

    def __init__(
        self, name: str, path: Path, conditions: Conditions, watch: Watch | None = None
    ) -> None:
        self.name = name
        self._path = path
        self._conditions = conditions
        self._watch = watch or watch_folder
        self._snapshots = Snapshots(name, conditions)

    async def run(self, sink: FeedSink) -> None:
        await follow(self.name, self._session, sink, self._conditions)

    async def _session(self, voice: Voice) -> None:
        changed = asyncio.Event()
        watcher = asyncio.create_task(self._watched(changed), name=f"watch {self._path.name}")
        try:
            await self._follow_file(voice, changed)
        finally:
            watcher.cancel()
            await asyncio.gather(watcher, return_exceptions=True)

    async def _watched(self, changed: asyncio.Event) -> None:
        try:
            await self._watch(self._path, changed)
        except Exception as error:  # no inotify left, a folder that went away: polling remains
            log.warning("%s: cannot be watched (%s), looking now and then", self.name, error)

    async def _follow_file(self, voice: Voice, changed: asyncio.Event) -> None:
        config = self._conditions.config
        seen: Signature | None = None
        while True:
            changed.clear()
            look_again_s = None
            try:
                now = await asyncio.to_thread(signature, self._path)
                if now != seen:
                    text = await asyncio.to_thread(read, self._path, config.max_bytes)
                    look_again_s = await self._snapshots.take(text, voice)
                    seen = now
                else:
                    look_again_s = await self._snapshots.again(voice)
            except FileNotFoundError:
                if not voice.told:
                    raise not_there(self.name) from None
                seen = None
                voice.say("retrying", "the file is gone, waiting for it to come back")
            except OSError as error:
                raise unreadable(self.name, error) from error
            if voice.over and look_again_s is None and seen is not None:
                return
            try:
                async with self._conditions.clock.deadline(
                    voice.soonest(config.poll_s, look_again_s)
                ):
                    await changed.wait()
            except TimeoutError:
                pass


#: What tells a changed file from an unchanged one: modification time, size and inode.
Signature = tuple[int, int, int]


def signature(path: Path) -> Signature:
    """Raises OSError as :func:`os.stat` does."""
    stat = os.stat(path)
    return (stat.st_mtime_ns, stat.st_size, stat.st_ino)


def read(path: Path, max_bytes: int) -> bytes:
    """The whole file; raises :class:`Trouble` when it is larger than ``max_bytes``."""
    with path.open("rb") as file:
        text = file.read(max_bytes + 1)
    if len(text) > max_bytes:
        raise Trouble(
            f"the file is larger than {max_bytes} bytes",
            wait_s=LASTING_S,
            fatal=FeedUnreadable(
                str(path),
                f"is larger than {max_bytes} bytes",
                "Raise max_bytes in [feeds] if that is meant",
            ),
        )
    return text


def not_there(name: str) -> FeedNotFound:
    """The error for a path that does not exist."""
    return FeedNotFound(name, "there is no such file", "Check the path")


def unreadable(name: str, error: OSError) -> Trouble:
    """A file that exists but cannot be read: permissions, a folder in its place, a bad disk."""
    why = error.strerror or type(error).__name__
    return Trouble(
        f"the file cannot be read ({why})",
        fatal=FeedUnreadable(name, f"cannot be read ({why})", "Check the path and its permissions"),
    )


async def watch_folder(path: Path, changed: asyncio.Event) -> None:
    """Set ``changed`` whenever the system tells that ``path`` was written, made or replaced."""
    from watchfiles import Change, awatch  # here, because only this kind of feed needs it

    def concerns(change: Change, changed_path: str) -> bool:
        return os.path.basename(changed_path) == path.name

    async for _ in awatch(
        path.parent,
        watch_filter=concerns,
        recursive=False,
        # A writer makes a file in several steps; a tenth of a second joins them.
        debounce=100,
        step=20,
    ):
        changed.set()
