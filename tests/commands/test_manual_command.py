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


def test_without_a_topic_every_page_is_listed_in_a_line() -> None:
    done = CliRunner().invoke(app, ["manual"])
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == [*TOPICS]


def test_into_a_pipe_it_prints_the_text_as_it_is() -> None:
    done = CliRunner().invoke(app, ["manual", "numbers"])
    assert done.exit_code == 0
    assert done.stdout == manual_page("numbers").text


def test_an_unknown_topic_is_refused_in_a_line_that_names_the_pages() -> None:
    done = CliRunner().invoke(app, ["manual", "arbitre"])
    assert isinstance(done.exception, InputError)
    said = str(done.exception)
    assert "arbitre" in said
    assert "\n" not in said
    for topic in TOPICS:
        assert topic in said


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
