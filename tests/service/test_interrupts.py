"""Ctrl-C: what was begun is ended, what was done is told."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from live.service.interrupts import stop_on_signals, unless_stopped


async def finishes(done: list[str]) -> None:
    await asyncio.sleep(0)
    done.append("finished")


async def test_work_that_nobody_stops_is_done_to_its_end() -> None:
    done: list[str] = []
    assert await unless_stopped(finishes(done), asyncio.Event())
    assert done == ["finished"]


async def test_a_stop_ends_the_work_where_it_stands() -> None:
    stop, done = asyncio.Event(), list[str]()

    async def works() -> None:
        done.append("begun")
        stop.set()
        try:
            await asyncio.Event().wait()
        finally:
            done.append("ended")

    assert not await unless_stopped(works(), stop)
    assert done == ["begun", "ended"]


async def test_what_goes_wrong_comes_out() -> None:
    async def fails() -> None:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        await unless_stopped(fails(), asyncio.Event())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_is_a_stop_and_is_remembered(number: signal.Signals) -> None:
    stop = asyncio.Event()
    before = signal.getsignal(number)
    with stop_on_signals(stop) as came:
        os.kill(os.getpid(), number)
        async with asyncio.timeout(5):
            await stop.wait()
        assert came == [number]
    signal.signal(number, before)
