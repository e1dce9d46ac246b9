"""What a run shows and writes: the terminal app, lines, or JSON, where it was started;
its log on standard error; standard output that a full disk may stop; and reports in
files, by ``analyze`` and from the terminal. Part of the composition root, shared by the
service and ``watch``.
"""

from __future__ import annotations

import asyncio
import copy
import datetime as dt
import logging
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

from rich.console import Console

from live.catalogue import main_event
from live.config import Config
from live.errors import InputError
from live.journal.journal_file import make_private
from live.messages.alerts import Alert, Incident
from live.messages.figures import GameDetail
from live.messages.to_clients import Change, ChangeListener, Message
from live.messages.values import GameId
from live.process.signals import has_terminal
from live.process.standard_output import tolerate_full_disk
from live.screens.reports.report_files import Format, build_files, build_incident_files, select_part
from live.screens.reports.report_files import format_moment as incident_moment
from live.screens.terminal import printed
from live.screens.terminal.printed import EventLineWriter
from live.screens.terminal.text import DUSK, PLAIN
from live.server import wire
from live.server.analysis import build_analysis
from live.server.authentication import public_filter
from live.server.event_reader import EventReader
from live.server.filtered_reader import snapshot
from live.server.public_audience import PublicAudience
from live.server.public_delay import choose_delay
from live.server.stream_filter import EVERYTHING
from live.server.visibility import redact
from live.server.wire import encode_with_defaults
from live.service.event_service import EventService
from live.watch.alert_kinds import find_doubted_games
from live.watch.finding import span
from live.watch.incident_log import board_words, with_boards

if TYPE_CHECKING:
    from live.screens.terminal.view_context import ViewContext

log = logging.getLogger(__name__)

#: So many warnings or errors that begin alike are logged within so many seconds.
REPEATED = 20
REPEATED_S = 60.0
_BEGINNING_CHARS = 60
_KINDS = 1000

_OURS = Path(__file__).parents[1]


def log_to_stderr(config: Config) -> None:
    """Set up logging."""
    handler = _StderrOfTheMoment()
    handler.setFormatter(OneLineFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.addFilter(RepeatedLines())
    logging.basicConfig(handlers=[handler], level=config.log.level.upper())


def log_level(config: Config) -> None:
    """Let the log say as much as ``log.level`` wants."""
    logging.getLogger().setLevel(config.log.level.upper())


class OneLineFormatter(logging.Formatter):
    """Shows an exception by its message and the innermost line of our own, in the same line; at
    level ``debug`` the traceback follows, as ``--debug`` promises.
    """

    def format(self, record: logging.LogRecord) -> str:
        raised = record.exc_info
        if not raised or logging.getLogger().isEnabledFor(logging.DEBUG):
            return super().format(record)
        record = copy.copy(record)
        record.exc_info = record.exc_text = None
        said = " ".join("".join(traceback.format_exception_only(*raised[:2])).split())
        said, place = said if raised[0] else "", ""
        for frame, line in traceback.walk_tb(raised[2]):
            if (path := Path(frame.f_code.co_filename)).is_relative_to(_OURS):
                place = f", at {path.relative_to(_OURS.parent).as_posix()}:{line}"
        return super().format(record) + (f" ({said}{place}; --debug shows more)" if said else "")


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


class _StderrOfTheMoment(logging.StreamHandler[Any]):
    """Writes to whatever standard error is now: the live display takes it over while it draws."""

    @property
    def stream(self) -> Any:
        return sys.stderr

    @stream.setter
    def stream(self, value: Any) -> None:
        """Nothing to keep."""


#: How a report says when it was written: in this machine's zone, as the incident log.
WRITTEN = "%Y-%m-%d %H:%M %z"


def utc_now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


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
                make_private(folder / name)
            # The line ends are those of the format: CSV has its own.
            (folder / name).write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise InputError(
            str(folder), f"cannot be written ({error.strerror})", "Choose another folder"
        ) from None
    return [folder / name for name in found]


def export_report(
    state: EventReader,
    live: EventReader,
    folder: Path,
    kind: Format,
    game: GameId | None,
    now: Callable[[], dt.datetime] = utc_now,
) -> str:
    """What the terminal's export key calls: write a board, or all there is, and say where. ``live``
    knows the alerts that doubt results.

    Raises:
        InputError: it cannot be written, or the board is gone.
    """
    whole = build_analysis(state, in_doubt=find_doubted_games(live.alerts()))
    moment = now().astimezone()
    stem = f"live-rate-{moment:%Y%m%d-%H%M%S}"
    if game is not None:
        whole = select_part(whole, {game}, set(state.player_ids(game)))
        if not whole.games:
            raise InputError("export", "this board is gone", "Choose another")
        board = whole.games[0].board
        stem += f"-board-{board}" if board is not None else "-board"
    found = build_files(whole, [kind], stem=stem, written=moment.strftime(WRITTEN))
    return ", ".join(map(str, write_texts(found, folder)))


def export_incidents(
    incidents: Callable[[], Sequence[Incident]],
    state: EventReader,
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
    found = build_incident_files(
        with_boards(incidents(), {view.id: board_words(view) for view in views}),
        ["html"],
        stem=f"live-rate-{moment:%Y%m%d-%H%M%S}",
        title=next(filter(None, map(main_event, views)), "live-rate"),
        written=f"as of {incident_moment(moment.timestamp(), zone)}",
        zone=zone,
    )
    return ", ".join(map(str, write_texts(found, folder, private=True)))


# --- ways to show a run --------------------------------------------------------------------------

Way = Literal["app", "lines", "json"]


def way(
    *, headless: bool = False, json: bool = False, environment: Mapping[str, str] = os.environ
) -> Way:
    """The app where somebody sits at a terminal that can show it; else what suits the reader."""
    if json:
        return "json"
    if not has_terminal(headless=headless):
        return "lines"
    if why := explain_missing_screen(environment):
        log.warning("no screen, one line is printed for each event: %s", why)
        return "lines"
    # Now, before anything runs: it takes a third of a second.
    import live.screens.terminal.terminal_app  # noqa: F401

    return "app"


def explain_missing_screen(environment: Mapping[str, str]) -> str:
    """Say why a terminal with our output cannot show the app; empty where it can."""
    # The app reads from standard input and draws on standard error.
    if not sys.stdin.isatty():
        return "standard input is no terminal"
    if not sys.stderr.isatty():
        return "standard error (2>) is no terminal"
    if environment.get("TERM", "dumb") == "dumb":
        return "TERM says that this terminal draws none"
    return ""


async def run_terminal(context: ViewContext, stop: asyncio.Event) -> None:
    """Draw the app until somebody leaves it, which sets ``stop``."""
    from live.screens.terminal.terminal_app import Terminal

    # No colour for who wants none (https://no-color.org).
    theme = PLAIN if os.environ.get("NO_COLOR") else DUSK
    interrupt = partial(signal.raise_signal, signal.SIGINT)
    app = Terminal(context, theme=theme.name, stop=stop.set, interrupt=interrupt)
    await app.run_async()
    if app.return_code:
        raise RuntimeError("the terminal failed")
    # However it ended, nobody looks any more.
    stop.set()


def line_printer(
    console: Console, known: Iterable[GameDetail] = (), alerts: Iterable[Alert] = ()
) -> ChangeListener:
    """Prints a line for each thing that happens; ``known`` games and ``alerts`` are no news."""
    writer, say = EventLineWriter(known, alerts), _line_writer(lambda: console.file)

    def show(changes: Iterable[Change]) -> None:
        for line in writer.lines(changes):
            say(line)

    return show


def _line_writer(file: Callable[[], IO[str]]) -> Callable[[str], None]:
    """Writes lines past any console, which would keep what a full disk does not take."""

    def write(line: str) -> None:
        out = file()
        out.write(f"{line}\n")
        out.flush()

    return tolerate_full_disk(write)


class JsonPrinter:
    """Prints messages as the public's subscribers get them, one a line, numbered as their stream
    is.
    """

    def __init__(self, write: Callable[[str], object] | None = None) -> None:
        self._write = tolerate_full_disk(write) if write else _line_writer(lambda: sys.stdout)
        self._seq = 0

    def begin(self, *messages: Message) -> None:
        """Greeting and snapshot: they do not count."""
        for message in messages:
            self._print(message)

    def show(self, changes: Iterable[Change]) -> None:
        """What happens from then on."""
        for change in changes:
            if EVERYTHING.should_send(change):
                self._seq += 1
                self._print(redact(change, EVERYTHING.visibility))

    def _print(self, message: Message) -> None:
        self._write(wire.number(encode_with_defaults(message), self._seq).decode())


@dataclass
class OutputMode:
    """How the service itself is shown where it was started: the app to the arbiter, at once and
    whole; lines and JSON to any reader, so they are the public's.
    """

    shown: Way
    service: EventService
    public: PublicAudience
    address: str
    console: Console
    stop: asyncio.Event

    def begin(self) -> None:
        """Say where we serve, and listen."""
        service = self.service
        seen = public_filter(service.config.server.hide_scores)
        match self.shown:
            case "json":
                printer = JsonPrinter()

                def begin_json() -> None:
                    printer.begin(snapshot(self.public, seen))

                begin_json()
                self.public.listen(service.guarded(printer.show), begin_json)
            case "lines":
                say = _line_writer(lambda: self.console.file)
                say(f"live-rate is serving {self.address}")
                say(service.models_summary)
                if service.journal.summary:
                    say(service.journal.summary)

                def begin_lines() -> None:
                    self._lines = line_printer(self.console, snapshot(self.public, seen).games)

                begin_lines()
                self.public.listen(
                    service.guarded(lambda changes: self._lines(changes)),
                    begin_lines,
                    knows_sources=True,
                )
            case "app":
                self._context = self._open_terminal()

    def _open_terminal(self) -> ViewContext:
        # Who prints lines needs none of it.
        from live.screens.terminal.view_context import RecentChanges, ViewContext

        service, public, arbiter = self.service, self.public, self.service.arbiter
        changes = RecentChanges(time.monotonic)
        service.listen(changes.note)
        # Clocks have run on while the service was away.
        last_ms, now_ms = service.journal.journal.read_last_change_times(), 1000 * time.time()
        for game in service.state.games():
            if at_ms := last_ms.get(game.id):
                ago_s = max(0.0, now_ms - at_ms) / 1000
                changes.set_last_move(game.id, game.plies_played, ago_s)
        # The arbiter may do all of it from here. A report is passed on: it holds what the public
        # may know by now.
        return ViewContext(
            service.state,
            changes,
            self.address,
            time.time,
            leave_question="End the service? Subscribers are asked to come back.",
            # Nor does what an alert doubts show while anything is withheld.
            export=lambda kind, game: export_report(
                public,
                public if public.is_withholding else service.state,
                Path.cwd(),
                kind,
                None if game is None else public.public_id(game),
            ),
            public_delay=public.describe_delay,
            set_delay=self._set_delay,
            command=arbiter.command,
            incidents=arbiter.incidents,
            remove_board=service.remove_board,
            bring_back_board=service.bring_back_board,
            export_log=partial(export_incidents, arbiter.incidents, service.state, Path.cwd()),
        )

    async def run(self) -> None:
        """Draw the app until somebody leaves it."""
        await run_terminal(self._context, self.stop)

    def end(self) -> None:
        """Print the players' table, when all that was asked for is done."""
        if self.shown == "json":
            return
        state, console = self.public, self.console
        table = printed.players(
            list(state.players()), state.engine(), state.gain(), width=console.width
        )
        console.print(table)

    def _set_delay(self, delay_s: float) -> None:
        choose_delay(self.public, self.service.journal.journal, delay_s)
        words = f"is {span(delay_s)} behind" if delay_s else "waits for nothing"
        self.service.arbiter.record(f"Delay set: the public {words} from now on.")
