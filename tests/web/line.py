"""A line to a server that can be cut: what lies between it and a browser."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Line:
    """Passes bytes on in both directions while it is not cut."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._open: set[asyncio.StreamWriter] = set()
        self.dead = False
        self.url = ""
        self.sent_back = 0
        """Bytes that came from the server, headers and frames included."""

    def cut(self) -> None:
        """Every connection ends without a goodbye, and new ones too, until :meth:`mend`."""
        self.dead = True
        for writer in self._open:
            writer.transport.abort()

    def mend(self) -> None:
        self.dead = False

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.dead:
            writer.transport.abort()
            return
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._to)
        except OSError:
            writer.transport.abort()
            return
        ends = {writer, far_writer}
        self._open |= ends
        try:
            await asyncio.gather(
                self._carry(reader, far_writer), self._carry(far_reader, writer, back=True)
            )
        finally:
            self._open -= ends
            for each in ends:
                each.transport.abort()

    async def _carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, back: bool = False
    ) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65536):
                self.sent_back += len(data) if back else 0
                writer.write(data)
                await writer.drain()
        writer.transport.abort()


@asynccontextmanager
async def line_to(port: int) -> AsyncIterator[Line]:
    line = Line(port)
    server = await asyncio.start_server(line.serve, "127.0.0.1", 0)
    line.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    try:
        yield line
    finally:
        server.close()
        line.cut()
        await server.wait_closed()
