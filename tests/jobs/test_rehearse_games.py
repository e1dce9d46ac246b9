"""``rehearse`` and ``feeds`` as people run them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.test_cli import DATA, LIVE_RATE, live_rate

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(DATA.parent.parent), "COLUMNS": "100"}
BOARDS = str(DATA / "four-boards.pgn")


@pytest.mark.slow
def test_a_rehearsal_is_found_by_feeds_and_ends_on_ctrl_c(tmp_path: Path) -> None:
    command = [*LIVE_RATE, "rehearse", BOARDS, "--as", "pgn-url", "--speed", "100000"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
    ) as playing:
        assert playing.stdout is not None and playing.stderr is not None
        line = playing.stdout.readline().decode().split()
        assert line[:2] == ["live-rate", "--feed"]
        found = live_rate("feeds", line[2], "--json", cwd=tmp_path)
        assert found.returncode == 0, found.stderr
        ((finding),) = json.loads(found.stdout)
        assert (finding["kind"], len(finding["games"])) == ("pgn-url", 4)
        playing.send_signal(signal.SIGINT)
        assert playing.wait(30) == 130
        assert playing.stderr.read() == b""


@pytest.mark.slow
def test_feeds_as_a_table_and_what_does_not_answer(tmp_path: Path) -> None:
    found = live_rate("feeds", BOARDS, "nonsense", cwd=tmp_path)
    assert found.returncode == 1
    assert "four-boards.pgn  file: 4 games" in found.stdout
    assert "Kovchan, Alexander" in found.stdout
    assert "✗ nonsense  no source: names no kind of source" in found.stdout


@pytest.mark.slow
def test_a_round_that_is_not_there(tmp_path: Path) -> None:
    done = live_rate("rehearse", BOARDS, "--round", "7", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == f"live-rate: {BOARDS}: has no round 7. Look at its Round tags\n"
