"""A websocket to a running service, which comes back by itself and resumes.

Loss policy: none. What was missed is asked for by number; where the service no longer
has it, or was started afresh, a whole snapshot replaces what is held. The words for
people say which.
"""

import asyncio
import contextlib
import random
import socket
from collections.abc import Callable, Iterator
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import (
    ConnectionClosed,
    InvalidHandshake,
    InvalidStatus,
    InvalidURI,
)

from live.errors import ConfigError, Refused
from live.messages.from_clients import DeskCommand, TokenMessage
from live.messages.to_clients import HelloMessage, Message, SnapshotMessage
from live.process.backoff import format_duration, generate_doubling_s
from live.process.clock import LOOP_CLOCK, Clock
from live.server.reference_client import OutOfStep, ReferenceClient
from live.server.wire import LIVE_PATH

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
        raise ConfigError(given, "is not an address", "Give it as ws://HOST:PORT")
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
        self.say("Not done: no connection")

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
            return why or "the service closed the connection"
        except TimeoutError:
            return (
                "the connection went silent"
                if self.ready.is_set()
                else "no answer in time"
            )
        except ConnectionRefusedError:
            return "no service listens there"
        except (OSError, InvalidHandshake) as error:
            if isinstance(error, socket.gaierror) and not self.ready.is_set():
                host = urlsplit(self.url).hostname or ""
                raise Refused(host, "no such host", "Check the name") from None
            return getattr(error, "strerror", "") or str(error) or type(error).__name__
        except (OutOfStep, ValueError, RecursionError) as error:
            # What is held cannot be trusted: take everything afresh.
            self.client_state.seq = None
            return f"messages are missing ({error})"

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
                "everything was sent again" if same else "the service was restarted"
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
        why = {401: "a valid token is needed", 403: "the service refuses access"}.get(
            status
        )
        raise Refused(
            derive_pages_url(self.url),
            why or f"answers {status}",
            _ASK if why else _ADDRESS,
        )
