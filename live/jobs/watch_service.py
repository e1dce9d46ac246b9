"""``live-rate watch``: another machine's service in this terminal. Part of the composition root."""

from __future__ import annotations

import asyncio
import contextlib
import random
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import httpx
import msgspec
from rich.console import Console

from live.clock import LoopClock
from live.events import Alert, AlertMessage, DeskCommand, Incident, Message, SnapshotMessage
from live.publish.published_state import ClientState
from live.service.process import stop_on_signals
from live.service.program_output import (
    Way,
    draw,
    export_incidents,
    export_report,
    line_printer,
    way,
)
from live.terminal.service_connection import (
    ServiceConnection,
    log_url,
    pages_url,
    service_url,
)
from live.terminal.text import WITHHELD, is_withheld
from live.terminal.view_context import RecentChanges, TerminalActions, ViewContext

#: How often the incident log is asked for, seconds; mostly it has not changed.
LOG_S = 2.0

_Incidents = dict[str, tuple[Incident, ...]]


class ServiceWatch:
    """What is held of the service, and who is notified of changes."""

    def __init__(self, url: str, shown: Way, console: Console) -> None:
        self.url = service_url(url)
        self.shown = shown
        self.console = console
        self.client_state = ClientState()
        self._withheld = False
        self._seen_before = False
        self._incidents: Sequence[Incident] = ()
        self._commands: set[asyncio.Task[None]] = set()
        self._alerts: Sequence[Alert] = ()
        """Those that stood when we heard of them last."""
        self.recent_changes = RecentChanges(time.monotonic)
        self._tell_lines = line_printer(console)
        self.say = self._print if shown in ("lines", "table") else lambda text: None
        self.attachment = ServiceConnection(
            self.url,
            self.client_state,
            self._heard,
            clock=LoopClock(),
            random=random.random,
            notify=lambda text: self.say(text),
        )

    def _print(self, text: str) -> None:
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _heard(self, text: str, message: Message) -> None:
        if self.shown == "json":
            sys.stdout.write(text + "\n")
            sys.stdout.flush()
        if isinstance(message, SnapshotMessage):
            if self.shown == "lines":
                # After the first time only what has changed since is news.
                seen = self._alerts if self._seen_before else ()
                self._tell_lines = line_printer(self.console, message.games, seen)
                self._tell_lines([AlertMessage(alert) for alert in message.alerts])
                self._seen_before, self._alerts = True, message.alerts
                self._tell_withheld(message)
        elif message.__struct_config__.tag not in ("hello", "heartbeat"):
            self.recent_changes.note((message,))  # type: ignore[arg-type]  # a change is what is left
            if self.shown == "lines":
                self._tell_lines((message,))  # type: ignore[arg-type]
                self._alerts = self.client_state.alerts()

    def _tell_withheld(self, message: SnapshotMessage) -> None:
        withheld = is_withheld(message.engine)
        if withheld and not self._withheld:
            self._print(f"Watching {pages_url(self.url)}: {WITHHELD}")
        self._withheld = withheld

    async def show(self, stop: asyncio.Event) -> None:
        """Draw until stopped; lines and JSON print themselves."""
        await self._ready()
        actions = TerminalActions(pages_url(self.url), status=self.attachment.status)
        actions.no_desk = self._no_desk
        context = ViewContext(self.client_state, self.recent_changes, actions, time.time)
        if self.shown == "app":
            actions.leave_question = "Leave? The service goes on."
            actions.command = self._command
            actions.incidents = lambda: self._incidents
            actions.export = partial(export_report, self.client_state, Path.cwd())
            actions.export_log = partial(
                export_incidents, actions.incidents, self.client_state, Path.cwd()
            )
            self.say = context.notify
        await draw(self.shown, context, self.console, stop)

    def _command(self, command: DeskCommand) -> None:
        """Commands reach the service in the order in which they were given."""
        task = asyncio.create_task(self.attachment.send(command), name="command")
        self._commands.add(task)
        task.add_done_callback(self._commands.discard)

    async def follow_log(self) -> None:
        """Hold the incident log, as long as we may see it; once it is said that it cannot be read.
        That the line is lost is said by the websocket, which comes from the same place.
        """
        headers: dict[str, str] = {}
        said = ""
        async with httpx.AsyncClient() as client:
            while True:
                trouble = ""
                try:
                    if not self._no_desk():
                        response = await client.get(log_url(self.url), headers=headers)
                        if response.status_code == 200:
                            answer = msgspec.json.decode(response.content, type=_Incidents)
                            self._incidents = answer["incidents"]
                            headers["If-None-Match"] = response.headers.get("etag", "")
                        elif response.status_code != 304:
                            trouble = f"the service answers {response.status_code}"
                # A cut or garbled stream has errors of its own, some of them no HTTPError.
                except (httpx.HTTPError, httpx.StreamError, msgspec.MsgspecError, OSError) as error:
                    trouble = str(error) or type(error).__name__
                if trouble and not said:
                    self.say(f"The incident log cannot be read, trying again: {trouble}")
                said = trouble
                await asyncio.sleep(LOG_S)

    def _no_desk(self) -> str:
        """Why we are not told of alerts and the log; empty while we are."""
        if status := self.attachment.status():
            return status
        hello = self.client_state.hello
        if hello is None or hello.sight != "arbiter":
            return "alerts and log are for arbiters' tokens; add ?token=… to the address"
        return ""

    async def _ready(self) -> None:
        """Until something is there, say on standard error why there is nothing to see yet."""
        said = ""
        while not self.attachment.ready.is_set():
            if (status := self.attachment.status()) != said:
                said = status
                console = Console(stderr=True)
                console.print(f"live-rate: {said}", markup=False, highlight=False)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.2):
                    await self.attachment.ready.wait()


async def watch(url: str, *, plain: bool = False, json: bool = False) -> int:
    """Show the service at ``url`` until stopped; returns the exit code.

    Raises:
        ConfigError: ``url`` is no address.
        Refused: the service does not let us in.
    """
    seen = ServiceWatch(url, way(plain=plain, json=json), Console())
    stop = asyncio.Event()
    with stop_on_signals(stop):
        parts = {"attachment": seen.attachment.run(), "show": seen.show(stop), "stop": stop.wait()}
        if seen.shown == "app":
            parts["incident log"] = seen.follow_log()
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
