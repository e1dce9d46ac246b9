"""How a run is shown where it was started: the terminal app, lines, or JSON."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

from rich.console import Console

from live.messages.alerts import Alert
from live.messages.figures import GameDetail
from live.messages.to_clients import Change, ChangeListener, Message
from live.process.signals import has_terminal
from live.process.standard_output import tolerate_full_disk
from live.screens.reports.report_export import export_incidents, export_report
from live.screens.terminal import printed
from live.screens.terminal.printed import EventLineWriter
from live.screens.terminal.text import DUSK, PLAIN
from live.server import wire
from live.server.authentication import public_filter
from live.server.filtered_reader import snapshot
from live.server.public_audience import PublicAudience
from live.server.public_delay import choose_delay
from live.server.stream_filter import EVERYTHING
from live.server.visibility import redact
from live.server.wire import encode_with_defaults
from live.service.event_service import EventService
from live.watch.finding import span

if TYPE_CHECKING:
    from live.screens.terminal.view_context import ViewContext

log = logging.getLogger(__name__)

Display = Literal["app", "lines", "json"]


def choose_display(
    *,
    headless: bool = False,
    json: bool = False,
    environment: Mapping[str, str] = os.environ,
) -> Display:
    """Return ``app`` at a terminal that can show it, else what suits the reader."""
    if json:
        return "json"
    if not has_terminal(headless=headless):
        return "lines"
    why = explain_missing_screen(environment)
    if why:
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


def build_line_printer(
    console: Console, known: Iterable[GameDetail] = (), alerts: Iterable[Alert] = ()
) -> ChangeListener:
    """Return a listener that prints a line for each event.

    ``known`` games and ``alerts`` are no news.
    """
    writer = EventLineWriter(known, alerts)
    say = _build_line_writer(lambda: console.file)

    def show(changes: Iterable[Change]) -> None:
        for line in writer.lines(changes):
            say(line)

    return show


def _build_line_writer(file: Callable[[], IO[str]]) -> Callable[[str], None]:
    """Return a writer of lines past the console, which keeps what a disk refuses."""

    def write(line: str) -> None:
        out = file()
        out.write(f"{line}\n")
        out.flush()

    return tolerate_full_disk(write)


class JsonPrinter:
    """Prints messages as the public's subscribers get them, one a line, numbered."""

    def __init__(self, write: Callable[[str], object] | None = None) -> None:
        self._write = _build_line_writer(lambda: sys.stdout)
        if write is not None:
            self._write = tolerate_full_disk(write)
        self._seq = 0

    def begin(self, *messages: Message) -> None:
        """Print greeting and snapshot, which have no numbers of their own."""
        for message in messages:
            self._print(message)

    def show(self, changes: Iterable[Change]) -> None:
        """Print what happens from then on."""
        for change in changes:
            if EVERYTHING.should_send(change):
                self._seq += 1
                self._print(redact(change, EVERYTHING.visibility))

    def _print(self, message: Message) -> None:
        self._write(wire.number(encode_with_defaults(message), self._seq).decode())


@dataclass
class OutputMode:
    """How the service is shown where it was started.

    The app shows the arbiter everything at once; lines and JSON may have any reader, so
    they are the public's.
    """

    shown: Display
    service: EventService
    public: PublicAudience
    address: str
    console: Console
    stop: asyncio.Event

    def begin(self) -> None:
        """Say where the service listens, and show what happens."""
        service = self.service
        seen = public_filter(service.config.server.hide_scores)
        match self.shown:
            case "json":
                printer = JsonPrinter()

                def begin_json() -> None:
                    printer.begin(snapshot(self.public, seen))

                begin_json()
                self.public.listen(service.bus.guard(printer.show), begin_json)
            case "lines":
                say = _build_line_writer(lambda: self.console.file)
                say(f"live-rate is serving {self.address}")
                say(service.models_summary)
                if service.journal.summary:
                    say(service.journal.summary)

                def begin_lines() -> None:
                    games = snapshot(self.public, seen).games
                    self._lines = build_line_printer(self.console, games)

                begin_lines()
                self.public.listen(
                    service.bus.guard(lambda changes: self._lines(changes)),
                    begin_lines,
                    knows_sources=True,
                )
            case "app":
                self._context = self._open_terminal()

    def _open_terminal(self) -> ViewContext:
        # Imported late: lines and JSON do not need it.
        from live.screens.terminal.view_context import RecentChanges, ViewContext

        service = self.service
        public = self.public
        arbiter = service.arbiter
        changes = RecentChanges(time.monotonic)
        service.bus.subscribe(changes.note)
        # Clocks have run on while the service was away.
        last_ms = service.journal.journal.read_last_change_times()
        now_ms = 1000 * time.time()
        for game in service.state.games():
            at_ms = last_ms.get(game.id)
            if at_ms:
                ago_s = max(0.0, now_ms - at_ms) / 1000
                changes.set_last_move(game.id, game.plies_played, ago_s)
        # The arbiter may do all of it from here. A report leaves the hall: it holds
        # what the public may know by now.
        return ViewContext(
            service.state,
            changes,
            self.address,
            time.time,
            leave_question="End the service? Subscribers are asked to come back.",
            # Doubts of alerts show only while nothing is withheld.
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
        """Print the table of players when all is done."""
        if self.shown == "json":
            return
        public = self.public
        players = list(public.players())
        width = self.console.width
        table = printed.players(players, public.engine(), public.gain(), width=width)
        self.console.print(table)

    def _set_delay(self, delay_s: float) -> None:
        choose_delay(self.public, self.service.journal.journal, delay_s)
        words = f"is {span(delay_s)} behind" if delay_s else "waits for nothing"
        self.service.arbiter.record(f"Delay set: the public {words} from now on.")
