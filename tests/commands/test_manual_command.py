"""``live-rate manual``: lists the pages, prints one, and names them all where there is
none.
"""

import sys

import pytest
from typer.testing import CliRunner

from live.cli import app
from live.commands.manual import manual
from live.errors import InputError
from live.manual.pages import TOPICS, read_page


def test_every_page_is_listed_and_one_is_printed_into_a_pipe_as_it_is() -> None:
    listed = CliRunner().invoke(app, ["manual"]).stdout.splitlines()
    assert [line.split()[0] for line in listed] == [*TOPICS]
    done = CliRunner().invoke(app, ["manual", "glossary"])
    assert (done.exit_code, done.stdout) == (0, read_page("glossary").text)
    refused = CliRunner().invoke(app, ["manual", "arbitre"]).exception
    assert isinstance(refused, InputError) and "\n" not in str(refused)
    assert all(each in str(refused) for each in ("arbitre", *TOPICS))


def test_on_a_terminal_it_is_set_for_reading(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm-256color")
    manual("changes")
    shown = capsys.readouterr().out
    assert "\x1b[" in shown and "Changes" in shown
    assert "## " not in shown
