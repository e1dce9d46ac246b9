"""Signals stop a service, and a terminal that goes does not."""

import asyncio
import os
import signal

import pytest

from live.process.signals import (
    ignore_sighup_if_headless,
    run_until_stopped,
    stop_on_signals,
)


async def test_work_is_done_to_its_end_or_ends_where_it_is_stopped() -> None:
    stop, done = asyncio.Event(), list[str]()

    async def works(waits: asyncio.Event) -> None:
        done.append("begun")
        waits.set()
        try:
            if waits is stop:
                await asyncio.Event().wait()
            raise OSError("disk full")
        finally:
            done.append("ended")

    assert await run_until_stopped(asyncio.sleep(0), stop)
    with pytest.raises(OSError, match="disk full"):
        await run_until_stopped(works(asyncio.Event()), stop)
    assert not await run_until_stopped(works(stop), stop)
    assert done == ["begun", "ended"] * 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_is_a_stop_and_is_remembered(number: signal.Signals) -> None:
    stop = asyncio.Event()
    before = signal.getsignal(number)
    with stop_on_signals(stop) as came:
        # One that comes when the loop is about to sleep wakes it.
        wakes = signal.set_wakeup_fd(-1)
        signal.set_wakeup_fd(wakes)
        assert wakes != -1
        os.kill(os.getpid(), number)
        # The second ends the program, however long the loop takes.
        assert signal.getsignal(number) == signal.SIG_DFL
        async with asyncio.timeout(5):
            await stop.wait()
        assert came == [number]
    assert signal.getsignal(number) == signal.SIG_DFL
    signal.signal(number, before)


def test_a_terminal_that_goes_ends_what_it_shows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    before = signal.getsignal(signal.SIGHUP)
    ignore_sighup_if_headless(headless=False, json=False)
    assert signal.getsignal(signal.SIGHUP) is before
    try:
        ignore_sighup_if_headless(headless=True, json=False)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
