"""Long work on the event loop in slices, so that other tasks have a turn in between."""

import asyncio
import time
from collections.abc import Generator
from typing import TypeVar

from live.process.clock import Clock, ReadClock

#: Longest the loop is kept from other work at a time, seconds.
SLICE_S = 0.005
#: Pieces of work after which a source yields, however short they were.
SLICE_PIECES = 64

Result = TypeVar("Result")


def run_at_once(pieces: Generator[None, None, Result]) -> Result:
    """Do all pieces of a work without a pause; return what it returns."""
    while True:
        try:
            next(pieces)
        except StopIteration as end:
            result: Result = end.value
            return result


class LoopSlices:
    """Yields to other tasks when a slice of time is used up."""

    def __init__(self, clock: ReadClock = time.monotonic) -> None:
        """``clock`` never goes back."""
        self._clock = clock
        self._end_s = 0.0

    async def yield_if_due(self) -> None:
        """Let other tasks have a turn if this slice is used up."""
        if self._clock() > self._end_s:
            await asyncio.sleep(0)
            self._end_s = self._clock() + SLICE_S

    async def run(self, pieces: Generator[None, None, Result]) -> Result:
        """Do all pieces of a work; return what it returns."""
        while True:
            try:
                next(pieces)
            except StopIteration as end:
                result: Result = end.value
                return result
            # Most pieces take microseconds: a coroutine for each would cost as much.
            if self._clock() > self._end_s:
                await self.yield_if_due()


class LoopShare:
    """Gives a source that sends without pause a share of the loop, and no more.

    While bytes wait to be read, reading them gives no other task a turn. So work is
    done in pieces, and after each slice it rests as long as the share demands. A source
    that sends as it should hardly comes to that.
    """

    def __init__(self, clock: Clock, share: float = 0.25) -> None:
        """``share``: of the loop's time, above 0 and at most 1."""
        self._clock = clock
        self._rest = 1.0 / share - 1.0
        self._worked_s = 0.0
        self._pieces = 0

    async def run(self, pieces: Generator[None, None, Result]) -> Result:
        """Do all pieces of a work, with rests in between; return what it returns."""
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
        rest_s = self._worked_s * self._rest
        self._worked_s = 0.0
        self._pieces = 0
        await self._clock.sleep(rest_s)
