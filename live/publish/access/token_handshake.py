"""A websocket whose client still has to send its token, as its first message.

Loss policy: nothing is sent before; a client that sends nothing in time, or no valid token, is
closed with ``FORBIDDEN``. Of what comes before a token little is read, in small pieces.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.server import ServerProtocol

from live.publish.access.client_limits import ClientLimits
from live.publish.access.handshake import AdmittedClient
from live.publish.stream.subscriber import SLICE_BYTES, end_our_side, write_all
from live.publish.wire import CloseCode

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
