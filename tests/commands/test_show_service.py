"""``live-rate watch`` against a real service."""

import asyncio
import contextlib
import io
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
from rich.console import Console
from websockets.asyncio.client import connect

from live.commands import show_service
from live.commands.service_connection import (
    ServiceConnection,
    derive_pages_url,
    parse_service_url,
)
from live.commands.show_service import ServiceWatch
from live.errors import ConfigError, Refused
from live.messages.from_clients import DeskCommand
from live.messages.to_clients import HelloMessage
from live.process.clock import LoopClock
from live.process.supervision import run_in_background
from live.rehearse.web_server import ServedReply, ServedRequest, serve_http
from live.server.filtered_reader import snapshot
from live.server.reference_client import ReferenceClient
from live.server.server import Publisher
from live.settings import ServerConfig
from live.watch.incident_log import IncidentLog
from tests.server.mosquitto import free_port
from tests.server.serving import token_file
from tests.server.world import World
from tests.sources.fakes import until

ROOT = Path(__file__).resolve().parents[2]


@contextlib.asynccontextmanager
async def run_watcher(url: str) -> AsyncIterator[asyncio.StreamReader]:
    """What a watcher prints as JSON, which ends well when it is interrupted."""
    async with asyncio.timeout(100):
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            "from live.cli import main; main()",
            "watch",
            url,
            "--json",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            limit=1 << 22,
        )
        assert process.stdout is not None
        yield process.stdout
        process.send_signal(signal.SIGINT)
        _, errors = await process.communicate()
        assert process.returncode == 0 and b"Traceback" not in errors


async def test_json_gives_what_the_service_sends() -> None:
    state, client_state = World(3, steps=40), ReferenceClient()
    async with (
        Publisher(ServerConfig(port=0), state) as publisher,
        run_watcher(publisher.url) as output,
    ):
        for _ in range(2):
            client_state.receive(await output.readline())
        publisher.audiences.publish(state.health())
        client_state.receive(await output.readline())
        assert client_state.snapshot() == snapshot(state)


async def test_lines_tell_what_happens_and_that_scores_are_withheld() -> None:
    state, output = World(3, "g1"), io.StringIO()
    config = ServerConfig(port=0, hide_scores=True)
    async with Publisher(config, state) as publisher:
        watch = ServiceWatch(publisher.url, "lines", Console(file=output, width=200))
        async with run_in_background(watch.run(), "watch"):
            await watch.ready.wait()
            withheld = "this service withholds scores and ratings"
            assert output.getvalue() == f"Watching {publisher.url}: {withheld}\n"
            publisher.audiences.publish(state.move("g1"))
            await until(lambda: "played" in output.getvalue())


async def test_what_is_no_service_says_so_in_one_line() -> None:
    with pytest.raises(Refused, match=r"no\.such\.host\.invalid: no such host"):
        await ServiceConnection("ws://no.such.host.invalid:1").run()


async def test_it_knows_whether_it_is_told_of_alerts() -> None:
    watch = ServiceWatch("ws://127.0.0.1:1", "app", Console())
    assert "connecting" in watch._explain_no_desk()
    state = World(3)
    hello = HelloMessage(
        1, "epoch", engine=state.engine(), gain="same-search", version="1"
    )
    for sight, word in (("public", "token"), ("arbiter", "")):
        watch._on_connected("nothing was missed")
        watch.client_state.hello = msgspec.structs.replace(hello, sight=sight)
        assert (word in watch._explain_no_desk()) and bool(
            watch._explain_no_desk()
        ) is bool(word)


@pytest.mark.parametrize(
    ("kind", "events", "answers"),
    [("arbiter", (), True), ("arbiter", ("Open A",), False), ("reader", (), False)],
)
async def test_with_an_arbiters_token_it_is_the_same_desk(
    kind: str, events: tuple[str, ...], answers: bool, tmp_path: Path
) -> None:
    secret, tokens = token_file(
        tmp_path, kind, arbiter=kind == "arbiter", events=events
    )
    log, asked = IncidentLog(), asyncio.Queue[tuple[DeskCommand, str]]()
    log.add_entry("lights out", 1.0)
    config = ServerConfig(port=0, tokens_file=tokens)
    service = Publisher(
        config,
        World(3),
        incidents=log.incidents,
        desk=lambda command, by: asked.put_nowait((command, by)),
    )
    async with service as publisher, asyncio.timeout(60):
        watch = ServiceWatch(f"{publisher.url}?token={secret}", "app", Console())
        parts = [asyncio.create_task(watch.run())]
        await watch.ready.wait()
        given = [
            DeskCommand("acknowledge", "flag g1"),
            DeskCommand("enter", "g1", "disputed"),
        ]
        for command in given:
            watch._send_in_order(command)
        await asyncio.gather(*watch._commands)
        if answers:
            assert [await asked.get() for _ in given] == [
                (each, kind) for each in given
            ]
            parts.append(asyncio.create_task(watch.follow_incident_log()))
            while not watch._incidents:  # noqa: ASYNC110 - lets the request run
                await asyncio.sleep(0)
            assert [each.text for each in watch._incidents] == ["lights out"]
        else:
            # What was sent before is read before what is sent in answer to this.
            async with connect(
                parse_service_url(f"{publisher.url}?token={secret}")
            ) as other:
                await other.recv()
            assert asked.empty()
        for part in parts:
            part.cancel()
        await asyncio.wait(parts)


async def test_a_log_that_cannot_be_read_is_said_once_and_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(show_service, "LOG_S", 0.0)
    answers = [
        b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\nConnection: close\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\n{",
        b"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    ]
    left, done = [*answers], asyncio.Event()

    async def broken(request: ServedRequest, reply: ServedReply) -> None:
        reply.writer.write(left.pop(0) if left else answers[-1])
        reply.writer.close()
        if not left:
            done.set()

    async with serve_http(broken) as origin, asyncio.timeout(60):
        watch, said = ServiceWatch(origin, "app", Console()), list[str]()
        watch.say = said.append
        watch._explain_no_desk = str  # type: ignore[method-assign]
        async with run_in_background(watch.follow_incident_log(), "log"):
            await done.wait()
    [line] = said
    assert line.startswith("The incident log cannot be read, trying again: ")


# Through the restart of a service, a cut line, and refusals.


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


async def test_it_recovers_by_itself_from_a_restart_and_says_so() -> None:
    port = free_port()
    config = ServerConfig(port=port)
    follower = Follower(port)
    async with run_in_background(follower.run(), "follower"):
        await until(lambda: "no service listens there" in follower.describe_problem())
        assert "no connection" in follower.describe_problem()
        before = World(3, steps=60)
        async with Publisher(config, before):
            await until(follower.ready.is_set)
            assert follower.describe_problem() == ""
            assert follower.client_state.snapshot().games == snapshot(before).games
        await until(lambda: "connection lost" in follower.describe_problem())
        after = World(5, steps=60)
        async with Publisher(config, after) as publisher:
            await until(lambda: bool(follower.message))
            publisher.audiences.publish(after.appear("g1") or after.headers())
            await until(lambda: follower.client_state.snapshot() == snapshot(after))
            assert follower.describe_problem() == ""
    [line] = follower.message
    assert line.startswith("Connected again after")
    assert line.endswith("the service was restarted")


async def test_after_a_cut_line_it_resumes_without_missing_anything() -> None:
    state = World(3, steps=60)
    async with Publisher(ServerConfig(port=0), state) as publisher:
        follower = Follower(publisher.address[1])
        async with run_in_background(follower.run(), "follower"):
            await until(follower.ready.is_set)
            for connection in publisher.clients.connections:
                connection.transport.abort()
            publisher.audiences.publish(state.health())
            await until(lambda: bool(follower.message))
            await until(lambda: follower.client_state.snapshot() == snapshot(state))
    assert follower.message[0].endswith("nothing was missed")


@pytest.mark.parametrize("query", ["", "?token=wrong"])
async def test_who_lacks_a_token_learns_so_at_once(tmp_path: Path, query: str) -> None:
    _, tokens = token_file(tmp_path)
    config = ServerConfig(port=0, tokens_file=tokens)
    async with Publisher(config, World(3, steps=60)) as publisher:
        url = f"127.0.0.1:{publisher.address[1]}{query}"
        with pytest.raises(Refused, match=r"a valid token is needed.*\?token="):
            await asyncio.wait_for(ServiceConnection(url).run(), 5)


@pytest.mark.parametrize(
    ("given", "url", "pages"),
    [
        ("hall:8765", "ws://hall:8765/v3/live", "http://hall:8765/"),
        ("ws://hall:8765", "ws://hall:8765/v3/live", "http://hall:8765/"),
        ("http://hall:8765/", "ws://hall:8765/v3/live", "http://hall:8765/"),
        (
            "https://x.example/live/v3/live?token=a",
            "wss://x.example/live/v3/live?token=a",
            "https://x.example/live/",
        ),
    ],
)
def test_addresses_are_taken_as_people_write_them(
    given: str, url: str, pages: str
) -> None:
    assert parse_service_url(given) == url
    assert derive_pages_url(url) == pages


@pytest.mark.parametrize("given", ["", "ftp://hall/", "ws://:80", "ws://hall:99999"])
def test_what_is_no_address_says_so(given: str) -> None:
    with pytest.raises(ConfigError, match="is not an address"):
        parse_service_url(given)
