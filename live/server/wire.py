"""Bytes on the wire: JSON bodies, message numbers, websocket frames, close codes. Pure.

A change is encoded once. Numbering it for a stream splices ``"seq":N`` in front of its
first field, and framing adds the header of an unmasked text frame (RFC 6455, section
5.2). The result is the same for every subscriber of the stream, and so is its deflated
form (RFC 7692) for those who take it: each message is deflated by itself, with nothing
kept from the one before.
"""

import enum
import logging
import zlib
from collections.abc import Iterator
from functools import cache

import msgspec
from msgspec.structs import astuple, fields

PROTOCOL = 3
"""Version of messages and answers: in ``hello``, and in the addresses of both."""


LIVE_PATH = f"/v{PROTOCOL}/live"
API_PATH = f"/api/v{PROTOCOL}"
#: Logger for the websockets library, which logs each frame at level debug. Frames may
#: hold tokens, so this logger stays silent.
FRAMES_LOG = logging.getLogger("live.server.frames")


FRAMES_LOG.setLevel(logging.INFO)


_encoder = msgspec.json.Encoder()
_FIN = 0x80
_RSV1 = 0x40
_TEXT = 0x1
_PING = 0x9
#: What every deflated message ends with, and so does not carry (RFC 7692, section
#: 7.2.1).
_TAIL = b"\x00\x00\xff\xff"
#: Compression levels: for messages, and for long ones, which are deflated beside the
#: event loop. The second saves a quarter of a snapshot of 56 games and takes four times
#: the time.
_LEVEL = 3
_LONG_LEVEL = 8
#: Longer messages take more than about a millisecond to deflate.
LONG_BYTES = 64_000
#: Shorter messages go as they are: that is allowed at any time, and deflating them
#: saves little.
_WORTH_BYTES = 300


class CloseCode(enum.IntEnum):
    """Why a connection ends. From 4100 on: do not come back without a change; below:
    come back.

    Codes under 4000 are RFC 6455's (section 7.4.1); 4000 to 4999 are ours to define.
    """

    GOING_AWAY = 1001
    """The service stops or restarts: come back after a while."""
    TEXT_ONLY = 1003
    """Binary messages are refused: do not come back before that is changed."""
    NOT_UTF8 = 1007
    """A text message is not UTF-8: do not come back before that is changed."""
    TRY_LATER = 1013
    """Too many different filters are in use: come back."""
    SLOW = 4001
    """The client did not read fast enough, not even a snapshot: come back."""
    SILENT = 4002
    """No pong in time: come back."""
    TOO_MUCH = 4100
    """The client sends more than a subscriber may: do not come back."""
    FORBIDDEN = 4101
    """The token is missing, wrong or expired: do not come back."""
    OUTDATED = 4102
    """The client speaks a former protocol: do not come back."""


def encode(message: object) -> bytes:
    """Encode a message as JSON without its number: ``{"type":"…",…}``."""
    return _encoder.encode(message)


def number(body: bytes, seq: int) -> bytes:
    """Add the number to an encoded message: ``{"seq":N,"type":"…",…}``."""
    return b'{"seq":%d,%b' % (seq, body[1:])


def deflate(payload: bytes) -> bytes | None:
    """Deflate a message for permessage-deflate without context takeover (RFC 7692,
    section 7.2.1).

    Return None where that is not worth it.
    """
    if len(payload) < _WORTH_BYTES:
        return None
    level = _LEVEL if len(payload) <= LONG_BYTES else _LONG_LEVEL
    packer = zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = packer.compress(payload) + packer.flush(zlib.Z_SYNC_FLUSH)
    return packed.removesuffix(_TAIL)


def frame(payload: bytes) -> bytes:
    """Build one unfragmented, unmasked text frame."""
    return next(split_frames(payload, len(payload) or 1))


def split_frames(
    payload: bytes, size: int, *, deflated: bool = False
) -> Iterator[bytes]:
    """Yield a message as frames of at most ``size`` payload bytes (RFC 6455, section
    5.4).

    Each is made when it is asked for. Pongs and a close frame may stand between them,
    so a client that stalls in the middle of a snapshot can still be sent the reason of
    its end.
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
    """Build the frame header before ``length`` bytes of payload (RFC 6455, section
    5.2).
    """
    if length < 126:
        return bytes((first, length))
    if length < 65536:
        return bytes((first, 126)) + length.to_bytes(2, "big")
    return bytes((first, 127)) + length.to_bytes(8, "big")


#: Asks whether a client is there.
PING = bytes((_FIN | _PING, 0))


def encode_with_defaults(value: object) -> bytes:
    """Encode a value as JSON with every field, also those at their default.

    Answers over HTTP and files carry them, so that a program finds each field that is
    documented.
    """
    return encode(_add_defaults(value))


#: Types that are written as they are; looked up by type, because an answer holds
#: thousands of such values.
_PLAIN = frozenset({str, int, float, bool, type(None)})


def _add_defaults(value: object) -> object:
    match value:
        case msgspec.Struct():
            found = dict(zip(value.__struct_fields__, astuple(value), strict=True))
            for name, held in found.items():
                if type(held) not in _PLAIN:
                    found[name] = _add_defaults(held)
            tag = value.__struct_config__.tag
            return found if tag is None else {"type": tag, **found}
        case tuple() | list():
            return [
                each if type(each) in _PLAIN else _add_defaults(each) for each in value
            ]
        case dict():
            return {name: _add_defaults(each) for name, each in value.items()}
        case _:
            return value


@cache
def list_defaults(kind: type[msgspec.Struct]) -> dict[str, object]:
    """Return the value of each field that messages leave out, by name."""
    return {field.name: field.default for field in fields(kind) if not field.required}
