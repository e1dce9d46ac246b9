"""A source that gives its PGN text by text: somebody else follows it, and says when it changes.

``--feed -``: PGN on standard input, from a pipe, a terminal or a file.

``--feed PATH.pgn``: a PGN file that is still being written.

Watched where the system can, and looked at now and then in any case (network drives do not report
changes). The folder is watched, not the file: when a writer replaces the file atomically, a watch
on the old file sees nothing more.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable
from contextlib import aclosing
from pathlib import Path
from typing import NamedTuple

from live.clock import Clock
from live.errors import FeedNotFound, FeedUnreadable
from live.feeds.charset import not_pgn
from live.feeds.feed import FeedConditions, FeedSession, FeedSink, follow
from live.feeds.pgn_decoder import PgnDecoder
from live.feeds.pgn_snapshots import PgnSnapshots, PgnText, note_of
from live.network.retry import FeedTrouble, spoken
from live.operating_system import InputWait


class TextFeed:
    """Reports the games of each text. Over when there are no more, or as a page is: every game has
    a result and nothing has changed for the grace period.
    """

    def __init__(
        self,
        name: str,
        texts: Callable[[], AsyncGenerator[str | None, None]],
        conditions: FeedConditions,
    ) -> None:
        """``texts`` begins to follow: each is all games as they are now, None says that it lives.
        It raises FeedTrouble.
        """
        self.name = name
        self._texts = texts
        self._conditions = conditions
        self._text = PgnText(name, conditions)
        self._snapshots = PgnSnapshots(conditions)

    async def run(self, sink: FeedSink) -> None:
        await follow(self.name, self._follow, sink, self._conditions)

    async def _follow(self, session: FeedSession) -> None:
        given = False
        async with aclosing(self._texts()) as texts:
            async for text in texts:
                if text is not None:
                    await self._text.take(text.encode("utf-8", "replace"))
                    given = True
                if given:
                    await self._report(session)
                    if session.over:
                        return
        # Nobody writes it any more: all of it is believed after a while.
        while given and (wait_s := await self._report(session)) is not None:
            await self._conditions.clock.sleep(wait_s)

    async def _report(self, session: FeedSession) -> float | None:
        return await self._snapshots.report(
            [await self._text.believe()], session, [note_of(self._text)]
        )


#: Read at once.
PIECE_BYTES = 16_384
#: Pieces read ahead while the consumer is behind: standard input then simply waits.
AHEAD = 4


class StdinFeed:
    """Reports games as they arrive; over at the end of input."""

    def __init__(self, name: str, conditions: FeedConditions, fd: int = 0) -> None:
        self.name = name
        self._conditions = conditions
        self._fd = fd

    async def run(self, sink: FeedSink) -> None:
        await follow(self.name, self._follow, sink, self._conditions)

    async def _follow(self, session: FeedSession) -> None:
        decoder = PgnDecoder(fallback_charset=self._conditions.config.charset or "cp1252")
        session.alive()
        first = True
        async for piece in pieces(self._fd):
            if first and piece.strip():
                first = False
                if what := not_pgn(piece):
                    raise FeedUnreadable("standard input", f"holds {what}", "Pipe PGN into it")
            for games in decoder.slices(piece):
                if games:
                    await session.report(games)
                await asyncio.sleep(0)  # a slice is some milliseconds of work
        if games := decoder.finish():
            await session.report(games)


async def pieces(fd: int) -> AsyncIterator[bytes]:
    """What a file descriptor gives, piece by piece, to its end.

    Read in a thread, because the event loop can wait for pipes and terminals but not for plain
    files, and any of them may be standard input. Bounded: at most :data:`AHEAD` pieces wait.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[bytes | OSError] = asyncio.Queue(AHEAD)
    stop_reader, stop_writer = os.pipe()

    def read() -> None:
        waiting = InputWait(fd, stop_reader)
        piece: bytes | OSError = b"\0"
        while piece and not isinstance(piece, OSError):
            try:
                if not waiting.ready():
                    break
                piece = os.read(fd, PIECE_BYTES)
            except OSError as error:
                piece = error
            try:
                asyncio.run_coroutine_threadsafe(queue.put(piece), loop).result()
            except (RuntimeError, asyncio.CancelledError):  # the loop has gone
                break
        os.close(stop_reader)

    # A daemon: a terminal on which nobody types must not keep the program from ending.
    threading.Thread(target=read, name="stdin", daemon=True).start()
    try:
        while True:
            piece = await queue.get()
            if isinstance(piece, OSError):
                raise FeedUnreadable(
                    "standard input", f"cannot be read ({piece.strerror})", "Give a file's path"
                )
            if not piece:
                return
            yield piece
    finally:
        os.close(stop_writer)
        while not queue.empty():  # lets a reader that waits for room see the stop
            queue.get_nowait()


log = logging.getLogger(__name__)

#: Sets the event whenever the path may have changed; returns when it cannot watch.
Watch = Callable[[Path, asyncio.Event], Awaitable[None]]


class FileFeed:
    """Reports the games of one PGN file whenever it changes.

    Over when every game has a result and the file has been left alone for the grace period.
    """

    def __init__(
        self, name: str, path: Path, conditions: FeedConditions, watch: Watch | None = None
    ) -> None:
        self.name = name
        self._path = path
        self._conditions = conditions
        self._watch = watch or watch_folder
        self._text = PgnText(name, conditions)
        self._snapshots = PgnSnapshots(conditions)
        self._seen = FilesRead(conditions.clock)

    async def run(self, sink: FeedSink) -> None:
        await follow(self.name, self._follow, sink, self._conditions)

    async def _follow(self, session: FeedSession) -> None:
        self._seen.forget()
        await look_on(self._path, self._look, self._watch, session, self._conditions)

    async def _look(self, session: FeedSession) -> FileLook:
        try:
            now = await asyncio.to_thread(signature, self._path)
            if self._seen.due(self._path, now):
                limit = self._conditions.config.max_bytes
                await self._text.take(await asyncio.to_thread(read, self._path, limit))
                self._seen.was_read(self._path)
        except FileNotFoundError:
            if not session.reported and not self._conditions.waiting:
                raise not_there(self.name) from None
            self._seen.forget()
            session.show_waiting(missing("file", session, self._conditions))
            return FileLook(None, there=False)
        except OSError as error:
            raise unreadable(self.name, error) from error
        believed = await self._text.believe()
        return FileLook(await self._snapshots.report([believed], session, [note_of(self._text)]))


class FileLook(NamedTuple):
    """What one look at a file or folder came to."""

    again_s: float | None
    """Something was not believed yet: look again after so long."""
    there: bool = True


async def look_on(
    path: Path,
    look: Callable[[FeedSession], Awaitable[FileLook]],
    watch: Watch,
    session: FeedSession,
    conditions: FeedConditions,
) -> None:
    """Look whenever the path may have changed, and every ``poll_s``, until its games are over."""
    changed = asyncio.Event()

    async def watched() -> None:
        try:
            await watch(path, changed)
        except Exception as error:  # no inotify left, a folder that went away: polling remains
            log.warning("%s: cannot be watched (%s), looking now and then", path, error)

    watcher = asyncio.create_task(watched(), name=f"watch {path.name}")
    try:
        while True:
            changed.clear()
            looked = await look(session)
            if session.over and looked.again_s is None and looked.there:
                return
            wait_s = session.soonest(conditions.config.poll_s, looked.again_s)
            try:
                async with conditions.clock.deadline(wait_s):
                    await changed.wait()
            except TimeoutError:
                pass
    finally:
        watcher.cancel()
        await asyncio.gather(watcher, return_exceptions=True)


#: What shows that a file has changed: modification time, size and inode.
Signature = tuple[int, int, int]
#: Two changes within one tick of a drive's clock have the same time: 2 s on FAT and many shares.
TICK_S = 2.0


def signature(path: Path) -> Signature:
    """Raises OSError as :func:`os.stat` does."""
    stat = os.stat(path)
    return (stat.st_mtime_ns, stat.st_size, stat.st_ino)


class FilesRead:
    """Which files are still as they were when they were read."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._found: dict[Path, tuple[Signature, float]] = {}
        """How a file looks, and since when."""
        self._read_s: dict[Path, float] = {}

    def due(self, path: Path, now: Signature) -> bool:
        """Read the file: it has changed, was not read yet, or was read so soon after its last
        change that another one may look the same.
        """
        found, since_s = self._found.get(path, (None, 0.0))
        if found != now:
            since_s = self._clock.now()
            self._found[path] = now, since_s
            self._read_s.pop(path, None)
        return self._read_s.get(path, float("-inf")) < since_s + TICK_S

    def was_read(self, path: Path) -> None:
        """Its text was taken in."""
        self._read_s[path] = self._clock.now()

    def forget(self, gone: Iterable[Path] | None = None) -> None:
        """Files that are not there any more; all of them, where none are named."""
        for path in list(self._found) if gone is None else gone:
            self._found.pop(path, None)
            self._read_s.pop(path, None)


def read(path: Path, max_bytes: int) -> bytes:
    """The whole file; raises :class:`FeedTrouble` when it is larger than ``max_bytes``."""
    with path.open("rb") as file:
        text = file.read(max_bytes + 1)
    if len(text) > max_bytes:
        raise FeedTrouble(
            f"the file is larger than {max_bytes} bytes",
            fatal=FeedUnreadable(
                str(path),
                f"is larger than {max_bytes} bytes",
                "Raise max_bytes in [feeds] if that is meant",
            ),
        )
    return text


def missing(what: str, session: FeedSession, conditions: FeedConditions) -> str:
    """What to show while a path does not exist: looking costs nothing, so it is done often."""
    every = f"looked for every {spoken(conditions.config.poll_s)}"
    return f"the {what} is gone, {every}" if session.reported else f"no such {what} yet, {every}"


def not_there(name: str) -> FeedNotFound:
    """The error for a path that does not exist."""
    return FeedNotFound(name, "there is no such file", "Check the path")


def unreadable(name: str, error: OSError) -> FeedTrouble:
    """A file that exists but cannot be read: permissions, a folder in its place, a bad disk."""
    why = error.strerror or type(error).__name__
    return FeedTrouble(
        f"the file cannot be read ({why})",
        fatal=FeedUnreadable(name, f"cannot be read ({why})", "Check the path and its permissions"),
    )


async def watch_folder(path: Path, changed: asyncio.Event) -> None:
    """Set ``changed`` whenever the system reports that ``path`` was written, made or replaced."""
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
