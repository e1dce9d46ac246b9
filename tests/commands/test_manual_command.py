"""``live-rate manual``: lists the pages, prints one, and names them all where there is none."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from live.cli import app
from live.errors import InputError
from live.manual.pages import TOPICS, manual_page

ROOT = Path(__file__).resolve().parent.parent.parent


def test_every_page_is_listed_and_printed_into_a_pipe_as_it_is() -> None:
    listed = CliRunner().invoke(app, ["manual"]).stdout.splitlines()
    assert [line.split()[0] for line in listed] == [*TOPICS]
    for topic in TOPICS:
        done = CliRunner().invoke(app, ["manual", topic])
        assert (done.exit_code, done.stdout) == (0, manual_page(topic).text)
    refused = CliRunner().invoke(app, ["manual", "arbitre"]).exception
    assert isinstance(refused, InputError) and "\n" not in str(refused)
    assert all(each in str(refused) for each in ("arbitre", *TOPICS))


@pytest.mark.slow
def test_on_a_terminal_it_is_set_for_reading() -> None:
    own, other = pty.openpty()
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "COLUMNS": "80"}
    command = [sys.executable, "-c", "from live.cli import main; main()", "manual", "changes"]
    with subprocess.Popen(command, stdout=other, env=environment) as process:
        os.close(other)
        shown = b""
        try:
            while data := os.read(own, 65536):
                shown += data
        except OSError:  # Linux: nobody writes any more
            pass
    os.close(own)
    assert process.returncode == 0
    assert b"\x1b[" in shown
    assert b"## " not in shown
    assert "Changes" in shown.decode()
