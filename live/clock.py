"""Time as the sources use it, so that tests can drive it."""

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol

ReadClock = Callable[[], float]
"""What a clock shows now, in seconds."""


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
