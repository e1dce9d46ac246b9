"""Pictures as the browser gives them: PNG with eight bits of red, green, blue and alpha."""

from __future__ import annotations

import struct
import zlib
from typing import NamedTuple

SIGNATURE = b"\x89PNG\r\n\x1a\n"


class Pixels(NamedTuple):
    width: int
    height: int
    channels: int
    rows: tuple[bytes, ...]

    def at(self, x: int, y: int) -> tuple[int, ...]:
        """Red, green, blue, alpha; 255 where the picture has no alpha."""
        found = tuple(self.rows[y][x * self.channels : (x + 1) * self.channels])
        return found if self.channels == 4 else (*found, 255)


def decode(png: bytes) -> Pixels:
    """ISO/IEC 15948, colour types 2 and 6, not interlaced."""
    assert png.startswith(SIGNATURE)
    at, packed, header = len(SIGNATURE), b"", b""
    while at < len(png):
        (length,) = struct.unpack_from(">I", png, at)
        kind, body = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            header = body
        elif kind == b"IDAT":
            packed += body
        at += 12 + length
    width, height, depth, color, _, _, interlaced = struct.unpack(">IIBBBBB", header)
    assert (depth, interlaced) == (8, 0)
    channels = {2: 3, 6: 4}[color]
    raw = zlib.decompress(packed)
    stride = width * channels
    rows: list[bytes] = []
    above = bytes(stride)
    for y in range(height):
        start = y * (stride + 1)
        above = _unfilter(
            raw[start], bytearray(raw[start + 1 : start + 1 + stride]), above, channels
        )
        rows.append(above)
    return Pixels(width, height, channels, tuple(rows))


def _unfilter(kind: int, row: bytearray, above: bytes, back: int) -> bytes:
    """One row, told as differences from its neighbours (section 9)."""
    if kind == 2:
        return bytes((a + b) & 255 for a, b in zip(row, above, strict=True))
    for x in range(len(row) if kind else 0):
        left = row[x - back] if x >= back else 0
        corner = above[x - back] if x >= back else 0
        if kind == 1:
            row[x] = (row[x] + left) & 255
        elif kind == 3:
            row[x] = (row[x] + (left + above[x]) // 2) & 255
        else:
            guess = left + above[x] - corner
            _, _, best = min(
                (abs(guess - left), 0, left),
                (abs(guess - above[x]), 1, above[x]),
                (abs(guess - corner), 2, corner),
            )
            row[x] = (row[x] + best) & 255
    return bytes(row)
