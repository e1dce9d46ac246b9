"""Signals, open files, and long work in slices."""

from __future__ import annotations

import ast
import asyncio
import logging
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Generator
from itertools import count
from pathlib import Path

import pytest

import live
from live.config import ServerConfig
from live.engine.engine_process import find_engine
from live.operating_system import awake_s, elapsed_s
from live.service.process import (
    RESERVED,
    SLEEP_S,
    SLICE_S,
    HangupSignals,
    LoopSlices,
    stop_on_signals,
    unless_stopped,
    watch,
    within,
)
from tests.feeds.fakes import DrivenClock, until
from tests.service.running import running

DATA = Path(__file__).parents[1] / "data"


async def test_work_is_done_to_its_end_or_ends_where_it_is_stopped() -> None:
    stop, done = asyncio.Event(), list[str]()

    async def works(waits: asyncio.Event) -> None:
        done.append("begun")
        waits.set()
        try:
            if waits is stop:
                await asyncio.Event().wait()
            raise OSError("disk full")
        finally:
            done.append("ended")

    assert await unless_stopped(asyncio.sleep(0), stop)
    with pytest.raises(OSError, match="disk full"):
        await unless_stopped(works(asyncio.Event()), stop)
    assert not await unless_stopped(works(stop), stop)
    assert done == ["begun", "ended"] * 2


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


def waiting_engine(folder: Path) -> Path:
    """An engine that says ``begun`` by a file, and starts when somebody writes to ``go``."""
    engine = shlex.join(find_engine("").argv)
    os.mkfifo(folder / "go")
    script = folder / "engine.sh"
    begun, go = shlex.quote(str(folder / "begun")), shlex.quote(str(folder / "go"))
    script.write_text(f"#!/bin/sh\ntouch {begun}\nread word < {go}\nexec {engine}\n")
    script.chmod(0o755)
    return script


@pytest.mark.slow
async def test_a_service_that_still_starts_reads_its_settings_again_when_it_is_up(
    tmp_path: Path,
) -> None:
    """A real process: its engine waits until SIGHUP has been sent three times."""
    script = waiting_engine(tmp_path)
    settings = tmp_path / "config.toml"
    settings.write_text("[server]\nport = 0\n[engine]\nengines = 1\n")
    given = ("--feed", str(DATA / "four-boards.pgn"), "--headless", "--no-journal", "--nodes", "1")
    async with running(*given, "--engine", str(script), cwd=tmp_path) as service:
        await until((tmp_path / "begun").exists, 60)
        settings.write_text("[server]\nport = 0\n[engine]\nengines = 1\n[feeds]\npoll_s = 7\n")
        for _ in range(3):
            service.process.send_signal(signal.SIGHUP)
        (tmp_path / "go").write_text("now\n")
        await service.says("settings: taken over: feeds.poll_s")
        assert await service.ends(signal.SIGTERM) == 0, service.said
        assert service.said.count("taken over") == 1


async def test_what_came_before_anybody_answers_is_answered_once_and_nothing_ends_us() -> None:
    before, answers = signal.getsignal(signal.SIGHUP), list[str]()
    hangups, answered = HangupSignals(), asyncio.Event()

    def answer() -> None:
        answers.append("read")
        answered.set()

    try:
        hangups.hear()
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGHUP)
        with hangups.answered_by(answer):
            assert answers == ["read"]
            answered.clear()
            os.kill(os.getpid(), signal.SIGHUP)
            async with asyncio.timeout(5):
                await answered.wait()
        os.kill(os.getpid(), signal.SIGHUP)  # the service is ending: nobody reads any more
        await asyncio.sleep(0)
        assert answers == ["read", "read"]
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_terminal_that_goes_ends_what_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    before = signal.getsignal(signal.SIGHUP)
    HangupSignals.of_service(headless=False, json=False)
    assert signal.getsignal(signal.SIGHUP) is before
    try:
        HangupSignals.of_service(headless=True, json=False)
        assert signal.getsignal(signal.SIGHUP) is not before
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize(
    ("limit", "room"),
    [(None, 10_000), (65_536, 10_000), (1024, 1024 - RESERVED), (64, 32), (200, 100)],
)
def test_connections_are_bounded_by_open_files(
    limit: int | None, room: int, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert within(ServerConfig(), limit).max_connections == room
    assert len(caplog.records) == (room < 10_000)
    few = ServerConfig(max_connections=8)
    assert within(few, limit) is few


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit")
def test_the_soft_limit_is_raised_to_the_hard_one() -> None:
    program = (
        "import resource as r; from live.service.process import raise_limit\n"
        "r.setrlimit(r.RLIMIT_NOFILE, (64, 256))\n"
        "print(raise_limit(), r.getrlimit(r.RLIMIT_NOFILE))"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert said.stdout.split() == ["256", "(256,", "256)"], said.stderr


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
    assert await turns(SLICE_S / 1000) == (1, "done"), "short work is not held up"


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


#: Where the time of day is read, each with its reason; deadlines are nowhere kept by it.
WALL = {
    "store/journal_file.py": "when a journal was told to forget",
    "studies/calibrate_engine.py": "the date written into a calibration",
    "feeds/http_client.py": "Retry-After may name a date (RFC 9110); bounded to an hour",
    "service/alert_service.py": "when an alert was raised, for people",
    "service/story_service.py": "when a moment came, for people",
    "engine/result_cache.py": "on which day a result was used last, for pruning",
    "studies/human_moves.py": "the date written into a network",
    "jobs/recorded_event.py": "up to which time of day a journal is read",
    "jobs/analyze_games.py": "when a report was written, for people",
    "publish/access.py": "tokens expire at a date",
    "service/program_output.py": "when an alert was raised or a report written, for people",
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
