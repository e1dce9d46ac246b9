"""Malformed frames and handshakes of every kind: documented closes, and the service
goes on.

Readers of streams, and what a fault of ours costs them.

One piece of work in each turn of the loop.

What one connection may cost before it is answered.
"""

import asyncio
import json
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Callable
from itertools import product
from typing import Any, cast

import pytest
from websockets.asyncio.client import connect
from websockets.extensions.permessage_deflate import PerMessageDeflate
from websockets.frames import Close, Opcode
from websockets.protocol import State
from websockets.server import ServerProtocol

from live.messages.health import PublicDelay
from live.server import wire as wire_format
from live.server.audience import Audience
from live.server.authentication import Guest
from live.server.connection import HttpConnection
from live.server.fair_turns import FairTurns
from live.server.filtered_reader import snapshot
from live.server.limits import ClientLimits
from live.server.metrics import MetricCounts
from live.server.reference_client import ReferenceClient
from live.server.server import Publisher
from live.server.stream_filter import EVERYTHING, StreamFilter
from live.server.streams import StreamHub
from live.server.subscriber import Subscriber
from live.server.wire import CloseCode
from live.settings import ServerConfig
from tests.server.serving import frames, left_in, live, messages, raw
from tests.server.world import Clock, Wire, World
from tests.sources.fakes import turns

KEY = "dGhlIHNhbXBsZSBub25jZQ=="
GOOD = {
    "Host": "localhost",
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Key": KEY,
    "Sec-WebSocket-Version": "13",
}


@pytest.fixture
async def publisher() -> AsyncIterator[Publisher]:
    async with Publisher(
        ServerConfig(port=0), World(1), limits=ClientLimits(closing_s=0.2)
    ) as made:
        yield made


def handshake(headers: dict[str, str], line: str = "GET /v3/live HTTP/1.1") -> bytes:
    told = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"{line}\r\n{told}\r\n".encode("latin-1")


def build_frame(
    first: int, payload: bytes = b"", *, mask: bool = True, length: bytes = b""
) -> bytes:
    """A client's frame; ``length`` overrides how the size is told."""
    size = length or bytes([len(payload)])
    flag = 0x80 if mask else 0
    return (
        bytes([first, size[0] | flag])
        + size[1:]
        + (b"\0\0\0\0" if mask else b"")
        + payload
    )


def closes(written: bytes, *, deflated: bool = False) -> list[int]:
    """The codes of the close frames in what a server wrote."""
    return [
        Close.parse(each.data).code
        for each in frames(written, deflated=deflated)
        if each.opcode is Opcode.CLOSE
    ]


async def answer_frames(sent: bytes, *, deflated: bool = False) -> list[int]:
    """The codes with which a subscriber that sends these bytes is closed."""
    wire, protocol = Wire(), CountedProtocol()
    if deflated:
        protocol.extensions = [PerMessageDeflate(True, True, 15, 15)]
    subscriber = reader(wire, protocol)
    subscriber.data_received(sent)
    await turns(40)
    assert subscriber not in subscriber.stream.readers
    return closes(wire.written, deflated=deflated)


async def goes_on(publisher: Publisher) -> None:
    async with connect(live(publisher)) as ws:
        assert json.loads(await ws.recv())["type"] == "hello"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({**GOOD, "Upgrade": ""}, 400),
        ({k: v for k, v in GOOD.items() if k != "Connection"}, 426),
        ({**GOOD, "Sec-WebSocket-Key": "\xff" * 24}, 400),
        ({k: v for k, v in GOOD.items() if k != "Sec-WebSocket-Version"}, 400),
        ({**GOOD, "Sec-WebSocket-Version": "8"}, 426),
        ({**GOOD, "Sec-WebSocket-Version": "8, 13"}, 426),
        ({**GOOD, "Upgrade": "h2c"}, 426),
        ({**GOOD, "Host": "evil.example"}, 421),
        ({**GOOD, "Origin": "\xff"}, 403),
        ({**GOOD, "Origin": "http://[::1"}, 403),
    ],
)
async def test_a_malformed_handshake_is_refused(
    publisher: Publisher, headers: dict[str, str], status: int
) -> None:
    said = await raw(publisher, handshake(headers), ends=True)
    assert said.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"Traceback" not in said
    # Where the handshake is wrong, the answer has the version that is spoken.
    names_version = b"sec-websocket-version: 13" in said.lower()
    assert names_version is (status in (400, 426))
    assert not publisher.tally.subscribers
    await goes_on(publisher)


@pytest.mark.parametrize(
    "upgrade",
    ["h2c, websocket", "WebSocket,h2c", "foo/1.0 , websocket", "websocket, websocket"],
)
async def test_an_upgrade_may_name_others_beside_ours(
    publisher: Publisher, upgrade: str
) -> None:
    said = await raw(
        publisher, handshake({**GOOD, "Upgrade": upgrade}), build_frame(0x88), ends=True
    )
    head, _, _ = said.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 101 ") and b"Upgrade: websocket\r\n" in head


HALF = "ü".encode()[:1]


@pytest.mark.parametrize(
    ("frames", "code"),
    [
        (build_frame(0x81, b"\xff"), 1007),
        (build_frame(0x81, b"ok \xc3("), 1007),
        (build_frame(0x81, HALF), 1007),  # cut off
        (build_frame(0x81, b"\xed\xa0\x80"), 1007),  # a surrogate
        (build_frame(0x81, b"\xc0\xaf"), 1007),  # longer than it need be
        (build_frame(0x81, b"\xf4\x90\x80\x80"), 1007),  # beyond Unicode
        (build_frame(0x01, b"a") + build_frame(0x80, b"\xff"), 1007),
        (build_frame(0x01, HALF) + build_frame(0x80, b"a"), 1007),
        (build_frame(0x01, HALF) + build_frame(0x00) + build_frame(0x80), 1007),
        (build_frame(0x01, b"\xff"), 1007),  # at once, not when the last frame has come
        # A character in two frames, with a ping between them, and the next message.
        (
            build_frame(0x01, HALF)
            + build_frame(0x89)
            + build_frame(0x80, "ü".encode()[1:]),
            None,
        ),
        (build_frame(0x81, "♞ ½".encode()) * 2, None),
    ],
)
async def test_text_must_be_utf_8(frames: bytes, code: int | None) -> None:
    end = build_frame(0x88, b"\x03\xe8") if code is None else b""
    assert await answer_frames(frames + end) == [code or 1000]


async def test_deflated_text_must_be_utf_8_too() -> None:
    deflate = zlib.compressobj(wbits=-15)
    packed = deflate.compress(b"\xff" * 9) + deflate.flush(zlib.Z_SYNC_FLUSH)
    frame = build_frame(0xC1, packed.removesuffix(b"\0\0\xff\xff"))
    assert await answer_frames(frame, deflated=True) == [1007]


@pytest.mark.parametrize("body", ["Content-Length: 5", "Transfer-Encoding: chunked"])
async def test_who_asks_before_a_body_is_told_at_once_that_none_is_taken(
    publisher: Publisher, body: str
) -> None:
    reader, writer = await asyncio.open_connection(*publisher.address)
    head = "POST /api/v3/games HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
    writer.write(f"{head}{body}\r\n\r\n".encode())
    # Sooner than any deadline for requests.
    async with asyncio.timeout(5):
        assert (await reader.readline()).startswith(b"HTTP/1.1 413 ")
    writer.close()
    await writer.wait_closed()


async def test_who_expects_to_go_on_without_a_body_is_answered(
    publisher: Publisher,
) -> None:
    head = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n\r\n"
    assert (await raw(publisher, head.encode(), ends=True)).startswith(b"HTTP/1.1 200 ")


async def test_unknown_extensions_are_not_taken_and_odd_ones_do_no_harm(
    publisher: Publisher,
) -> None:
    odd = "permessage-deflate; server_max_window_bits=99"
    for offered in (odd, "x-unknown; a=b", "permessage-x"):
        headers = {**GOOD, "Sec-WebSocket-Extensions": offered}
        said = await raw(publisher, handshake(headers), build_frame(0x88), ends=True)
        head, _, _ = said.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 101 ")
        assert b"xtensions" not in head


FRAMES = [
    *[
        (build_frame(first), 1002) for first in (0x91, 0xA1, 0xC1, 0xB1, 0xF1)
    ],  # reserved bits
    *[(build_frame(0x80 | code), 1002) for code in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15)],
    *[
        (build_frame(0x80 | code, b"x", mask=False), 1002) for code in (1, 2, 8, 9, 10)
    ],  # not masked
    *[
        (build_frame(code, b"x"), 1002) for code in (8, 9, 10)
    ],  # fragmented control frames
    *[
        (build_frame(0x80 | code, b"x" * 126, length=b"\x7e\x00\x7e"), 1002)
        for code in (8, 9, 10)
    ],  # long control frames
    (build_frame(0x80, b"x"), 1002),  # a continuation of nothing
    (build_frame(0x00, b"x"), 1002),
    (
        build_frame(0x01, b"a") + build_frame(0x81, b"b"),
        1002,
    ),  # a new message within another
    (build_frame(0x01, b"a") + build_frame(0x82, b"b"), 1002),
    (build_frame(0x88, b"\x03"), 1002),  # half a close code
    *[
        (build_frame(0x88, code.to_bytes(2, "big")), 1002)
        for code in (0, 999, 1005, 2999, 5000)
    ],
    (build_frame(0x88, b"\x03\xe8\xff\xfe"), 1007),  # a reason that is no UTF-8
    (build_frame(0x82, b"\x00"), 1003),
    (build_frame(0x81, b"", length=b"\x7f" + b"\xff" * 8), 1009),
    (build_frame(0x81, b"", length=b"\x7e\x20\x00"), 1009),
    (
        b"".join(
            [build_frame(0x01, b"x" * 100), *[build_frame(0x00, b"x" * 100)] * 50]
        ),
        1009,
    ),
    (build_frame(0x8A) * 50 + build_frame(0x88, b"\x03\xe8"), 1000),  # signs of life
    (build_frame(0x01) + build_frame(0x00) * 100_000, 4100),
    (build_frame(0x88, b"\x03\xe8"), 1000),
    (build_frame(0x88), 1005),
    (build_frame(0x88, b"\x0f\xa0bye"), 4000),
]


@pytest.mark.parametrize(("frames", "code"), FRAMES)
async def test_a_malformed_frame_gets_a_documented_close(
    frames: bytes, code: int
) -> None:
    assert await answer_frames(frames) == [code]


@pytest.mark.parametrize(
    ("frame", "code"),
    [(build_frame(0x88, b"\x03\xe8"), 1000), (build_frame(0x80, b"x"), 1002)],
)
async def test_frames_right_behind_the_handshake_are_heard(
    publisher: Publisher, frame: bytes, code: int
) -> None:
    said = await raw(publisher, handshake(GOOD) + frame)
    assert closes(said.partition(b"\r\n\r\n")[2]) == [code]
    assert not publisher.tally.subscribers
    await goes_on(publisher)


async def test_an_end_in_the_middle_of_a_frame_is_the_end(publisher: Publisher) -> None:
    for at in range(1, 6):
        await raw(publisher, handshake(GOOD), build_frame(0x81, b"hi")[:at], ends=True)
    for at in range(1, len(handshake(GOOD)), 20):
        await raw(publisher, handshake(GOOD)[:at], ends=True)
    await goes_on(publisher)


async def test_a_request_with_two_lengths_is_answered_and_the_connection_closed(
    publisher: Publisher,
) -> None:
    head = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
    two = "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    said = await raw(publisher, f"{head}{two}{head}\r\n".encode())
    assert said.count(b"HTTP/1.1 200 ") == 1
    assert b"connection: close" in said.lower()


class CountedProtocol(ServerProtocol):
    """Counts the bytes that are parsed."""

    def __init__(self) -> None:
        super().__init__(state=State.OPEN, max_size=4096)
        self.parsed = 0

    def receive_data(self, data: bytes | bytearray) -> None:
        self.parsed += len(data)
        super().receive_data(data)


def subscriber_on(
    wire: asyncio.Transport,
    protocol: ServerProtocol,
    tally: MetricCounts | None = None,
    clock: Callable[[], float] = lambda: 0.0,
) -> Subscriber:
    return Subscriber(
        wire,
        clock,
        ClientLimits(),
        lambda gone: None,
        protocol,
        turns=FairTurns(),
        tally=tally or MetricCounts(),
    )


def create_audience(world: World, clock: Callable[[], float] = lambda: 0.0) -> Audience:
    """An audience that sees all of a world."""
    return Audience(
        world,
        epoch="e",
        clock=clock,
        limits=ClientLimits(),
        tally=MetricCounts(),
        describe_delay=lambda visibility: PublicDelay(),
    )


def reader(
    wire: Wire, protocol: ServerProtocol, clock: Callable[[], float] = lambda: 0.0
) -> Subscriber:
    source = create_audience(World(1), clock)
    made = subscriber_on(wire, protocol, clock=clock)
    made.follow(source, EVERYTHING, Guest())
    source.subscribe(made, None)
    return made


@pytest.mark.parametrize(
    "frame", [build_frame(0x8A), build_frame(0x89), build_frame(0x81, b"hi")]
)
async def test_of_a_flood_of_small_frames_little_is_read_in_a_turn_and_in_all(
    frame: bytes,
) -> None:
    wire, protocol = Wire(), CountedProtocol()
    subscriber = reader(wire, protocol)
    flood = frame * (256_000 // len(frame))
    subscriber.data_received(flood)
    assert protocol.parsed <= 256
    assert not wire.reading
    for _ in range(40):
        before = protocol.parsed
        await asyncio.sleep(0)
        assert protocol.parsed - before <= 256
    assert protocol.parsed < 6_000
    assert closes(wire.written) == [4100]
    assert wire.ended
    assert subscriber not in subscriber.stream.readers
    parsed, written = protocol.parsed, wire.written
    subscriber.data_received(flood)
    subscriber.eof_received()
    await asyncio.sleep(0)
    assert (protocol.parsed, wire.written) == (parsed, written)


async def test_a_flood_in_many_pieces_is_not_read_once_it_is_refused() -> None:
    wire = Wire()
    subscriber = reader(wire, CountedProtocol())
    while not wire.ended:
        subscriber.data_received(build_frame(0x89))
    assert not wire.reading


async def test_a_flood_behind_another_goodbye_is_not_read_either() -> None:
    wire, protocol = Wire(), CountedProtocol()
    subscriber = reader(wire, protocol)
    subscriber.close(CloseCode.GOING_AWAY)
    subscriber.data_received(build_frame(0x81, b"hi") * 30_000)
    await turns(40)
    assert protocol.parsed < 6_000
    assert closes(wire.written) == [CloseCode.GOING_AWAY]
    assert wire.ended


async def test_who_answers_pings_and_sends_a_pong_each_second_stays() -> None:
    wire, clock = Wire(), Clock()
    subscriber = reader(wire, CountedProtocol(), clock)
    for second in range(600):
        clock.now_s += 1
        subscriber.data_received(build_frame(0x8A) * (2 if second % 15 == 0 else 1))
        subscriber.enforce_deadlines(clock.now_s)
    assert closes(wire.written) == []
    assert subscriber in subscriber.stream.readers


def test_who_has_gone_is_not_held_by_what_would_read_its_messages() -> None:
    made = subscriber_on(Wire(), CountedProtocol())
    made.on_text = lambda said: made.close(CloseCode.FORBIDDEN)
    made.connection_lost(None)
    assert made.on_text is None


async def test_what_came_in_one_read_is_heard_whole_and_reading_goes_on() -> None:
    wire, protocol = Wire(), CountedProtocol()
    subscriber = reader(wire, protocol)
    subscriber.data_received(build_frame(0x89, b"x" * 100) * 20)
    assert not wire.reading
    subscriber.data_received(build_frame(0x89, b"y"))
    await turns(12)
    assert wire.reading
    assert wire.written.endswith(b"\x8a\x01y")
    assert wire.written.count(b"\x8a\x64") == 20


def stranger(wire: Wire, protocol: ServerProtocol) -> Subscriber:
    """Who still has to say ``right``."""
    source = create_audience(World(1))
    made = subscriber_on(wire, protocol)

    def introduced(message: bytes) -> None:
        if message == b"right":
            made.follow(source, EVERYTHING, Guest())
            source.subscribe(made, None)
        else:
            made.close(CloseCode.FORBIDDEN)

    made.on_text = introduced
    return made


@pytest.mark.parametrize(
    "flood",
    [
        build_frame(0x89, b"x" * 125) * 2_000,
        build_frame(0x8A) * 40_000,
        build_frame(0x01) + build_frame(0x00) * 40_000,
        build_frame(0x01) + build_frame(0x00, b"x" * 125) * 2_000,
    ],
)
async def test_before_a_token_little_is_read_and_answered(flood: bytes) -> None:
    wire, protocol = Wire(), CountedProtocol()
    before = stranger(wire, protocol)
    for _ in range(3):
        before.data_received(flood)
        await turns(40)
    before.eof_received()
    assert protocol.parsed < 9_000
    assert len(wire.written) < 9_000
    assert wire.writes <= 40  # a transport that is lost logs every one
    assert closes(wire.written) in ([4100], [4101], [1009])
    assert wire.ended


async def test_what_came_behind_the_token_is_read() -> None:
    wire = Wire()
    first = (
        build_frame(0x8A)
        + build_frame(0x81, b"right")
        + build_frame(0x89, b"ping") * 50
    )
    stranger(wire, CountedProtocol()).data_received(first)
    assert b'"type":"hello"' in wire.written
    await turns(10)
    assert wire.written.count(b"\x8a\x04ping") == 50


async def test_after_a_fault_of_ours_readers_come_again_and_hold_what_is_true(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    async with Publisher(ServerConfig(port=0), world) as publisher:
        url = live(publisher)
        async with connect(url, max_size=None) as first:
            hello = await first.recv()
            await first.recv()
            proper = StreamHub.publish

            def fail(self: Any, changes: Any) -> None:
                raise KeyError("a fault of ours")

            monkeypatch.setattr(StreamHub, "publish", fail)
            publisher.audiences.publish(world.rerate())
            monkeypatch.setattr(StreamHub, "publish", proper)
            assert (await left_in(first))[1] == 1001, "come back"
        async with connect(url, max_size=None) as again:
            second = await again.recv()
            client_state = ReferenceClient()
            client_state.receive(second)
            client_state.receive(await again.recv())
            assert client_state.snapshot() == snapshot(world)
        assert str(hello)[:200] != str(second)[:200], (
            "an old number must not be taken for a new one"
        )


@pytest.mark.parametrize("joined", [False, True])
async def test_a_fault_while_one_joins_or_catches_up_closes_it_and_writes_no_more(
    monkeypatch: pytest.MonkeyPatch, joined: bool
) -> None:
    wire = Wire()
    made = subscriber_on(wire, CountedProtocol())
    source = create_audience(World(1))
    made.follow(source, EVERYTHING, Guest())
    if joined:
        source.subscribe(made, None)
    before = len(wire.written)

    def fail(self: Any) -> None:
        monkeypatch.undo()
        raise KeyError("a fault of ours")

    monkeypatch.setattr(StreamHub, "flush", fail)
    if joined:
        source.catch_up(made)
    else:
        source.subscribe(made, None)
    goodbye = wire.written[before:]
    assert closes(goodbye) == [1001]
    assert len(goodbye) == 2 + goodbye[1], "a close frame and nothing else"
    assert not made.is_ready


def join(audience: Audience, selected: StreamFilter, *, deflated: bool) -> Wire:
    """Let one more read a stream; what is written to it."""
    wire, protocol = Wire(), CountedProtocol()
    if deflated:
        protocol.extensions = [PerMessageDeflate(True, True, 15, 15)]
    subscriber = subscriber_on(wire, protocol)
    subscriber.follow(audience, selected, Guest())
    audience.subscribe(subscriber, None)
    return wire


async def test_a_change_is_encoded_framed_and_deflated_once_for_all_its_readers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World(1, "g1")
    audience = create_audience(world)
    narrow = StreamFilter(games=frozenset({"g1"}))
    wires = [
        join(audience, selected, deflated=deflated)
        for selected, deflated in product((EVERYTHING, narrow), (True, False) * 3)
    ]
    before = [len(wire.written) for wire in wires]
    calls: Counter[str] = Counter()

    def count(name: str) -> None:
        proper = getattr(wire_format, name)

        def counted(*args: Any) -> object:
            calls[name] += 1
            return proper(*args)

        monkeypatch.setattr(wire_format, name, counted)

    for name in ("encode", "deflate", "build_frame_header"):
        count(name)
    audience.publish(world.move("g1"))
    # Encoded once for both filters, whose numbers differ; framed once in each form.
    assert calls == {"encode": 1, "deflate": 2, "build_frame_header": 4}
    assert all(len(wire.written) > at for wire, at in zip(wires, before, strict=True))


class Packing:
    """Stands for the threads that pack: they do so when they are told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.open: list[tuple[Callable[[], None], asyncio.Future[None]]] = []
        loop = asyncio.get_running_loop()

        def run_in_executor(_: None, work: Callable[[], None]) -> asyncio.Future[None]:
            self.open.append((work, loop.create_future()))
            return self.open[-1][1]

        monkeypatch.setattr(loop, "run_in_executor", run_in_executor)

    async def do(self) -> None:
        """All that is open."""
        for work, done in self.open:
            work()
            done.set_result(None)
        self.open.clear()
        await asyncio.sleep(0)


@pytest.fixture
async def packing(monkeypatch: pytest.MonkeyPatch) -> Packing:
    return Packing(monkeypatch)


class Followed:
    """A large world, and readers of it who take deflated messages."""

    def __init__(self) -> None:
        self.world = World(0, *(f"g{board}" for board in range(40)), plies=30)
        self.clock = Clock()
        self.source = create_audience(self.world, self.clock)

    def join(self) -> tuple[Subscriber, Wire]:
        transport, protocol = Wire(), ServerProtocol(state=State.OPEN)
        protocol.extensions = [PerMessageDeflate(True, True, 15, 15)]
        subscriber = subscriber_on(transport, protocol)
        subscriber.follow(self.source, EVERYTHING, Guest())
        assert subscriber.can_inflate
        self.source.subscribe(subscriber, None)
        return subscriber, transport

    def move(self, game: str) -> None:
        self.source.publish(self.world.move(game))
        self.source.flush()

    def held_by(self, *transports: Wire) -> None:
        """All of these hold what is."""
        for each in transports:
            held = read_all(each)
            assert held.snapshot() == snapshot(self.world)
            assert held.seq == self.source.open_stream(EVERYTHING).seq


def read_all(transport: Wire) -> ReferenceClient:
    """What a client holds that has read all."""
    held = ReferenceClient()
    for message in messages(transport.written, deflated=True):
        held.receive(message)
    return held


async def test_a_long_snapshot_is_packed_elsewhere_once_for_all_who_wait(
    packing: Packing,
) -> None:
    followed = Followed()
    waiting = [followed.join() for _ in range(3)]
    # One leaves, and the others' game goes on.
    followed.source.unsubscribe(waiting[0][0])
    followed.move("g3")
    assert len(packing.open) == 1 and not any(each.written for _, each in waiting)
    await packing.do()
    assert not waiting[0][1].written
    followed.move("g4")
    # Whoever comes now finds it packed.
    followed.held_by(*(each for _, each in waiting[1:]), followed.join()[1])


async def test_who_waits_for_a_snapshot_is_not_given_two(packing: Packing) -> None:
    followed = Followed()
    subscriber, transport = followed.join()
    subscriber.pause_writing()
    subscriber.resume_writing()
    await packing.do()
    assert not packing.open
    followed.move("g1")
    followed.held_by(transport)


async def test_a_reader_that_stalls_is_written_nothing_and_then_all_in_order(
    packing: Packing,
) -> None:
    followed = Followed()
    subscriber, transport = followed.join()
    subscriber.pause_writing()
    await packing.do()
    followed.move("g1")
    assert not transport.written
    subscriber.resume_writing()
    followed.held_by(transport)


async def test_no_long_snapshot_is_packed_on_the_loop_not_even_of_who_comes_meanwhile(
    packing: Packing,
) -> None:
    followed = Followed()
    _, first = followed.join()
    followed.move("g1")
    followed.clock.now_s += 40.0  # that snapshot is no longer given to newcomers
    _, second = followed.join()
    assert len(packing.open) == 2
    await packing.do()
    followed.held_by(first, second)


async def test_a_snapshot_outdated_while_it_was_packed_is_given_anew_as_it_is(
    packing: Packing,
) -> None:
    followed = Followed()
    _, transport = followed.join()
    followed.move("g1")
    followed.clock.now_s += 1000.0
    await packing.do()
    assert not packing.open
    followed.held_by(transport)


async def test_pieces_take_turns_in_order_and_a_failure_stops_none() -> None:
    unheard: list[BaseException] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: unheard.append(context["exception"]))
    turns, done = FairTurns(), list[str]()

    def fail() -> None:
        raise RuntimeError("a fault")

    for work in (lambda: done.append("first"), fail, lambda: done.append("last")):
        turns.add(work)
    seen = []
    for _ in range(4):
        seen.append(len(done))
        await asyncio.sleep(0)
    assert (seen, done) == ([0, 1, 1, 2], ["first", "last"])
    assert [str(error) for error in unheard] == ["a fault"]


HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\n"


class Host:
    """Has room for everybody, and is asked for nothing."""

    def add_connection(self, connection: HttpConnection) -> bool:
        return True

    def remove_connection(self, connection: asyncio.Protocol) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"asked for {name}")


def connect_wire(wire: Wire) -> HttpConnection:
    made = HttpConnection(cast(Any, Host()), FairTurns(), lambda: 0.0, ClientLimits())
    made.connection_made(wire)
    return made


async def test_a_body_is_refused_at_its_first_byte_and_read_no_further() -> None:
    wire = Wire()
    connection = connect_wire(wire)
    connection.data_received(HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
    await asyncio.sleep(0)
    assert wire.written.startswith(b"HTTP/1.1 413 ")
    assert wire.ended
    before = len(wire.written)
    connection.data_received(b"1\r\na\r\n" * 1000)
    await asyncio.sleep(0)
    assert len(wire.written) == before
    assert wire.reading
    for _ in range(5):
        connection.data_received(b"1\r\na\r\n" * 40_000)
    assert not wire.reading


async def test_a_socket_lost_while_its_last_answer_is_written_is_let_go() -> None:
    wire = Wire(lost=True)
    connection = connect_wire(wire)
    connection.enforce_deadlines(1000.0)
    assert wire.written.startswith(b"HTTP/1.1 408 ")
    assert wire.aborted
