"""Answers that take a while: files that something beside the loop makes. Shell.

Whoever asks for what is being made already waits for that; what was made is kept for a few seconds.

Answers by gzip, packed once for all who are sent the same.
"""

from __future__ import annotations

import asyncio
import gzip
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Final, Generic, TypeVar

#: What was made is given again for so long, seconds.
KEPT_S: Final = 5.0
#: So many different files are made or kept at once.
MOST: Final = 16

Made = TypeVar("Made")


class TooMuchAtOnce(Exception):
    """More is being made already than is good for the others."""


class SharedMaking(Generic[Made]):
    """Makes each file once for all who ask at the same time."""

    def __init__(
        self, clock: Callable[[], float], *, kept_s: float = KEPT_S, most: int = MOST
    ) -> None:
        self._clock = clock
        self._kept_s, self._most = kept_s, most
        self._made: dict[Hashable, tuple[float, asyncio.Task[Made]]] = {}

    async def get(self, key: Hashable, make: Callable[[], Awaitable[Made]]) -> Made:
        """What ``make`` makes, or made lately.

        Raises:
            TooMuchAtOnce: so many others are being made.
            Exception: what ``make`` raises.
        """
        now_s = self._clock()
        for old, (at_s, task) in list(self._made.items()):
            if task.done() and not 0 <= now_s - at_s < self._kept_s:
                del self._made[old]
        if key not in self._made:
            while len(self._made) >= self._most:
                done = next((old for old, (_, task) in self._made.items() if task.done()), None)
                if done is None:
                    raise TooMuchAtOnce
                del self._made[done]
            made = asyncio.ensure_future(_awaited(make))
            # Looked at even where nobody waits any more, so that asyncio does not complain.
            made.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._made[key] = now_s, made
        # Who goes away leaves the others waiting for it.
        return await asyncio.shield(self._made[key][1])


async def _awaited(make: Callable[[], Awaitable[Made]]) -> Made:
    return await make()


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
