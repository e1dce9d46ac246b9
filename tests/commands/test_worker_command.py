"""``live-rate worker``, as somebody types it."""

from __future__ import annotations

import subprocess
import sys

import pytest


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from live.cli import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.slow
def test_an_address_that_is_none_is_refused_by_name() -> None:
    said = run("worker", "scheduler")
    assert said.returncode == 2
    assert 'command line: engine.cluster: "scheduler" does not fit' in said.stderr


@pytest.mark.slow
def test_what_is_no_engine_is_refused_before_a_scheduler_is_looked_for() -> None:
    said = run("worker", "tcp://127.0.0.1:9", "--engine", "/bin/cat")
    assert said.returncode == 2
    assert "/bin/cat: is no UCI engine: echoes what it is told" in said.stderr
