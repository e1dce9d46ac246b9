"""Games from files and folders.

``--feed PATH.pgn``: a PGN file that is still being written. Watched where the system
can, and looked at now and then in any case (network drives do not report changes). The
folder is watched, not the file: when a writer replaces the file atomically, a watch on
the old file sees nothing more.

``--feed FOLDER``: PGN files as DGT LiveChess and others write them, in folders and
sub-folders. LiveChess writes ``TOURNAMENT/round-N/games.pgn`` and, beside it, the same
games one by one as ``game-M.pgn``; which of the two is there depends on its settings. A
game that stands in several files counts once (:mod:`live.sources.doubled_games`), and
what is left out is named.
"""

import asyncio
import logging
import os
import re
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote, urlsplit

from live.errors import FeedNotFound, FeedUnreadable
from live.messages.health import FeedState
from live.process.backoff import format_duration
from live.sources import http_client
from live.sources.doubled_games import DoubledGames, Readings, is_single_game_file
from live.sources.feed import Feed, FeedConditions, FeedSession, Poll, PolledFeed
from live.sources.pgn_snapshots import PgnSnapshots, PgnText
from live.sources.retry import FeedTrouble, create_fatal_trouble
from live.sources.source_address import FeedAddress
from live.user_files import in_print, on_own_thread, read_regular

# It logs every change that it sees: with the log in the followed folder, for ever.
logging.getLogger("watchfiles").setLevel(logging.WARNING)

log = logging.getLogger(__name__)

T = TypeVar("T")


#: Bounds of what is looked at: a whole disk given by mistake must not be read.
MAX_FILES = 2000
MAX_DEPTH = 4
_NUMBER = re.compile(r"(\d+)")

#: Sets the event whenever the path may have changed; returns when it cannot watch.
Watch = Callable[[Path, asyncio.Event], Awaitable[None]]
#: What shows that a file has changed: modification time, size and inode.
Signature = tuple[int, int, int]
Signatures = dict[Path, Signature]
#: After so long without an answer of the drive that is said, seconds.
SLOW_S = 10.0
#: Two changes within one tick of a drive's clock have the same time: 2 s on FAT and
#: many shares.
TICK_S = 2.0


def read_signature(path: Path) -> Signature:
    """Return what shows whether a file changed; raises OSError as ``os.stat`` does."""
    stat = os.stat(path)
    return (stat.st_mtime_ns, stat.st_size, stat.st_ino)


def read_bounded(path: Path, max_bytes: int) -> bytes:
    """Return the whole file; raises :class:`FeedTrouble` when it is larger than
    ``max_bytes``, and OSError for what cannot be read or is no regular file.
    """
    text = read_regular(path, max_bytes + 1)
    if len(text) > max_bytes:
        raise create_fatal_trouble(
            str(path), f"is larger than {max_bytes} bytes", "Give a file of one event"
        )
    return text


def _natural_sort_key(path: Path) -> list[list[tuple[bool, int, str]]]:
    """Return a sort key by which ``game-2`` comes before ``game-10``."""
    return [list(map(_word_sort_key, _NUMBER.split(part[:255]))) for part in path.parts]


def _word_sort_key(word: str) -> tuple[bool, int, str]:
    return (word.isdecimal(), int(word) if word.isdecimal() else 0, word)


def scan_folder(folder: Path) -> Signatures:
    """Return the files to read below a folder, each with what shows whether it changed.

    Raises OSError when the folder itself cannot be read; unreadable entries below it
    are left out.
    """
    os.listdir(folder)
    found: list[Path] = []
    for here, folders, names in os.walk(folder):
        if len(Path(here).relative_to(folder).parts) >= MAX_DEPTH:
            folders.clear()
        # A folder that is called like a file is left out by name, as is all else that
        # is no file.
        found += [
            Path(here, name) for name in (*names, *folders) if _is_named_pgn(name)
        ]
        folders[:] = [name for name in folders if not name.startswith(".")]
        folders[:] = [name for name in folders if not _is_named_pgn(name)]
        if len(found) > MAX_FILES:
            problem = f"holds more than {MAX_FILES} PGN files"
            raise create_fatal_trouble(
                str(folder), problem, "Give the folder of one tournament"
            )
    signatures: Signatures = {}
    for path in sorted(found, key=_natural_sort_key):
        try:
            signatures[path] = read_signature(path)
        except OSError:  # gone in this very moment
            continue
    return signatures


def _is_named_pgn(name: str) -> bool:
    return name.lower().endswith(".pgn") and not name.startswith(".")


class FileFeed(PolledFeed):
    """Reports the games of one PGN file: looks at it whenever it may have changed, and
    every ``poll_s``.

    Over when every game has a result and nothing has changed for the grace period.
    """

    kind = "file"

    def __init__(
        self,
        name: str,
        path: Path,
        conditions: FeedConditions,
        watch: Watch | None = None,
    ) -> None:
        super().__init__(name, conditions)
        self._path = path
        self._watch = watch or watch_path
        self._snapshots = PgnSnapshots(conditions)
        self._found: dict[Path, tuple[Signature, float, float]] = {}
        """How a file looks, since when, and when it was read last."""
        self._texts: dict[Path, PgnText] = {}

    @asynccontextmanager
    async def _connect(self) -> AsyncIterator[None]:
        self._found.clear()
        self._news = changed = asyncio.Event()
        watcher = asyncio.create_task(
            self._watch_path(changed), name=f"watch {self._path.name}"
        )
        try:
            yield
        finally:
            watcher.cancel()
            await asyncio.gather(watcher, return_exceptions=True)

    async def poll(self, session: FeedSession) -> Poll | None:
        """Return the games that are there now; None without a file or folder."""
        try:
            return await self._read_changes(session)
        except FileNotFoundError:
            self._report_missing(session)
            return None
        except OSError as error:
            problem = f"cannot be read ({error.strerror or type(error).__name__})"
            remedy = "Check the path and its permissions"
            raise create_fatal_trouble(self.name, problem, remedy) from error

    async def _read_changes(self, session: FeedSession) -> Poll:
        looked_s = self._clock.now()
        now = await self._call_and_warn_if_slow(session, self._find_files)
        for path, mark in now.items():
            found = self._found.get(path)
            if found is None or found[0] != mark:
                found = self._found[path] = mark, self._clock.now(), float("-inf")
            # Read so soon after its last change another one may look the same.
            if found[2] < found[1] + TICK_S:
                await self._read_file(path, session)
        for path in self._texts.keys() - now.keys():  # perhaps just being replaced
            del self._texts[path]
            self._found.pop(path, None)
        readings = {
            path: await self._texts[path].build_reading(looked_s)
            for path in now
            if path in self._texts
        }
        # Of thousands of games it takes long: others go on meanwhile.
        notes = await on_own_thread(self._drop_doubles, readings, now)
        return self._snapshots.confirm_texts(readings.values(), session, notes)

    def _find_files(self) -> Signatures:
        """Return the files, each with what shows whether it changed."""
        return {self._path: read_signature(self._path)}

    def _drop_doubles(self, readings: Readings, now: Signatures) -> list[str]:
        """Leave out what is there twice; returns what people should know."""
        return list(dict.fromkeys(text.note for text in self._texts.values()))

    async def _read_file(self, path: Path, session: FeedSession) -> None:
        """Read one file. Raises FeedTrouble and OSError."""
        text = self._texts.get(path) or PgnText(in_print(str(path)), self._conditions)
        await text.take_text(
            await self._call_and_warn_if_slow(
                session, read_bounded, path, http_client.MAX_BYTES
            )
        )
        self._found[path] = *self._found[path][:2], self._clock.now()
        self._texts[path] = text

    async def _call_and_warn_if_slow(
        self, session: FeedSession, work: Callable[..., T], *arguments: object
    ) -> T:
        """Return what the drive answers, however late; warn if it is late."""
        answer = asyncio.ensure_future(on_own_thread(work, *arguments))
        try:
            # Threads know no other clock than the machine's.
            await asyncio.wait([answer], timeout=SLOW_S)
            if not answer.done():
                session.report_health(
                    "retrying",
                    f"its drive has not answered for {format_duration(SLOW_S)}",
                )
            return await answer
        finally:
            answer.cancel()

    async def _watch_path(self, changed: asyncio.Event) -> None:
        try:
            await self._watch(self._path, changed)
        except (
            Exception
        ) as error:  # no inotify left, a folder that went away: polling remains
            log.warning(
                "%s: cannot be watched (%s), looking now and then", self._path, error
            )

    def _report_missing(self, session: FeedSession) -> None:
        """Report that the path does not exist: looking costs nothing, so it is done
        often.
        """
        if not session.reported and not self._conditions.lasting:
            raise FeedNotFound(
                self.name, "there is no such file", "Check the path"
            ) from None
        self._found.clear()
        what = (
            f"the {self.kind} is gone"
            if session.reported
            else f"no such {self.kind} yet"
        )
        state: FeedState = "retrying" if session.reported else "waiting"
        session.report_health(
            state, f"{what}, looked for every {format_duration(self._config.poll_s)}"
        )


class FolderFeed(FileFeed):
    """Reports the games of all PGN files below a folder whenever one changes."""

    kind = "folder"

    def __init__(
        self,
        name: str,
        path: Path,
        conditions: FeedConditions,
        watch: Watch | None = None,
    ) -> None:
        super().__init__(name, path, conditions, watch)
        self._left_out: dict[Path, str] = {}
        """Files that could not be read, and why."""
        self._doubled = DoubledGames()
        self._doubles: dict[Path, str] = {}
        """Files that are left out, or part of them, and why."""

    def _find_files(self) -> Signatures:
        return scan_folder(self._path)

    def _drop_doubles(self, readings: Readings, now: Signatures) -> list[str]:
        """Leave out all but one of each game that stands in several files."""
        written_ns = {path: mark[0] for path, mark in now.items()}
        found, doubles = self._doubled.drop_doubles(readings, written_ns)
        said = {
            path: _describe_doubles(path, len(readings[path].games), doubles[path])
            for path in sorted(doubles)
        }
        for path, words in said.items():
            if path not in self._doubles:
                log.info("%s: left out: %s", in_print(str(path)), words)
        self._doubles = said
        readings.update(found)
        reasons = {
            path: self._left_out[path].removeprefix("the source ")
            for path in now
            if path in self._left_out
        }
        failing = ", ".join(
            f"{in_print(path.name)} ({reason})" for path, reason in reasons.items()
        )
        left_out = ", ".join(said.values())
        notes = [f"cannot be read: {failing}"] * bool(failing)
        notes += [f"left out: {left_out}"] * bool(left_out)
        return [*notes, *super()._drop_doubles(readings, now)]

    async def _read_file(self, path: Path, session: FeedSession) -> None:
        """Read one file; whatever is wrong with it costs no other file, and is tried
        again: its writer may hold it for a moment.
        """
        try:
            await super()._read_file(path, session)
        except (FeedTrouble, OSError) as error:
            reason = (
                error.reason if isinstance(error, FeedTrouble) else str(error.strerror)
            )
            if self._left_out.get(path) != reason:
                log.warning("%s: left out: %s", in_print(str(path)), reason)
            self._left_out[path] = reason
        else:
            self._left_out.pop(path, None)


def _describe_doubles(path: Path, games: int, elsewhere: Counter[Path]) -> str:
    """Say which file is left out, as far as it is, and where its games are."""
    left_out = elsewhere.total()
    what = f"{left_out} of its {games} games" if left_out < games else "its games"
    where = " and ".join(in_print(each.name) for each in sorted(elsewhere)[:2])
    if all(is_single_game_file(each) for each in elsewhere):
        where = "single files"
    elif len(elsewhere) > 2:
        where = f"{len(elsewhere)} other files"
    return f"{in_print(path.name)}, {what} being in {where}"


async def watch_path(path: Path, changed: asyncio.Event) -> None:
    """Set ``changed`` whenever the system reports that a file was written, made or
    replaced, or any PGN file below a folder.
    """
    from watchfiles import (  # here, because only this kind of feed needs it
        Change,
        watch,
    )

    loop, stop = asyncio.get_running_loop(), threading.Event()

    def follow() -> None:
        tree = path.is_dir()

        def concerns(change: Change, changed_path: str) -> bool:
            if tree:
                return changed_path.lower().endswith(".pgn")
            return os.path.basename(changed_path) == path.name

        # A writer makes a file in several steps; a tenth of a second joins them.
        where = path if tree else path.parent
        for _ in watch(
            where,
            watch_filter=concerns,
            recursive=tree,
            debounce=100,
            step=20,
            stop_event=stop,
            rust_timeout=1000,
        ):
            if stop.is_set():
                return
            loop.call_soon_threadsafe(changed.set)

    try:
        await on_own_thread(follow)
    finally:
        stop.set()


#: What stands before the first slash of an address that was copied without its
#: ``https://``.
_HOST = re.compile(r"(?:[A-Za-z0-9-]+\.)+[A-Za-z0-9-]+(?::\d+)?/")
#: A drive of Windows.
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


def open_path(source: FeedAddress, conditions: FeedConditions) -> Feed:
    """Open the feed of a file or folder. Raises FeedNotFound and FeedUnreadable."""
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
    if (
        path.is_dir()
        if there
        else source.kind == "folder" or path.suffix.lower() != ".pgn"
    ):
        if source.forced and source.kind == "file":
            raise FeedUnreadable(
                source.name, "is a folder", "Give a file, or leave file+ out"
            )
        return FolderFeed(source.name, path, conditions)
    if there and not path.is_dir() and not path.is_file():
        # A pipe or a device may wait for ever, and is read once.
        remedy = (
            "Give a file or a folder, or pipe it into standard input, which is called -"
        )
        raise FeedUnreadable(source.name, "is no file that can be followed", remedy)
    if there and source.kind == "folder":
        raise FeedUnreadable(
            source.name, "is no folder", "Give a folder, or leave folder+ out"
        )
    return FileFeed(source.name, path, conditions)
