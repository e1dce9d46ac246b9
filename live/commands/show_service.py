"""``live-rate watch``: shows a service, on this or another machine, in this
terminal.
"""

import asyncio
import contextlib
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import httpx
import msgspec
from rich.console import Console

from live.commands.service_connection import ServiceConnection, derive_pages_url
from live.messages.alerts import Alert, Incident
from live.messages.from_clients import DeskCommand
from live.messages.to_clients import (
    AlertMessage,
    HeartbeatMessage,
    HelloMessage,
    Message,
    SnapshotMessage,
)
from live.process.signals import stop_on_signals
from live.screens.command_output import print_line
from live.screens.display import (
    Display,
    choose_display,
    import_display,
    run_terminal,
)
from live.screens.printed_changes import LinePrinter
from live.screens.reports.report_export import export_incidents, export_report
from live.screens.terminal.text import WITHHELD, is_withheld
from live.screens.terminal.view_context import RecentChanges, ViewContext
from live.server.wire import API_PATH

#: Time between two requests for the incident log, in seconds; usually it is unchanged.
LOG_S = 2.0

_Incidents = dict[str, tuple[Incident, ...]]


class ServiceWatch(ServiceConnection):
    """A connection that shows the service in this terminal."""

    def __init__(self, url: str, display: Display, console: Console) -> None:
        super().__init__(url)
        self.display = display
        self.console = console
        self._withheld = False
        self._incidents: Sequence[Incident] = ()
        self._commands: set[asyncio.Task[None]] = set()
        self._alerts: Sequence[Alert] = ()
        """Open alerts, as they were sent last."""
        self.recent_changes = RecentChanges(time.monotonic)
        self._lines = LinePrinter(console)
        if display == "lines":
            self.say = partial(print_line, console=console)

    def on_message(self, text: str, message: Message) -> None:
        if self.display == "json":
            sys.stdout.write(text + "\n")
            sys.stdout.flush()
        if isinstance(message, SnapshotMessage):
            if self.display == "lines":
                # After the first snapshot, print only what has changed since.
                self._lines = LinePrinter(
                    self.console, message.games, self._alerts, message.engines
                )
                self._lines.show([AlertMessage(alert) for alert in message.alerts])
                self._alerts = message.alerts
                before = self._withheld
                self._withheld = is_withheld(message.engine)
                if self._withheld and not before:
                    self.say(f"Watching {derive_pages_url(self.url)}: {WITHHELD}")
        elif not isinstance(message, HelloMessage | HeartbeatMessage):
            self.recent_changes.note((message,))
            if self.display == "lines":
                self._lines.show((message,))
                self._alerts = self.client_state.alerts()

    async def show_display(self, stop: asyncio.Event) -> None:
        """Draw until stopped, if the display is the app; lines and JSON are printed as
        messages arrive.
        """
        await self._wait_until_ready()
        if self.display != "app":
            await stop.wait()
            return
        context = ViewContext(
            self.client_state,
            self.recent_changes,
            derive_pages_url(self.url),
            time.time,
            status=self.describe_problem,
            no_desk=self._explain_no_desk,
            public_delay=lambda: self.client_state.public_delay,
            hides_scores=lambda: is_withheld(self.client_state.engine()),
        )
        context.leave_question = "Leave? The service keeps running."
        context.command = self._send_in_order
        context.incidents = lambda: self._incidents
        context.export = partial(
            export_report, self.client_state, self.client_state, Path.cwd()
        )
        context.export_log = partial(
            export_incidents, context.incidents, self.client_state, Path.cwd()
        )
        self.say = context.notify
        await run_terminal(context, stop)

    def _send_in_order(self, command: DeskCommand) -> None:
        """Send a command; commands reach the service in the order in which they were
        given.
        """
        task = asyncio.create_task(self.send_command(command), name="command")
        self._commands.add(task)
        task.add_done_callback(self._commands.discard)

    async def follow_incident_log(self) -> None:
        """Keep the incident log up to date, if this token gives access to it.

        Reports once if the log cannot be read. A lost connection is reported by the
        websocket.
        """
        address = f"{derive_pages_url(self.url)}{API_PATH[1:]}/incidents"
        headers: dict[str, str] = {}
        last_trouble = ""
        async with httpx.AsyncClient() as client:
            while True:
                trouble = ""
                try:
                    if not self._explain_no_desk():
                        response = await client.get(
                            address, params=self._token, headers=headers
                        )
                        if response.status_code == 200:
                            answer = msgspec.json.decode(
                                response.content, type=_Incidents
                            )
                            self._incidents = answer.get("incidents", ())
                            headers["If-None-Match"] = response.headers.get("etag", "")
                        elif response.status_code != 304:
                            trouble = f"the service answers {response.status_code}"
                # Errors of an interrupted or damaged response; some are not an
                # HTTPError.
                except (
                    httpx.HTTPError,
                    httpx.StreamError,
                    ValueError,
                    OSError,
                ) as error:
                    trouble = str(error) or type(error).__name__
                if trouble and not last_trouble:
                    self.say(
                        f"The incident log cannot be read, trying again: {trouble}"
                    )
                last_trouble = trouble
                await asyncio.sleep(LOG_S)

    def _explain_no_desk(self) -> str:
        """Return why alerts and the log are not shown; an empty string if they are."""
        if self._problem:
            return self._problem
        hello = self.client_state.hello
        if hello is None or hello.sight != "arbiter":
            return (
                "alerts and log are for arbiters' tokens; add ?token=… to the address"
            )
        return ""

    async def _wait_until_ready(self) -> None:
        """Wait for the first snapshot; meanwhile report on standard error why nothing
        is shown.
        """
        last_problem = ""
        while not self.ready.is_set():
            if self._problem != last_problem:
                last_problem = self._problem
                print_line(f"live-rate: {last_problem}", Console(stderr=True))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.2):
                    await self.ready.wait()


async def show_service(url: str, *, json: bool = False) -> int:
    """Show the service at ``url`` until stopped; return the exit code.

    Raises:
        ConfigError: ``url`` is not an address.
        Refused: the service does not accept this client.
    """
    display = choose_display(json=json)
    # Before the connection, which would wait for it.
    import_display(display)
    watch = ServiceWatch(url, display, Console())
    stop = asyncio.Event()
    with stop_on_signals(stop):
        parts = {
            "connection": watch.run(),
            "show": watch.show_display(stop),
            "stop": stop.wait(),
        }
        if watch.display == "app":
            parts["incident log"] = watch.follow_incident_log()
        tasks = [asyncio.create_task(part, name=name) for name, part in parts.items()]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        for task in tasks:
            if not task.cancelled():
                task.result()
    return 0
