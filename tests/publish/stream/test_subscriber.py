"""Malformed frames and handshakes of every kind: documented closes, and the service goes on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from websockets.asyncio.client import connect
from websockets.client import ClientProtocol
from websockets.frames import Close, Frame, Opcode
from websockets.protocol import State
from websockets.uri import parse_uri

from live.config import ServerConfig
from live.publish.server import Publisher
from tests.publish.world import World

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
    async with Publisher(ServerConfig(port=0), World(1)) as made:
        yield made


def handshake(headers: dict[str, str], line: str = "GET /v1/live HTTP/1.1") -> bytes:
    told = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"{line}\r\n{told}\r\n".encode("latin-1")


def masked(first: int, payload: bytes = b"", *, mask: bool = True, length: bytes = b"") -> bytes:
    """A client's frame; ``length`` overrides how the size is told."""
    size = length or bytes([len(payload)])
    flag = 0x80 if mask else 0
    return bytes([first, size[0] | flag]) + size[1:] + (b"\0\0\0\0" if mask else b"") + payload


async def answer(publisher: Publisher, *chunks: bytes, end: bool = False) -> bytes:
    """Everything the server says until it ends the connection."""
    reader, writer = await asyncio.open_connection(*publisher.address)
    for chunk in chunks:
        writer.write(chunk)
    if end:
        writer.write_eof()
    try:
        async with asyncio.timeout(20):
            return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.transport.abort()


def close_of(said: bytes) -> int | None:
    """The code of the close frame after a handshake's response."""
    _, _, frames = said.partition(b"\r\n\r\n")
    client = ClientProtocol(parse_uri("ws://localhost/"), state=State.OPEN)
    client.receive_data(frames)
    for event in client.events_received():
        if isinstance(event, Frame) and event.opcode is Opcode.CLOSE:
            return Close.parse(event.data).code
    return None


async def goes_on(publisher: Publisher) -> None:
    host, port = publisher.address
    async with connect(f"ws://{host}:{port}/v1/live") as ws:
        assert json.loads(await ws.recv())["type"] == "hello"


HANDSHAKES = [
    ({**GOOD, "Upgrade": ""}, 400),
    ({**GOOD, "Upgrade": "h2c"}, 426),
    ({**GOOD, "Upgrade": "websocket, h2c"}, 426),
    ({k: v for k, v in GOOD.items() if k != "Upgrade"}, 426),
    ({**GOOD, "Connection": "keep-alive"}, 426),
    ({k: v for k, v in GOOD.items() if k != "Connection"}, 426),
    ({k: v for k, v in GOOD.items() if k != "Sec-WebSocket-Key"}, 400),
    ({**GOOD, "Sec-WebSocket-Key": "short"}, 400),
    ({**GOOD, "Sec-WebSocket-Key": "\xff" * 24}, 400),
    ({**GOOD, "Sec-WebSocket-Key": "QUJD"}, 400),
    ({k: v for k, v in GOOD.items() if k != "Sec-WebSocket-Version"}, 400),
    ({**GOOD, "Sec-WebSocket-Version": "8"}, 400),
    ({**GOOD, "Sec-WebSocket-Version": "thirteen"}, 400),
    ({**GOOD, "Host": "evil.example"}, 421),
    ({**GOOD, "Origin": "http://evil.example"}, 403),
    ({**GOOD, "Origin": "\xff"}, 403),
    ({**GOOD, "Origin": "http://[::1"}, 403),
    ({**GOOD, "Upgrade": "\x80,,,"}, 400),
    ({**GOOD, "Connection": ",,,;"}, 400),
]


@pytest.mark.parametrize(("headers", "status"), HANDSHAKES)
async def test_a_malformed_handshake_is_refused(
    publisher: Publisher, headers: dict[str, str], status: int
) -> None:
    said = await answer(publisher, handshake({**headers}), end=True)
    assert said.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"Traceback" not in said
    assert not len(publisher.broadcaster)
    await goes_on(publisher)


async def test_unknown_extensions_are_not_taken_and_odd_ones_do_no_harm(
    publisher: Publisher,
) -> None:
    odd = "permessage-deflate; server_max_window_bits=99"
    for offered in (odd, "x-unknown; a=b", "permessage-x"):
        headers = {**GOOD, "Sec-WebSocket-Extensions": offered}
        said = await answer(publisher, handshake(headers), masked(0x88), end=True)
        head, _, _ = said.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 101 ")
        assert b"xtensions" not in head


FRAMES = [
    *[(masked(first), 1002) for first in (0x91, 0xA1, 0xC1, 0xB1, 0xF1)],  # reserved bits
    *[(masked(0x80 | code), 1002) for code in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15)],
    *[(masked(0x80 | code, b"x", mask=False), 1002) for code in (1, 2, 8, 9, 10)],  # not masked
    *[(masked(code, b"x"), 1002) for code in (8, 9, 10)],  # fragmented control frames
    *[
        (masked(0x80 | code, b"x" * 126, length=b"\x7e\x00\x7e"), 1002) for code in (8, 9, 10)
    ],  # long control frames
    (masked(0x80, b"x"), 1002),  # a continuation of nothing
    (masked(0x00, b"x"), 1002),
    (masked(0x01, b"a") + masked(0x81, b"b"), 1002),  # a new message within another
    (masked(0x01, b"a") + masked(0x82, b"b"), 1002),
    (masked(0x88, b"\x03"), 1002),  # half a close code
    *[
        (masked(0x88, code.to_bytes(2, "big")), 1002)
        for code in (0, 1, 999, 1004, 1005, 1006, 1015, 2999, 5000, 65535)
    ],
    (masked(0x88, b"\x03\xe8\xff\xfe"), 1007),  # a reason that is no UTF-8
    (masked(0x82, b"\x00"), 1003),
    (masked(0x81, b"", length=b"\x7f" + (1 << 40).to_bytes(8, "big")), 1009),
    (masked(0x81, b"", length=b"\x7f" + b"\xff" * 8), 1009),
    (masked(0x81, b"", length=b"\x7e\x20\x00"), 1009),
    (b"".join([masked(0x01, b"x" * 100), *[masked(0x00, b"x" * 100)] * 50]), 1009),
    (masked(0x89) * 100, 4100),
    (masked(0x8A) * 700, 4100),
    (masked(0x8A) * 500 + masked(0x88, b"\x03\xe8"), 1000),  # signs of life
    (masked(0x81, b"\xff"), 1007),  # text that is no UTF-8
    (masked(0x01, b"\xc3") + masked(0x80, b"("), 1007),
    (masked(0x01, b"\xc3") + masked(0x80, b"\xa4") + masked(0x88, b"\x03\xe8"), 1000),
    (masked(0x81, b"hi") * 100, 4100),
    (masked(0x81) * 100_000, 4100),
    (masked(0x01) + masked(0x00) * 100_000, 4100),
    (masked(0x88, b"\x03\xe8"), 1000),
    (masked(0x88), 1005),
    (masked(0x88, b"\x0f\xa0bye"), 4000),
]


@pytest.mark.slow
@pytest.mark.parametrize(("frames", "code"), FRAMES)
async def test_a_malformed_frame_gets_a_documented_close(
    publisher: Publisher, frames: bytes, code: int
) -> None:
    said = await answer(publisher, handshake(GOOD), frames)
    assert close_of(said) == code
    assert not len(publisher.broadcaster)
    await goes_on(publisher)


async def test_frames_right_behind_the_handshake_are_heard(publisher: Publisher) -> None:
    said = await answer(publisher, handshake(GOOD) + masked(0x88, b"\x03\xe8"))
    assert close_of(said) == 1000


async def test_an_end_in_the_middle_of_a_frame_is_the_end(publisher: Publisher) -> None:
    for at in range(1, 6):
        await answer(publisher, handshake(GOOD), masked(0x81, b"hi")[:at], end=True)
    for at in range(1, len(handshake(GOOD)), 20):
        await answer(publisher, handshake(GOOD)[:at], end=True)
    await goes_on(publisher)


@pytest.mark.slow
@settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    prefix=st.sampled_from([b"", handshake(GOOD)]),
    noise=st.lists(
        st.one_of(
            st.binary(min_size=1, max_size=300),
            st.builds(masked, st.integers(0, 255), st.binary(max_size=125), mask=st.booleans()),
        ),
        max_size=8,
    ),
)
def test_no_noise_stops_the_service(prefix: bytes, noise: list[bytes]) -> None:
    problems: list[object] = []

    async def run() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: problems.append(context))
        async with Publisher(ServerConfig(port=0), World(1)) as publisher:
            await answer(publisher, prefix, *noise, end=True)
            await goes_on(publisher)

    asyncio.run(run())
    assert not problems


async def test_a_request_with_two_lengths_is_answered_and_the_connection_closed(
    publisher: Publisher,
) -> None:
    head = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
    two = "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    said = await answer(publisher, f"{head}{two}{head}\r\n".encode())
    assert said.count(b"HTTP/1.1 200 ") == 1
    assert b"connection: close" in said.lower()
