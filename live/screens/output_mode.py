"""The service's display on its own terminal: the terminal app, lines, or JSON."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from live.event.bus import Bus
from live.event.event import Event
from live.journal.journal import Journal
from live.screens.display import Display, run_terminal
from live.screens.printed_changes import (
    JsonPrinter,
    LinePrinter,
    build_line_writer,
)
from live.screens.reports.report_export import export_incidents, export_report
from live.screens.terminal import printed
from live.server.authentication import public_filter
from live.server.filtered_reader import snapshot
from live.server.public_delay import set_arbiters_delay
from live.server.public_view import PublicView
from live.watch.arbiter_desk import ArbiterDesk
from live.watch.finding import span

if TYPE_CHECKING:
    from live.screens.terminal.view_context import ViewContext


@dataclass
class OutputMode:
    """The service's display on the terminal where it was started.

    The app shows the arbiter everything at once. Lines and JSON can reach other
    readers, so they contain only public data.
    """

    shown: Display
    state: Event
    bus: Bus
    arbiter: ArbiterDesk
    public: PublicView
    journal: Journal
    hide_scores: bool
    headlines: Sequence[str]
    """Lines printed first: the models that rate the moves, and the journal's
    summary.
    """
    address: str
    console: Console
    stop: asyncio.Event

    def begin(self) -> None:
        """Start the display; lines and JSON begin with the service's address."""
        visible = public_filter(self.hide_scores)
        match self.shown:
            case "json":
                printer = JsonPrinter()
                # On standard error, so that standard output holds messages alone. With
                # port 0, no message says which port was taken.
                typer.echo(f"live-rate is serving {self.address}", err=True)

                def begin_json() -> None:
                    printer.begin(snapshot(self.public, visible))

                begin_json()
                self.public.listen(self.bus.guard(printer.show), begin_json)
            case "lines":
                say = build_line_writer(lambda: self.console.file)
                say(f"live-rate is serving {self.address}")
                for line in self.headlines:
                    say(line)

                def begin_lines() -> None:
                    known = snapshot(self.public, visible)
                    self._lines = LinePrinter(
                        self.console, known.games, engines=known.engines, is_public=True
                    )

                begin_lines()
                self.public.listen(
                    self.bus.guard(lambda changes: self._lines.show(changes)),
                    begin_lines,
                    knows_sources=True,
                )
            case "app":
                self._context = self._open_terminal()

    def _open_terminal(self) -> ViewContext:
        # Imported here, since lines and JSON do not need Textual.
        from live.screens.terminal.view_context import RecentChanges, ViewContext

        state = self.state
        public = self.public
        arbiter = self.arbiter
        changes = RecentChanges(time.monotonic)
        self.bus.subscribe(changes.note)
        # Clocks ran on while the service was stopped, so use the journal's times.
        last_ms = self.journal.read_last_change_times()
        now_ms = 1000 * time.time()
        for game in state.games():
            at_ms = last_ms.get(game.id)
            if at_ms:
                ago_s = max(0.0, now_ms - at_ms) / 1000
                changes.set_last_move(game.id, game.plies_played, ago_s)
        # Reports leave the venue, so they are made from the public view.
        return ViewContext(
            state,
            changes,
            self.address,
            time.time,
            leave_question="End the service? Subscribers are asked to reconnect.",
            # An alert would reveal delayed moves, so it marks no result while moves are
            # withheld.
            export=lambda kind, game: export_report(
                public,
                public if public.is_withholding else state,
                Path.cwd(),
                kind,
                None if game is None else public.names.public_id(game),
            ),
            public_delay=public.describe_delay,
            hides_scores=lambda: public.is_hiding_scores,
            set_delay=self._set_delay,
            command=arbiter.command,
            incidents=arbiter.incidents,
            remove_board=partial(arbiter.remove_board, state),
            bring_back_board=partial(arbiter.bring_back_board, state),
            export_log=partial(export_incidents, arbiter.incidents, state, Path.cwd()),
        )

    async def run(self) -> None:
        """Show the app until the user leaves it; that also ends the service."""
        await run_terminal(self._context, self.stop)

    def print_end(self) -> None:
        """Print the lines that still wait and the table of players after the service
        has ended; print nothing for JSON.
        """
        if self.shown == "json":
            return
        if self.shown == "lines":
            self._lines.finish()
        public = self.public
        players = list(public.players())
        width = self.console.width
        table = printed.build_players_table(
            players, public.engine(), public.gain(), width=width
        )
        self.console.print(table)

    def _set_delay(self, delay_s: float) -> None:
        set_arbiters_delay(self.public, self.journal, delay_s)
        words = f"is {span(delay_s)} behind" if delay_s else "sees every move at once"
        self.arbiter.record(f"Delay set: the public {words} from now on.")
