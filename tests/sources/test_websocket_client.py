"""A client for websockets whose server can be hostile."""

import asyncio
import base64
import hashlib
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from websockets.exceptions import ConnectionClosedError, InvalidHandshake
from websockets.frames import CloseCode, Frame, Opcode

from live.process.loop_slices import SLICE_PIECES, LoopShare
from live.settings import FeedsConfig
from live.sources.livechess import MAX_MESSAGE_BYTES
from live.sources.websocket_client import SLICE_BYTES, SourceSocket, open_websocket
from tests.sources.fakes import DrivenClock, follow_source, turns, until

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def frame(data: bytes, opcode: Opcode = Opcode.TEXT, **more: bool) -> bytes:
    return Frame(opcode, data, **more).serialize(mask=False)


class RawServer:
    """A server that completes the handshake, writes its given bytes, and answers
    nothing.
    """

    def __init__(
        self, *parts: bytes, extensions: bytes = b"", reads: bool = True
    ) -> None:
        """Create the server. If ``reads`` is false, it reads nothing after the
        handshake and writes its parts without end.
        """
        self.requests: list[bytes] = []
        self.received = bytearray()
        self._parts = parts
        self._extensions = extensions
        self._reads = reads
        self._talks: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        server = await asyncio.start_server(self._begin, "127.0.0.1", 0)
        async with server:
            try:
                yield f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/api/v1.0"
            finally:
                for task, writer in self._talks.items():
                    writer.transport.abort()
                    task.cancel()
                await asyncio.gather(*self._talks, return_exceptions=True)
                await turns(2)

    def _begin(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._talks[asyncio.ensure_future(self._talk(reader, writer))] = writer

    async def _talk(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.requests.append(head)
        if b"Upgrade: websocket" not in head:
            writer.write(
                b"HTTP/1.1 404 None\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )
            writer.close()
            return
        key = head.partition(b"Sec-WebSocket-Key: ")[2].partition(b"\r\n")[0]
        accepted = base64.b64encode(hashlib.sha1(key + GUID).digest())
        writer.write(
            b"HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: " + accepted + b"\r\n" + self._extensions + b"\r\n"
        )
        while not self._reads:
            writer.transport.pause_reading()  # type: ignore[attr-defined]
            writer.write(b"".join(self._parts))
            await writer.drain()
        writer.write(b"".join(self._parts))
        while data := await reader.read(4096):
            self.received += data


@asynccontextmanager
async def open_socket(
    server: RawServer, clock: DrivenClock | None = None, max_bytes: int = 1000
) -> AsyncIterator[SourceSocket]:
    share = LoopShare(clock or DrivenClock())
    async with (
        server.serving() as url,
        open_websocket(url, max_bytes=max_bytes, timeout_s=60, share=share) as socket,
    ):
        yield socket


async def test_messages_come_whole_whatever_they_come_in() -> None:
    parts = (
        frame(b"one"),
        frame(b"tw", fin=False),
        frame(b"?", Opcode.PING),
        frame(b"", Opcode.CONT, fin=False) * 3,
        frame(b"o", Opcode.CONT),
        frame(b"\xff\x00", Opcode.BINARY),
        frame(b"x" * 900),
    )
    server = RawServer(*parts)
    share = LoopShare(DrivenClock())
    async with server.serving() as url:
        async with open_websocket(
            url, max_bytes=1000, timeout_s=60, share=share
        ) as socket:
            found = [await socket.receive() for _ in range(4)]
            assert found == [b"one", b"two", b"\xff\x00", b"x" * 900]
            await socket.send(b"hello")
            await until(
                lambda: len(server.received) == 7 + 11
            )  # a pong and the text, both masked
        await until(lambda: len(server.received) == 7 + 11 + 8)  # and the close frame


async def test_compression_is_neither_offered_nor_taken() -> None:
    bomb = zlib.compress(b"x" * 100_000)[2:-4]
    packed = bytearray(frame(bomb))
    packed[0] |= 0x40  # the bit that marks a compressed message
    plain = RawServer(frame(b"ok"), bytes(packed))
    async with open_socket(plain) as socket:
        assert await socket.receive() == b"ok"
        with pytest.raises(ConnectionClosedError):
            await socket.receive()
    assert b"Sec-WebSocket-Extensions" not in plain.requests[0]
    forced = RawServer(extensions=b"Sec-WebSocket-Extensions: permessage-deflate\r\n")
    with pytest.raises(InvalidHandshake):
        async with open_socket(forced):
            pass


@pytest.mark.parametrize("fragments", [1, 4])
async def test_a_message_above_the_bound_ends_the_connection(fragments: int) -> None:
    size = 1004 // fragments
    kinds = [Opcode.TEXT, *[Opcode.CONT] * (fragments - 1)]
    parts = [frame(b"x" * size, kind, fin=False) for kind in kinds]
    async with open_socket(RawServer(*parts, frame(b"", Opcode.CONT))) as socket:
        with pytest.raises(ConnectionClosedError) as ended:
            await socket.receive()
        assert ended.value.sent is not None
        assert ended.value.sent.code == CloseCode.MESSAGE_TOO_BIG
        with pytest.raises(ConnectionClosedError):
            await socket.send(b"more")


async def test_a_flood_of_tiny_frames_gives_others_their_turn() -> None:
    """All frames have already arrived, so receiving one does not wait and does not run
    other tasks.
    """
    clock = DrivenClock()
    count = 36 * SLICE_BYTES
    async with open_socket(RawServer(frame(b"") * count), clock) as socket:
        for _ in range(count):
            await socket.receive()
    # A frame has two bytes, and each slice is one or two pieces.
    assert len(clock.slept) >= 2 * count // SLICE_BYTES // SLICE_PIECES > 0


async def test_a_source_that_reads_nothing_gets_no_endless_pongs() -> None:
    """The data waiting to be sent must stay bounded."""
    pings = frame(b"x" * 125, Opcode.PING) * 1000
    async with open_socket(RawServer(pings, reads=False)) as socket:
        receiving = asyncio.create_task(socket.receive())
        transport = socket._writer.transport
        await until(lambda: transport.get_write_buffer_size() > 60_000)
        await turns(200)
        assert transport.get_write_buffer_size() < 70_000
        receiving.cancel()


async def test_leaving_waits_for_nobody() -> None:
    """A source that sends no close frame must not delay the end of the service."""
    async with asyncio.timeout(20):
        async with open_socket(RawServer(frame(b"ok"))) as socket:
            assert await socket.receive() == b"ok"


@pytest.mark.parametrize(
    ("parts", "trouble"),
    [
        ((frame(b"x" * (MAX_MESSAGE_BYTES + 1)),), "messages of more than 256 kB"),
        ((frame(b"", Opcode.CLOSE),), "connection to LiveChess lost"),
        ((b"\x83\x00",), "connection to LiveChess lost"),
    ],
)
async def test_what_a_board_never_says_is_trouble_and_asked_for_later(
    parts: tuple[bytes, ...], trouble: str
) -> None:
    server = RawServer(*parts)
    config = FeedsConfig(timeout_s=5.0)
    async with (
        server.serving() as url,
        follow_source(url, config, lasting=True) as seen,
    ):
        await until(lambda: any(trouble in detail for detail in seen.details))
        await until(lambda: b"".join(server.requests).count(b"Upgrade: websocket") > 3)
    assert "failed" not in seen.states
    assert all(wait_s >= 0 for wait_s in seen.clock.slept)
    assert max(seen.clock.slept) >= 10.0
