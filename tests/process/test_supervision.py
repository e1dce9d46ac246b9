"""Parts that fail are started again; after a sleep sources begin anew."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator

import pytest

from live.errors import FeedNotFound, LiveRateError
from live.messages.health import FeedHealth
from live.process.supervision import (
    CAP_S,
    FIRST_S,
    STEADY_S,
    WELL_S,
    Supervisor,
    explain_end,
    run_every,
    run_in_background,
)
from live.process.wakeups import SLEEP_S, call_after_wakeup
from tests.sources.fakes import DrivenClock, until


async def test_after_a_sleep_and_only_then_sources_begin_anew() -> None:
    clock, asleep_s, woken = DrivenClock(), [0.0], list[float]()
    watching = call_after_wakeup(
        lambda: woken.append(clock.now()),
        clock=clock,
        read_elapsed=lambda: clock.now() + sum(asleep_s),
        read_awake=clock.now,
    )
    task = asyncio.create_task(watching)
    await until(lambda: len(clock.slept) > 100)
    assert not woken
    asleep_s.append(SLEEP_S / 2)
    await until(lambda: len(clock.slept) > 200)
    assert not woken, "too short to break anything"
    asleep_s.append(8 * 3600)
    await until(lambda: bool(woken))
    await until(lambda: len(clock.slept) > 400)
    assert len(woken) == 1, "once a sleep"
    task.cancel()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (None, "ended by itself"),
        (
            ExceptionGroup("", [FeedNotFound("x", "is away", "Wait")]),
            "x: is away. Wait",
        ),
        (BrokenPipeError(32, "Broken pipe"), "broken pipe"),
        (KeyError("x"), "program fault (KeyError)"),
    ],
)
def test_people_are_told_why(error: BaseException | None, said: str) -> None:
    assert explain_end(error) == said


class Part:
    """Ends as told, run after run; then runs on. Kept by a supervisor while the block
    runs.
    """

    def __init__(self, *ends: BaseException | None) -> None:
        self.starts = 0
        self.stopped = 0
        self.running = asyncio.Event()
        self.end = asyncio.Event()
        self._ends: Iterator[BaseException | None] = iter(ends)

    async def run(self) -> None:
        self.starts += 1
        for end in self._ends:
            if end is not None:
                raise end
            return
        self.running.set()
        try:
            await self.end.wait()
            self.end.clear()
        finally:
            self.stopped += 1


@contextlib.asynccontextmanager
async def supervise(
    part: Part, told: list[FeedHealth], *, feed: bool = False, chance: float = 0.0
) -> AsyncIterator[tuple[DrivenClock, asyncio.Task[None]]]:
    clock = DrivenClock()
    supervisor = Supervisor(told.append, clock=clock, chance=lambda: chance)
    task = asyncio.create_task(
        supervisor.keep("broker", part.run, source=feed, ends=feed)
    )
    try:
        yield clock, task
    finally:
        task.cancel()
        await asyncio.wait([task])


@pytest.mark.parametrize("chance", [0.0, 0.5, 0.999])
async def test_waits_grow_to_a_cap_and_are_short_again_after_a_steady_run(
    chance: float,
) -> None:
    part = Part(*[None] * 12)
    async with supervise(part, [], chance=chance) as (clock, _):
        await asyncio.wait_for(part.running.wait(), 5)
        waits = list(clock.slept)
        assert waits == sorted(waits) and waits[-1] > 10 * waits[0]
        assert all(FIRST_S / 2 <= wait_s <= CAP_S for wait_s in waits)
        clock.time_s += STEADY_S
        part.end.set()
        await until(lambda: part.starts == 14)
        assert clock.slept[12:] == waits[:1]


async def test_whatever_ends_a_part_it_is_started_again_and_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    cancelled = asyncio.CancelledError()
    part, told = (
        Part(ValueError("x"), None, OSError(5, "I/O error"), cancelled),
        list[FeedHealth](),
    )
    async with supervise(part, told) as (clock, _):
        await asyncio.wait_for(part.running.wait(), 5)
        assert part.starts == 5
        assert [(each.state, each.part) for each in told] == 4 * [("retrying", True)]
        assert "program fault (ValueError)" in told[0].detail
        assert "ended by itself" in told[1].detail
        assert "i/o error" in told[2].detail
        assert "Traceback" in caplog.text, (
            "the log has the whole story of a fault of ours"
        )
        assert clock.next_deadline_s == WELL_S
        await clock.expire()
        assert told[-1] == FeedHealth("broker", "live", part=True), "it works again"
    assert part.stopped == 1, "a part is stopped with its keeper"


async def test_a_feed_speaks_for_itself_and_may_end() -> None:
    part, told = Part(KeyError("x"), None), list[FeedHealth]()
    async with supervise(part, told, feed=True) as (_, task):
        await asyncio.wait_for(task, 5)
    assert part.starts == 2
    assert [(each.state, each.part) for each in told] == [("retrying", False)]


async def test_what_no_start_can_mend_comes_out() -> None:
    part = Part(FeedNotFound("x", "is away"))
    supervisor = Supervisor(lambda health: None)
    with pytest.raises(FeedNotFound):
        await supervisor.keep(
            "x", part.run, fatal=lambda e: isinstance(e, LiveRateError)
        )
    assert part.starts == 1


@pytest.mark.parametrize(
    ("lost", "logged"),
    [("no more notices", "no more notices"), ("", "part failed")],
)
async def test_no_failure_in_the_background_is_silent(
    lost: str, logged: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail() -> None:
        raise ValueError("broken")

    async with run_in_background(fail(), "part", lost):
        await asyncio.sleep(0)
    assert logged in caplog.text and "broken" in caplog.text


async def test_what_is_done_every_period_is_done_in_order_until_a_failure() -> None:
    done: list[str] = []

    def fail_the_second_time() -> None:
        if done.count("first") == 2:
            raise KeyError("a fault of ours")

    with pytest.raises(KeyError):
        await run_every(
            0.0,
            lambda: done.append("first"),
            fail_the_second_time,
            lambda: done.append("last"),
        )
    assert done == ["first", "last", "first"]
