"""Readers of streams, and what a fault of ours costs them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.client import ClientProtocol
from websockets.exceptions import ConnectionClosed
from websockets.extensions.permessage_deflate import PerMessageDeflate
from websockets.frames import Frame
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.uri import parse_uri

from live.config import ServerConfig
from live.publish.access import ClientLimits
from live.publish.published_state import ClientState, snapshot
from live.publish.server import Publisher
from live.publish.streams import StreamHub
from live.publish.subscribers import Broadcaster, Subscriber
from live.publish.visibility import EVERYTHING
from tests.publish.world import World


async def test_after_a_fault_of_ours_readers_come_again_and_hold_what_is_true(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    async with Publisher(ServerConfig(port=0), world) as publisher:
        url = publisher.url.replace("http", "ws") + "v2/live"
        async with connect(url, max_size=None) as first:
            hello = await first.recv()
            await first.recv()
            proper = StreamHub.publish

            def fail(self: Any, changes: Any) -> None:
                raise KeyError("a fault of ours")

            monkeypatch.setattr(StreamHub, "publish", fail)
            publisher.publish(world.rerate())
            monkeypatch.setattr(StreamHub, "publish", proper)
            with pytest.raises(ConnectionClosed) as closed:
                while True:
                    await first.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1001, "come back"
        async with connect(url, max_size=None) as again:
            second = await again.recv()
            client_state = ClientState()
            client_state.receive(second)
            client_state.receive(await again.recv())
            assert client_state.snapshot() == snapshot(world)
        assert str(hello)[:200] != str(second)[:200], (
            "an old number must not be taken for a new one"
        )


class Transport(asyncio.Transport):
    """Takes all that is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = bytearray()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += data

    def is_closing(self) -> bool:
        return False

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


class Later:
    """Packs when it is told to."""

    def __init__(self) -> None:
        self.open: list[tuple[Callable[[], None], Callable[[], None]]] = []

    def __call__(self, work: Callable[[], None], then: Callable[[], None]) -> None:
        self.open.append((work, then))

    def do(self) -> None:
        work, then = self.open.pop(0)
        work()
        then()


def deflating(held: Broadcaster) -> tuple[Subscriber, Transport]:
    transport = Transport()
    protocol = ServerProtocol(state=State.OPEN)
    protocol.extensions = [PerMessageDeflate(True, True, 15, 15)]
    subscriber = Subscriber(
        held, held.stream(EVERYTHING), transport, lambda: 0.0, ClientLimits(), lambda gone: None,
        protocol=protocol,
    )  # fmt: skip
    assert subscriber.deflates
    return subscriber, transport


def received(transport: Transport) -> ClientState:
    """What a client holds that has read all."""
    uri = parse_uri("ws://localhost/")
    client = ClientProtocol(uri, state=State.OPEN, max_size=None)
    client.extensions = [PerMessageDeflate(True, True, 15, 15)]
    client.receive_data(bytes(transport.written))
    held, message = ClientState(), b""
    for frame in client.events_received():
        assert isinstance(frame, Frame)
        message += frame.data
        if frame.fin:
            held.receive(message)
            message = b""
    return held


def a_large_world() -> World:
    world = World()
    for board in range(40):
        world.appear(f"g{board}")
        for _ in range(30):
            world.move(f"g{board}")
    return world


def test_a_long_snapshot_is_packed_elsewhere_once_for_all_who_wait() -> None:
    world, later = a_large_world(), Later()
    held = Broadcaster(world, epoch="e", clock=lambda: 0.0, limits=ClientLimits(), elsewhere=later)
    waiting = [deflating(held) for _ in range(3)]
    for subscriber, transport in waiting:
        held.join(subscriber, None)
        assert not transport.written
    # One leaves, and the others' game goes on.
    held.left(waiting[0][0])
    held.publish(world.move("g3"))
    assert len(later.open) == 1
    later.do()
    assert not waiting[0][1].written
    held.publish(world.move("g4"))
    held.flush()
    for _, transport in waiting[1:]:
        assert received(transport).snapshot() == snapshot(world)
    # Whoever comes now finds it packed.
    late, transport = deflating(held)
    held.join(late, None)
    assert received(transport).snapshot() == snapshot(world)


def test_who_waits_for_a_snapshot_is_not_given_two() -> None:
    world, later = a_large_world(), Later()
    held = Broadcaster(world, epoch="e", clock=lambda: 0.0, limits=ClientLimits(), elsewhere=later)
    subscriber, transport = deflating(held)
    held.join(subscriber, None)
    subscriber.pause_writing()
    subscriber.resume_writing()
    later.do()
    assert not later.open
    held.publish(world.move("g1"))
    held.flush()
    assert received(transport).snapshot() == snapshot(world)


def test_a_snapshot_outdated_while_it_was_packed_is_packed_here() -> None:
    world, later = a_large_world(), Later()
    clock_s = 0.0
    held = Broadcaster(
        world, epoch="e", clock=lambda: clock_s, limits=ClientLimits(), elsewhere=later
    )
    subscriber, transport = deflating(held)
    held.join(subscriber, None)
    held.publish(world.move("g1"))
    clock_s = 1000.0
    later.do()
    assert not later.open
    assert received(transport).snapshot() == snapshot(world)
