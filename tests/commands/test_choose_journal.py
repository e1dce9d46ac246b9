"""A journal is found by its file, by the source that was followed, or as the only
one.
"""

import os
from pathlib import Path

import pytest

from live.commands.choose_journal import choose_journal
from live.errors import InputError
from live.games.game import NewGame
from live.journal.event_journal import journal_path
from live.journal.journal import Journal
from live.settings import JournalConfig
from tests.event.arithmetic import game


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The usual folder of journals, empty."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "live-rate"


def write_journal(source: str) -> Path:
    """A journal with a game, as following ``source`` writes it."""
    path = journal_path(JournalConfig(), [source])
    assert path is not None
    with Journal(path) as journal:
        journal.add_change(NewGame(game("g1")))
    return path


def test_the_journal_of_a_source_is_found_by_what_was_followed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_journal("games.pgn")
    assert choose_journal(Path("games.pgn")) == path
    # Also while the file is there: it is no journal.
    monkeypatch.chdir(tmp_path)
    Path("games.pgn").write_text('[Event "Open"]\n')
    assert choose_journal(Path("games.pgn")) == path
    assert choose_journal(path) == path
    assert choose_journal(Path("other.pgn")) == Path("other.pgn")


def test_without_a_name_the_only_journal_is_taken_and_several_are_listed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InputError, match="there is no journal"):
        choose_journal(None)
    first = write_journal("first.pgn")
    assert choose_journal(None) == first
    second = write_journal("second.pgn")
    os.utime(second, (2e9, 2e9))
    capsys.readouterr()
    assert choose_journal(None) is None
    listed = capsys.readouterr().out.splitlines()[1:]
    assert [line.split()[-1] for line in listed] == [str(second), str(first)]
