"""Parts that fail are started again; nothing else notices."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.errors import FeedNotFound, LiveRateError
from live.events import Change, FeedHealth, GoneMessage
from live.service.supervision import (
    CAP_S,
    FIRST_S,
    STEADY_S,
    WELL_S,
    Restarts,
    Supervisor,
    guarded,
    noticing,
    reason,
)
from tests.feeds.fakes import DrivenClock

# --- the waits ------------------------------------------------------------------------------------


@pytest.mark.slow
@given(
    st.lists(st.floats(0, STEADY_S * 0.99), min_size=1, max_size=30),
    st.floats(0, 1, exclude_max=True),
)
def test_waits_grow_to_a_cap_and_are_never_nothing(runs: list[float], chance: float) -> None:
    restarts = Restarts(lambda: chance)
    waits = [restarts.ended(ran_s) for ran_s in runs]
    assert waits == sorted(waits)
    assert all(FIRST_S / 2 <= wait_s <= CAP_S for wait_s in waits)
    assert restarts.count == len(runs)


def test_a_part_that_ran_steadily_comes_back_soon() -> None:
    restarts = Restarts(lambda: 0.5)
    first = restarts.ended(0.0)
    for _ in range(10):
        later = restarts.ended(0.0)
    assert later > 10 * first
    assert restarts.ended(STEADY_S) == first


def test_parts_that_fall_together_come_back_apart() -> None:
    chances = iter((0.0, 0.3, 0.9))
    waits = {Restarts(lambda: next(chances)).ended(0.0) for _ in range(3)}
    assert len(waits) == 3


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (None, "ended by itself"),
        (ExceptionGroup("", [FeedNotFound("x", "is away", "Wait")]), "x: is away. Wait"),
        (BrokenPipeError(32, "Broken pipe"), "broken pipe"),
        (KeyError("x"), "fault in our own code (KeyError)"),
    ],
)
def test_people_are_told_why(error: BaseException | None, said: str) -> None:
    assert reason(error) == said


# --- the shell ------------------------------------------------------------------------------------


class Part:
    """Ends as told, run after run; then runs on."""

    def __init__(self, *ends: BaseException | None) -> None:
        self.starts = 0
        self.stopped = 0
        self.running = asyncio.Event()
        self._ends: Iterator[BaseException | None] = iter(ends)

    async def run(self) -> None:
        self.starts += 1
        for end in self._ends:
            if end is not None:
                raise end
            return
        self.running.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.stopped += 1


@pytest.fixture
def clock() -> DrivenClock:
    return DrivenClock()


async def kept(
    part: Part, clock: DrivenClock, told: list[FeedHealth], *, feed: bool = False
) -> asyncio.Task[None]:
    supervisor = Supervisor(told.append, clock=clock, chance=lambda: 0.0)
    return asyncio.create_task(supervisor.keep("broker", part.run, source=feed, ends=feed))


async def ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])


async def test_whatever_ends_a_part_it_is_started_again_and_told(
    clock: DrivenClock, caplog: pytest.LogCaptureFixture
) -> None:
    part, told = Part(ValueError("x"), None, OSError(5, "I/O error")), list[FeedHealth]()
    task = await kept(part, clock, told)
    await asyncio.wait_for(part.running.wait(), 5)
    assert part.starts == 4
    assert [(each.state, each.part) for each in told] == 3 * [("retrying", True)]
    assert "fault in our own code (ValueError)" in told[0].detail
    assert "ended by itself" in told[1].detail
    assert "i/o error" in told[2].detail
    assert "Traceback" in caplog.text, "the log has the whole story of a fault of ours"
    await ended(task)
    assert part.stopped == 1, "a part is stopped with its keeper"


async def test_a_part_that_was_cancelled_by_somebody_else_is_started_again(
    clock: DrivenClock,
) -> None:
    part = Part(asyncio.CancelledError())
    task = await kept(part, clock, [])
    await asyncio.wait_for(part.running.wait(), 5)
    assert part.starts == 2
    await ended(task)


async def test_a_part_that_works_again_is_told_so(clock: DrivenClock) -> None:
    part, told = Part(ValueError("x")), list[FeedHealth]()
    task = await kept(part, clock, told)
    await asyncio.wait_for(part.running.wait(), 5)
    assert told[-1].state == "retrying"
    assert clock.next_deadline_s == WELL_S
    await clock.expire()
    assert told[-1] == FeedHealth("broker", "live", part=True)
    await ended(task)


async def test_a_feed_speaks_for_itself_and_may_end(clock: DrivenClock) -> None:
    part, told = Part(KeyError("x"), None), list[FeedHealth]()
    task = await kept(part, clock, told, feed=True)
    await asyncio.wait_for(task, 5)
    assert part.starts == 2
    assert [(each.state, each.part) for each in told] == [("retrying", False)]


async def test_what_no_start_can_mend_comes_out(clock: DrivenClock) -> None:
    part = Part(FeedNotFound("x", "is away"))
    supervisor = Supervisor(lambda health: None, clock=clock)
    with pytest.raises(FeedNotFound):
        await supervisor.keep("x", part.run, fatal=lambda e: isinstance(e, LiveRateError))
    assert part.starts == 1


# --- listeners, and what nobody awaits ------------------------------------------------------------


def test_a_listener_that_fails_is_heard_once(caplog: pytest.LogCaptureFixture) -> None:
    def listener(changes: Iterable[Change]) -> None:
        raise RuntimeError("no")

    take = guarded(listener)
    for _ in range(1000):
        take([GoneMessage("g")])
    assert caplog.text.count("Traceback") == 1
    assert len(caplog.records) < 15, "it must not fill the disk"


async def test_a_task_that_dies_unheard_is_noticed(caplog: pytest.LogCaptureFixture) -> None:
    loop = asyncio.get_running_loop()

    def callback() -> None:
        raise KeyError("gone")

    with noticing(loop) as noticed, caplog.at_level(logging.ERROR):
        loop.call_soon(callback)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert len(noticed) == 1 and "KeyError" in noticed[0]
    assert "Traceback" in caplog.text
