"""Sleep, clock steps and daylight saving: what is noticed, and what must not be."""

from __future__ import annotations

import ast
import asyncio
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import live
from live.operating_system import awake_s, elapsed_s
from live.service.process import SLEEP_S, MachineSlept, watch
from tests.feeds.fakes import DrivenClock, until


@pytest.mark.slow
@given(st.lists(st.tuples(st.floats(0, 1e5), st.floats(0, 1e5)), max_size=20))
def test_sleep_is_what_one_clock_has_and_the_other_lacks(times: list[tuple[float, float]]) -> None:
    elapsed = awake = 1000.0
    slept = MachineSlept(elapsed, awake)
    for worked_s, slept_s in times:
        elapsed, awake = elapsed + worked_s + slept_s, awake + worked_s
        assert slept.since(elapsed, awake) == pytest.approx(slept_s, abs=1e-6)


class Machine:
    """A machine that sleeps when it is told to."""

    def __init__(self) -> None:
        self.clock = DrivenClock()
        self.slept_s = 0.0
        self.woken = 0

    def wake(self) -> None:
        self.woken += 1

    async def run(self) -> None:
        await watch(
            self.wake,
            clock=self.clock,
            elapsed=lambda: self.clock.now() + self.slept_s,
            awake=self.clock.now,
        )


async def test_after_a_sleep_and_only_then_sources_begin_anew() -> None:
    machine = Machine()
    task = asyncio.create_task(machine.run())
    await until(lambda: len(machine.clock.slept) > 100)
    assert machine.woken == 0
    machine.slept_s += SLEEP_S / 2
    await until(lambda: len(machine.clock.slept) > 200)
    assert machine.woken == 0, "too short to break anything"
    machine.slept_s += 8 * 3600
    await until(lambda: machine.woken > 0)
    await until(lambda: len(machine.clock.slept) > 400)
    assert machine.woken == 1, "once a sleep"
    task.cancel()


def test_the_real_clocks_are_none_that_anybody_sets() -> None:
    before = elapsed_s() - awake_s()
    assert elapsed_s() - awake_s() == pytest.approx(before, abs=0.5)
    assert elapsed_s() >= awake_s() - 0.001
    wall = time.clock_getres(time.CLOCK_MONOTONIC)
    assert wall < 0.01


#: Where the time of day is read, each with its reason; deadlines are nowhere kept by it.
WALL = {
    "store/journal_file.py": "when a journal was told to forget",
    "studies/calibrate_engine.py": "the date written into a calibration",
    "feeds/http_client.py": "Retry-After may name a date (RFC 9110); bounded to an hour",
    "service/desks.py": "when an alert was raised and a moment came, for people",
    "engine/result_cache.py": "on which day a result was used last, for pruning",
    "service/program_output.py": "when a report was written, for people",
    "studies/human_moves.py": "the date written into a network",
    "jobs/recorded_event.py": "up to which time of day a journal is read",
    "jobs/analyze_games.py": "when a report was written, for people",
    "publish/access/tokens.py": "tokens expire at a date",
    "service/output_mode.py": "when an alert was raised, for people",
    "jobs/watch_service.py": "when an alert was raised, for people",
    "store/journal.py": "when something was seen, for people; it never goes back there",
    "publish/server.py": "tokens expire at a date",
    "publish/public_state.py": "when the public sees its first move, for people",
    "commands/service_commands.py": "whether tokens are over, and games so old that they go",
    "app.py": "how long ago the journal's last changes were, at a start",
}
_READS = {"time", "time_ns", "now", "today", "utcnow", "localtime", "gmtime"}
_OF = {"time", "datetime", "date", "dt"}


def _wall_clocks(path: Path) -> list[int]:
    return [
        node.lineno
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and node.attr in _READS
        and (
            (isinstance(node.value, ast.Name) and node.value.id in _OF)
            or (isinstance(node.value, ast.Attribute) and node.value.attr in _OF)
        )
    ]


@pytest.mark.slow
def test_the_time_of_day_is_read_in_few_places_and_decides_no_deadline() -> None:
    """A clock set back or forth, and daylight saving, change nothing else."""
    root = Path(live.__file__).parent
    found = {
        str(path.relative_to(root)): lines
        for path in sorted(root.rglob("*.py"))
        if (lines := _wall_clocks(path))
    }
    assert found.keys() <= WALL.keys(), found
