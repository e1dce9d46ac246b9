"""A journal is found by its file, by the source that was followed, or as the only
one.
"""

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from live.cli import app
from live.commands.choose_journal import choose_only_journal, find_journal
from live.errors import InputError
from live.games.game import NewGame
from live.journal.event_journal import find_journal_place
from live.journal.journal import Journal
from live.settings import JournalConfig
from live.sources.source_address import recognise_source
from tests.event.arithmetic import game


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The usual folder of journals, empty."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "live-rate"


def write_journal(source: str) -> Path:
    """A journal with a game, as following ``source`` writes it."""
    path = find_journal_place(JournalConfig(), [source]).path
    assert path is not None
    with Journal(path) as journal:
        journal.add_change(NewGame(game("g1")))
    return path


def test_the_journal_of_a_source_is_found_by_what_was_followed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_journal("games.pgn")
    assert find_journal("games.pgn") == path
    # Also while the file is there: it is no journal.
    monkeypatch.chdir(tmp_path)
    Path("games.pgn").write_text('[Event "Open"]\n')
    assert find_journal("games.pgn") == path
    assert find_journal(str(path)) == path
    assert find_journal("other.pgn") == Path("other.pgn")


@pytest.mark.parametrize(
    "address",
    [
        "https://lichess.org/broadcast/open/round-1/abcdefgh",
        "mqtt://broker.example:1883/hall",
        "ws://other.example:8765",
    ],
)
def test_the_journal_of_an_address_is_found_by_it(folder: Path, address: str) -> None:
    with pytest.raises(InputError, match="no journal of this source"):
        find_journal(address)
    path = write_journal(recognise_source(address).name)
    assert find_journal(address) == path


def test_a_file_is_found_by_its_whole_path_and_from_its_folder(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    from_here = write_journal("games.pgn")
    assert find_journal(str(tmp_path / "games.pgn")) == from_here
    with_path = write_journal(str(tmp_path / "other.pgn"))
    assert find_journal("other.pgn") == with_path


@pytest.mark.parametrize("command", [["report"], ["explain", "g1", "1"]])
def test_a_command_keeps_the_slashes_of_an_address(
    folder: Path, command: list[str]
) -> None:
    address = "https://lichess.org/broadcast/open/round-1/abcdefgh"
    path = write_journal(recognise_source(address).name)
    done = CliRunner().invoke(app, [command[0], address, *command[1:]])
    assert f"journal {path}\n" in done.stderr


def test_without_a_name_the_only_journal_is_taken_and_several_are_listed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InputError, match="there is no journal"):
        choose_only_journal()
    first = write_journal("first.pgn")
    assert choose_only_journal() == first
    second = write_journal("second.pgn")
    os.utime(second, (2e9, 2e9))
    capsys.readouterr()
    assert choose_only_journal() is None
    listed = capsys.readouterr().err.splitlines()[1:]
    assert [line.split()[-1] for line in listed] == [str(second), str(first)]


@pytest.mark.parametrize("flag", ["--json", "--out"])
def test_a_report_that_needs_a_choice_writes_nothing_and_fails(
    folder: Path, tmp_path: Path, flag: str
) -> None:
    write_journal("first.pgn")
    write_journal("second.pgn")
    target = tmp_path / "written"
    done = CliRunner().invoke(app, ["report", flag, str(target)])
    assert done.exit_code == 2
    assert done.stdout == ""
    assert "second-pgn" in done.stderr
    assert not target.exists()
