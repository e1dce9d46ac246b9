"""Time as the sources use it, so that tests can drive it."""

import asyncio
import time
from collections.abc import Callable, Generator
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeVar

ReadClock = Callable[[], float]
"""What a clock shows now, in seconds."""

Result = TypeVar("Result")


class Clock(Protocol):
    """Monotonic seconds, pauses and deadlines."""

    def now(self) -> float:
        """Seconds since some fixed moment; never goes back."""

    async def sleep(self, seconds: float) -> None:
        """Pause: between polls, before a reconnect, until the next move of a replay."""

    def deadline(self, seconds: float | None) -> AbstractAsyncContextManager[object]:
        """Raise ``TimeoutError`` from the block if it lasts longer; None waits for ever."""


class LoopClock:
    """The real clock of the running event loop."""

    def now(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def deadline(self, seconds: float | None) -> AbstractAsyncContextManager[object]:
        return asyncio.timeout(seconds)


LOOP_CLOCK = LoopClock()
"""It holds nothing, so one is enough for all."""


#: A turn of the loop that one source may take, seconds: ten of them are not seen on a screen.
TURN_S = 0.005
#: Pieces of work after which others have their turn all the same, however short they were.
TURN_PIECES = 64


class LoopShare:
    """Gives a source that speaks without pause a share of the loop, and no more.

    Where bytes are waiting to be read, reading them gives nobody else a turn. So work is done in
    pieces, and once a turn is used up it rests for as long as the share demands. A source that
    speaks as it should hardly comes to that.
    """

    def __init__(self, clock: Clock, share: float = 0.25) -> None:
        """``share``: of the loop's time, above 0 and at most 1."""
        self._clock = clock
        self._rest = 1.0 / share - 1.0
        self._worked_s = 0.0
        self._pieces = 0

    async def run(self, pieces: Generator[None, None, Result]) -> Result:
        """Do all pieces of a work, others in between; returns what it returns."""
        while True:
            began_s = self._clock.now()
            try:
                next(pieces)
            except StopIteration as end:
                result: Result = end.value
                return result
            finally:
                self._worked_s += self._clock.now() - began_s
                self._pieces += 1
                await self._give_way()

    async def _give_way(self) -> None:
        """Let others have their turn, if this one is used up."""
        if self._worked_s < TURN_S and self._pieces < TURN_PIECES:
            return
        rest_s = self._worked_s * self._rest
        self._worked_s = 0.0
        self._pieces = 0
        await self._clock.sleep(rest_s)
