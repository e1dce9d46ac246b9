"""How a run shows itself: the terminal app, a plain table, lines, or JSON. Part of the composition
root; the service and ``watch`` share it.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rich.console import Console, Group
from rich.live import Live

from live.events import Alert, AlertMessage, Change, GameMessage, GameView, Message
from live.publish import wire
from live.publish.access import everybody
from live.publish.public_state import PublicState
from live.publish.published_state import PublishedState, snapshot
from live.publish.visibility import EVERYTHING, Visibility, shown
from live.service.event_service import EventService
from live.service.process import attended
from live.service.program_output import export_incidents, export_report, while_there_is_room
from live.service.public_delay import choose_delay
from live.service.supervision import guarded
from live.store.journal import Journal
from live.terminal import event_tables
from live.terminal.controller import FRAME_S, TerminalController
from live.terminal.recent_changes import EventLineWriter, RecentChanges
from live.terminal.text import DUSK, PLAIN
from live.terminal.view_context import TerminalActions, ViewContext

if TYPE_CHECKING:
    from live.terminal.terminal_app import Terminal

Way = Literal["app", "table", "lines", "json"]


def way(
    *,
    headless: bool = False,
    plain: bool = False,
    json: bool = False,
    environment: Mapping[str, str] = os.environ,
) -> Way:
    """The app where somebody sits at a terminal that can show it; else what suits the reader."""
    if json:
        return "json"
    if not attended(headless=headless):
        return "lines"
    # The app reads from standard input and draws on standard error.
    able = sys.stdin.isatty() and sys.stderr.isatty()
    if plain or not able or environment.get("TERM", "dumb") == "dumb":
        return "table"
    # Now, before anything runs: it takes a third of a second.
    import live.terminal.terminal_app  # noqa: F401

    return "app"


def theme(environment: Mapping[str, str] = os.environ) -> str:
    """No colour for who wants none (https://no-color.org)."""
    return PLAIN.name if environment.get("NO_COLOR") else DUSK.name


def terminal(
    state: PublishedState,
    recent_changes: RecentChanges,
    actions: TerminalActions,
    *,
    stop: Callable[[], None],
    interrupt: Callable[[], None],
) -> Terminal:
    """The app; ``stop`` is called on q, ``interrupt`` on Ctrl-C."""
    from live.terminal.terminal_app import Terminal

    scene = ViewContext(state, recent_changes, actions, time.time)
    return Terminal(scene, theme=theme(), stop=stop, interrupt=interrupt)


async def display(context: ViewContext, console: Console) -> None:
    """The first screen without keys and colours, drawn until cancelled: running boards before those
    that are over, as many as there is room for.
    """
    context.keyless = True
    context.palette = PLAIN
    controller = TerminalController(context, lambda: None)
    with (
        console.use_theme(PLAIN.theme),
        Live(console=console, auto_refresh=False, screen=True) as live,
    ):
        while True:
            live.update(Group(*controller.frame(*console.size)), refresh=True)
            await asyncio.sleep(FRAME_S)


def line_printer(
    console: Console, known: Iterable[GameView] = (), alerts: Iterable[Alert] = ()
) -> Callable[[Iterable[Change]], None]:
    """Prints a line for each thing that happens; ``known`` games and ``alerts`` are no news."""
    writer = EventLineWriter()
    writer.lines(map(GameMessage, known))
    writer.lines(map(AlertMessage, alerts))
    say = _sayer(console)

    def show(changes: Iterable[Change]) -> None:
        for line in writer.lines(changes):
            say(line)

    return show


def _sayer(console: Console) -> Callable[[str], None]:
    """Lines as they are. Past the console, which would keep what a full disk does not take."""

    def say(line: str) -> None:
        console.file.write(f"{line}\n")
        console.file.flush()

    return while_there_is_room(say)


class JsonPrinter:
    """Prints messages as the public's subscribers get them, one a line, numbered as their stream
    is.
    """

    def __init__(self, write: Callable[[str], object] | None = None) -> None:
        self._write = while_there_is_room(write or _out)
        self._seq = 0

    def begin(self, *messages: Message) -> None:
        """Greeting and snapshot: they do not count."""
        for message in messages:
            self._print(message)

    def show(self, changes: Iterable[Change]) -> None:
        """What happens from then on."""
        for change in changes:
            if EVERYTHING.takes_type(change):
                self._seq += 1
                self._print(shown(change, EVERYTHING.visibility))

    def _print(self, message: Message) -> None:
        self._write(wire.number(wire.encode(message), self._seq).decode() + "\n")


def _out(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def offer_delay(actions: TerminalActions, public: PublicState, journal: Journal) -> None:
    """Let the terminal hold back what the public sees, and show what waits."""
    actions.public_delay = public.held
    actions.set_delay = lambda delay_s: choose_delay(public, journal, delay_s)


class OutputMode:
    """How the service itself is shown where it was started: the app to the arbiter, at once and
    whole; a table, lines and JSON to whoever reads them, so they are the public's.
    """

    def __init__(
        self,
        shown: Way,
        service: EventService,
        public: PublicState,
        address: str,
        console: Console,
        stop: asyncio.Event,
    ) -> None:
        self._shown = shown
        self._service = service
        self._public = public
        self._address = address
        self._console = console
        self._stop = stop
        self._recent_changes = RecentChanges(time.monotonic)
        self._seen = everybody(service.config.server.hide_scores)
        self.drawn = shown in ("app", "table")
        """Whether it takes the whole terminal."""

    def begin(self) -> None:
        """Say where we serve, and listen."""
        service, seen = self._service, self._seen
        match self._shown:
            case "app":
                service.listen(self._recent_changes.note)
            case "json":
                printer = JsonPrinter()
                printer.begin(snapshot(self._public, seen))
                self._public.listen(guarded(printer.show))
            case "lines":
                say = _sayer(self._console)
                say(f"live-rate is serving {self._address}")
                say(service.models_summary)
                games = snapshot(self._public, seen).games
                if service.journal.summary and seen.visibility is not Visibility.VENUE:
                    # Those of another engine or limit do not count here, and must be found anew.
                    wait = sum(game.plies_played - game.plies_scored for game in games)
                    more = f"; {wait:,} moves wait for their scores" if wait else ""
                    say(f"{service.journal.summary}{more}")
                self._public.listen(guarded(line_printer(self._console, games)))
            case "table":
                self._public.listen(guarded(self._recent_changes.note))

    async def run(self) -> None:
        """Draw until somebody leaves; a table until cancelled."""
        state = self._service.state
        if self._shown == "table":
            actions = TerminalActions(self._address)
            context = ViewContext(self._public, self._recent_changes, actions, time.time)
            await display(context, self._console)
            return
        app = terminal(
            state,
            self._recent_changes,
            self._actions(),
            stop=self._stop.set,
            interrupt=lambda: signal.raise_signal(signal.SIGINT),
        )
        app.context.figure = self._service.config.rating.figure
        app.context.bell.choice = self._service.config.terminal.bell
        await app.run_async()
        if app.return_code:
            raise RuntimeError("the terminal failed")
        # However it ended, nobody looks any more.
        self._stop.set()

    def end(self) -> None:
        """Print the players' table, when all that was asked for is done."""
        if self._shown == "json":
            return
        state, console = self._public, self._console
        table = event_tables.players(
            list(state.players()), state.engine(), state.gain(), width=console.width
        )
        console.print(table)

    def _actions(self) -> TerminalActions:
        service = self._service
        actions = TerminalActions(self._address)
        actions.leave_question = "End the service? Subscribers are asked to come back."
        # A file is passed on: it holds what the public may know by now.
        actions.export = partial(export_report, self._public, Path.cwd())
        actions.alert_actions = service.arbiter
        actions.incidents = service.arbiter.incidents
        actions.enter = service.arbiter.enter
        actions.remove_board = service.remove_board
        actions.bring_back_board = service.bring_back_board
        actions.export_log = partial(
            export_incidents, service.arbiter.incidents, service.state, Path.cwd()
        )
        offer_delay(actions, self._public, service.journal.journal)
        return actions
