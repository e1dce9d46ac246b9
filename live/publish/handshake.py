"""Who is admitted: host names, origins, rates, tokens and filters of every request. Pure.

The checks run from the cheapest to the dearest. A request is refused with one HTTP response, before
anything is set up for it.

A websocket whose client still has to send its token, as its first message.

Loss policy: nothing is sent before; a client that sends nothing in time, or no valid token, is
closed with ``FORBIDDEN``. Of what comes before a token little is read, in small pieces.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

import msgspec
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.server import ServerProtocol

from live.publish.access import (
    Authentication,
    ClientLimits,
    Guest,
    OriginPolicy,
    RateLimits,
    is_this_machine,
)
from live.publish.answers import UNKNOWN, HttpRequest, HttpResponse, changed, problem
from live.publish.streams import NumberedStream, TooManyFilters
from live.publish.subscribers import SLICE_BYTES, end_our_side, write_all
from live.publish.visibility import FilterError, StreamFilter, parse
from live.publish.wire import CloseCode

_LATER = (("Retry-After", "5"),)


class AdmittedClient(msgspec.Struct, frozen=True):
    """A websocket client as it was judged: once, before the 101 response."""

    wanted: StreamFilter
    """What its query asks for."""
    resume: tuple[str, int] | None
    """Epoch and number of the last message it holds; null when it needs a snapshot."""
    guest: Guest | None = None
    """Who it is; null until its first message gives a token."""
    here: bool = False
    """Whether it is on this machine."""

    @property
    def selected(self) -> StreamFilter:
        """What it gets: what it asks for, limited to what it may see."""
        assert self.guest is not None, "a client without a guest gets nothing"
        return self.guest.limit(self.wanted)


class HandshakeJudge:
    """Decides on every request and every websocket client, once each."""

    def __init__(
        self,
        origins: OriginPolicy,
        authentication: Authentication,
        rates: RateLimits,
        stream: Callable[[StreamFilter, str], NumberedStream],
    ) -> None:
        """``stream`` gives the stream of a filter for an address, or raises TooManyFilters."""
        self.origins = origins
        """Replaced where the settings change."""
        self._authentication = authentication
        self._rates = rates
        self._stream = stream

    def answer(
        self, request: HttpRequest, serve: Callable[[HttpRequest, Guest | None], HttpResponse]
    ) -> HttpResponse:
        """The response to anything but a handshake; ``serve`` makes it for whoever may have it."""
        if (foreign := self._foreign(request)) is not None:
            return foreign
        origin = request.headers.get("origin", "")
        if not self.origins.names(origin):
            return serve(request, self._authentication.who(request))
        if request.method == "OPTIONS":
            return HttpResponse(204, _PREFLIGHT + _readable_by(origin))
        response = serve(request, self._authentication.who(request))
        return changed(response, lambda made: _open_to(made, origin))

    def judge(self, request: HttpRequest, address: str) -> AdmittedClient | HttpResponse:
        """The client that a handshake admits, or the response that refuses it."""
        if (foreign := self._foreign(request)) is not None:
            return foreign
        headers = request.headers
        if not self.origins.lets_in(headers.get("origin"), headers.get("host", "")):
            return problem(
                403,
                f"pages of {headers['origin']} may not connect: server.origins does not list it",
            )
        if not self._rates.shake(address):
            return problem(429, "too many new subscribers at once; come back later", _LATER)
        guest: Guest | None = None
        if not self._authentication.asks_first(request):
            guest = self._authentication.who(request)
            if guest is None:
                return UNKNOWN
        try:
            client = AdmittedClient(
                parse(request.query),
                resume_point(request),
                guest,
                is_this_machine(headers, address),
            )
            if guest is not None:
                self._stream(client.selected, address)
        except FilterError as error:
            return problem(400, str(error))
        except TooManyFilters:
            return problem(503, "too many different filters are in use; come back later", _LATER)
        return client

    def identify(self, client: AdmittedClient, message: bytes) -> AdmittedClient | None:
        """The client with who it is, by its first message; null where the token is not valid."""
        guest = self._authentication.introduced(message)
        return msgspec.structs.replace(client, guest=guest) if guest is not None else None

    def still(self, guest: Guest) -> bool:
        """Whether this guest may stay; see :meth:`Authentication.still`."""
        return self._authentication.still(guest)

    def _foreign(self, request: HttpRequest) -> HttpResponse | None:
        authority = request.headers.get("host", "")
        if self.origins.answers_to(authority):
            return None
        return problem(421, f"this service does not answer to the name {authority!r}")


_RESOURCE_POLICY = "Cross-Origin-Resource-Policy"
_PREFLIGHT = (
    ("Access-Control-Allow-Methods", "GET, HEAD"),
    ("Access-Control-Allow-Headers", "Authorization, If-None-Match"),
    ("Access-Control-Max-Age", "600"),
)


def _open_to(response: HttpResponse, origin: str) -> HttpResponse:
    kept = tuple(each for each in response.headers if each[0] != _RESOURCE_POLICY)
    return HttpResponse(response.status, kept + _readable_by(origin), response.body)


def _readable_by(origin: str) -> tuple[tuple[str, str], ...]:
    """Lets a page of an allowed origin read the response (fetch.spec.whatwg.org, CORS)."""
    return (
        ("Access-Control-Allow-Origin", origin),
        ("Access-Control-Expose-Headers", "ETag"),
        ("Vary", "Origin"),
        (_RESOURCE_POLICY, "cross-origin"),
    )


def resume_point(request: HttpRequest) -> tuple[str, int] | None:
    """``epoch`` and ``since`` of a query; null without both, as a number means nothing alone.

    Raises:
        FilterError: ``since`` is no number.
    """
    query = dict(request.query)
    epoch, since = query.get("epoch"), query.get("since")
    if since is not None and not (since.isascii() and since.isdigit() and len(since) <= 18):
        raise FilterError("since is not a message number")
    return None if epoch is None or since is None else (epoch, int(since))


#: Frames that may come before the token's: signs of life.
_FRAMES = 10


class HandshakeHost(Protocol):
    """What a token handshake asks of the publisher."""

    def identify(self, connection: TokenHandshake, message: bytes, rest: bytes) -> bool:
        """Whether this first message holds a valid token; a subscriber has the connection then, and
        ``rest``, which came behind it.
        """

    def gone(self, connection: asyncio.Protocol) -> None:
        """The connection is over."""


class TokenHandshake(asyncio.Protocol):
    """Takes over the connection after the handshake, and hands it on after one message."""

    def __init__(
        self,
        host: HandshakeHost,
        client: AdmittedClient,
        transport: asyncio.Transport,
        address: str,
        clock: Callable[[], float],
        limits: ClientLimits,
        protocol: ServerProtocol,
    ) -> None:
        self.client = client
        self.transport = transport
        self.address = address
        self.protocol = protocol
        self._host = host
        self._clock = clock
        self._limits = limits
        self._since_s = clock()
        self._closing_s: float | None = None
        self._bytes = self._frames = 0
        # Whether nothing more is read.
        self._hung_up = False

    def data_received(self, data: bytes) -> None:
        for start in range(0, len(data), SLICE_BYTES):
            if self._hung_up or self.transport.is_closing():
                return
            end = start + SLICE_BYTES
            if self._read(data[start:end], data[end:]):
                return
            self._flush()

    def _read(self, slice: bytes, rest: bytes) -> bool:
        """Read a little; whether others have the connection now, or nobody reads on."""
        self._bytes += len(slice)
        self.protocol.receive_data(slice)
        for event in self.protocol.events_received():
            if not isinstance(event, Frame):
                continue
            self._frames += 1
            if self._frames > _FRAMES:
                break
            if self._closing_s is not None:
                continue
            if event.opcode is Opcode.TEXT and event.fin:
                # What else came in this slice is left alone, as all that subscribers say is.
                if self._host.identify(self, bytes(event.data), rest):
                    return True
                self.close(CloseCode.FORBIDDEN, "this token is not valid")
            elif event.opcode in (Opcode.TEXT, Opcode.BINARY):
                self.close(CloseCode.FORBIDDEN, "a token is expected first, in one text message")
        if self._frames > _FRAMES or self._bytes > self._limits.message_bytes:
            self._hang_up()
        return self._hung_up

    def _hang_up(self) -> None:
        """End our side and read nothing more, until it is dropped."""
        self.close(CloseCode.TOO_MUCH, "too much before a token")
        self._hung_up = True
        end_our_side(self.transport)

    def eof_received(self) -> None:
        if not self._hung_up:
            self.protocol.receive_eof()
            self._flush()

    def connection_lost(self, error: Exception | None) -> None:
        self._host.gone(self)

    def close(self, code: int, reason: str = "") -> None:
        """Say goodbye; the connection ends when the client answers, or soon after."""
        if self._closing_s is None:
            self._closing_s = self._clock()
            if self.protocol.state is State.OPEN:
                self.protocol.send_close(code, reason)
            self._flush()

    def sweep(self, now_s: float) -> None:
        """Keep deadlines; called about once a second."""
        if self._closing_s is not None:
            if now_s - self._closing_s > self._limits.closing_s:
                self.transport.abort()
        elif now_s - self._since_s > self._limits.request_s:
            self.close(CloseCode.FORBIDDEN, "no token in time")

    def _flush(self) -> None:
        write_all(self.protocol.data_to_send(), self.transport, self._ended)

    def _ended(self) -> None:
        if self._closing_s is None:
            self._closing_s = self._clock()
