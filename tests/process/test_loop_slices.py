"""Long work leaves other tasks their turn."""

import asyncio
from collections.abc import Generator
from itertools import count

import pytest

from live.process.loop_slices import SLICE_PIECES, SLICE_S, LoopShare, LoopSlices
from tests.sources.fakes import DrivenClock


async def turns(piece_s: float) -> tuple[int, str]:
    """How often others had a turn in twenty pieces of work, and what the work
    returned.
    """
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
    assert await turns(SLICE_S / 1000) == (1, "done"), "short work is not held up"


def work(clock: DrivenClock, *pieces_s: float) -> Generator[None, None, str]:
    """Pieces that take so long each."""
    for piece_s in pieces_s:
        clock.time_s += piece_s
        yield
    return "done"


async def test_whoever_works_without_pause_rests_three_times_as_long() -> None:
    clock = DrivenClock()
    share = LoopShare(clock)
    assert await share.run(work(clock, 2 * SLICE_S, SLICE_S / 2, SLICE_S)) == "done"
    assert clock.slept == pytest.approx([6 * SLICE_S, 4.5 * SLICE_S])


async def test_short_pieces_are_a_long_turn_too() -> None:
    clock = DrivenClock()
    share = LoopShare(clock)
    for _ in range(SLICE_PIECES):
        await share.run(work(clock, 0.0))
    assert clock.slept == [0.0, 0.0]  # the end of a work is a piece


async def test_a_fault_is_passed_on_and_what_it_took_counts() -> None:
    clock = DrivenClock()

    def fails() -> Generator[None, None, None]:
        clock.time_s += 2 * SLICE_S
        raise ValueError
        yield

    with pytest.raises(ValueError):
        await LoopShare(clock).run(fails())
    assert clock.slept == pytest.approx([6 * SLICE_S])
