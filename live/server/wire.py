"""Encoding of messages: JSON, message numbers, websocket frames, close codes. Pure.

A change is encoded only once. For each stream ``"seq":N`` is inserted before its first
field, and the header of an unmasked text frame is added (RFC 6455, section 5.2). The
result is the same for every subscriber of the stream. So is its deflated form (RFC
7692), since each message is deflated independently of the messages before it.
"""

import enum
import logging
import zlib
from collections.abc import Iterator
from functools import cache

import msgspec
from msgspec.structs import astuple, fields

PROTOCOL = 3
"""Version of the messages and of the JSON interface. It is in ``hello`` and in paths.
"""


LIVE_PATH = f"/v{PROTOCOL}/live"
API_PATH = f"/api/v{PROTOCOL}"
#: Logger for the websockets library, which logs each frame at level debug. Frames can
#: contain tokens, so this logger must not be set to that level.
FRAMES_LOG = logging.getLogger("live.server.frames")


FRAMES_LOG.setLevel(logging.INFO)


_encoder = msgspec.json.Encoder()
_FIN = 0x80
_RSV1 = 0x40
_TEXT = 0x1
_PING = 0x9
#: The last bytes of every deflated message, which are not sent (RFC 7692, section
#: 7.2.1).
_TAIL = b"\x00\x00\xff\xff"
#: Compression levels for ordinary messages and for long ones, which are deflated in
#: another thread. For a snapshot of 56 games, the second level gives a quarter less
#: data and takes four times as long.
_LEVEL = 3
_LONG_LEVEL = 8
#: Size above which deflating a message takes more than about a millisecond, bytes.
LONG_BYTES = 64_000
#: Minimum size of a message that is deflated, bytes. For shorter messages it saves
#: little.
_WORTH_BYTES = 300


class CloseCode(enum.IntEnum):
    """The reasons for which the service closes a websocket.

    After 1003, 1007, 1009 and all codes from 4100 on, a client must not reconnect
    unchanged. Codes below 4000 are those of RFC 6455 (section 7.4.1); codes from 4000
    to 4999 are for private use.
    """

    GOING_AWAY = 1001
    """The service stops or restarts; the client should reconnect later."""
    TEXT_ONLY = 1003
    """The client sent a binary message; it must not reconnect unchanged."""
    NOT_UTF8 = 1007
    """The client sent text that is not UTF-8; it must not reconnect unchanged."""
    TOO_BIG = 1009
    """The client sent a message that is too long; it must not reconnect unchanged. The
    websockets library closes with this code by itself.
    """
    TRY_LATER = 1013
    """Too many different filters are in use; the client should reconnect later."""
    SLOW = 4001
    """The client did not read fast enough; it should reconnect."""
    SILENT = 4002
    """The client did not answer a ping in time; it should reconnect."""
    TOO_MUCH = 4100
    """The client sent too many messages; it must not reconnect unchanged."""
    FORBIDDEN = 4101
    """The token is missing, wrong, withdrawn or expired; the client must not reconnect
    unchanged.
    """
    OUTDATED = 4102
    """The client uses an earlier version of the protocol; it must not reconnect
    unchanged.
    """


def encode(message: object) -> bytes:
    """Return a message as JSON without its number: ``{"type":"…",…}``."""
    return _encoder.encode(message)


def number(body: bytes, seq: int) -> bytes:
    """Return an encoded message with its number: ``{"seq":N,"type":"…",…}``."""
    return b'{"seq":%d,%b' % (seq, body[1:])


def deflate(payload: bytes) -> bytes | None:
    """Return a message deflated for permessage-deflate without context takeover.

    Return None for a message that is too short. See RFC 7692, section 7.2.1.
    """
    if len(payload) < _WORTH_BYTES:
        return None
    level = _LEVEL if len(payload) <= LONG_BYTES else _LONG_LEVEL
    packer = zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = packer.compress(payload) + packer.flush(zlib.Z_SYNC_FLUSH)
    return packed.removesuffix(_TAIL)


def frame(payload: bytes) -> bytes:
    """Return a message as a single unmasked text frame."""
    return next(split_frames(payload, len(payload) or 1))


def split_frames(
    payload: bytes, size: int, *, deflated: bool = False
) -> Iterator[bytes]:
    """Yield a message as frames with at most ``size`` bytes of payload each.

    Each frame is built only when it is needed. Pongs and a close frame can be sent
    between them (RFC 6455, section 5.4). So a client that stops reading in the middle
    of a snapshot can still be sent the reason for closing it.
    """
    first = _TEXT | (_RSV1 if deflated else 0)
    for at in range(0, len(payload) or 1, size):
        piece = payload[at : at + size]
        last = at + size >= len(payload)
        yield (
            build_frame_header(len(piece), (0 if at else first) | (_FIN if last else 0))
            + piece
        )


def build_frame_header(length: int, first: int) -> bytes:
    """Return the header of a frame with ``length`` bytes of payload.

    ``first`` is the first byte of the header (RFC 6455, section 5.2).
    """
    if length < 126:
        return bytes((first, length))
    if length < 65536:
        return bytes((first, 126)) + length.to_bytes(2, "big")
    return bytes((first, 127)) + length.to_bytes(8, "big")


#: A ping frame, which checks whether a client still answers.
PING = bytes((_FIN | _PING, 0))


def encode_with_defaults(value: object) -> bytes:
    """Return a value as JSON with all fields, including those with default values.

    HTTP answers and files contain all fields, so that programs find every documented
    field.
    """
    return encode(_add_defaults(value))


#: Types whose values need no conversion. They are looked up in a set, since an answer
#: contains thousands of such values.
_PLAIN = frozenset({str, int, float, bool, type(None)})


def _add_defaults(value: object) -> object:
    match value:
        case msgspec.Struct():
            values = dict(zip(value.__struct_fields__, astuple(value), strict=True))
            for name, field_value in values.items():
                if type(field_value) not in _PLAIN:
                    values[name] = _add_defaults(field_value)
            tag = value.__struct_config__.tag
            return values if tag is None else {"type": tag, **values}
        case tuple() | list():
            return [
                item if type(item) in _PLAIN else _add_defaults(item) for item in value
            ]
        case dict():
            return {name: _add_defaults(item) for name, item in value.items()}
        case _:
            return value


@cache
def list_defaults(kind: type[msgspec.Struct]) -> dict[str, object]:
    """Return the default of each field that messages can leave out, by field name."""
    return {field.name: field.default for field in fields(kind) if not field.required}
