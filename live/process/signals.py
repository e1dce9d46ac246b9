"""Signals: Ctrl-C, SIGTERM, and a terminal that goes away."""

import asyncio
import contextlib
import signal
import sys
from collections.abc import Awaitable, Iterator


def has_terminal(*, headless: bool, json: bool = False) -> bool:
    """Return whether a terminal shows the service: SIGHUP then says it is gone."""
    return not (headless or json) and sys.stdout.isatty()


def ignore_sighup_if_headless(*, headless: bool, json: bool) -> None:
    """Let a service that no terminal shows outlive the terminal it was started from."""
    if sys.platform != "win32" and not has_terminal(headless=headless, json=json):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)


@contextlib.contextmanager
def stop_on_signals(stop: asyncio.Event) -> Iterator[list[int]]:
    """Set ``stop`` on the first Ctrl-C or SIGTERM; the second one ends at once.

    Yields the list of the signals received.
    """
    received: list[int] = []
    loop = asyncio.get_running_loop()

    def on_first(number: int, frame: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        received.append(number)
        # Wakes a loop that waits, and touches nothing of it in the middle of its work.
        loop.call_soon_threadsafe(stop.set)

    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in numbers}
    for number in before:
        # Python calls its own handlers only between two instructions: a loop that is
        # about to sleep would sleep on. Those of the loop wake it; loops of Windows
        # wake by themselves.
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, stop.set)
        signal.signal(number, on_first)
    try:
        yield received
    finally:
        for number, handler in before.items():
            with contextlib.suppress(NotImplementedError):
                loop.remove_signal_handler(number)
            restored = signal.SIG_DFL if number in received else handler
            signal.signal(number, restored)


def derive_exit_code(signals: list[int]) -> int:
    """Return the exit code of a program that a signal ended; 0 without one."""
    return 128 + signals[0] if signals else 0


async def run_until_stopped(work: Awaitable[object], stop: asyncio.Event) -> bool:
    """Run work until it is done or ``stop`` is set; return whether it is done."""
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
