"""``live-rate watch``: another machine's service in this terminal.

A websocket that comes back by itself and resumes. Loss policy: none. What was missed is
asked for by number; where the service no longer has it, or was started afresh, a whole
snapshot replaces what is held. The words for people say which.
"""

import asyncio
import contextlib
import random
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import httpx
import msgspec
from rich.console import Console
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import (
    ConnectionClosed,
    InvalidHandshake,
    InvalidStatus,
    InvalidURI,
)

from live.errors import ConfigError, Refused
from live.jobs.analyze_games import print_line
from live.messages.alerts import Alert, Incident
from live.messages.from_clients import DeskCommand, TokenMessage
from live.messages.to_clients import (
    AlertMessage,
    HelloMessage,
    Message,
    SnapshotMessage,
)
from live.process.backoff import format_duration, generate_doubling_s
from live.process.clock import LOOP_CLOCK, Clock
from live.process.signals import stop_on_signals
from live.screens.reports.report_export import export_incidents, export_report
from live.screens.terminal.text import WITHHELD, is_withheld
from live.screens.terminal.view_context import RecentChanges, ViewContext
from live.server.reference_client import OutOfStep, ReferenceClient
from live.server.wire import API_PATH, LIVE_PATH
from live.service.program_output import (
    Display,
    build_line_printer,
    choose_display,
    run_terminal,
)

#: The service sends a heartbeat every 15 s; two and a bit missing means the line is
#: dead.
SILENT_S = 40.0
#: From here on close codes mean: not without a change (live.server.wire.CloseCode).
FINAL_CODE = 4100
_ADDRESS = "It looks like ws://HOST:8765"
_ASK = "Ask whoever runs it; a token is added to the address as ?token=…"
_OPEN_S = 10.0
#: HTTP answers to a handshake that time may mend.
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})


def parse_service_url(given: str) -> str:
    """Return the websocket address for what a user typed: a host is enough, and the
    address of the page works too.

    Raises:
        ConfigError: it is none.
    """
    text = given if "://" in given else f"ws://{given}"
    parts = urlsplit(text)
    scheme = {"http": "ws", "https": "wss"}.get(parts.scheme, parts.scheme)
    try:
        fine = scheme in ("ws", "wss") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fine = False
    if not fine:
        raise ConfigError(given, "is no address", "Give it as ws://HOST:PORT")
    path = parts.path if parts.path not in ("", "/") else LIVE_PATH
    return urlunsplit((scheme, parts.netloc, path, parts.query, ""))


def derive_pages_url(url: str) -> str:
    """Return the base address of the service's pages, without the token."""
    parts = urlsplit(url)
    scheme = "https" if parts.scheme == "wss" else "http"
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((scheme, host, parts.path.removesuffix(LIVE_PATH[1:]), "", ""))


class ServiceConnection:
    """Keeps ``client_state`` up to date with the service at ``url`` while :meth:`run`
    runs.
    """

    def __init__(self, url: str, clock: Clock = LOOP_CLOCK) -> None:
        self.url = parse_service_url(url)
        # What lets us in.
        query = parse_qsl(urlsplit(self.url).query)
        self._token = tuple(pair for pair in query if pair[0] == "token")
        self.client_state = ReferenceClient()
        self.say: Callable[[str], None] = lambda text: None
        """Gets a line for people when the connection comes back."""
        self._clock = clock
        self._websocket: ClientConnection | None = None
        self._lost_s: float | None = None
        self._problem = f"connecting to {derive_pages_url(self.url)}"
        self._epoch = ""
        self.ready = asyncio.Event()
        """Set once the first snapshot is there."""

    def on_message(self, text: str, message: Message) -> None:
        """Take a message that has been applied."""

    async def send_command(self, command: DeskCommand) -> None:
        """Send an arbiter's command; say so if it is lost."""
        if self._websocket is not None:
            with contextlib.suppress(ConnectionClosed):
                await self._websocket.send(msgspec.json.encode(command).decode())
                return
        self.say("Not done: there is no connection")

    def describe_problem(self) -> str:
        """Return what is wrong, for people; empty while all is well."""
        return self._problem

    async def run(self) -> None:
        """Follow until cancelled.

        Raises:
            Refused: the service does not let us in, or what answers is none.
        """
        before: object = None
        waits: Iterator[float] = iter(())
        while True:
            reason = await self._run_session()
            if self._lost_s is None:
                self._lost_s = self._clock.now()
            if (now := (self.client_state.seq, self.client_state.hello)) != before:
                # It had worked: begin again with the short waits.
                waits = generate_doubling_s(
                    random.random, first_s=1.0, cap_s=10.0, least=0.5
                )
            before = now
            wait_s = next(waits)
            lost = "connection lost" if self.ready.is_set() else "no connection"
            self._problem = (
                f"{lost}: {reason}; trying again in {format_duration(wait_s)}"
            )
            await self._clock.sleep(wait_s)

    async def _run_session(self) -> str:
        """Run one connection; return why it ended."""
        try:
            async with connect(
                self._build_resume_url(),
                compression=None,
                max_size=None,
                open_timeout=_OPEN_S,
                ping_interval=None,
            ) as self._websocket:
                # It would wait for one; where none is needed, this is nothing.
                if not self._token:
                    await self._websocket.send(
                        msgspec.json.encode(TokenMessage("")).decode()
                    )
                while True:
                    async with self._clock.deadline(SILENT_S):
                        text = await self._websocket.recv()
                    self._receive_text(text if isinstance(text, str) else text.decode())
        except InvalidStatus as error:
            return self._describe_refusal(error.response.status_code)
        except InvalidURI as error:
            raise Refused(self.url, str(error), _ADDRESS) from None
        except ConnectionClosed as error:
            code = error.rcvd.code if error.rcvd else 1006
            why = error.rcvd.reason if error.rcvd else ""
            if code >= FINAL_CODE:
                why = why or f"closed with {code}"
                raise Refused(derive_pages_url(self.url), why, _ASK) from None
            return why or "the service went away"
        except TimeoutError:
            return (
                "nothing was heard any more"
                if self.ready.is_set()
                else "no answer in time"
            )
        except ConnectionRefusedError:
            return "nobody listens there"
        except (OSError, InvalidHandshake) as error:
            if isinstance(error, socket.gaierror) and not self.ready.is_set():
                host = urlsplit(self.url).hostname or ""
                raise Refused(host, "no such host", "Check the name") from None
            return getattr(error, "strerror", "") or str(error) or type(error).__name__
        except (OutOfStep, ValueError, RecursionError) as error:
            # What is held cannot be trusted: take everything afresh.
            self.client_state.seq = None
            return f"lost step ({error})"

    def _build_resume_url(self) -> str:
        hello = self.client_state.hello
        if hello is None or self.client_state.seq is None:
            return self.url
        parts = urlsplit(self.url)
        given = parse_qsl(parts.query, keep_blank_values=True)
        since = {"epoch": hello.epoch, "since": self.client_state.seq}
        return urlunsplit(parts._replace(query=urlencode([*given, *since.items()])))

    def _receive_text(self, text: str) -> None:
        message = self.client_state.receive(text)
        if isinstance(message, HelloMessage) and message.resumed:
            self._on_connected("nothing was missed")
        elif isinstance(message, SnapshotMessage):
            hello = self.client_state.hello
            before = self._epoch
            self._epoch = hello.epoch if hello else ""
            same = before == self._epoch
            self._on_connected(
                "everything was sent afresh" if same else "the service was started anew"
            )
            self.ready.set()
        self.on_message(text, message)

    def _on_connected(self, how: str) -> None:
        """Say how the connection came back; clear the problem."""
        if self._lost_s is not None and self.ready.is_set():
            away_s = self._clock.now() - self._lost_s
            self.say(f"Connected again after {format_duration(away_s)}: {how}")
        self._lost_s = None
        self._problem = ""

    def _describe_refusal(self, status: int) -> str:
        if status in _PASSING:
            return f"the service answers {status}"
        why = {401: "a valid token is needed", 403: "does not let us in"}.get(status)
        raise Refused(
            derive_pages_url(self.url),
            why or f"answers {status}",
            _ASK if why else _ADDRESS,
        )


#: How often the incident log is asked for, seconds; mostly it has not changed.
LOG_S = 2.0

_Incidents = dict[str, tuple[Incident, ...]]


class ServiceWatch(ServiceConnection):
    """The service in this terminal."""

    def __init__(self, url: str, shown: Display, console: Console) -> None:
        super().__init__(url)
        self.shown = shown
        self.console = console
        self._withheld = False
        self._incidents: Sequence[Incident] = ()
        self._commands: set[asyncio.Task[None]] = set()
        self._alerts: Sequence[Alert] = ()
        """Those that stood when they were sent last."""
        self.recent_changes = RecentChanges(time.monotonic)
        self._tell_lines = build_line_printer(console)
        if shown == "lines":
            self.say = partial(print_line, console=console)

    def on_message(self, text: str, message: Message) -> None:
        if self.shown == "json":
            sys.stdout.write(text + "\n")
            sys.stdout.flush()
        if isinstance(message, SnapshotMessage):
            if self.shown == "lines":
                # After the first time only what has changed since is news.
                self._tell_lines = build_line_printer(
                    self.console, message.games, self._alerts
                )
                self._tell_lines([AlertMessage(alert) for alert in message.alerts])
                self._alerts = message.alerts
                before = self._withheld
                self._withheld = is_withheld(message.engine)
                if self._withheld and not before:
                    self.say(f"Watching {derive_pages_url(self.url)}: {WITHHELD}")
        elif message.__struct_config__.tag not in ("hello", "heartbeat"):
            self.recent_changes.note((message,))  # type: ignore[arg-type]  # a change is what is left
            if self.shown == "lines":
                self._tell_lines((message,))  # type: ignore[arg-type]
                self._alerts = self.client_state.alerts()

    async def show_display(self, stop: asyncio.Event) -> None:
        """Draw until stopped; lines and JSON print themselves."""
        await self._wait_until_ready()
        if self.shown != "app":
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
        )
        context.leave_question = "Leave? The service goes on."
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
        """Keep the incident log up to date, if this token may see it; say once if it
        cannot be read. The websocket reports a lost connection.
        """
        address = f"{derive_pages_url(self.url)}{API_PATH[1:]}/incidents"
        headers: dict[str, str] = {}
        said = ""
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
                # A cut or garbled stream has errors of its own, some of them no
                # HTTPError.
                except (
                    httpx.HTTPError,
                    httpx.StreamError,
                    ValueError,
                    OSError,
                ) as error:
                    trouble = str(error) or type(error).__name__
                if trouble and not said:
                    self.say(
                        f"The incident log cannot be read, trying again: {trouble}"
                    )
                said = trouble
                await asyncio.sleep(LOG_S)

    def _explain_no_desk(self) -> str:
        """Return why alerts and the log are not shown; empty if they are."""
        if self._problem:
            return self._problem
        hello = self.client_state.hello
        if hello is None or hello.sight != "arbiter":
            return (
                "alerts and log are for arbiters' tokens; add ?token=… to the address"
            )
        return ""

    async def _wait_until_ready(self) -> None:
        """Wait for the first snapshot; meanwhile say on standard error why nothing is
        shown.
        """
        said = ""
        while not self.ready.is_set():
            if self._problem != said:
                said = self._problem
                print_line(f"live-rate: {said}", Console(stderr=True))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.2):
                    await self.ready.wait()


async def watch_service(url: str, *, json: bool = False) -> int:
    """Show the service at ``url`` until stopped; return the exit code.

    Raises:
        ConfigError: ``url`` is no address.
        Refused: the service does not let us in.
    """
    shown = ServiceWatch(url, choose_display(json=json), Console())
    stop = asyncio.Event()
    with stop_on_signals(stop):
        parts = {
            "connection": shown.run(),
            "show": shown.show_display(stop),
            "stop": stop.wait(),
        }
        if shown.shown == "app":
            parts["incident log"] = shown.follow_incident_log()
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
