"""What each system is given to run the service, as its own reader takes it."""

from __future__ import annotations

import plistlib
import shlex
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from live.cli import app
from live.service.host.service_definition import definition, system_of
from live.service.host.systemd_unit import unit

COMMAND = ["/opt/live rate/live-rate", "--headless", "--feed", 'https://x.org/r?a=1&b="2"%20<3>']
HOME = Path("/nowhere/me")
FEED = "https://lichess.org/broadcast/a/b/AbCdEfGh"


@pytest.mark.parametrize(
    ("platform", "system"),
    [("linux", "systemd"), ("darwin", "launchd"), ("win32", "windows"), ("freebsd14", "systemd")],
)
def test_the_system_by_its_platform(platform: str, system: str) -> None:
    assert system_of(platform) == system


def test_systemd_gets_its_unit() -> None:
    made = definition("systemd", COMMAND, HOME)
    assert made.content.decode() == unit(COMMAND)


def test_launchd_reads_every_word() -> None:
    made = definition("launchd", COMMAND, HOME)
    read = plistlib.loads(made.content)
    assert read["ProgramArguments"] == COMMAND
    assert made.path.name == f"{read['Label']}.plist"
    assert read["KeepAlive"] == {"SuccessfulExit": False}


def test_the_task_scheduler_reads_every_word() -> None:
    made = definition("windows", COMMAND, HOME)
    space = "{http://schemas.microsoft.com/windows/2004/02/mit/task}"
    root = ElementTree.fromstring(made.content)
    (action,) = root.iter(f"{space}Exec")
    assert action.findtext(f"{space}Command") == COMMAND[0]
    arguments = action.findtext(f"{space}Arguments")
    assert arguments is not None
    # A quote inside quotes is written \" by both conventions, and nothing here else differs.
    assert shlex.split(arguments) == COMMAND[1:]


@pytest.mark.parametrize("system", ["launchd", "windows"])
def test_it_is_shown_first_and_written_when_that_is_said(
    system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    words = ["service", "install", "--system", system, "--feed", FEED]
    shown = CliRunner().invoke(app, words)
    assert shown.exit_code == 0, shown.output
    assert FEED in shown.output and "--write" in shown.output
    assert list(tmp_path.iterdir()) == []
    written = CliRunner().invoke(app, [*words, "--write"])
    assert written.exit_code == 0, written.output
    (file,) = [each for each in tmp_path.rglob("*") if each.is_file()]
    assert str(file) in written.output
    again = CliRunner().invoke(app, [*words, "--write"])
    assert again.exit_code != 0
    assert "exists" in str(again.exception)


def test_files_are_named_whole_since_the_service_starts_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "round").mkdir()
    games, web = "./round", "https://example.org/games.pgn"
    told = CliRunner().invoke(app, ["systemd-unit", "--feed", games, "--feed", web])
    assert told.exit_code == 0
    assert f"--feed {tmp_path / games} --feed {web}" in told.output


def test_a_place_that_may_not_be_written_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "Library").write_text("a file where a folder should be")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    words = ["service", "install", "--system", "launchd", "--feed", FEED, "--write"]
    refused = CliRunner().invoke(app, words)
    assert refused.exit_code != 0
    assert "cannot be written" in str(refused.exception)
