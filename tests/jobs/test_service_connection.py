"""Following a service from elsewhere: through its restart, a cut line, and refusals."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

import pytest

from live.clock import LoopClock
from live.config import ServerConfig
from live.errors import ConfigError, Refused
from live.events import Message
from live.jobs.watch_service import ServiceConnection, pages_url, service_url
from live.publish.published_state import snapshot
from live.publish.server import Publisher
from tests.publish.mosquitto import free_port
from tests.publish.world import World


class Hurried(LoopClock):
    """Waits between attempts cost a hundredth."""

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds / 100)


class Follower(ServiceConnection):
    """A connection that runs, and what it said."""

    def __init__(self, port: int) -> None:
        super().__init__(f"ws://127.0.0.1:{port}", Hurried())
        self.message: list[str] = []
        self.say = self.message.append
        self._turn = asyncio.Event()

    def received(self, text: str, message: Message) -> None:
        self._turn.set()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait for messages until this holds."""
        async with asyncio.timeout(30):
            while not holds():
                self._turn.clear()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(0.05):
                        await self._turn.wait()


@contextlib.asynccontextmanager
async def following(follower: Follower) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(follower.run())
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait({task})


def world(seed: int = 3, steps: int = 60) -> World:
    made = World(seed)
    for _ in range(steps):
        made.step()
    return made


async def test_it_recovers_by_itself_from_a_restart_and_says_so() -> None:
    port = free_port()
    config = ServerConfig(port=port)
    follower = Follower(port)
    async with following(follower):
        await follower.until(lambda: "nobody listens there" in follower.status())
        assert "no connection" in follower.status()
        before = world()
        async with Publisher(config, before):
            await follower.until(follower.ready.is_set)
            assert follower.status() == ""
            assert follower.client_state.snapshot().games == snapshot(before).games
        await follower.until(lambda: "connection lost" in follower.status())
        after = world(seed=5)
        async with Publisher(config, after) as publisher:
            await follower.until(lambda: bool(follower.message))
            publisher.publish(after.appear("g1") or after.headers())
            await follower.until(lambda: follower.client_state.snapshot() == snapshot(after))
            assert follower.status() == ""
    [line] = follower.message
    assert line.startswith("Connected again after")
    assert line.endswith("the service was started anew")


async def test_after_a_cut_line_it_resumes_without_missing_anything() -> None:
    state = world()
    async with Publisher(ServerConfig(port=0), state) as publisher:
        follower = Follower(publisher.address[1])
        async with following(follower):
            await follower.until(follower.ready.is_set)
            for connection in publisher._connections:
                connection.transport.abort()
            publisher.publish(state.health())
            await follower.until(lambda: bool(follower.message))
            await follower.until(lambda: follower.client_state.snapshot() == snapshot(state))
    assert follower.message[0].endswith("nothing was missed")


async def test_a_service_that_asks_for_a_token_is_told_of_at_once() -> None:
    class Refusing(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            assert isinstance(transport, asyncio.Transport)
            transport.write(
                b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )
            transport.close()

    server = await asyncio.get_running_loop().create_server(Refusing, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(Refused, match="asks for a token"):
            await Follower(port).run()


async def test_an_unknown_host_is_no_reason_to_wait() -> None:
    with pytest.raises(Refused, match=r"no\.such\.host\.invalid: no such host"):
        await ServiceConnection("ws://no.such.host.invalid:1").run()


@pytest.mark.parametrize(
    ("given", "url", "pages"),
    [
        ("hall:8765", "ws://hall:8765/v2/live", "http://hall:8765/"),
        ("ws://hall:8765", "ws://hall:8765/v2/live", "http://hall:8765/"),
        ("http://hall:8765/", "ws://hall:8765/v2/live", "http://hall:8765/"),
        (
            "https://x.example/live/v2/live?token=a",
            "wss://x.example/live/v2/live?token=a",
            "https://x.example/live/",
        ),
    ],
)
def test_addresses_are_taken_as_people_write_them(given: str, url: str, pages: str) -> None:
    assert service_url(given) == url
    assert pages_url(url) == pages


@pytest.mark.parametrize("given", ["", "ftp://hall/", "ws://:80", "ws://hall:99999"])
def test_what_is_no_address_says_so(given: str) -> None:
    with pytest.raises(ConfigError, match="is no address"):
        service_url(given)
