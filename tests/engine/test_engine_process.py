"""One real engine process: what it does well, and every way it can fail."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from live.engine.engine_discovery import EngineCommand
from live.engine.engine_process import (
    OVERSLEPT_S,
    EnginePace,
    EngineProcess,
    EngineTimeouts,
    StartDeadline,
    cause_of_death,
    environment,
    launched,
    measure_speed,
)
from live.engine.search import Limit, SearchKey, SearchProgress, SearchResult
from live.engine.uci import UciSettings
from live.errors import EngineFault, EngineKilled, NotAnEngine
from live.events import Score
from tests.engine.dying import dies

Scripted = Callable[..., EngineCommand]


def search_key(score: int, limit: Limit | None = None) -> SearchKey:
    return SearchKey(f"4k3/8/8/8/8/8/8/4K2R w - - {score} 1", (), limit or Limit(nodes=400))


async def fault_of(command: EngineCommand, patience: EngineTimeouts) -> str:
    """Start, search once, and say what went wrong; the process must be dead afterwards."""
    process = await EngineProcess.start(command, UciSettings(), patience=patience)
    lost: list[EngineFault] = []
    process.on_lost = lost.append
    process.begin(search_key(50))
    with pytest.raises(EngineFault) as caught:
        await process.outcome()
    assert lost == [process.lost]
    await process.close()
    assert dies(process.pid)
    return caught.value.problem


async def test_it_searches_again_and_again(scripted: Scripted) -> None:
    process = await EngineProcess.start(scripted("well"), UciSettings())
    assert (process.name, process.options) == ("Scripted 1", ("Hash=16",))
    for score in (3, 99, 0):
        progress: list[SearchProgress] = []
        process.begin(search_key(score), progress.append)
        finished = await process.outcome()
        assert finished.result.score == Score(score)
        assert finished.result.best == "e1e2"
        assert progress == [SearchProgress(Score(score), depth) for depth in (1, 2, 3)]
    await process.close()
    assert dies(process.pid)


async def test_closing_twice_is_closing_once(scripted: Scripted) -> None:
    process = await EngineProcess.start(scripted("well"), UciSettings())
    await process.close()
    await process.close()


async def test_a_search_can_be_stopped(scripted: Scripted) -> None:
    process = await EngineProcess.start(scripted("patient"), UciSettings())
    process.begin(search_key(7))
    process.stop()
    assert (await process.outcome()).stopped
    await process.close()


async def test_one_search_at_a_time(scripted: Scripted) -> None:
    process = await EngineProcess.start(scripted("patient"), UciSettings())
    process.begin(search_key(7))
    with pytest.raises(RuntimeError, match="one search"):
        process.begin(search_key(8))
    await process.close()


async def test_niceness_is_the_engine_s_own(scripted: Scripted) -> None:
    process = await EngineProcess.start(scripted("well"), UciSettings(), nice=3)
    ours = os.getpriority(os.PRIO_PROCESS, 0)
    assert os.getpriority(os.PRIO_PROCESS, process.pid) == min(19, ours + 3)
    await process.close()


async def test_a_limit_of_depth_and_of_time(scripted: Scripted, brief: EngineTimeouts) -> None:
    process = await EngineProcess.start(scripted("well"), UciSettings(), patience=brief)
    for limit in (Limit(depth=3), Limit(movetime_ms=1)):
        process.begin(search_key(7, limit))
        assert (await process.outcome()).result.score == Score(7)
    await process.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "says"),
    [
        ("crash", "was killed by SIGABRT"),
        ("crash-at-50", "exited with code 134: 'assertion failed'"),
        ("hang", "hung: no answer within 1 s"),
        ("garbage", "prints noise"),
        ("chat", "prints lines that are no UCI"),
        ("endless", "a line of more than"),
        ("unreadable", "unreadable line"),
        ("illegal", "answered 'bestmove e1e5' in fen 4k3"),
        ("no-move", "answered 'bestmove (none)'"),
        ("no-score", "gave no score"),
    ],
)
async def test_a_fault_is_told_and_the_process_killed(
    scripted: Scripted, brief: EngineTimeouts, mode: str, says: str
) -> None:
    assert says in await fault_of(scripted(mode), brief)


@pytest.mark.slow
async def test_an_engine_that_grows_without_end_is_killed(scripted: Scripted) -> None:
    patience = EngineTimeouts(memory_mb=100)
    assert "grew to" in await fault_of(scripted("greedy"), patience)


async def test_an_engine_that_answers_twice_is_killed(scripted: Scripted) -> None:
    process = await EngineProcess.start(scripted("twice"), UciSettings())
    lost: asyncio.Future[EngineFault] = asyncio.get_running_loop().create_future()
    process.on_lost = lost.set_result
    process.begin(search_key(50))
    assert "unasked" in (await asyncio.wait_for(lost, 10)).problem
    await process.close()


@pytest.mark.slow
async def test_a_stopped_process_counts_as_hung(scripted: Scripted, brief: EngineTimeouts) -> None:
    """SIGSTOP: alive, silent, and deaf to everything but SIGKILL."""
    process = await EngineProcess.start(scripted("well"), UciSettings(), patience=brief)
    os.kill(process.pid, signal.SIGSTOP)
    process.begin(search_key(50))
    with pytest.raises(EngineFault, match="hung"):
        await process.outcome()
    await process.close()
    assert dies(process.pid)


@pytest.mark.slow
async def test_a_search_that_does_not_stop_counts_as_hung(scripted: Scripted) -> None:
    process = await EngineProcess.start(
        scripted("hang"), UciSettings(), patience=EngineTimeouts(stop_s=0.2)
    )
    process.begin(search_key(50))
    process.stop()
    with pytest.raises(EngineFault, match="did not stop"):
        await process.outcome()
    await process.close()


async def test_a_death_between_searches_is_told(scripted: Scripted) -> None:
    process = await EngineProcess.start(scripted("well"), UciSettings())
    lost: asyncio.Future[EngineFault] = asyncio.get_running_loop().create_future()
    process.on_lost = lost.set_result
    os.kill(process.pid, signal.SIGKILL)
    fault = await asyncio.wait_for(lost, 10)
    assert isinstance(fault, EngineKilled)
    assert fault.problem == "was killed by SIGKILL"
    process.begin(search_key(1))
    with pytest.raises(EngineFault, match="SIGKILL"):
        await process.outcome()
    await process.close()


async def test_one_that_does_not_quit_is_killed(scripted: Scripted) -> None:
    patience = EngineTimeouts(quit_s=0.1)
    process = await EngineProcess.start(scripted("stubborn"), UciSettings(), patience=patience)
    await process.close()
    assert dies(process.pid)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (("/bin/echo", "hello"), r"hello: is no UCI engine: exited with code 0"),
        (("/bin/cat",), r"/bin/cat: is no UCI engine: echoes what it is told"),
        (("/bin/sleep", "99"), r"99: is no UCI engine: did not answer 'uci' within 1 s"),
        (("/no/such/engine",), r"exited with code 127: '/no/such/engine: No such file"),
        (("/etc/passwd",), r"exited with code 127: '/etc/passwd: Permission denied'"),
    ],
)
async def test_what_is_no_engine_is_named(argv: tuple[str, ...], says: str) -> None:
    command = EngineCommand(argv, "for the test", "configured")
    with pytest.raises(NotAnEngine, match=says):
        patience = EngineTimeouts(uciok_s=1.0 if "within 1 s" in says else 30.0)
        await EngineProcess.start(command, UciSettings(), patience=patience)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "says"),
    [("exit", "exited with code 3: 'no network file'"), ("chatty", "no UCI"), ("mute", "within")],
)
async def test_an_engine_that_fails_at_start_is_named(
    scripted: Scripted, mode: str, says: str
) -> None:
    patience = EngineTimeouts(uciok_s=1.0 if mode == "mute" else 30.0)
    with pytest.raises(NotAnEngine, match=says):
        await EngineProcess.start(scripted(mode), UciSettings(), patience=patience)


async def test_a_start_given_up_leaves_nothing(scripted: Scripted) -> None:
    starting = asyncio.create_task(EngineProcess.start(scripted("mute"), UciSettings()))
    await asyncio.sleep(0)  # lets the task begin to start the process
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting


@pytest.mark.slow
async def test_a_wrapper_s_children_die_with_it(
    scripted: Scripted, tmp_path: Path, brief: EngineTimeouts
) -> None:
    """An engine may be a shell script around the engine: the whole group is killed."""
    wrapper = tmp_path / "wrapper.sh"
    inner = " ".join(scripted("hang").argv)
    wrapper.write_text(f"#!/bin/sh\nsleep 1000 &\necho $! > {tmp_path}/child\n{inner}\n")
    wrapper.chmod(0o755)
    command = EngineCommand((str(wrapper),), "for the test", "configured")
    assert "hung" in await fault_of(command, brief)
    assert dies(int((tmp_path / "child").read_text()))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems show no environment")
async def test_a_child_that_left_the_group_dies_with_it_too(
    scripted: Scripted, tmp_path: Path, brief: EngineTimeouts
) -> None:
    wrapper = tmp_path / "wrapper.sh"
    inner = " ".join(scripted("hang").argv)
    # Twice forked, and the leader of a session of its own.
    stray = f"setsid sh -c 'sleep 1000 & echo $! > {tmp_path}/child'"
    wrapper.write_text(f"#!/bin/sh\n({stray})\n{inner}\n")
    wrapper.chmod(0o755)
    command = EngineCommand((str(wrapper),), "for the test", "configured")
    assert "hung" in await fault_of(command, brief)
    assert dies(int((tmp_path / "child").read_text()))


@pytest.mark.slow
@pytest.mark.parametrize("which", ["embedded", "native"])
async def test_real_engines_play(which: str, request: pytest.FixtureRequest) -> None:
    """Mate in one, the same score at every repetition, and a root restricted to a bad move."""
    command: EngineCommand = request.getfixturevalue(which)
    process = await EngineProcess.start(command, UciSettings())
    mate = SearchKey("6k1/5ppp/8/8/8/8/8/4R1K1 w - - 0 1", (), Limit(nodes=5000))
    process.begin(mate)
    found = (await process.outcome()).result
    assert (found.best, found.score) == ("e1e8", Score(3900, 1))
    start = SearchKey("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", (), mate.limit)
    scores = set()
    for _ in range(3):
        process.begin(start)
        result = (await process.outcome()).result
        scores.add((result.score, result.best, result.nodes, result.by_depth))
    assert len(scores) == 1
    process.begin(SearchKey(start.fen, (), Limit(depth=4), only="g2g4"))
    restricted = (await process.outcome()).result
    assert restricted.best == "g2g4"
    assert restricted.score.cp < result.score.cp
    await process.close()


def test_nothing_changes_what_an_engine_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NODE_OPTIONS", "--inspect")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    monkeypatch.setenv("LIVE_RATE_TOKEN", "secret")
    told = environment()
    assert "PATH" in told
    assert not {"NODE_OPTIONS", "PYTHONPATH", "LIVE_RATE_TOKEN"} & told.keys()


@pytest.mark.parametrize(
    ("code", "stderr", "says"),
    [
        (-signal.SIGSEGV, b"", "was killed by SIGSEGV"),
        (-250, b"", "was killed by signal 250"),
        (1, b"\n", "exited with code 1"),
        (1, b"first\nno such file\n\n", "exited with code 1: 'no such file'"),
        (2, b"\x1b[31m\xff", "exited with code 2: '\\x1b[31m\N{REPLACEMENT CHARACTER}'"),
        (2, b"y" * 900, "exited with code 2: '" + "y" * 200 + "'"),
    ],
)
def test_a_death_is_told_in_one_harmless_line(code: int, stderr: bytes, says: str) -> None:
    assert cause_of_death(code, stderr) == says


class Asleep:
    """A loop whose machine may have slept before a timer was looked at."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.timers: list[tuple[float, Callable[[], None]]] = []

    def time(self) -> float:
        return self.now_s

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Any:
        self.timers.append((self.now_s + seconds, callback))
        return self

    def cancel(self) -> None:
        self.timers.clear()

    def wake(self, slept_s: float) -> None:
        due_s, callback = self.timers.pop()
        self.now_s = due_s + slept_s
        callback()


def test_an_engine_is_not_blamed_for_a_night_in_a_bag() -> None:
    loop, blamed = Asleep(), list[float]()
    StartDeadline(cast(Any, loop), 10.0, lambda: blamed.append(loop.now_s))
    loop.wake(8 * 3600)
    assert not blamed, "it slept as we did"
    assert loop.timers[0][0] == loop.now_s + 10.0, "and gets its time again"
    loop.wake(OVERSLEPT_S / 2)
    assert len(blamed) == 1, "a busy loop excuses nothing"


def test_a_deadline_that_was_kept_is_over() -> None:
    loop, blamed = Asleep(), list[int]()
    StartDeadline(cast(Any, loop), 10.0, lambda: blamed.append(1)).cancel()
    assert not loop.timers and not blamed


#: A service in small: starts an engine with our own shell, begins a long search, says the
#: engine's process id, and waits.
SERVICE = """
import asyncio, sys
from live.engine.engine_discovery import EngineCommand
from tests.engine.dying import dies
from live.engine.engine_process import EngineProcess
from live.engine.search import Limit
from live.engine.search import SearchKey
from live.engine.uci import UciSettings

async def main():
    command = EngineCommand(tuple(sys.argv[1:]), "for the test", "configured")
    process = await EngineProcess.start(command, UciSettings())
    start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    process.begin(SearchKey(start, (), Limit(nodes=10**9)))
    print(process.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""
ROOT = Path(__file__).resolve().parents[2]


def engine_of_a_killed_service(command: EngineCommand) -> int:
    """Start the service, kill -9 it, and give the pid of the engine it had."""
    service = subprocess.Popen(
        [sys.executable, "-c", SERVICE, *command.argv],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    with service:
        assert service.stdout is not None
        pid = int(service.stdout.readline())
        service.send_signal(signal.SIGKILL)
    return pid


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="pidfd and prctl are Linux's")
def test_an_engine_deaf_to_the_end_of_its_input_dies_too(tmp_path: Path) -> None:
    """It is the kernel that kills it, not its good manners."""
    deaf = tmp_path / "deaf.py"
    deaf.write_text(
        "import sys, time\n"
        "for line in sys.stdin:\n"
        "    if line == 'uci\\n': print('uciok', flush=True)\n"
        "    if line == 'isready\\n': print('readyok', flush=True)\n"
        "    if line.startswith('go'): time.sleep(3600)\n"
    )
    command = EngineCommand((sys.executable, "-I", "-S", str(deaf)), "for the test", "configured")
    assert dies(engine_of_a_killed_service(command))


def test_an_engine_whose_service_is_gone_already_does_not_start() -> None:
    argv = launched(("/bin/echo", "started"), 0)
    ours = argv.index(str(os.getpid()))
    orphan = (*argv[:ours], "1", *argv[ours + 1 :])
    done = subprocess.run(orphan, capture_output=True, check=False)
    if sys.platform == "linux":
        assert (done.returncode, done.stdout) == (1, b"")
    assert subprocess.run(argv, capture_output=True, check=True).stdout == b"started\n"


def test_it_leaves_no_core_and_goes_first_when_memory_runs_out() -> None:
    show = "cat /proc/self/limits /proc/self/oom_score_adj"
    argv = launched(("/bin/sh", "-c", show), 2)
    told = subprocess.run(argv, capture_output=True, text=True, check=False).stdout
    if sys.platform == "linux":
        core = next(line for line in told.splitlines() if line.startswith("Max core file size"))
        assert core.split()[4:6] == ["0", "0"]
        assert int(told.splitlines()[-1]) >= 500


PATIENCE = EngineTimeouts(floor_s=10, slack=20, unknown_depth_s=120)


def result(nodes: int) -> SearchResult:
    return SearchResult(score=Score(0), best="e2e4", depth=9, nodes=nodes)


@pytest.mark.parametrize(
    ("limit", "seconds"),
    [
        (Limit(nodes=1), 10),
        (Limit(nodes=100_000), 40),  # at 50 knodes/s, twenty times over
        (Limit(depth=20), 120),
        (Limit(movetime_ms=2500), 12.5),
    ],
)
def test_an_engine_nobody_has_timed(limit: Limit, seconds: float) -> None:
    assert EnginePace(PATIENCE).longest_s(limit) == seconds


def test_speed_is_learned_from_searches() -> None:
    pace = EnginePace(PATIENCE)
    pace.took(Limit(nodes=100_000), 0.2, result(100_000))
    assert pace.knodes_per_s == pytest.approx(500)
    assert pace.longest_s(Limit(nodes=10_000_000)) == pytest.approx(20 * 20)
    pace.took(Limit(nodes=100_000), 0.4, result(100_000))
    assert pace.knodes_per_s == pytest.approx(475)
    assert pace.longest_s(Limit(nodes=100_000)) == 10


def test_a_slow_search_allows_for_slower_ones() -> None:
    pace = EnginePace(PATIENCE)
    pace.took(Limit(depth=20), 30.0, result(9_000_000))
    assert pace.longest_s(Limit(depth=20)) == 600
    assert pace.longest_s(Limit(depth=21)) == 120


def test_a_search_of_no_nodes_teaches_no_speed() -> None:
    pace = EnginePace(PATIENCE)
    pace.took(Limit(nodes=100_000), 0.0, result(0))
    assert pace.knodes_per_s is None


def test_one_starved_search_is_forgotten_after_a_while() -> None:
    pace, limit = EnginePace(PATIENCE), Limit(nodes=100_000)
    pace.took(limit, 60.0, result(100_000))
    assert pace.longest_s(limit) == 1200
    for _ in range(100):
        pace.took(limit, 0.2, result(100_000))
    assert pace.longest_s(limit) == 10


@pytest.mark.slow
async def test_the_embedded_engine_s_speed_is_measured(embedded: EngineCommand) -> None:
    speed = await measure_speed(embedded, UciSettings(), seconds=0.2)
    assert "Stockfish" in speed.name
    assert speed.knodes_per_s > 0
    assert speed.depth > 5
    assert speed.start_s > 0
