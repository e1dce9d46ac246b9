"""Long work in slices."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from itertools import count

from live.service.host.loop_slices import SLICE_S, LoopSlices


async def turns(piece_s: float) -> tuple[int, str]:
    """How often others had a turn in twenty pieces of work, and what the work returned."""
    steps = count()
    slices = LoopSlices(lambda: 1.0 + next(steps) * piece_s)
    taken = 0

    async def other() -> None:
        nonlocal taken
        while True:
            taken += 1
            await asyncio.sleep(0)

    def work() -> Generator[None, None, str]:
        for _ in range(20):
            yield
        return "done"

    task = asyncio.create_task(other())
    result = await slices.run(work())
    task.cancel()
    return taken, result


async def test_others_have_a_turn_after_every_slice() -> None:
    assert await turns(SLICE_S * 2) == (20, "done")
    few, _ = await turns(SLICE_S / 4)
    assert 2 <= few <= 5


async def test_short_work_is_not_held_up() -> None:
    assert await turns(SLICE_S / 1000) == (1, "done")
