"""A websocket whose client still has to send its token, as its first message.

Loss policy: nothing is sent before; a client that sends nothing in time, or no valid token, is
closed with ``FORBIDDEN``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from websockets.frames import Frame, Opcode
from websockets.protocol import SEND_EOF, State
from websockets.server import ServerProtocol

from live.publish.access.client_limits import ClientLimits
from live.publish.access.handshake import AdmittedClient
from live.publish.wire import CloseCode


class HandshakeHost(Protocol):
    """What a token handshake asks of the publisher."""

    def identify(self, connection: TokenHandshake, message: bytes) -> bool:
        """Whether this first message holds a valid token; a subscriber has the connection then."""

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

    def data_received(self, data: bytes) -> None:
        self.protocol.receive_data(data)
        for event in self.protocol.events_received():
            if self._closing_s is not None or not isinstance(event, Frame):
                continue
            if event.opcode is Opcode.TEXT and event.fin:
                # What else came with it is left alone, as all that subscribers say is.
                if self._host.identify(self, bytes(event.data)):
                    return
                self.close(CloseCode.FORBIDDEN, "this token is not valid")
            elif event.opcode in (Opcode.TEXT, Opcode.BINARY):
                self.close(CloseCode.FORBIDDEN, "a token is expected first, in one text message")
        self._flush()

    def eof_received(self) -> None:
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
        for data in self.protocol.data_to_send():
            if data is SEND_EOF or not data:
                if self._closing_s is None:
                    self._closing_s = self._clock()
                self.transport.close()
            else:
                self.transport.write(data)
