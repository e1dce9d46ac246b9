"""Websocket client that limits time, size and memory.

Bytes are parsed in slices, and other tasks get a share of the loop between slices. A
message larger than ``max_bytes`` ends the connection. Compression is not offered, since
a kilobyte can expand to a megabyte. While the server does not accept pongs, nothing
more is read from it. The library ``websockets`` implements the protocol.
"""

import asyncio
import ssl
from collections import deque
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager

from websockets.client import ClientProtocol
from websockets.exceptions import ConnectionClosedError
from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import State
from websockets.uri import parse_uri

from live.process.loop_slices import LoopShare

#: Number of bytes parsed at once: at most 512 frames, if they are empty.
SLICE_BYTES = 1024


class SourceSocket:
    """An open websocket. :meth:`send` and :meth:`receive` raise an error once it is
    closed.
    """

    def __init__(
        self,
        protocol: ClientProtocol,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        share: LoopShare,
    ) -> None:
        self._protocol = protocol
        self._reader = reader
        self._writer = writer
        self._share = share
        self._messages: deque[bytes] = deque()
        self._message = bytearray()
        """Received fragments of an incomplete message."""

    async def shake_hands(self) -> None:
        """Request the websocket. Raises InvalidHandshake if the server does not accept
        it, and OSError.
        """
        self._protocol.send_request(self._protocol.connect())
        await self._flush_output()
        while self._protocol.state is State.CONNECTING:
            await self._receive_bytes()
            if self._protocol.handshake_exc is not None:
                raise self._protocol.handshake_exc

    async def send(self, text: bytes) -> None:
        """Send one message. Raises ConnectionClosedError once the connection is
        closed.
        """
        with self._translate_close():
            self._protocol.send_text(text)
            await self._flush_output()

    async def receive(self) -> bytes:
        """Return the next message, text or binary, as bytes. Can be cancelled safely.

        Raises ConnectionClosedError once the connection is closed.
        """
        while not self._messages:
            with self._translate_close():
                await self._receive_bytes()
        return self._messages.popleft()

    @contextmanager
    def _translate_close(self) -> Iterator[None]:
        protocol = self._protocol
        close_state = (
            protocol.close_rcvd,
            protocol.close_sent,
            protocol.close_rcvd_then_sent,
        )
        if protocol.state is not State.OPEN:
            raise ConnectionClosedError(*close_state)
        try:
            yield
        except ConnectionError as error:
            raise ConnectionClosedError(*close_state) from error

    async def _receive_bytes(self) -> None:
        """Read and parse one slice of bytes, and send the protocol's automatic
        replies.
        """
        data = await self._reader.read(SLICE_BYTES)
        await self._share.run(self._parse_bytes(data))
        await self._flush_output()

    def _parse_bytes(self, data: bytes) -> Generator[None, None, None]:
        if data:
            self._protocol.receive_data(data)
        else:
            self._protocol.receive_eof()
        for event in self._protocol.events_received():
            if isinstance(event, Frame):
                self._take_frame(event)
        yield

    def close_connection(self) -> None:
        """Send a closing frame if the connection is open, and close it without waiting
        for an answer.
        """
        if self._protocol.state is State.OPEN:
            self._protocol.send_close(CloseCode.GOING_AWAY)
            self._write_bytes()
        if self._writer.transport.get_write_buffer_size():
            self._writer.transport.abort()
        else:
            self._writer.close()

    def _take_frame(self, frame: Frame) -> None:
        if frame.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            self._message += frame.data
            if frame.fin:
                self._messages.append(bytes(self._message))
                self._message.clear()

    def _write_bytes(self) -> None:
        # An empty part marks the end of the stream; closing the connection conveys
        # that.
        if data := b"".join(self._protocol.data_to_send()):
            self._writer.write(data)

    async def _flush_output(self) -> None:
        self._write_bytes()
        await self._writer.drain()


@asynccontextmanager
async def open_websocket(
    url: str, *, max_bytes: int, timeout_s: float, share: LoopShare
) -> AsyncIterator[SourceSocket]:
    """Open a websocket for the duration of the block. ``timeout_s`` limits the time to
    connect and the time for the handshake, seconds each.

    Raises InvalidURI, InvalidHandshake, OSError or TimeoutError if it cannot be opened.
    """
    uri = parse_uri(url)
    protocol = ClientProtocol(uri, max_size=max_bytes)
    async with asyncio.timeout(timeout_s):
        # Loading certificates takes tens of milliseconds.
        tls = (
            await asyncio.to_thread(ssl.create_default_context) if uri.secure else None
        )
        reader, writer = await asyncio.open_connection(uri.host, uri.port, ssl=tls)
    socket = SourceSocket(protocol, reader, writer, share)
    try:
        async with asyncio.timeout(timeout_s):
            await socket.shake_hands()
        yield socket
    finally:
        socket.close_connection()
        await asyncio.sleep(0)  # the event loop closes it in its next turn
