"""Signals, open files, and long work in slices."""

import asyncio
import contextlib
import errno
import json
import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner
from websockets.asyncio.client import connect

from live.cli import app
from live.config import ServerConfig
from live.errors import FeedNotFound, LiveRateError
from live.messages.health import EngineHealth, FeedHealth
from live.messages.to_clients import GoneMessage, HealthMessage
from live.service.process import (
    CAP_S,
    FIRST_S,
    PATIENCE_S,
    RESERVED,
    SLEEP_S,
    SLICE_S,
    STEADY_S,
    WELL_S,
    LoopSlices,
    ServiceManager,
    Supervisor,
    end_for_want_of_room,
    outlive_terminal,
    quoted,
    reason,
    stop_on_signals,
    unit,
    unless_stopped,
    watch,
    within,
)
from tests.server.serving import left_in
from tests.service.running import Running, running
from tests.sources.fakes import DrivenClock, until

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
        # One that comes when the loop is about to sleep wakes it.
        wakes = signal.set_wakeup_fd(-1)
        signal.set_wakeup_fd(wakes)
        assert wakes != -1
        os.kill(os.getpid(), number)
        # The second ends the program, however long the loop takes.
        assert signal.getsignal(number) == signal.SIG_DFL
        async with asyncio.timeout(5):
            await stop.wait()
        assert came == [number]
    assert signal.getsignal(number) == signal.SIG_DFL
    signal.signal(number, before)


def test_a_terminal_that_goes_ends_what_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    before = signal.getsignal(signal.SIGHUP)
    outlive_terminal(headless=False, json=False)
    assert signal.getsignal(signal.SIGHUP) is before
    try:
        outlive_terminal(headless=True, json=False)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
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


def test_a_full_disk_ends_a_command_in_a_line_and_other_errors_go_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("live.service.process.give_up_output", lambda: None)
    with pytest.raises(SystemExit):
        end_for_want_of_room(OSError(errno.ENOSPC, "no room"))
    assert "its disk is full. Make room" in capsys.readouterr().err
    with pytest.raises(PermissionError):
        end_for_want_of_room(PermissionError(errno.EACCES, "not yours"))


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


async def test_after_a_sleep_and_only_then_sources_begin_anew() -> None:
    clock, asleep_s, woken = DrivenClock(), [0.0], list[float]()
    watching = watch(
        lambda: woken.append(clock.now()),
        clock=clock,
        elapsed=lambda: clock.now() + sum(asleep_s),
        awake=clock.now,
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


# --- parts that fail are started again; the printed unit, and what a service manager is told ---


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


class Part:
    """Ends as told, run after run; then runs on. Kept by a supervisor while the block runs."""

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
async def kept(
    part: Part, told: list[FeedHealth], *, feed: bool = False, chance: float = 0.0
) -> AsyncIterator[tuple[DrivenClock, asyncio.Task[None]]]:
    clock = DrivenClock()
    supervisor = Supervisor(told.append, clock=clock, chance=lambda: chance)
    task = asyncio.create_task(supervisor.keep("broker", part.run, source=feed, ends=feed))
    try:
        yield clock, task
    finally:
        task.cancel()
        await asyncio.wait([task])


@pytest.mark.parametrize("chance", [0.0, 0.5, 0.999])
async def test_waits_grow_to_a_cap_and_are_short_again_after_a_steady_run(chance: float) -> None:
    part = Part(*[None] * 12)
    async with kept(part, [], chance=chance) as (clock, _):
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
    part, told = Part(ValueError("x"), None, OSError(5, "I/O error"), cancelled), list[FeedHealth]()
    async with kept(part, told) as (clock, _):
        await asyncio.wait_for(part.running.wait(), 5)
        assert part.starts == 5
        assert [(each.state, each.part) for each in told] == 4 * [("retrying", True)]
        assert "fault in our own code (ValueError)" in told[0].detail
        assert "ended by itself" in told[1].detail
        assert "i/o error" in told[2].detail
        assert "Traceback" in caplog.text, "the log has the whole story of a fault of ours"
        assert clock.next_deadline_s == WELL_S
        await clock.expire()
        assert told[-1] == FeedHealth("broker", "live", part=True), "it works again"
    assert part.stopped == 1, "a part is stopped with its keeper"


async def test_a_feed_speaks_for_itself_and_may_end() -> None:
    part, told = Part(KeyError("x"), None), list[FeedHealth]()
    async with kept(part, told, feed=True) as (_, task):
        await asyncio.wait_for(task, 5)
    assert part.starts == 2
    assert [(each.state, each.part) for each in told] == [("retrying", False)]


async def test_what_no_start_can_mend_comes_out() -> None:
    part = Part(FeedNotFound("x", "is away"))
    supervisor = Supervisor(lambda health: None)
    with pytest.raises(FeedNotFound):
        await supervisor.keep("x", part.run, fatal=lambda e: isinstance(e, LiveRateError))
    assert part.starts == 1


# --- systemd --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "written"),
    [
        ("--headless", "--headless"),
        ("https://x.org/a?b=c&d", "https://x.org/a?b=c&d"),
        ("", '""'),
        ("a b", '"a b"'),
        ("a%20b", '"a%%20b"'),
        ("$HOME", '"$$HOME"'),
        ('say "hi"', '"say \\"hi\\""'),
        ("back\\slash", '"back\\\\slash"'),
        ("two\nlines", '"two\\nlines"'),
        ("it's; rm -rf", '"it\'s; rm -rf"'),
    ],
)
def test_words(word: str, written: str) -> None:
    assert quoted(word) == written


@given(st.text(st.characters(min_codepoint=32)))
def test_a_word_never_ends_its_line_or_its_quotes(word: str) -> None:
    written = quoted(word)
    assert "\n" not in written
    inner = written[1:-1] if written.startswith('"') else written
    bare = inner.replace("\\\\", "").replace('\\"', "")
    assert '"' not in bare and not bare.endswith("\\")
    assert bare.replace("%%", "").count("%") == 0


def test_systemd_takes_it(require_program: Callable[..., str], tmp_path: Path) -> None:
    program = require_program("systemd-analyze", "systemd")
    text = unit([sys.executable, "--headless", "--feed", "https://x.org/r%20 1"])
    file = tmp_path / "live-rate.service"
    file.write_text(text, encoding="utf-8")
    # Old ones end well in spite of complaints, so what they say counts.
    done = subprocess.run(
        [program, "verify", str(file)], capture_output=True, text=True, timeout=60, check=False
    )
    complaints = [line for line in done.stderr.splitlines() if "live-rate.service" in line]
    assert not complaints


def test_a_program_in_somebodys_home_can_be_read() -> None:
    assert "ProtectHome=read-only" in unit(["/home" + "/arbiter/bin/live-rate"])
    elsewhere = unit(["/usr/local/bin/live-rate"])
    assert "ProtectHome=yes" in elsewhere


def test_files_are_named_whole_since_the_service_starts_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "round").mkdir()
    games, web = "./round", "https://example.org/games.pgn"
    told = CliRunner().invoke(app, ["systemd-unit", "--feed", games, "--feed", web])
    assert told.exit_code == 0
    assert f"--feed {tmp_path / games} --feed {web}" in told.output


@contextmanager
def manager(path: Path | str) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(str(path))
        sock.settimeout(20)
        yield sock


@given(
    st.lists(st.tuples(st.floats(0.1, 180), st.booleans(), st.booleans()), min_size=1, max_size=60)
)
def test_all_is_well_exactly_while_work_is_done_in_time(
    looks: list[tuple[float, bool, bool]],
) -> None:
    """Against the plain definition: since when has something waited with nothing done?"""
    now_s, busy, stuck_since_s = 0.0, False, 0.0
    manager = ServiceManager({}, 1, lambda: busy, clock=lambda: now_s)
    for wait_s, waiting, works in looks:
        now_s += wait_s
        busy = waiting
        manager.publish([GoneMessage("g")] if works else [HealthMessage((), EngineHealth())])
        if works or not waiting:
            stuck_since_s = now_s
        assert manager.progresses() == (now_s - stuck_since_s <= PATIENCE_S)


@pytest.mark.parametrize(
    ("env", "every_s"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "60000000"}, 60.0),
        ({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "7"}, 60.0),
        ({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "8"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
    ],
)
def test_how_often_the_watchdog_wants_to_be_fed(env: dict[str, str], every_s: float | None) -> None:
    assert ServiceManager(env, 7, bool).period_s == every_s


def test_a_manager_that_is_gone_is_no_reason_to_stop(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for address in ("", "vsock:2:1"):
        ServiceManager({"NOTIFY_SOCKET": address}, 1, bool).notify("READY=1")
    assert not caplog.text
    ServiceManager({"NOTIFY_SOCKET": str(tmp_path / "none")}, 1, bool).notify("READY=1")
    assert "READY=1" in caplog.text


@pytest.mark.skipif(sys.platform != "linux", reason="abstract names are Linux' own")
async def test_ready_fed_and_stopping() -> None:
    now_s = [0.0]
    busy = [True]
    name = f"live-rate-test-{os.getpid()}"
    with manager(f"\0{name}") as sock:
        env = {"NOTIFY_SOCKET": f"@{name}", "WATCHDOG_USEC": "3000"}
        loop = asyncio.get_running_loop()
        sock.setblocking(False)

        async def heard() -> bytes:
            async with asyncio.timeout(20):
                return await loop.sock_recv(sock, 1000)

        pulse = ServiceManager(env, 1, lambda: busy[0], clock=lambda: now_s[0])
        async with pulse.running():
            assert await heard() == b"READY=1"
            assert await heard() == b"WATCHDOG=1\nSTATUS=working"
            now_s[0] = 500.0  # something waits and nothing came of it
            while (told := await heard()) != b"STATUS=work waits and nothing comes of it":
                assert told.startswith(b"WATCHDOG=1")
            pulse.publish([HealthMessage((), EngineHealth())])
            pulse.publish([GoneMessage("g")])
            assert await heard() == b"WATCHDOG=1\nSTATUS=working"
            busy[0] = False
            while (told := await heard()) != b"WATCHDOG=1\nSTATUS=all analysed":
                assert told == b"WATCHDOG=1\nSTATUS=working"
        while (told := await heard()) != b"STOPPING=1":
            assert told.startswith(b"WATCHDOG=1")


@contextlib.asynccontextmanager
async def service(tmp_path: Path) -> AsyncIterator[tuple[Running, str, socket.socket]]:
    """The real command, with systemd played by us; its address, once it is ready."""
    command = ("--feed", "demo", "--headless", "--port", "0", "--nodes", "500")
    told = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "300000"}
    with manager(tmp_path / "notify") as sock:
        async with running(*command, cwd=tmp_path, env=told) as process:
            yield process, await process.address(), sock


async def test_the_first_signal_says_goodbye_to_everybody(tmp_path: Path) -> None:
    async with service(tmp_path) as (process, address, sock):
        assert sock.recv(1000) == b"READY=1"
        assert sock.recv(1000).startswith(b"WATCHDOG=1\n")
        async with connect(f"ws://{address}/v3/live", max_size=None) as ws:
            assert json.loads(await ws.recv())["type"] == "hello"
            process.process.send_signal(signal.SIGTERM)
            assert (await left_in(ws))[1] == 1001
        assert await process.ends() == 0
        told = [sock.recv(1000)]
        while told[-1] != b"STOPPING=1":
            told.append(sock.recv(1000))
        assert all(each.startswith(b"WATCHDOG=1") for each in told[:-1])
