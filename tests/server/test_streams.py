"""Numbered streams, what they coalesce and resume, and their bytes on the wire: always
what a fresh snapshot says.
"""

import asyncio
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from websockets.asyncio.client import connect
from websockets.extensions.permessage_deflate import PerMessageDeflate
from websockets.frames import Opcode

from live.games.player_identity import fold_name
from live.messages.figures import PlayerView
from live.messages.to_clients import EngineMessage, SnapshotMessage, StandingMessage
from live.server import wire
from live.server.brief import _SENT, encode_brief
from live.server.filtered_reader import snapshot
from live.server.limits import ClientLimits
from live.server.numbered_stream import FIRST_SEQ, NumberedStream
from live.server.reference_client import ReferenceClient
from live.server.stream_filter import EVERYTHING, StreamFilter
from live.server.streams import StreamHub, TooManyFilters
from live.server.visibility import Visibility
from live.server.wire import split_frames
from tests.screens.web.broadcast import Broadcast
from tests.server.serving import frames, live, messages, serve_publisher
from tests.server.test_server import follow, open_stalled, position, readers
from tests.server.world import EVENTS, GAMES, Clock, World
from tests.sources.fakes import until

READER: Any = object()


FILTERS = (
    EVERYTHING,
    StreamFilter(games=frozenset({"g1", "g3.pgn"})),
    StreamFilter(events=frozenset({fold_name(EVENTS[0])})),
    StreamFilter(players=frozenset({"1503014"})),
    StreamFilter(brief=True),
    StreamFilter(gains=True),
    StreamFilter(visibility=Visibility.VENUE),
)


def take_payloads(stream: NumberedStream) -> list[bytes]:
    """What its readers are sent now."""
    return [each.plain for each in stream.take()]


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32), keep=st.integers(0, 40), steps=st.integers(1, 60))
def test_resume_gives_exactly_the_missing_messages_or_says_too_old(
    seed: int, keep: int, steps: int
) -> None:
    world, random = World(seed), Random(seed)
    hub = StreamHub(
        world, epoch="e", clock=Clock(), limits=ClientLimits(history_messages=keep)
    )
    stream = hub.open_stream(random.choice(FILTERS))
    sent: list[bytes] = [b""] * (stream.seq + 1)
    for _ in range(steps):
        hub.publish(world.step())
        hub.flush()
        sent.extend(take_payloads(stream))
    assert len(sent) == stream.seq + 1
    for seq in range(stream.seq + 3):
        answer = stream.list_since(stream.epoch, seq)
        if max(FIRST_SEQ, stream.seq - keep) <= seq <= stream.seq:
            assert answer is not None
            assert [wire.number(each.body, each.seq) for each in answer] == sent[
                seq + 1 :
            ]
        else:
            assert answer is None
    assert stream.list_since("another", stream.seq) is None


def test_history_forgets_by_age_and_by_bytes_and_delivers_once_what_it_forgot() -> None:
    clock = Clock()
    limits = ClientLimits(history_messages=100, history_bytes=30, history_age_s=10)
    stream = NumberedStream(EVERYTHING, "e", clock, limits)
    start = stream.seq
    for _ in range(3):
        stream.append(b'{"type":"x"}')  # 12 bytes: two fit
    assert (len(take_payloads(stream)), take_payloads(stream)) == (3, [])
    assert stream.list_since("e", start) is None
    for after_s in (0, 10):
        clock.now_s += after_s
        assert len(stream.list_since("e", start + 1) or ()) == 2
    clock.now_s += 0.001
    assert stream.list_since("e", start + 2) is None
    assert stream.list_since("e", start + 3) == []


def test_a_stream_dropped_and_made_anew_has_another_epoch() -> None:
    clock = Clock()
    hub = StreamHub(
        World(), epoch="e", clock=clock, limits=ClientLimits(history_age_s=5)
    )
    first = hub.open_stream(EVERYTHING)
    clock.now_s += 5
    hub.evict_unused()
    assert hub.open_stream(EVERYTHING) is first
    first.readers.add(READER)
    clock.now_s += 5.1
    hub.evict_unused()
    assert hub.open_stream(EVERYTHING) is first
    clock.now_s += 5.1
    first.release(READER)
    clock.now_s += 5
    hub.evict_unused()
    assert hub.open_stream(EVERYTHING) is first
    clock.now_s += 5.1
    hub.evict_unused()
    second = hub.open_stream(EVERYTHING)
    assert second is not first
    assert second.epoch != first.epoch
    assert second.list_since(first.epoch, first.seq) is None


def test_of_too_many_filters_the_one_unread_for_longest_makes_room() -> None:
    clock = Clock()
    world = World(0, *GAMES[:3])
    hub = StreamHub(world, epoch="e", clock=clock, limits=ClientLimits(filters=2))
    one, two, three = (StreamFilter(games=frozenset({game})) for game in GAMES[:3])
    read = hub.open_stream(one)
    read.readers.add(READER)
    unread = hub.open_stream(two)
    clock.now_s += 1
    new = hub.open_stream(three)
    assert hub.open_stream(one) is read
    new.readers.add(READER)
    with pytest.raises(TooManyFilters):
        hub.open_stream(two)
    # Neither the whole event nor what selects no game is kept out by them, but by their
    # like.
    for whole in (EVERYTHING, StreamFilter(brief=True), StreamFilter(gains=True)):
        hub.open_stream(whole).readers.add(READER)
    for number in range(8):
        hub.open_stream(StreamFilter(games=frozenset({f"zz{number}"}))).readers.add(
            READER
        )
    with pytest.raises(TooManyFilters):
        hub.open_stream(StreamFilter(games=frozenset({"zz"})))
    new.release(READER)
    assert hub.open_stream(two) is not unread


def test_a_move_goes_out_at_once_and_scores_wait_for_the_tick() -> None:
    world = World(1)
    hub = StreamHub(world, epoch="e", clock=Clock())
    stream = hub.open_stream(EVERYTHING)
    hub.publish(world.appear("g1"))
    assert not stream.unsent
    hub.publish(world.move("g1"))
    kinds = [msgspec.json.decode(each)["type"] for each in take_payloads(stream)]
    assert kinds[:2] == ["game", "move"]
    for _ in range(50):
        hub.publish(world.score())
    assert not stream.unsent
    hub.flush()
    kinds = [msgspec.json.decode(each)["type"] for each in take_payloads(stream)]
    assert sorted(kinds) == ["game", "score"]


def test_newcomers_share_a_snapshot_while_little_has_changed() -> None:
    world, clock = World(1, *GAMES, plies=30), Clock()
    hub = StreamHub(world, epoch="e", clock=clock)
    stream = hub.open_stream(EVERYTHING)
    (first,) = hub.list_catch_up(stream)
    hub.publish(world.move("g1"))
    again, *after = hub.list_catch_up(stream)
    assert again is first
    assert (
        [each.seq for each in after] == list(range(first.seq + 1, stream.seq + 1)) != []
    )
    # Too much has changed: the snapshot is the shorter way.
    for _ in range(30):
        hub.publish(world.move("g1") + world.move("g1"))
    (fresh,) = hub.list_catch_up(stream)
    assert fresh.seq == stream.seq > first.seq
    # Too old: it is let go.
    hub.publish(world.move("g1"))
    clock.now_s += 31
    hub.evict_unused()
    (late,) = hub.list_catch_up(stream)
    assert late.seq == stream.seq > fresh.seq


@pytest.mark.parametrize("size", [0, 125, 126, 65535, 65536])
def test_a_frame_of_any_size_is_read_back(size: int) -> None:
    (frame,) = frames(wire.frame(b"x" * size))
    assert (frame.opcode, frame.fin, bytes(frame.data)) == (
        Opcode.TEXT,
        True,
        b"x" * size,
    )


@given(payload=st.binary(max_size=500), size=st.integers(1, 200))
def test_fragments_make_the_message_and_others_fit_between(
    payload: bytes, size: int
) -> None:
    sent = wire.PING.join(split_frames(payload, size))
    assert messages(sent) == [payload]
    read = [each for each in frames(sent) if each.opcode != Opcode.PING]
    assert [each.fin for each in read] == [False] * (len(read) - 1) + [True]


def test_what_is_sent_are_fields_that_there_are() -> None:
    for kind, names in _SENT.items():
        assert set(names.split()) <= set(kind.__struct_fields__), kind
        needed = {
            field.name for field in msgspec.structs.fields(kind) if field.required
        }
        assert needed <= set(names.split()), kind


def test_brief_streams_carry_the_points_of_players_and_whole_elo() -> None:
    player = PlayerView(
        "7",
        "Li, Wei",
        None,
        4,
        0,
        None,
        perceived=2341,
        percentile=0.44,
        points=2.5,
        finished=4,
    )
    told = msgspec.json.decode(
        encode_brief(StandingMessage(player)), type=StandingMessage
    ).player
    assert (told.points, told.finished) == (2.5, 4)
    assert (told.perceived, told.percentile) == (2341, 0.44)


async def test_clients_that_deflate_and_those_that_do_not_read_the_same() -> None:
    world = World(6, "g1", "g2")
    async with (
        serve_publisher(world) as publisher,
        connect(live(publisher)) as deflating,
        connect(live(publisher), compression=None) as plain,
    ):
        # Every message is deflated by itself, so it can be deflated once for all.
        (deflate,) = deflating.protocol.extensions
        assert (
            isinstance(deflate, PerMessageDeflate)
            and deflate.remote_no_context_takeover
        )
        assert not plain.protocol.extensions
        assert sorted(each.can_inflate for each in readers(publisher)) == [False, True]
        states = ReferenceClient(), ReferenceClient()
        for _ in range(60):
            publisher.audiences.publish(world.step() + world.move())
            for ws, client_state in zip((deflating, plain), states, strict=True):
                await follow(ws, client_state, position(publisher))
        assert [each.snapshot() for each in states] == [snapshot(world)] * 2


async def test_a_smaller_window_is_agreed_to_and_gets_messages_as_they_are() -> None:
    async with serve_publisher(World(6, "g1")) as publisher:
        loop = asyncio.get_running_loop()
        offer = (
            "Sec-WebSocket-Extensions: permessage-deflate; "
            "server_max_window_bits=10\r\n"
        )
        with open_stalled(publisher, headers=offer) as client:
            await until(lambda: publisher.tally.subscribers == 1)
            (reader,) = readers(publisher)
            assert not reader.can_inflate
            client.setblocking(False)
            answer = await loop.sock_recv(client, 65_536)
        assert b"server_max_window_bits=10" in answer
        assert b'"type":"snapshot"' in answer or b'"type":"hello"' in answer


def test_a_brief_stream_says_nothing_twice() -> None:
    world = World(7)
    hub = StreamHub(world, epoch="e", clock=Clock())
    stream = hub.open_stream(StreamFilter(brief=True))
    for _ in range(3):
        hub.publish([EngineMessage(world.info)])
        hub.flush()
    assert len(stream.take()) == 1


def test_a_brief_snapshot_leaves_out_what_no_overlay_shows() -> None:
    broadcast = Broadcast(2)
    broadcast.play(60)
    hub = StreamHub(broadcast.state, epoch="e", clock=Clock())
    full, short = (
        hub.snapshot(hub.open_stream(StreamFilter(brief=each)))
        for each in (False, True)
    )
    sizes = [len(next(each.frames(deflated=True))) for each in (full, short)]
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
    assert sizes[1] * 28 < 250_000
    assert sizes[1] < sizes[0] * 0.65
