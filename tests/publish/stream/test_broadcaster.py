"""Readers of streams, and what a fault of ours costs them."""

from __future__ import annotations

from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from live.config import ServerConfig
from live.publish.published_state import snapshot
from live.publish.server import Publisher
from live.publish.stream.client_state import ClientState
from live.publish.stream.stream_hub import StreamHub
from tests.publish.world import World


async def test_after_a_fault_of_ours_readers_come_again_and_hold_what_is_true(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    async with Publisher(ServerConfig(port=0), world) as publisher:
        url = publisher.url.replace("http", "ws") + "v1/live"
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
