"""Many viewers of the public site's stream at one Mosquitto, and what they cost our process.

    python -m tests.benchmarks.publish.site_viewers [VIEWERS [SECONDS]]

One message a second goes to every viewer; our process's CPU time is that with one viewer beside
that with all of them. The viewers are plain sockets that speak as much MQTT as is needed, in a
process of their own; some more hold the whole state, and must hold the snapshot at the end. Half
way the broker is killed and started again.
"""

# ruff: noqa: T201 - its output is what it is for
from __future__ import annotations

import asyncio
import functools
import gzip
import multiprocessing
import resource
import shutil
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import aiomqtt
import msgspec

from live.config import MqttConfig
from live.publish.broker.broker_publisher import CHANGES, SNAPSHOT, BrokerPublisher, SiteStream
from live.publish.public_state import PublicState
from live.publish.published_state import ClientState, snapshot
from tests.publish.mosquitto import ANYBODY, Mosquitto
from tests.web.broadcast import Broadcast

PREFIX = "t"
SAMPLES = 5
_MORE = f"{ANYBODY}max_connections -1\nmax_queued_messages 0\n"


def _connect(number: int) -> bytes:
    client = f"viewer{number}".encode()
    body = b"\x00\x04MQTT\x05\x02\x00\x00\x00" + len(client).to_bytes(2, "big") + client
    return bytes((0x10, len(body))) + body


def _subscribe() -> bytes:
    topic = f"{PREFIX}/{CHANGES}".encode()
    body = b"\x00\x01\x00" + len(topic).to_bytes(2, "big") + topic + b"\x00"
    return bytes((0x82, len(body))) + body


class _Viewer(asyncio.Protocol):
    """Counts bytes; comes back when the broker does."""

    heard = 0

    def __init__(self, number: int) -> None:
        self._number = number

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(_connect(self._number) + _subscribe())

    def data_received(self, data: bytes) -> None:
        _Viewer.heard += len(data)

    def connection_lost(self, error: Exception | None) -> None:
        _again.append(self._number)


_again: list[int] = []


async def _keep_viewers(port: int, count: int, pipe: Connection) -> None:
    loop = asyncio.get_running_loop()
    _again.extend(range(count))
    while not pipe.poll():
        coming, _again[:] = _again[:200], _again[200:]
        for number in coming:
            try:
                await loop.create_connection(functools.partial(_Viewer, number), "127.0.0.1", port)
            except OSError:
                _again.append(number)
        await asyncio.sleep(0.02 if coming else 0.2)
    pipe.send((count - len(_again), _Viewer.heard))


def _viewers(port: int, count: int, pipe: Connection) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    asyncio.run(_keep_viewers(port, count, pipe))


async def _sampled(port: int, state: ClientState) -> None:
    """A viewer in full: what the page does."""
    epoch, early = "", dict[int, dict[str, Any]]()
    while True:
        try:
            async with aiomqtt.Client(
                "127.0.0.1", port, protocol=aiomqtt.ProtocolVersion.V5
            ) as client:
                await client.subscribe(f"{PREFIX}/site/#", qos=1)
                async for message in client.messages:
                    payload = message.payload
                    assert isinstance(payload, bytes)
                    fresh = str(message.topic).endswith(SNAPSHOT)
                    said = msgspec.json.decode(gzip.decompress(payload) if fresh else payload)
                    if fresh and (
                        said["epoch"] != epoch or said["snapshot"]["seq"] > (state.seq or 0)
                    ):
                        epoch = said["epoch"]
                        state.receive(msgspec.json.encode(said["hello"]))
                        state.receive(msgspec.json.encode(said["snapshot"]))
                    for each in said.get("messages", ()) if said["epoch"] == epoch else ():
                        if each["type"] != "heartbeat":
                            early[each["seq"]] = each
                    while state.seq is not None and state.seq + 1 in early:
                        state.receive(msgspec.json.encode(early.pop(state.seq + 1)))
        except aiomqtt.MqttError:
            await asyncio.sleep(0.5)


async def measure(count: int, seconds: int) -> None:
    program = shutil.which("mosquitto", path="/usr/sbin:/usr/bin")
    assert program is not None, "mosquitto is needed"
    with tempfile.TemporaryDirectory() as folder:
        for viewers in (1, count):
            broker = Mosquitto(program, Path(folder), more=_MORE)
            await broker.start()
            broadcast = Broadcast(8)
            broadcast.play(20)
            public = PublicState(broadcast.state)
            stream = SiteStream(public, epoch=f"e{viewers}", clock=time.monotonic)
            config = MqttConfig(publish=f"mqtt://127.0.0.1:{broker.port}", prefix=PREFIX)
            ours = BrokerPublisher(config, public, stream=stream)
            public.listen(ours.publish)
            broadcast.listener = public.publish
            sending = asyncio.create_task(ours.run())
            here, there = multiprocessing.Pipe()
            process = multiprocessing.Process(target=_viewers, args=(broker.port, viewers, there))
            process.start()
            states = [ClientState() for _ in range(SAMPLES)]
            samples = [asyncio.create_task(_sampled(broker.port, each)) for each in states]
            await asyncio.sleep(5 + viewers / 1000)
            sampled_s = time.process_time()
            for second in range(seconds):
                broadcast.play(1, board=1 + second % 8)
                if second == seconds // 2:
                    broker.kill()
                    await broker.start()
                await asyncio.sleep(1)
            used_s = time.process_time() - sampled_s
            await asyncio.sleep(3 + viewers / 500)
            right = sum(each.snapshot() == snapshot(public) for each in states)
            for each in samples:
                each.cancel()
            here.send("end")
            connected, heard = await asyncio.get_running_loop().run_in_executor(None, here.recv)
            process.join()
            sending.cancel()
            await asyncio.wait({sending, *samples})
            broker.kill()
            print(
                f"{viewers} viewers: {used_s / seconds * 1000:.1f} ms CPU of ours a second,"
                f" {connected} connected at the end, {heard / 1e6:.1f} MB to them;"
                f" {right} of {SAMPLES} samples hold the snapshot"
            )


if __name__ == "__main__":
    asyncio.run(
        measure(
            int(sys.argv[1]) if len(sys.argv) > 1 else 10_000,
            int(sys.argv[2]) if len(sys.argv) > 2 else 30,
        )
    )
