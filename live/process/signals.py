"""Signals: Ctrl-C, SIGTERM, and the end of the terminal."""

import asyncio
import contextlib
import signal
import sys
from collections.abc import Awaitable, Iterator


def has_terminal(*, headless: bool, json: bool = False) -> bool:
    """Return whether the service is displayed in a terminal.

    If so, SIGHUP means that the terminal was closed.
    """
    return not (headless or json) and sys.stdout.isatty()


def ignore_sighup_if_headless(*, headless: bool, json: bool) -> None:
    """Ignore SIGHUP if the service is not displayed in the terminal.

    Then the service continues when the terminal is closed.
    """
    if sys.platform != "win32" and not has_terminal(headless=headless, json=json):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)


@contextlib.contextmanager
def stop_on_signals(stop: asyncio.Event) -> Iterator[list[int]]:
    """Set ``stop`` on the first Ctrl-C or SIGTERM; a second one ends the program at
    once.

    Yields the list of the signals received.
    """
    received: list[int] = []
    loop = asyncio.get_running_loop()

    def on_first(number: int, frame: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        received.append(number)
        # This wakes the event loop if it sleeps, but does not interrupt its work.
        loop.call_soon_threadsafe(stop.set)

    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in numbers}
    for number in before:
        # Python calls signal handlers only between two instructions, so an event loop
        # that is about to sleep would not notice. The event loop's own handlers wake
        # it; event loops on Windows wake without them.
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
    """Return the exit code of a program that a signal ended; 0 if none did."""
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
        for pending in (task, stopped):
            pending.cancel()
        await asyncio.wait({task, stopped})
