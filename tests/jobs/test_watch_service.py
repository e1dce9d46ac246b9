"""``live-rate watch`` against a real service."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import msgspec
import pytest
from rich.console import Console
from websockets.asyncio.client import connect

from live.alerts.incident_log import IncidentLog
from live.config import ServerConfig
from live.events import DeskCommand, HelloMessage
from live.jobs import watch_service
from live.jobs.watch_service import ServiceWatch, service_url
from live.publish.access import new_token
from live.publish.published_state import ClientState, snapshot
from live.publish.server import Publisher
from tests.publish.world import World

ROOT = Path(__file__).resolve().parents[2]


async def watcher(url: str, *flags: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "from live.cli import main; main()",
        "watch",
        url,
        *flags,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        limit=1 << 22,
    )


@pytest.mark.slow
async def test_json_gives_what_the_service_sends_and_ctrl_c_ends_it() -> None:
    state = World(3)
    for _ in range(40):
        state.step()
    async with Publisher(ServerConfig(port=0), state) as publisher, asyncio.timeout(100):
        process = await watcher(publisher.url, "--json")
        assert process.stdout is not None
        client_state = ClientState()
        for _ in range(2):
            client_state.receive(await process.stdout.readline())
        publisher.publish(state.health())
        client_state.receive(await process.stdout.readline())
        assert client_state.snapshot() == snapshot(state)
        process.send_signal(signal.SIGINT)
        _, errors = await process.communicate()
    assert process.returncode == 0
    assert b"Traceback" not in errors


@pytest.mark.slow
async def test_lines_tell_what_happens() -> None:
    state = World(3)
    state.appear("g1")
    async with Publisher(ServerConfig(port=0), state) as publisher, asyncio.timeout(100):
        process = await watcher(publisher.url)
        assert process.stdout is not None
        reading = asyncio.create_task(process.stdout.readline())
        while not reading.done():
            publisher.publish(state.move("g1"))
            await asyncio.wait({reading}, timeout=0.2)
        assert b"played" in reading.result()
        process.send_signal(signal.SIGTERM)
        await process.communicate()
    assert process.returncode == 0


@pytest.mark.slow
async def test_it_says_that_scores_are_withheld() -> None:
    state = World(3)
    state.appear("g1")
    config = ServerConfig(port=0, hide_scores=True)
    async with Publisher(config, state) as publisher, asyncio.timeout(100):
        process = await watcher(publisher.url)
        assert process.stdout is not None
        line = (await process.stdout.readline()).decode()
        assert line == f"Watching {publisher.url}: this service withholds scores and ratings\n"
        process.send_signal(signal.SIGTERM)
        await process.communicate()
    assert process.returncode == 0


@pytest.mark.slow
async def test_what_is_no_service_says_so_in_one_line() -> None:
    async with asyncio.timeout(100):
        process = await watcher("ws://no.such.host.invalid:1")
        _, errors = await process.communicate()
    assert process.returncode == 2
    [line] = errors.decode().strip().splitlines()[-1:]
    assert line == "live-rate: no.such.host.invalid: no such host. Check the name"


async def test_it_knows_whether_it_is_told_of_alerts() -> None:
    watch = ServiceWatch("ws://127.0.0.1:1", "app", Console())
    assert "connecting" in watch._no_desk()
    state = World(3)
    hello = HelloMessage(1, "epoch", engine=state.engine(), gain="same-search", version="1")
    for sight, word in (("public", "token"), ("arbiter", "")):
        watch._back("nothing was missed")
        watch.client_state.hello = msgspec.structs.replace(hello, sight=sight)
        assert (word in watch._no_desk()) and bool(watch._no_desk()) is bool(word)


@pytest.mark.parametrize(
    ("kind", "events", "answers"),
    [("arbiter", (), True), ("arbiter", ("Open A",), False), ("reader", (), False)],
)
async def test_with_an_arbiters_token_it_is_the_same_desk(
    kind: str, events: tuple[str, ...], answers: bool, tmp_path: Path
) -> None:
    secret, entry = new_token(kind, os.urandom, arbiter=kind == "arbiter", events=events)
    tokens = tmp_path / "tokens.toml"
    tokens.write_text(entry)
    log, asked = IncidentLog(), asyncio.Queue[tuple[DeskCommand, str]]()
    log.entry("lights out", 1.0)
    config = ServerConfig(port=0, tokens_file=str(tokens))
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
        given = [DeskCommand("acknowledge", "flag g1"), DeskCommand("enter", "g1", "disputed")]
        for command in given:
            watch._command(command)
        await asyncio.gather(*watch._commands)
        if answers:
            assert [await asked.get() for _ in given] == [(each, kind) for each in given]
            parts.append(asyncio.create_task(watch.follow_log()))
            while not watch._incidents:  # noqa: ASYNC110 - lets the request run
                await asyncio.sleep(0)
            assert [each.text for each in watch._incidents] == ["lights out"]
        else:
            # What was sent before is read before what is sent in answer to this.
            async with connect(service_url(f"{publisher.url}?token={secret}")) as other:
                await other.recv()
            assert asked.empty()
        for part in parts:
            part.cancel()
        await asyncio.wait(parts)


async def test_a_log_that_cannot_be_read_is_said_once_and_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(watch_service, "LOG_S", 0.0)
    answers = [
        b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\nConnection: close\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\n{",
        b"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    ]
    left, done = [*answers], asyncio.Event()

    class Broken(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            self.transport = transport

        def data_received(self, data: bytes) -> None:
            assert isinstance(self.transport, asyncio.Transport)
            self.transport.write(left.pop(0) if left else answers[-1])
            self.transport.close()
            if not left:
                done.set()

    server = await asyncio.get_running_loop().create_server(Broken, "127.0.0.1", 0)
    async with server, asyncio.timeout(60):
        port, said = server.sockets[0].getsockname()[1], list[str]()
        watch = ServiceWatch(f"ws://127.0.0.1:{port}", "app", Console())
        watch.say = said.append
        watch._no_desk = str  # type: ignore[method-assign]
        following = asyncio.create_task(watch.follow_log())
        await done.wait()
        assert not following.done()
        following.cancel()
        await asyncio.wait({following})
    [line] = said
    assert line.startswith("The incident log cannot be read, trying again: ")
