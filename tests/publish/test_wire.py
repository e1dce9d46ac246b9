"""Frames, as the websockets library reads them.

Brief streams, and deflated ones, over real sockets.
"""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.asyncio.client import connect
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.uri import parse_uri

from live.events import EngineMessage, PlayerView, SnapshotMessage, StandingMessage
from live.publish import wire
from live.publish.published_state import ClientState, snapshot
from live.publish.streams import StreamHub
from live.publish.visibility import StreamFilter
from live.publish.wire import _SENT, brief
from tests.publish.test_server import follow, live, position, readers, serving, stalled, until
from tests.publish.world import Clock, World
from tests.web.broadcast import Broadcast


def heard(data: bytes) -> list[Frame]:
    """What a client's websocket protocol makes of these bytes."""
    client = ClientProtocol(parse_uri("ws://localhost/"), state=State.OPEN)
    client.receive_data(data)
    assert client.parser_exc is None
    return [event for event in client.events_received() if isinstance(event, Frame)]


@pytest.mark.parametrize("size", [0, 1, 125, 126, 127, 65535, 65536, 70000])
def test_a_frame_of_any_size_is_read_back(size: int) -> None:
    payload = b"x" * size
    (frame,) = heard(wire.frame(payload))
    assert (frame.opcode, frame.fin, bytes(frame.data)) == (Opcode.TEXT, True, payload)


@given(payload=st.binary(max_size=500), size=st.integers(1, 200))
def test_fragments_make_the_message_and_others_fit_between(payload: bytes, size: int) -> None:
    frames = wire.fragments(payload, size)
    read = [each for each in heard(wire.ping(b"!").join(frames)) if each.opcode != Opcode.PING]
    assert b"".join(bytes(each.data) for each in read) == payload
    assert [each.fin for each in read] == [False] * (len(read) - 1) + [True]
    assert read[0].opcode is Opcode.TEXT
    assert all(each.opcode is Opcode.CONT for each in read[1:])


def test_what_is_sent_are_fields_that_there_are() -> None:
    for kind, names in _SENT.items():
        assert set(names.split()) <= set(kind.__struct_fields__), kind
        needed = {field.name for field in msgspec.structs.fields(kind) if field.required}
        assert needed <= set(names.split()), kind


def test_brief_streams_carry_the_points_of_players_and_whole_elo() -> None:
    player = PlayerView(
        "7", "Li, Wei", None, 4, 0, None, perceived=2340.6, percentile=0.44, points=2.5, finished=4
    )
    told = msgspec.json.decode(brief(StandingMessage(player)), type=StandingMessage).player
    assert (told.points, told.finished) == (2.5, 4)
    assert (told.perceived, told.percentile) == (2341.0, 0.44)


async def test_clients_that_deflate_and_those_that_do_not_read_the_same() -> None:
    world = World(6)
    for game in ("g1", "g2"):
        world.appear(game)
    async with (
        serving(world) as publisher,
        connect(live(publisher)) as deflating,
        connect(live(publisher), compression=None) as plain,
    ):
        assert deflating.protocol.extensions
        assert not plain.protocol.extensions
        assert sorted(each.deflates for each in readers(publisher)) == [False, True]
        states = ClientState(), ClientState()
        for _ in range(60):
            publisher.publish(world.step() + world.move())
            for ws, client_state in zip((deflating, plain), states, strict=True):
                await follow(ws, client_state, position(publisher))
        assert [each.snapshot() for each in states] == [snapshot(world)] * 2


async def test_a_smaller_window_is_agreed_to_and_gets_messages_as_they_are() -> None:
    world = World(6)
    world.appear("g1")
    async with serving(world) as publisher:
        loop = asyncio.get_running_loop()
        offer = "Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=10\r\n"
        with stalled(publisher, headers=offer) as client:
            await until(lambda: len(publisher.broadcaster) == 1)
            (reader,) = readers(publisher)
            assert not reader.deflates
            client.setblocking(False)
            answer = await loop.sock_recv(client, 65_536)
        assert b"server_max_window_bits=10" in answer
        assert b'"type":"snapshot"' in answer or b'"type":"hello"' in answer


def test_a_brief_stream_says_nothing_twice() -> None:
    world = World(7)
    hub = StreamHub(world, epoch="e", clock=Clock())
    stream = hub.stream(StreamFilter(brief=True))
    for _ in range(3):
        hub.publish([EngineMessage(world.info)])
        hub.flush()
    assert len(stream.take()) == 1


def test_a_brief_snapshot_leaves_out_what_no_overlay_shows() -> None:
    broadcast = Broadcast(8)
    broadcast.play(60)
    hub = StreamHub(broadcast.state, epoch="e", clock=Clock())
    full, short = (hub.snapshot(hub.stream(StreamFilter(brief=each))) for each in (False, True))
    sizes = [len(each.frame(deflated=True)) for each in (full, short)]
    held = msgspec.json.decode(short.body, type=SnapshotMessage)
    for game, whole in zip(held.games, snapshot(broadcast.state).games, strict=True):
        assert [(ply.uci, ply.score_cp) for ply in game.plies] == [
            (ply.uci, ply.score_cp) for ply in whole.plies
        ]
        for point, exact in zip(game.curves.white, whole.curves.white, strict=True):
            for name in ("perceived", "usual_low", "high", "percentile", "difference"):
                shown, value = getattr(point, name), getattr(exact, name)
                assert (shown is None) == (value is None)
                assert shown is None or abs(shown - value) <= 0.5
    # 250 kB for 56 games of 80 plies.
    assert sizes[1] * 7 < 250_000
    assert sizes[1] < sizes[0] * 0.6
