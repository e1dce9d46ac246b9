"""Tasks that wait until something has become true."""

import asyncio

from live.process.waiters import Waiters


async def test_every_task_looks_again_when_it_is_woken() -> None:
    waiters, count = Waiters(), 0

    async def wait_for(least: int) -> None:
        await waiters.wait_until(lambda: count >= least)

    tasks = [asyncio.create_task(wait_for(least)) for least in (0, 1, 1, 2)]
    for number, done in enumerate((1, 3, 4)):
        count = number
        waiters.wake()
        for _ in range(3):
            await asyncio.sleep(0)
        assert sum(task.done() for task in tasks) == done
