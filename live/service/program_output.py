"""What a run writes: its log on standard error, standard output that a full disk may stop, and
reports in files, by ``analyze`` and from the terminal. Part of the composition root.
"""

from __future__ import annotations

import copy
import datetime as dt
import errno
import io
import logging
import os
import sys
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NoReturn

import typer

import live
from live.alerts.incident_log import board_words, with_boards
from live.config import Config
from live.errors import InputError
from live.events import GameId, Incident
from live.ledger.roster import main_event
from live.publish.exports import Analysis, analysis
from live.publish.published_state import PublishedState
from live.report.report_files import Format, incident_texts, only, texts
from live.report.report_files import moment as incident_moment
from live.store.journal_file import keep_private

#: So many warnings or errors that begin alike are logged within so many seconds.
REPEATED: Final = 20
REPEATED_S: Final = 60.0
_BEGINNING_CHARS: Final = 60
_KINDS: Final = 1000

_HOME: Final = Path(live.__file__).parent.parent


def log_to_stderr(config: Config) -> None:
    """Set up logging, and streams that a strange character cannot break."""
    # A terminal that cannot show a character shows a question mark; it never ends the service.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    handler = _StderrOfTheMoment()
    handler.setFormatter(OneLineFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.addFilter(RepeatedLines())
    logging.basicConfig(handlers=[handler], level=config.log.level.upper())


def log_level(config: Config) -> None:
    """Let the log say as much as ``log.level`` wants."""
    logging.getLogger().setLevel(config.log.level.upper())


class OneLineFormatter(logging.Formatter):
    """Shows an exception by its message and its place, in the same line; at level ``debug`` the
    traceback follows, as ``--debug`` promises.
    """

    def format(self, record: logging.LogRecord) -> str:
        raised = record.exc_info
        if not raised or logging.getLogger().isEnabledFor(logging.DEBUG):
            return super().format(record)
        record, (kind, error, trace) = copy.copy(record), raised
        record.exc_info = record.exc_text = None
        if kind is None:
            return super().format(record)
        said = " ".join(str(error).split())
        text = f"{kind.__name__}: {said}" if said else kind.__name__
        return f"{super().format(record)} ({text}{_place(trace)}; --debug shows more)"


class RepeatedLines(logging.Filter):
    """Leaves out warnings that come over and over: a fault that is met a thousand times a second
    must not fill the disk.
    """

    def __init__(self) -> None:
        super().__init__()
        # Since when, and how many since.
        self._seen: dict[tuple[str, int, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING:
            return True
        beginning = f"{str(record.msg)[:_BEGINNING_CHARS]} {str(record.args)[:_BEGINNING_CHARS]}"
        kind = record.name, record.levelno, beginning
        since_s, count = self._seen.pop(kind, (record.created, 0))
        if record.created - since_s >= REPEATED_S:
            since_s, count = record.created, 0
        self._seen[kind] = since_s, count + 1
        if len(self._seen) > _KINDS:
            del self._seen[next(iter(self._seen))]
        if count == REPEATED - 1:
            record.msg = f"{record.msg} (more of these are left out for {REPEATED_S:g} s)"
        return count < REPEATED


def _place(trace: TracebackType | None) -> str:
    """The innermost line of our own, if there is one: ``, at
    live/publish/streams.py:120``.
    """
    for frame, line in reversed(list(traceback.walk_tb(trace))):
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(_HOME / "live"):
            return f", at {path.relative_to(_HOME).as_posix()}:{line}"
    return ""


class _StderrOfTheMoment(logging.StreamHandler[Any]):
    """Writes to whatever standard error is now: the live display takes it over while it draws."""

    @property
    def stream(self) -> Any:
        return sys.stderr

    @stream.setter
    def stream(self, value: Any) -> None:
        """Nothing to keep."""


log = logging.getLogger(__name__)


def while_there_is_room(write: Callable[[str], object]) -> Callable[[str], None]:
    """``write``, that leaves out what a full disk does not take: that ends no service."""
    full = False

    def attempt(text: str) -> None:
        nonlocal full
        try:
            write(text)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            if not full:
                log.error("the output: its disk is full, lines are left out. Make room there")
            full = True
        else:
            if full:
                log.warning("the output: is written again")
            full = False

    return attempt


def end_for_want_of_room(error: OSError) -> NoReturn:
    """End a command whose output met a full disk; any other error goes on its way.

    What commands write elsewhere has errors of its own: what is left is the output.
    """
    if error.errno != errno.ENOSPC:
        raise error
    typer.echo("live-rate: the output: its disk is full. Make room, or write elsewhere", err=True)
    # What was not written is not tried again at the end.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(1)


#: How a report says when it was written.
WRITTEN = "%Y-%m-%d %H:%M UTC"


def utc_now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


def write_report(
    whole: Analysis,
    folder: Path,
    formats: Collection[Format],
    *,
    stem: str,
    now: dt.datetime,
    arbiter: bool = False,
) -> list[Path]:
    """Write the files of a report into a folder, which is made if need be; answers which.

    Raises:
        InputError: they cannot be written there.
    """
    found = texts(whole, formats, stem=stem, written=now.strftime(WRITTEN), arbiter=arbiter)
    return write_texts(found, folder)


def write_texts(found: Mapping[str, str], folder: Path, *, private: bool = False) -> list[Path]:
    """Write files, by their names, into a folder, which is made if need be; answers which.
    ``private``: for their user alone to read, as the journal is.

    Raises:
        InputError: they cannot be written there.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in found.items():
            if private:
                keep_private(folder / name)
            # The line ends are those of the format: CSV has its own.
            (folder / name).write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise InputError(
            str(folder), f"cannot be written ({error.strerror})", "Choose another folder"
        ) from None
    return [folder / name for name in found]


def export_report(
    state: PublishedState,
    folder: Path,
    kind: Format,
    game: GameId | None,
    now: Callable[[], dt.datetime] = utc_now,
) -> str:
    """What the terminal's export key calls: write a board, or all there is, and say where.

    Raises:
        InputError: it cannot be written, or the board is gone.
    """
    whole, moment = analysis(state), now()
    stem = f"live-rate-{moment:%Y%m%d-%H%M%S}"
    if game is not None:
        whole = only(whole, {game}, set(state.player_ids(game)))
        if not whole.games:
            raise InputError("export", "this board is gone", "Choose another")
        board = whole.games[0].board
        stem += f"-board-{board}" if board is not None else "-board"
    written = write_report(whole, folder, [kind], stem=stem, now=moment)
    return ", ".join(map(str, written))


def export_incidents(
    incidents: Callable[[], Sequence[Incident]],
    state: PublishedState,
    folder: Path,
    now: Callable[[], dt.datetime] = utc_now,
) -> str:
    """What the export key of the incident log calls: write the whole log as a page to print and
    sign, and say where. ``state`` knows the names of boards.

    Raises:
        InputError: it cannot be written.
    """
    moment = now().astimezone()
    zone = moment.tzinfo or dt.UTC
    views = list(state.games())
    found = incident_texts(
        with_boards(incidents(), {view.id: board_words(view) for view in views}),
        ["html"],
        stem=f"live-rate-{moment:%Y%m%d-%H%M%S}",
        title=next((main_event(view) for view in views if main_event(view)), "live-rate"),
        written=f"as of {incident_moment(moment.timestamp(), zone)}",
        zone=zone,
    )
    return ", ".join(map(str, write_texts(found, folder, private=True)))
