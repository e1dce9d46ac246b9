"""Answers by gzip, packed once for all who are sent the same."""

from __future__ import annotations

import gzip
from collections import OrderedDict

#: So much is kept.
_PACKED_BYTES = 8_000_000


class PackedBodies:
    """Bodies by gzip, those used last, up to so many bytes: packing one holds up everybody."""

    def __init__(self, most_bytes: int = _PACKED_BYTES) -> None:
        self._most_bytes = most_bytes
        self._packed: OrderedDict[str, bytes] = OrderedDict()
        self._bytes = 0

    def packed(self, tag: str, body: bytes) -> bytes:
        """``body`` packed; ``tag`` is its digest."""
        if (found := self._packed.get(tag)) is not None:
            self._packed.move_to_end(tag)
            return found
        made = gzip.compress(body, compresslevel=1, mtime=0)
        self._packed[tag] = made
        self._bytes += len(made)
        while self._bytes > self._most_bytes:
            self._bytes -= len(self._packed.popitem(last=False)[1])
        return made
