"""Long work on the event loop, in slices: everybody else has a turn between them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Generator
from typing import TypeVar

#: Longest the loop is kept from other work at a time, seconds.
SLICE_S = 0.01

Result = TypeVar("Result")


class LoopSlices:
    """Says when a slice of time is used up, and gives way then; ``clock`` never goes back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._end_s = 0.0

    async def give_way(self) -> None:
        """Let others have their turn, if this slice is used up."""
        if self._clock() > self._end_s:
            await asyncio.sleep(0)
            self._end_s = self._clock() + SLICE_S

    async def run(self, pieces: Generator[None, None, Result]) -> Result:
        """Do all pieces of a work; gives what it returns."""
        while True:
            try:
                next(pieces)
            except StopIteration as end:
                result: Result = end.value
                return result
            await self.give_way()
