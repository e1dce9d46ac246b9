"""The sources for files and folders.

``--feed PATH.pgn``: a PGN file that is still being written. The operating system is
asked to announce changes where it can, and the file is also checked at intervals, since
network drives do not announce changes. The file's folder is watched, not the file
itself: when a writer replaces the file atomically, a watch on the old file reports
nothing more.

``--feed FOLDER``: PGN files in a folder and its sub-folders, as DGT LiveChess and other
programs write them. LiveChess writes ``TOURNAMENT/round-N/games.pgn`` and, next to it,
the same games one by one as ``game-M.pgn``; its settings decide which of these exist. A
game that is in several files counts once (:mod:`live.sources.doubled_games`), and what
is left out is shown to people.
"""

import asyncio
import logging
import os
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from math import inf
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote, urlsplit

import msgspec

from live.errors import FeedNotFound, FeedUnreadable
from live.messages.health import FeedState
from live.process.backoff import format_duration
from live.sources import http_client
from live.sources.doubled_games import DoubledGames, Readings, is_single_game_file
from live.sources.feed import Feed, PolledFeed
from live.sources.feed_session import FeedConditions, FeedSession, Poll
from live.sources.folder_scan import Signature, Signatures, read_signature, scan_folder
from live.sources.partial_reads import PartialReadFilter, create_partial_read_filter
from live.sources.path_watch import Watch, watch_path
from live.sources.pgn_text import PgnText
from live.sources.retry import FeedTrouble, create_permanent_trouble
from live.sources.source_address import FeedAddress
from live.user_files import escape_surrogates, on_own_thread, read_regular

log = logging.getLogger(__name__)

T = TypeVar("T")


#: Time after which a drive that does not answer is reported, seconds.
SLOW_S = 10.0
#: Resolution of a drive's clock, seconds: two changes within this time can have the
#: same modification time. It is 2 s on FAT and many network shares.
TICK_S = 2.0


def read_bounded(path: Path, max_bytes: int) -> bytes:
    """Return the contents of a file. Raises :class:`FeedTrouble` if it is larger than
    ``max_bytes``, and OSError if it cannot be read or is not a regular file.
    """
    text = read_regular(path, max_bytes + 1)
    if len(text) > max_bytes:
        raise create_permanent_trouble(
            str(path), f"is larger than {max_bytes} bytes", "Give a file of one event"
        )
    return text


class _File(msgspec.Struct, eq=False):
    """A followed file as it was last seen and read."""

    signature: Signature | None = None
    """Signature of the file when it was last seen; None if the file must be read again
    in any case.
    """
    since_s: float = -inf
    """Clock time since which the file has this signature."""
    read_s: float = -inf
    """Clock time at which the file was last read with this signature."""
    text: PgnText | None = None
    """Text of the file; None until it was read once."""


class FileFeed(PolledFeed):
    """Reports the games of one PGN file. Reads the file whenever it might have changed,
    and at least every ``poll_s`` seconds checks whether it has.

    The source has ended when every game has a result and nothing has changed for the
    grace period.
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
        self._filter: PartialReadFilter | None = None
        self._files: dict[Path, _File] = {}

    @asynccontextmanager
    async def _connect(self) -> AsyncIterator[None]:
        self._forget_signatures()
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
        """Return the present games; None if the file or folder does not exist."""
        try:
            return await self._read_changes(session)
        except FileNotFoundError:
            self._report_missing(session)
            return None
        except OSError as error:
            problem = f"cannot be read ({error.strerror or type(error).__name__})"
            remedy = "Check the path and its permissions"
            raise create_permanent_trouble(self.name, problem, remedy) from error

    async def _read_changes(self, session: FeedSession) -> Poll:
        looked_s = self._clock.now()
        now = await self._call_and_warn_if_slow(session, self._find_files)
        for path in self._files.keys() - now.keys():  # gone, or just being replaced
            del self._files[path]
        readings: Readings = {}
        for path, signature in now.items():
            file = self._files.setdefault(path, _File())
            if file.signature != signature:
                file.signature = signature
                file.since_s = self._clock.now()
                file.read_s = -inf
            # A file read so soon after a change might change again without a new
            # signature.
            if file.read_s < file.since_s + TICK_S:
                await self._read_file(path, session)
            if file.text is not None:
                readings[path] = await file.text.build_reading(looked_s)
        # With thousands of games this takes long, so it runs on a thread of its own.
        notes = await on_own_thread(self._drop_doubles, readings, now)
        if self._filter is None:
            self._filter = create_partial_read_filter(session, self._conditions)
        return self._filter.confirm_games(readings.values(), self._clock.now(), notes)

    def _forget_signatures(self) -> None:
        """Read every file again at the next poll."""
        for file in self._files.values():
            file.signature = None

    def _find_files(self) -> Signatures:
        """Return the files to read, each with its signature."""
        return {self._path: read_signature(self._path)}

    def _drop_doubles(self, readings: Readings, now: Signatures) -> list[str]:
        """Return messages for people. The source for a folder also removes duplicate
        games here.
        """
        texts = [file.text for file in self._files.values() if file.text is not None]
        return list(dict.fromkeys(text.note for text in texts))

    async def _read_file(self, path: Path, session: FeedSession) -> None:
        """Read one file. Raises FeedTrouble and OSError."""
        file = self._files[path]
        text = file.text or PgnText(escape_surrogates(str(path)), self._conditions)
        await text.take_unless_outdated(
            await self._call_and_warn_if_slow(
                session, read_bounded, path, http_client.MAX_BYTES
            )
        )
        file.read_s = self._clock.now()
        file.text = text

    async def _call_and_warn_if_slow(
        self, session: FeedSession, work: Callable[..., T], *arguments: object
    ) -> T:
        """Run ``work`` on a thread and return its result, however long it takes. Report
        a slow drive if the result is late.
        """
        answer = asyncio.ensure_future(on_own_thread(work, *arguments))
        try:
            # Threads run in real time, so the source's clock cannot be used.
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
        except Exception as error:
            # No inotify watches are left, or the folder is gone; polling continues.
            log.warning(
                "%s: cannot be watched (%s), checked at intervals", self._path, error
            )

    def _report_missing(self, session: FeedSession) -> None:
        """Report that the path does not exist.

        Raise FeedNotFound if nothing has been reported yet and the service does not
        wait for missing sources.
        """
        if not session.reported and not self._conditions.lasting:
            raise FeedNotFound(
                self.name, "there is no such file", "Check the path"
            ) from None
        self._forget_signatures()
        reason = (
            f"the {self.kind} is gone"
            if session.reported
            else f"no such {self.kind} yet"
        )
        state: FeedState = "retrying" if session.reported else "waiting"
        session.report_health(
            state, f"{reason}, checked every {format_duration(self._config.poll_s)}"
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
        """Reason why a file could not be read, by file."""
        self._doubled = DoubledGames()
        self._doubles: dict[Path, str] = {}
        """For each file that is ignored, wholly or partly, because its games are in
        other files: the description shown to people.
        """

    def _find_files(self) -> Signatures:
        return scan_folder(self._path)

    def _drop_doubles(self, readings: Readings, now: Signatures) -> list[str]:
        """Keep only one of each game that is in several files. Return messages for
        people.
        """
        written_ns = {path: mark[0] for path, mark in now.items()}
        remaining, doubles = self._doubled.drop_doubles(readings, written_ns)
        descriptions = {
            path: _describe_doubles(path, len(readings[path].games), doubles[path])
            for path in sorted(doubles)
        }
        for path, description in descriptions.items():
            if path not in self._doubles:
                log.info("%s: left out: %s", escape_surrogates(str(path)), description)
        self._doubles = descriptions
        readings.update(remaining)
        reasons = {
            path: self._left_out[path].removeprefix("the source ")
            for path in now
            if path in self._left_out
        }
        unreadable = ", ".join(
            f"{escape_surrogates(path.name)} ({reason})"
            for path, reason in reasons.items()
        )
        left_out = ", ".join(descriptions.values())
        notes = [f"cannot be read: {unreadable}"] * bool(unreadable)
        notes += [f"left out: {left_out}"] * bool(left_out)
        return [*notes, *super()._drop_doubles(readings, now)]

    async def _read_file(self, path: Path, session: FeedSession) -> None:
        """Read one file. A failure affects only this file, which is read again later:
        its writer might have locked it for a moment.
        """
        try:
            await super()._read_file(path, session)
        except (FeedTrouble, OSError) as error:
            reason = (
                error.reason if isinstance(error, FeedTrouble) else str(error.strerror)
            )
            if self._left_out.get(path) != reason:
                log.warning("%s: left out: %s", escape_surrogates(str(path)), reason)
            self._left_out[path] = reason
        else:
            self._left_out.pop(path, None)


def _describe_doubles(path: Path, games: int, elsewhere: Counter[Path]) -> str:
    """Describe how many games of a file are ignored, and where else these games are."""
    left_out = elsewhere.total()
    share = f"{left_out} of its {games} games" if left_out < games else "its games"
    place = " and ".join(
        escape_surrogates(other_path.name) for other_path in sorted(elsewhere)[:2]
    )
    if all(is_single_game_file(other_path) for other_path in elsewhere):
        place = "single files"
    elif len(elsewhere) > 2:
        place = f"{len(elsewhere)} other files"
    return f"{escape_surrogates(path.name)}, {share} are also in {place}"


#: Host name and slash at the beginning of a web address that was copied without
#: ``https://``.
_HOST = re.compile(r"(?:[A-Za-z0-9-]+\.)+[A-Za-z0-9-]+(?::\d+)?/")
#: Drive letter at the beginning of a Windows path.
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


def open_path(source: FeedAddress, conditions: FeedConditions) -> Feed:
    """Return the feed for a file or folder. Raises FeedNotFound and FeedUnreadable."""
    text = source.target
    if text.lower().startswith("file://"):
        text = unquote(urlsplit(text).path)
    path = Path(text)
    try:
        path = path.expanduser()
        is_there = path.exists()
        elsewhere = _HOST.match(text) or (os.name != "nt" and _DRIVE.match(text))
        may_come = conditions.lasting and not elsewhere
    except (OSError, ValueError, RuntimeError):
        # The name is impossible for a file (too long, contains a zero byte), or the
        # home directory is unknown.
        is_there = may_come = False
    if not is_there and not may_come:
        remedy = "Check the path"
        if _HOST.match(text):
            remedy += ", or write https:// in front if it is an address"
        elif _DRIVE.match(text):
            remedy += ": this is a Windows path"
        elif text.endswith(".pgn"):
            remedy += "; a service that lasts waits for it"
        raise FeedNotFound(source.name, "there is no such file", remedy)
    if (
        path.is_dir()
        if is_there
        else source.kind == "folder" or path.suffix.lower() != ".pgn"
    ):
        if source.forced and source.kind == "file":
            raise FeedUnreadable(
                source.name, "is a folder", "Give a file, or leave file+ out"
            )
        return FolderFeed(source.name, path, conditions)
    if is_there and not path.is_dir() and not path.is_file():
        # A pipe or device might block for ever, and its contents can be read only once.
        remedy = "Give a file or a folder, or pipe it into standard input and give -"
        raise FeedUnreadable(source.name, "is not a file that can be followed", remedy)
    if is_there and source.kind == "folder":
        raise FeedUnreadable(
            source.name, "is not a folder", "Give a folder, or leave folder+ out"
        )
    return FileFeed(source.name, path, conditions)
