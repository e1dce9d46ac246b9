"""Standard output that nobody reads any more."""

import asyncio
import signal

import pytest

from live.process.signals import stop_on_signals
from live.process.standard_output import tolerate_full_disk


async def test_output_that_nobody_reads_asks_the_service_to_end_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[str] = []

    def unread(text: str) -> None:
        tried.append(text)
        raise BrokenPipeError

    monkeypatch.setattr("live.process.standard_output.discard_stdout", lambda: None)
    stop = asyncio.Event()
    with stop_on_signals(stop) as came:
        say = tolerate_full_disk(unread)
        say("first")
        say("second")
        async with asyncio.timeout(5):
            await stop.wait()
    assert came == [signal.SIGTERM] and tried == ["first"]
