"""A TCP connection while it uses HTTP, until a websocket handshake.

After the handshake, :mod:`live.server.subscriber` uses the connection.

h11 reads and writes the HTTP messages. Each turn of the event loop answers one request
of any connection, so that a client with thousands of requests or connections does not
delay others. While a client does not read its answers, no more of its requests are
read.

Connections are counted before TLS begins. A TLS handshake needs more memory than all
other parts of a connection, so if too many handshakes are unfinished, the oldest is
dropped.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
from email.utils import formatdate
from http import HTTPStatus
from typing import Protocol, cast

import h11
from websockets.exceptions import InvalidHeaderValue
from websockets.extensions import Extension

from live.messages.values import Value
from live.process.clock import ReadClock
from live.server.authentication import Guest
from live.server.fair_turns import FairTurns
from live.server.http_values import HttpRequest, HttpResponse, problem, read_target
from live.server.limits import ClientLimits
from live.server.stream_filter import StreamFilter
from live.server.subscriber import read_peer_address
from live.server.websocket_handshake import FORMER_PATHS, OUTDATED, check_handshake
from live.server.wire import LIVE_PATH

_log = logging.getLogger(__name__)
#: Maximum number of bytes received and ignored after the last answer.
_IGNORED_BYTES = 1_000_000
_NO_BODY = problem(413, "requests must not have a body")


class AdmittedClient(Value):
    """An admitted websocket client. Admission is decided before the 101 response."""

    selected: StreamFilter
    """The filter from its query."""
    resume: tuple[str, int] | None
    """Epoch and number of the last message that the client has; None if it needs a
    snapshot.
    """
    guest: Guest | None = None
    """The identity of the client; None until its first message contains a token."""
    is_local: bool = False
    """True if the client is on this machine."""
    sender: str = ""
    """The address for which the client's websockets and filters are counted."""


class ConnectionHost(Protocol):
    """What a connection needs of the server."""

    def add_connection(self, connection: HttpConnection) -> bool:
        """Count a new connection; return whether it is within the limits."""

    def remove_connection(self, connection: HttpConnection) -> None:
        """Remove an ended connection from all counts."""

    async def answer(self, request: HttpRequest) -> HttpResponse:
        """Return the response to a request other than a handshake."""

    def admit(
        self, connection: HttpConnection, request: HttpRequest
    ) -> AdmittedClient | HttpResponse:
        """Return the admitted client of a handshake, or the response refusing it."""

    def subscribe(
        self,
        connection: HttpConnection,
        client: AdmittedClient,
        accepted: bytes,
        early: bytes,
        extensions: list[Extension],
    ) -> None:
        """Turn a connection into a subscriber.

        Args:
            connection: the connection, which no longer reads HTTP.
            client: the admitted client.
            accepted: the 101 response, still to be sent.
            early: bytes that the client sent after its handshake.
            extensions: the negotiated websocket extensions.
        """


class HttpConnection(asyncio.Protocol):
    """Reads the requests of one connection and writes the responses."""

    def __init__(
        self,
        host: ConnectionHost,
        turns: FairTurns,
        clock: ReadClock,
        limits: ClientLimits,
        handshakes: TlsHandshakes | None = None,
    ) -> None:
        """Create a connection.

        ``handshakes`` are the unfinished TLS handshakes; None without encryption.
        """
        self.transport: asyncio.Transport
        self.address = ""
        """The address of the client, without a port."""
        self._host = host
        self._turns = turns
        self._clock = clock
        self._limits = limits
        self._handshakes = handshakes
        self._h11 = h11.Connection(h11.SERVER, limits.request_bytes)
        self._request: h11.Request | None = None
        # True while this connection waits for its turn.
        self._waits = False
        # The task of the TLS handshake or of the present answer. The next request
        # waits until this task has ended.
        self._making: asyncio.Task[None] | None = None
        self._all_heard = False
        self._lost = False
        self._stalled_s: float | None = None
        self._closing_s: float | None = None
        self._waiting_s = clock()
        self._answered = False
        self._ignored = 0

    # --- callbacks of asyncio ---------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # No isinstance check: uvloop's transports do not inherit from asyncio's.
        self.transport = cast(asyncio.Transport, transport)
        self.address = read_peer_address(transport)
        self.transport.set_write_buffer_limits(high=self._limits.write_bytes)
        room = self._host.add_connection(self)
        if self._handshakes is None:
            if not room:
                self._respond_and_close(
                    problem(503, "too many connections; come back later"), linger=False
                )
        elif room:
            self.transport.pause_reading()
            self._handshakes.add(self, self._limits.encrypting)
            self._making = asyncio.create_task(
                self._perform_tls_handshake(self._handshakes), name="TLS"
            )
        else:
            self.transport.abort()

    async def _perform_tls_handshake(self, handshakes: TlsHandshakes) -> None:
        """Do the TLS handshake; then use the encrypted transport, or abort."""
        transport = None
        with contextlib.suppress(OSError):  # includes ssl.SSLError and timeouts
            transport = await asyncio.get_running_loop().start_tls(
                self.transport,
                self,
                handshakes.context,
                server_side=True,
                ssl_handshake_timeout=self._limits.encrypting_s,
            )
        handshakes.open.pop(self, None)
        self._making = None
        if transport is None:  # the handshake failed, or the connection was lost
            self.transport.abort()
            self.connection_lost(None)
            return
        self.transport = transport
        self.transport.set_write_buffer_limits(high=self._limits.write_bytes)
        self._waiting_s = self._clock()
        if self._closing_s is not None:
            transport.abort()
        else:  # a request can have arrived since the end of the handshake
            self._request_turn()

    def data_received(self, data: bytes) -> None:
        if self._closing_s is None:
            self._h11.receive_data(data)
            if not self._waits and self._making is None:
                self._request_turn()
            elif self._handshakes is None or self not in self._handshakes.open:
                self.transport.pause_reading()
        else:
            # A client that is still sending can be about to read our last answer. So
            # a limited number of bytes is still received and ignored.
            self._ignored += len(data)
            if self._ignored > _IGNORED_BYTES:
                self.transport.pause_reading()

    def eof_received(self) -> bool:
        self._all_heard = True
        if self._closing_s is not None:
            return False
        self._h11.receive_data(b"")
        if self._making is None:
            self._request_turn()
        # Requests sent before the end are still answered. With TLS this is not
        # possible, since it has no half-closed connections.
        return self._handshakes is None

    def connection_lost(self, error: Exception | None) -> None:
        if self._lost:
            return
        self._lost = True
        self._closing_s = self._clock()
        if self._handshakes is not None:
            self._handshakes.open.pop(self, None)
        if self._making is not None:
            self._making.cancel()
        self._host.remove_connection(self)

    def pause_writing(self) -> None:
        self._stalled_s = self._clock()
        self.transport.pause_reading()

    def resume_writing(self) -> None:
        self._stalled_s = None
        if self._closing_s is None and not self.transport.is_closing():
            self.transport.resume_reading()
            if self._making is None:
                self._request_turn()

    def enforce_deadlines(self, now_s: float) -> None:
        """Close or abort the connection if a time limit has passed.

        This is called about once a second.
        """
        limits = self._limits
        patience_s = limits.idle_s if self._answered else limits.request_s
        if self._closing_s is not None:
            if now_s - self._closing_s > limits.closing_s:
                self.transport.abort()
        elif self._stalled_s is not None:
            if now_s - self._stalled_s > limits.slow_after_s:
                self.transport.abort()
        elif self._making is not None:
            return  # the service is working; the client is not late
        elif now_s - self._waiting_s > patience_s:
            if self._answered:
                self.close_when_flushed()
            else:
                self._respond_and_close(
                    problem(408, f"no whole request within {limits.request_s:g} s")
                )

    def close_when_flushed(self) -> None:
        """Close this connection once all written data is sent."""
        if self._closing_s is None:
            self._closing_s = self._clock()
            self.transport.close()

    # --- requests ---------------------------------------------------------------------

    def _request_turn(self) -> None:
        """Ask for a turn of the event loop, unless one is already requested."""
        if not self._waits:
            self._waits = True
            self._turns.add(self._read_requests)

    def _read_requests(self) -> None:
        """Answer the next request that has arrived completely."""
        self._waits = False
        while self._closing_s is None and self._stalled_s is None:
            try:
                event = self._h11.next_event()
            except h11.RemoteProtocolError as error:
                self._respond_and_close(problem(error.error_status_hint, str(error)))
                return
            if event is h11.NEED_DATA:
                if self._h11.they_are_waiting_for_100_continue:
                    self._respond_and_close(_NO_BODY)
                    return
                self.transport.resume_reading()
                return
            if event is h11.PAUSED:
                if self._h11.their_state is not h11.DONE:
                    return  # a subscriber uses the connection, or it is about to close
                self._h11.start_next_cycle()
            elif isinstance(event, h11.Request):
                self._request = event
                self._answered = False
                self._waiting_s = self._clock()
            elif isinstance(event, h11.Data):
                # The body is refused at its first byte: it could come in pieces of one
                # byte, and each piece costs time.
                self._respond_and_close(_NO_BODY)
            elif isinstance(event, h11.EndOfMessage):
                self._on_request()
                return
            elif isinstance(event, h11.ConnectionClosed):
                self.close_when_flushed()

    def _on_request(self) -> None:
        """Answer a request that has arrived completely; it has no body."""
        event = self._request
        assert event is not None
        try:
            request = _build_request(event)
        except ValueError:
            self._respond_and_close(problem(400, "the request target cannot be read"))
            return
        if request.path in (LIVE_PATH, *FORMER_PATHS) and request.method == "GET":
            self._answer_handshake(request, event)
            return
        self._making = asyncio.create_task(
            self._answer(request), name=f"answer {request.path}"
        )

    async def _answer(self, request: HttpRequest) -> None:
        """Compute and send the answer to a request, then read the next request."""
        try:
            response = await self._host.answer(request)
        except Exception:
            # A failed answer must not affect other clients.
            _log.exception("%s %s failed", request.method, request.path)
            response = problem(500, "the answer failed; the service continues")
        self._making = None
        if self._closing_s is None:
            self._respond(response)

    def _answer_handshake(self, request: HttpRequest, event: h11.Request) -> None:
        client = self._host.admit(self, request)
        if isinstance(client, HttpResponse):
            self._respond(client)
            return
        try:
            handshake = check_handshake(event)
        except InvalidHeaderValue:
            self._respond_and_close(
                problem(400, "a header contains a forbidden character")
            )
            return
        is_outdated = request.path != LIVE_PATH
        if isinstance(handshake, HttpResponse):
            self._respond(OUTDATED if is_outdated else handshake)
        elif is_outdated:
            self.transport.write(handshake.close_outdated())
            self._close()
        else:
            early, _ = self._h11.trailing_data
            self.transport.resume_reading()
            accepted = handshake.response.serialize()
            extensions = handshake.protocol.extensions
            self._host.subscribe(self, client, accepted, early, extensions)

    # --- responses --------------------------------------------------------------------

    def _respond(self, response: HttpResponse) -> None:
        """Answer the present request; then read the next, or close the connection."""
        names = {name for name, _ in self._request.headers} if self._request else set()
        # With both headers, a proxy and this server could disagree about where the
        # request ends. "The server MUST close the connection after responding" (RFC
        # 9112, section 6.1).
        self._send(response, ends={b"content-length", b"transfer-encoding"} <= names)
        if self._h11.our_state is h11.MUST_CLOSE:
            self.close_when_flushed()
        elif self._h11.our_state is h11.DONE:
            self._request_turn()

    def _send(self, response: HttpResponse, *, ends: bool) -> None:
        body = response.body
        status = response.status
        headers = [("Date", formatdate(usegmt=True)), *response.headers]
        if status != 304:
            headers.append(("Content-Length", str(len(body))))
        if ends:
            headers.append(("Connection", "close"))
        if self._request is not None and self._request.method == b"HEAD":
            body = b""
        reason = HTTPStatus(status).phrase.encode("ascii")
        head = h11.Response(status_code=status, headers=headers, reason=reason)
        parts = map(self._h11.send, (head, h11.Data(data=body), h11.EndOfMessage()))
        self.transport.write(b"".join(part or b"" for part in parts))
        self._request = None
        self._answered = True
        self._waiting_s = self._clock()

    def _respond_and_close(
        self, response: HttpResponse, *, linger: bool = True
    ) -> None:
        """Send a response and close the connection.

        ``linger``: keep reading for a while, so that the client gets the response.
        """
        if self._h11.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self._send(response, ends=True)
        self._close(linger=linger)

    def _close(self, *, linger: bool = True) -> None:
        """Close the connection once all written data is sent."""
        linger = linger and not self._all_heard and self._handshakes is None
        if linger and self._closing_s is None:
            # Closing at once would reset the connection while the client is still
            # sending, and the answer would be lost. So only our side is closed, and
            # data that still arrives is ignored.
            self._closing_s = self._clock()
            try:
                self.transport.write_eof()
            except OSError:  # the connection is lost, but the loop has not noticed yet
                self.transport.abort()
        self.close_when_flushed()


def _build_request(event: h11.Request) -> HttpRequest:
    """Return an h11 request as an :class:`HttpRequest`.

    The values of a repeated header are joined.

    Raises:
        ValueError: the request target cannot be decoded.
    """
    headers: dict[str, str] = {}
    for raw_name, raw_value in event.headers:
        name = raw_name.decode("ascii")
        value = raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    path, query = read_target(event.target.decode("ascii"))
    return HttpRequest(event.method.decode("ascii"), path, query, headers)


class TlsHandshakes:
    """The unfinished TLS handshakes, the oldest first."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self.context = context
        self.open: dict[HttpConnection, None] = {}

    def add(self, connection: HttpConnection, limit: int) -> None:
        """Add a handshake; abort the oldest one if there are more than ``limit``."""
        self.open[connection] = None
        if len(self.open) > limit:
            oldest = next(iter(self.open))
            del self.open[oldest]
            oldest.transport.abort()
