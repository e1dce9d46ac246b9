"""A service over real sockets, and whoever asks it."""

import asyncio
import functools
import http.server
import os
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
from websockets.asyncio.client import ClientConnection
from websockets.client import ClientProtocol
from websockets.exceptions import ConnectionClosed
from websockets.extensions.permessage_deflate import PerMessageDeflate
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.uri import parse_uri

from live.server.audience import Audiences
from live.server.event_reader import EventReader
from live.server.limits import ClientLimits
from live.server.metrics import MetricCounts
from live.server.public_view import PublicView
from live.server.routes import HttpRoutes
from live.server.server import Publisher
from live.server.static_files import StaticSite
from live.server.tokens import create_token
from live.settings import ServerConfig
from tests.server.world import Clock, World


@asynccontextmanager
async def serve_publisher(
    world: World, parts: Any = None, **settings: Any
) -> AsyncIterator[Publisher]:
    """With a clock that stands still and no pages, unless ``parts`` has others."""
    usual = {"clock": Clock(), "site": StaticSite(Path("/nowhere"))}
    config = ServerConfig(port=0, **settings)
    async with Publisher(config, world, **(usual | (parts or {}))) as publisher:
        yield publisher


def build_routes(
    state: EventReader, site: StaticSite, public: PublicView | None = None, **more: Any
) -> HttpRoutes:
    """Routes without a server; without ``public`` everybody sees all of the state."""
    tally = MetricCounts()
    audiences = Audiences(
        state,
        public or PublicView(state),
        clock=Clock(),
        limits=ClientLimits(),
        tally=tally,
    )
    settings = {"config": ServerConfig(), "clock": Clock(), **more}
    return HttpRoutes(audiences, site, tally, **settings)


def token_file(folder: Path, name: str = "arbiter", **rights: Any) -> tuple[str, str]:
    """A token with these rights, and the file that has it."""
    secret, entry = create_token(name, os.urandom, **rights)
    file = folder / "tokens.toml"
    file.write_text(entry, encoding="utf-8")
    return secret, str(file)


def bearer(token: str) -> dict[str, str]:
    """The header that says who asks."""
    return {"Authorization": f"Bearer {token}"}


def open_client(publisher: Publisher, **more: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=publisher.url, trust_env=False, **more)


def live(publisher: Publisher, query: str = "") -> str:
    """The address of its websocket."""
    return f"{publisher.url.replace('http', 'ws', 1)}v3/live{query}"


async def left_in(ws: ClientConnection) -> tuple[list[bytes], int | None]:
    """What still comes, and the code with which the server closes it."""
    said: list[bytes] = []
    with suppress(ConnectionClosed):
        while True:
            said.append(await ws.recv(decode=False))
    return said, ws.close_code


async def raw(publisher: Publisher, *chunks: bytes, ends: bool = False) -> bytes:
    """Everything the server says to these bytes until it ends the connection; ``ends``:
    after them the client has ended its side.
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


def frames(data: bytes, *, deflated: bool = False) -> list[Frame]:
    """What a client's websocket protocol makes of these bytes."""
    client = ClientProtocol(
        parse_uri("ws://localhost/"), state=State.OPEN, max_size=None
    )
    client.extensions = [PerMessageDeflate(True, True, 15, 15)] if deflated else []
    client.receive_data(data)
    assert client.parser_exc is None
    return [each for each in client.events_received() if isinstance(each, Frame)]


def messages(data: bytes, *, deflated: bool = False) -> list[bytes]:
    """Texts, whose fragments are joined."""
    found: list[bytes] = []
    for frame in frames(data, deflated=deflated):
        if frame.opcode is Opcode.TEXT:
            found.append(b"")
        if frame.opcode in (Opcode.TEXT, Opcode.CONT):
            found[-1] += frame.data
    return found


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
