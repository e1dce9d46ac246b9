"""A websocket that a source speaks over, read within bounds.

The bounds are those of time, of bytes and of memory: bytes are parsed a slice at a
time, with a share of the loop between slices; a message above ``max_bytes`` ends the
connection; compression is not offered, since a kilobyte of it may be a megabyte;
nothing is read while the source does not read our pongs. The protocol itself is that of
the library ``websockets``.
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

#: Bytes that are parsed in one go: at most 512 frames, which are empty then.
SLICE_BYTES = 1024


class SourceSocket:
    """An open websocket: :meth:`send` and :meth:`receive`, until one of them raises."""

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
        """What has come of a message in fragments."""

    async def shake_hands(self) -> None:
        """Ask for the websocket. Raises InvalidHandshake where there is none, and
        OSError.
        """
        self._protocol.send_request(self._protocol.connect())
        await self._flush_output()
        while self._protocol.state is State.CONNECTING:
            await self._receive_bytes()
            if self._protocol.handshake_exc is not None:
                raise self._protocol.handshake_exc

    async def send(self, text: bytes) -> None:
        """Send one message. Raises ConnectionClosedError once the connection is
        over.
        """
        with self._translate_close():
            self._protocol.send_text(text)
            await self._flush_output()

    async def receive(self) -> bytes:
        """Return the next message, text or not, as its bytes; cancel-safe.

        Raises ConnectionClosedError once the connection is over.
        """
        while not self._messages:
            with self._translate_close():
                await self._receive_bytes()
        return self._messages.popleft()

    @contextmanager
    def _translate_close(self) -> Iterator[None]:
        protocol = self._protocol
        ends = (protocol.close_rcvd, protocol.close_sent, protocol.close_rcvd_then_sent)
        if protocol.state is not State.OPEN:
            raise ConnectionClosedError(*ends)
        try:
            yield
        except ConnectionError as error:
            raise ConnectionClosedError(*ends) from error

    async def _receive_bytes(self) -> None:
        """Read one slice of what has come, and answer what the protocol answers by
        itself.
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
        """Say goodbye, if the source still listens, and wait for no answer."""
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
        # The end of the stream is an empty part, and is told by closing.
        if data := b"".join(self._protocol.data_to_send()):
            self._writer.write(data)

    async def _flush_output(self) -> None:
        self._write_bytes()
        await self._writer.drain()


@asynccontextmanager
async def open_websocket(
    url: str, *, max_bytes: int, timeout_s: float, share: LoopShare
) -> AsyncIterator[SourceSocket]:
    """Open a websocket for the block; ``timeout_s`` bounds what comes before it.

    Raises InvalidURI, InvalidHandshake, OSError or TimeoutError where it does not open.
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
        await asyncio.sleep(0)  # the loop closes it in its next turn
