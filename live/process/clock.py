"""Time as an argument, so that tests can control it; and the clocks of the operating
system.
"""

import asyncio
import ctypes
import sys
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol

ReadClock = Callable[[], float]
"""Function that returns the present time of a clock, in seconds."""


class Clock(Protocol):
    """Monotonic seconds, pauses and deadlines."""

    def now(self) -> float:
        """Return seconds since some fixed moment; never less than before."""

    async def sleep(self, seconds: float) -> None:
        """Pause, such as between polls, before a reconnection, or between moves."""

    def deadline(self, seconds: float | None) -> AbstractAsyncContextManager[object]:
        """Raise ``TimeoutError`` from the block after this many seconds; None means
        never.
        """


class LoopClock:
    """The real clock of the running event loop."""

    def now(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def deadline(self, seconds: float | None) -> AbstractAsyncContextManager[object]:
        return asyncio.timeout(seconds)


LOOP_CLOCK = LoopClock()
"""The one instance for all callers, since the clock has no state."""


def read_awake_s() -> float:
    """Return seconds on a clock that stops while the machine sleeps.

    Python's monotonic clock does so on Linux (CLOCK_MONOTONIC) and macOS
    (mach_absolute_time). On Windows it does not, but QueryUnbiasedInterruptTime does,
    in units of 100 ns.
    """
    if sys.platform == "win32":
        ticks = ctypes.c_ulonglong()
        if ctypes.windll.kernel32.QueryUnbiasedInterruptTime(ctypes.byref(ticks)):
            return ticks.value / 1e7
    return time.monotonic()


def read_elapsed_s() -> float:
    """Return seconds on a clock that continues while the machine sleeps and is never
    set.

    Linux: CLOCK_BOOTTIME. macOS: CLOCK_MONOTONIC "will continue to increment while the
    system is asleep" (clock_gettime(3)). Windows: Python's monotonic clock counts
    sleep.
    """
    if sys.platform == "linux":
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    if sys.platform == "darwin":
        return time.clock_gettime(time.CLOCK_MONOTONIC)
    return time.monotonic()
