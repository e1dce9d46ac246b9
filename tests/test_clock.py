"""Time as the sources use it."""

from collections.abc import Generator

import pytest

from live.clock import TURN_PIECES, TURN_S, LoopShare
from tests.sources.fakes import DrivenClock


def work(clock: DrivenClock, *pieces_s: float) -> Generator[None, None, str]:
    """Pieces that take so long each."""
    for piece_s in pieces_s:
        clock.time_s += piece_s
        yield
    return "done"


async def test_whoever_works_without_pause_rests_three_times_as_long() -> None:
    clock = DrivenClock()
    share = LoopShare(clock, 0.25)
    assert await share.run(work(clock, 2 * TURN_S, TURN_S / 2, TURN_S)) == "done"
    assert clock.slept == pytest.approx([6 * TURN_S, 4.5 * TURN_S])


async def test_short_pieces_are_a_long_turn_too() -> None:
    clock = DrivenClock()
    share = LoopShare(clock)
    for _ in range(TURN_PIECES):
        await share.run(work(clock, 0.0))
    assert clock.slept == [0.0, 0.0]  # the end of a work is a piece


async def test_a_fault_is_passed_on_and_what_it_took_counts() -> None:
    clock = DrivenClock()

    def fails() -> Generator[None, None, None]:
        clock.time_s += 2 * TURN_S
        raise ValueError
        yield

    with pytest.raises(ValueError):
        await LoopShare(clock).run(fails())
    assert clock.slept == pytest.approx([6 * TURN_S])
