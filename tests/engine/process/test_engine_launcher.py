"""Engines die with the service, however it dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from live.engine.engine_discovery import EngineCommand
from live.engine.engine_process import launched
from tests.engine.dying import dies

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
ROOT = Path(__file__).resolve().parents[3]


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
@pytest.mark.parametrize("which", ["embedded", "native"])
def test_an_engine_dies_with_a_service_killed_in_mid_search(
    which: str, request: pytest.FixtureRequest
) -> None:
    command: EngineCommand = request.getfixturevalue(which)
    assert dies(engine_of_a_killed_service(command))


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
