"""Ctrl-C and SIGTERM, as everything that takes long hears them, and SIGHUP, as the service does.

Part of the composition root. Loads little, since SIGHUP is to be heard before anything slow.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import Self

from live.operating_system import StopSignals


def attended(*, headless: bool = False, json: bool = False) -> bool:
    """Whether a terminal shows the service: SIGHUP then means that the terminal is gone."""
    return not (headless or json) and sys.stdout.isatty()


class HangupSignals:
    """SIGHUP asks a service to read its settings again, at any moment of its life.

    Without a handler it would end the service, while it starts as while it ends: whoever sends it
    cannot know which. What comes before somebody answers is answered then, once.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._answer: Callable[[], None] | None = None
        self._came = False

    @classmethod
    def of_service(cls, *, headless: bool, json: bool) -> Self:
        """Heard from now on, unless a terminal shows the service."""
        hangups = cls()
        if not attended(headless=headless, json=json):
            hangups.hear()
        return hangups

    def hear(self) -> None:
        """From now on, to the end of the process; does nothing where there is no SIGHUP."""
        if hasattr(signal, "SIGHUP"):
            # Not the loop's own way: there is no loop yet, and a loop that closes hears no more.
            signal.signal(signal.SIGHUP, self._heard)

    @contextlib.contextmanager
    def answered_by(self, answer: Callable[[], None]) -> Iterator[None]:
        """``answer`` is called, on the running loop, for each SIGHUP and for those before."""
        self._loop, self._answer = asyncio.get_running_loop(), answer
        if self._came:
            answer()
        try:
            yield
        finally:
            self._loop = self._answer = None

    def _heard(self, number: int, frame: object) -> None:
        if self._loop is None or self._answer is None:
            self._came = True
        else:
            # Wakes a loop that waits; nothing of the loop is touched in the middle of its work.
            self._loop.call_soon_threadsafe(self._answer)


@contextlib.contextmanager
def stop_on_signals(stop: asyncio.Event) -> Iterator[list[int]]:
    """The first Ctrl-C or SIGTERM sets ``stop``, the second ends at once. Gives the signals that
    came.
    """
    came: list[int] = []

    def first(number: signal.Signals) -> None:
        came.append(number)
        stop.set()

    signals = StopSignals(asyncio.get_running_loop(), first)
    signals.hear()
    try:
        yield came
    finally:
        signals.ignore()


def exit_code_of(signals: list[int]) -> int:
    """As a shell has it for a program that a signal ended before its work was done; 0 without."""
    return 128 + signals[0] if signals else 0


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
