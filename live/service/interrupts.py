"""Ctrl-C and SIGTERM, as everything that takes long hears them. Part of the composition root."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Iterator


@contextlib.contextmanager
def stop_on_signals(stop: asyncio.Event) -> Iterator[list[int]]:
    """The first Ctrl-C or SIGTERM sets ``stop``, the second ends at once. Gives the signals that
    came.
    """
    came: list[int] = []
    loop = asyncio.get_running_loop()

    def first(number: signal.Signals) -> None:
        came.append(number)
        stop.set()
        loop.remove_signal_handler(number)
        signal.signal(number, signal.SIG_DFL)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, first, number)
    try:
        yield came
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


async def unless_stopped(work: Awaitable[None], stop: asyncio.Event) -> bool:
    """Do the work, or as much of it as comes before ``stop``. Returns whether it was all."""
    task = asyncio.ensure_future(work)
    stopped = asyncio.create_task(stop.wait(), name="stop")
    try:
        await asyncio.wait({task, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            return False
        await task
        return True
    finally:
        for each in (task, stopped):
            each.cancel()
        await asyncio.wait({task, stopped})
