"""A websocket to a running service that reconnects by itself and resumes.

No message is lost: missed messages are requested by number. If the service no longer
has them, or was started again, a complete snapshot replaces the state. A line for
people says which of the two happened.
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

#: Time without a message after which the connection counts as dead, in seconds. The
#: service sends a heartbeat every 15 s, so at least two are missing.
SILENT_S = 40.0
#: From this close code on, connecting again is useless unless something is changed
#: (live.server.wire.CloseCode).
FINAL_CODE = 4100
_ADDRESS = "It looks like ws://HOST:8765"
_ASK = "Ask whoever runs it; a token is added to the address as ?token=…"
_OPEN_S = 10.0
#: HTTP statuses of refused handshakes after which another attempt can succeed.
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})


def parse_service_url(address: str) -> str:
    """Return the websocket address for a text that a user typed.

    A host is enough, and the address of the page also works.

    Raises:
        ConfigError: the text is not an address.
    """
    text = address if "://" in address else f"ws://{address}"
    parts = urlsplit(text)
    scheme = {"http": "ws", "https": "wss"}.get(parts.scheme, parts.scheme)
    try:
        is_valid = scheme in ("ws", "wss") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid:
        raise ConfigError(address, "is not an address", "Give it as ws://HOST:PORT")
    path = parts.path if parts.path not in ("", "/") else LIVE_PATH
    return urlunsplit((scheme, parts.netloc, path, parts.query, ""))


def derive_pages_url(url: str) -> str:
    """Return the base address of the service's pages, without the token."""
    parts = urlsplit(url)
    scheme = "https" if parts.scheme == "wss" else "http"
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((scheme, host, parts.path.removesuffix(LIVE_PATH[1:]), "", ""))


class ServiceConnection:
    """Connection that keeps ``client_state`` up to date with the service at ``url``
    while :meth:`run` runs.
    """

    def __init__(self, url: str, clock: Clock = LOOP_CLOCK) -> None:
        self.url = parse_service_url(url)
        # The token that the service asks for, if the address contains one.
        query = parse_qsl(urlsplit(self.url).query)
        self._token = tuple(pair for pair in query if pair[0] == "token")
        self.client_state = ReferenceClient()
        self.say: Callable[[str], None] = lambda text: None
        """Receives a line for people when the connection is back."""
        self._clock = clock
        self._websocket: ClientConnection | None = None
        self._lost_s: float | None = None
        self._problem = f"connecting to {derive_pages_url(self.url)}"
        self._epoch = ""
        self.ready = asyncio.Event()
        """Set when the first snapshot has arrived."""

    def on_message(self, text: str, message: Message) -> None:
        """Handle a message that has been applied to the state."""

    async def send_command(self, command: DeskCommand) -> None:
        """Send an arbiter's command; report it if it is lost."""
        if self._websocket is not None:
            with contextlib.suppress(ConnectionClosed):
                await self._websocket.send(msgspec.json.encode(command).decode())
                return
        self.say("Not done: no connection")

    def describe_problem(self) -> str:
        """Return the problem of the connection, for people; an empty string if there is
        none.
        """
        return self._problem

    async def run(self) -> None:
        """Follow the service until cancelled.

        Raises:
            Refused: the service does not accept this client, or the address is not that
                of a live-rate service.
        """
        before: object = None
        waits: Iterator[float] = iter(())
        while True:
            reason = await self._run_session()
            if self._lost_s is None:
                self._lost_s = self._clock.now()
            if (now := (self.client_state.seq, self.client_state.hello)) != before:
                # The last connection worked, so begin again with short waits.
                waits = generate_doubling_s(
                    random.random, first_s=1.0, cap_s=10.0, least_share=0.5
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
                # The service waits for a token; if it does not need one, this message
                # has no effect.
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
            reason = error.rcvd.reason if error.rcvd else ""
            if code >= FINAL_CODE:
                reason = reason or f"closed with {code}"
                raise Refused(derive_pages_url(self.url), reason, _ASK) from None
            return reason or "the service closed the connection"
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
            # The state cannot be trusted: request a complete snapshot.
            self.client_state.seq = None
            return f"messages are missing ({error})"

    def _build_resume_url(self) -> str:
        hello = self.client_state.hello
        if hello is None or self.client_state.seq is None:
            return self.url
        parts = urlsplit(self.url)
        query = parse_qsl(parts.query, keep_blank_values=True)
        since = {"epoch": hello.epoch, "since": self.client_state.seq}
        return urlunsplit(parts._replace(query=urlencode([*query, *since.items()])))

    def _receive_text(self, text: str) -> None:
        message = self.client_state.receive(text)
        if isinstance(message, HelloMessage) and message.resumed:
            self._on_connected("nothing was missed")
        elif isinstance(message, SnapshotMessage):
            hello = self.client_state.hello
            before = self._epoch
            self._epoch = hello.epoch if hello else ""
            is_same_epoch = before == self._epoch
            self._on_connected(
                "everything was sent again"
                if is_same_epoch
                else "the service was restarted"
            )
            self.ready.set()
        self.on_message(text, message)

    def _on_connected(self, how: str) -> None:
        """Report that the connection is back, and clear the problem."""
        if self._lost_s is not None and self.ready.is_set():
            away_s = self._clock.now() - self._lost_s
            self.say(f"Connected again after {format_duration(away_s)}: {how}")
        self._lost_s = None
        self._problem = ""

    def _describe_refusal(self, status: int) -> str:
        if status in _PASSING:
            return f"the service answers {status}"
        reason = {
            401: "a valid token is needed",
            403: "the service refuses access",
        }.get(status)
        raise Refused(
            derive_pages_url(self.url),
            reason or f"answers {status}",
            _ASK if reason else _ADDRESS,
        )
