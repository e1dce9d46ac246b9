"""Long work on the event loop in slices, so that other tasks can run in between."""

import asyncio
import time
from collections.abc import Generator
from typing import TypeVar

from live.process.clock import Clock, ReadClock

#: Longest time of uninterrupted work on the event loop, seconds.
SLICE_S = 0.005
#: Number of pieces of work after which a source yields, however short they were.
SLICE_PIECES = 64
#: Rest after work for a source that sends without pause, as a multiple of the time
#: worked: the source gets at most a quarter of the time of the event loop.
REST_FACTOR = 3.0

Result = TypeVar("Result")


def run_without_pause(pieces: Generator[None, None, Result]) -> Result:
    """Do all pieces of some work without a pause; return its result."""
    while True:
        try:
            next(pieces)
        except StopIteration as end:
            result: Result = end.value
            return result


class LoopSlices:
    """Work on the event loop that yields to other tasks when a slice of time is used
    up.
    """

    def __init__(self, clock: ReadClock = time.monotonic) -> None:
        """Create with a ``clock`` that never goes back."""
        self._clock = clock
        self._end_s = 0.0

    async def yield_if_due(self) -> None:
        """Let other tasks run if this slice of time is used up."""
        if self._clock() > self._end_s:
            await asyncio.sleep(0)
            self._end_s = self._clock() + SLICE_S

    async def run(self, pieces: Generator[None, None, Result]) -> Result:
        """Do all pieces of some work, yielding in between; return its result."""
        while True:
            try:
                next(pieces)
            except StopIteration as end:
                result: Result = end.value
                return result
            # The clock is checked here too: most pieces take microseconds, and the call
            # of a coroutine for each of them would take as long again.
            if self._clock() > self._end_s:
                await self.yield_if_due()


class LoopShare:
    """Limit on the share of the event loop used by a source that sends without pause.

    Reading from a stream with unread bytes never lets another task run. So work is done
    in pieces, and after each slice there is a rest of ``REST_FACTOR`` times its
    length. A source that behaves normally hardly ever reaches the limit.
    """

    def __init__(self, clock: Clock) -> None:
        """Create with the ``clock`` that measures the work and the rests."""
        self._clock = clock
        self._worked_s = 0.0
        self._pieces = 0

    async def run(self, pieces: Generator[None, None, Result]) -> Result:
        """Do all pieces of some work, with rests in between; return its result."""
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
                await self._rest_if_due()

    async def _rest_if_due(self) -> None:
        if self._worked_s < SLICE_S and self._pieces < SLICE_PIECES:
            return
        rest_s = self._worked_s * REST_FACTOR
        self._worked_s = 0.0
        self._pieces = 0
        await self._clock.sleep(rest_s)
