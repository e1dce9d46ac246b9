"""A small HTTP/1.1 server for rehearsals: GET requests, plain or chunked answers.

No library is used, because lichess streams in chunks, and because tests need faults
that no proper server offers: cutting the bytes anywhere, stopping in the middle of a
line, announcing a greater length than is sent.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from urllib.parse import unquote, urlsplit

from live.messages.values import Value


class ServedRequest(Value):
    """A request's path and headers. A body is never read."""

    path: str
    headers: dict[str, str]
    """Header names are in lower case."""


class ServedReply:
    """One answer on one connection."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.writer = writer

    async def send_whole(
        self, status: int, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> None:
        """Send an answer of known length."""
        length = {}
        if status != HTTPStatus.NOT_MODIFIED:
            length["Content-Length"] = str(len(body))
        self._write_head(status, {**length, **(headers or {})})
        await self._write_body(body)
        await self.writer.drain()

    async def begin_chunks(self, headers: Mapping[str, str] | None = None) -> None:
        """Send the head of an answer that follows in chunks."""
        self._write_head(200, {"Transfer-Encoding": "chunked", **(headers or {})})
        await self.writer.drain()

    async def send_chunk(self, data: bytes) -> None:
        """Send one chunk; empty data is not sent, because an empty chunk ends the
        answer.
        """
        if data:
            self.writer.write(b"%x\r\n%b\r\n" % (len(data), data))
            await self.writer.drain()

    async def _write_body(self, body: bytes) -> None:
        self.writer.write(body)

    def _write_head(self, status: int, headers: Mapping[str, str]) -> None:
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self.writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))


Handler = Callable[[ServedRequest, ServedReply], Awaitable[None]]


@asynccontextmanager
async def serve_http(
    handler: Handler, host: str = "127.0.0.1", port: int = 0
) -> AsyncIterator[str]:
    """Serve while the block runs; yield the origin, ``http://127.0.0.1:PORT``.

    Open connections are aborted at the end of the block.
    """
    open_tasks: set[asyncio.Task[None]] = set()

    async def connection(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        open_tasks.add(task)
        try:
            while (request := await _read_request(reader)) is not None:
                await handler(request, ServedReply(writer))
        except (ConnectionError, TimeoutError, asyncio.CancelledError):
            pass  # nobody awaits this task
        finally:
            open_tasks.discard(task)
            writer.transport.abort()

    server = await asyncio.start_server(connection, host, port)
    bound = server.sockets[0].getsockname()[1]
    try:
        yield f"http://{host}:{bound}"
    finally:
        server.close()
        for task in list(open_tasks):
            task.cancel()
        await asyncio.gather(*open_tasks, return_exceptions=True)
        await server.wait_closed()


async def _read_request(reader: asyncio.StreamReader) -> ServedRequest | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    path = urlsplit(first.partition(" ")[2].rpartition(" ")[0]).path
    pairs = (line.partition(":") for line in lines if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    return ServedRequest(unquote(path), headers)
