"""What takes a while is made once for all who ask, and bounded."""

from __future__ import annotations

import asyncio
import gc

import pytest

from live.publish.routes import SharedMaking, TooMuchAtOnce


class Maker:
    """Makes numbers when it is let; fails where it is told to."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.calls = 0
        self.let = asyncio.Event()
        self.fault: Exception | None = None

    async def make(self) -> int:
        self.calls += 1
        number = self.calls
        await self.let.wait()
        if self.fault is not None:
            raise self.fault
        return number


@pytest.fixture
async def maker() -> Maker:
    return Maker()


async def test_who_asks_meanwhile_and_soon_after_gets_the_same(maker: Maker) -> None:
    shared = SharedMaking[int](lambda: maker.now_s, kept_s=5.0)
    first = asyncio.ensure_future(shared.get("file", maker.make))
    second = asyncio.ensure_future(shared.get("file", maker.make))
    await asyncio.sleep(0)
    first.cancel()  # who goes away takes nothing from the others
    maker.let.set()
    assert await second == 1
    maker.now_s += 4.9
    assert await shared.get("file", maker.make) == 1
    assert await shared.get("other", maker.make) == 2
    maker.now_s += 0.2
    assert await shared.get("file", maker.make) == 3


async def test_so_much_at_once_and_no_more(maker: Maker) -> None:
    shared = SharedMaking[int](lambda: maker.now_s, most=2)
    waiting = [asyncio.ensure_future(shared.get(name, maker.make)) for name in "ab"]
    await asyncio.sleep(0)
    with pytest.raises(TooMuchAtOnce):
        await shared.get("c", maker.make)
    maker.let.set()
    assert await asyncio.gather(*waiting) == [1, 2]
    assert await shared.get("c", maker.make) == 3


async def test_a_failure_is_everybodys_who_waited(maker: Maker) -> None:
    shared = SharedMaking[int](lambda: maker.now_s)
    maker.fault = ValueError("no")
    maker.let.set()
    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            await shared.get("file", maker.make)
    assert maker.calls == 1


async def test_a_failure_that_nobody_waits_for_any_more_is_not_complained_of(
    maker: Maker, caplog: pytest.LogCaptureFixture
) -> None:
    shared = SharedMaking[int](lambda: maker.now_s, kept_s=0.0)
    waiting = asyncio.ensure_future(shared.get("file", maker.make))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    maker.fault = ValueError("no")
    maker.let.set()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    maker.fault, maker.now_s = None, maker.now_s + 1
    assert await shared.get("file", maker.make) == 2
    gc.collect()
    assert caplog.text == ""
