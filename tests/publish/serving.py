"""A service over real sockets, and whoever asks it."""

from __future__ import annotations

import asyncio
import functools
import http.server
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx

from live.config import ServerConfig
from live.publish.server import Publisher
from live.publish.static_files import StaticSite
from tests.publish.world import Clock, World


@asynccontextmanager
async def serving(world: World, parts: Any = None, **settings: Any) -> AsyncIterator[Publisher]:
    """With a clock that stands still and no pages, unless ``parts`` has others."""
    usual = {"clock": Clock(), "site": StaticSite(Path("/nowhere"))}
    config = ServerConfig(port=0, **settings)
    async with Publisher(config, world, **(usual | (parts or {}))) as publisher:
        yield publisher


def asking(publisher: Publisher, **more: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=publisher.url, trust_env=False, **more)


def live(publisher: Publisher, query: str = "") -> str:
    """The address of its websocket."""
    return f"{publisher.url.replace('http', 'ws', 1)}v2/live{query}"


async def raw(publisher: Publisher, *chunks: bytes, ends: bool = False) -> bytes:
    """Everything the server says to these bytes until it ends the connection; ``ends``: after them
    the client has ended its side.
    """
    reader, writer = await asyncio.open_connection(*publisher.address)
    for chunk in chunks:
        writer.write(chunk)
    if ends:
        writer.write_eof()
    try:
        async with asyncio.timeout(20):
            return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.transport.abort()


@contextmanager
def files_at(folder: Path) -> Iterator[str]:
    """A plain file server that knows nothing of us."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    handler = functools.partial(Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
