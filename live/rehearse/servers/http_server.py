"""The least HTTP server that rehearsals need: HTTP/1.1, GET, plain or chunked answers.

Written by hand because a rehearsal has to do what no proper server does: cut bytes anywhere,
break off in mid-line, promise more than it sends.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from http import HTTPStatus
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

from live.rehearse.planned_faults import ConnectionFaults


class ServedRequest(msgspec.Struct, frozen=True):
    """A request's first line and headers; a body is never read."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    """Names in lower case."""


class ServedReply:
    """One answer on one connection."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def whole(
        self, status: int, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> None:
        """An answer of known length."""
        length = {} if status == HTTPStatus.NOT_MODIFIED else {"Content-Length": str(len(body))}
        self._head(status, {**length, **(headers or {})})
        self._writer.write(body)
        await self._writer.drain()

    async def fated(self, fate: ConnectionFaults, body: bytes, headers: Mapping[str, str]) -> None:
        """An answer of known length, or what its fate makes of it."""
        if fate.refuse:
            wait = {} if fate.retry_after_s is None else {"Retry-After": str(fate.retry_after_s)}
            await self.whole(fate.refuse, b"busy", wait)
            return
        after = min((n for n in (fate.drop_after, fate.stall_after) if n is not None), default=None)
        if fate.half:  # what was read has no tag of the whole
            told = {name: value for name, value in headers.items() if name != "ETag"}
            await self.whole(200, body[: len(body) // 2], told)
            return
        if after is None:
            await self.whole(200, body, headers)
            return
        self._head(200, {"Content-Length": str(len(body)), **headers})
        self._writer.write(body[: min(after, len(body) - 1)])
        await self._writer.drain()
        if fate.stall_after is None:
            self.drop()
        # Stalled: until the other side has had enough.
        await self.gone()

    async def gone(self) -> None:
        """Wait until the other side is gone, and raise ConnectionError."""
        await self._writer.wait_closed()
        raise ConnectionAbortedError

    async def begin(self, status: int, headers: Mapping[str, str] | None = None) -> None:
        """The head of an answer that comes in chunks."""
        self._head(status, {"Transfer-Encoding": "chunked", **(headers or {})})
        await self._writer.drain()

    async def chunk(self, data: bytes) -> None:
        """One chunk; empty data is not sent, as it would end the answer."""
        if data:
            self._writer.write(b"%x\r\n%b\r\n" % (len(data), data))
            await self._writer.drain()

    async def end(self) -> None:
        """The end of a chunked answer."""
        self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()

    def drop(self) -> None:
        """Break the connection off, as a proxy that restarts does."""
        self._writer.transport.abort()

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self._writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))


Handler = Callable[[ServedRequest, ServedReply], Awaitable[None]]


@contextlib.asynccontextmanager
async def serving(handler: Handler, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
    """Serve while the block runs; gives the origin, ``http://127.0.0.1:PORT``.

    Leaving the block breaks open connections off.
    """
    open_tasks: set[asyncio.Task[None]] = set()

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        open_tasks.add(task)
        try:
            while (request := await _read(reader)) is not None:
                await handler(request, ServedReply(writer))
        except (ConnectionError, TimeoutError):
            pass
        except asyncio.CancelledError:
            pass  # the block was left; nobody awaits this task
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


async def _read(reader: asyncio.StreamReader) -> ServedRequest | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, _, rest = first.partition(" ")
    target = urlsplit(rest.rpartition(" ")[0])
    pairs = (line.partition(":") for line in lines if line)
    return ServedRequest(
        method=method,
        path=unquote(target.path),
        query=dict(parse_qsl(target.query)),
        headers={name.strip().lower(): value.strip() for name, _, value in pairs},
    )
