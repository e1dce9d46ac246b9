"""Frames, as the websockets library reads them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.client import ClientProtocol
from websockets.extensions.permessage_deflate import PerMessageDeflate
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.uri import parse_uri

from live.events import GoneMessage, HeartbeatMessage
from live.publish import wire


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


def test_the_number_stands_first_and_the_rest_unchanged() -> None:
    assert wire.number(wire.encode(GoneMessage("g")), 7) == b'{"seq":7,"type":"gone","game":"g"}'
    assert json.loads(wire.number(wire.encode(HeartbeatMessage()), 12)) == {
        "seq": 12,
        "type": "heartbeat",
    }


def test_close_codes_say_whether_to_come_back() -> None:
    for code in wire.CloseCode:
        assert code == 1001 or 4000 <= code < 4200
    assert wire.CloseCode.SLOW < 4100 <= wire.CloseCode.TOO_MUCH
    assert wire.CloseCode.PROTOCOL.value == 4102


def deflating() -> ClientProtocol:
    """A client that has agreed to permessage-deflate with nothing kept between messages."""
    client = ClientProtocol(parse_uri("ws://localhost/"), state=State.OPEN)
    client.extensions = [PerMessageDeflate(True, True, 15, 15)]
    return client


@given(texts=st.lists(st.text(max_size=200).map(lambda text: text * 20), max_size=4))
def test_deflated_messages_are_read_back_in_any_order_with_plain_ones(texts: list[str]) -> None:
    client = deflating()
    for text in texts:
        payload = text.encode()
        packed = wire.deflate(payload)
        assert packed is None or len(payload) >= 300
        for frame in wire.fragments(
            payload if packed is None else packed, 97, deflated=bool(packed)
        ):
            client.receive_data(frame)
    assert client.parser_exc is None
    heard, message = [], b""
    for event in client.events_received():
        assert isinstance(event, Frame)
        message += bytes(event.data)
        if event.fin:
            heard.append(message.decode())
            message = b""
    assert heard == texts
