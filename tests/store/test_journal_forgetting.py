"""live.store.journal_file: what is forgotten is in no byte of the file, the rest is whole."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from live.cli import app
from live.events import Player
from live.games.game import NewGame
from live.store.journal_file import JournalLock
from live.store.journal_reader import JournalReader
from tests.ledger.arithmetic import game
from tests.store.test_journal import opened

ANN, BO, CAI = (Player(n, fide_id=i) for n, i in (("Ann, A", 1), ("Bosse, B", 77001), ("Cai", 3)))


def written(folder: Path) -> Path:
    """Two games, one of Bosse, an alert on each and one on Bosse alone."""
    path = folder / "event.sqlite"
    with opened(path) as journal:
        for id, black in (("g1", BO), ("g2", CAI)):
            made = game(id)
            headers = msgspec.structs.replace(made.headers, white=ANN, black=black)
            journal.change(NewGame(msgspec.structs.replace(made, headers=headers)))
            journal.note("alert", msgspec.json.encode({"text": f"{black.name} waits"}), id)
        journal.note("alert", b'{"text":"Bosse, B agrees with an engine"}')
        assert journal.flush()
    return path


@pytest.mark.parametrize("who", ["bosse,  b", "77001"])
def test_a_player_is_in_no_byte_of_the_file_afterwards(who: str, tmp_path: Path) -> None:
    path = written(tmp_path)
    assert any(b"Bosse" in each.read_bytes() for each in tmp_path.iterdir())
    done = CliRunner().invoke(app, ["forget", str(path), "--player", who])
    assert (done.exit_code, done.output) == (0, "1 game deleted.\n")
    assert not [each for each in tmp_path.iterdir() if b"Bosse" in each.read_bytes()]
    with JournalReader.open(path) as reader:
        left = {each.step.id for each in reader.changes() if isinstance(each.step, NewGame)}
        assert left == {"g2"}
        assert [note.kind for note in reader.notes()][-1] == "forgotten"
        assert reader.problems(results=True) == []


def test_old_games_go_and_a_journal_in_use_is_left_alone(tmp_path: Path) -> None:
    path = written(tmp_path)
    none = CliRunner().invoke(app, ["forget", str(path), "--older-than", "1"])
    assert none.output == "0 games deleted.\n"
    lock = JournalLock(path)
    lock.take()
    refused = CliRunner().invoke(app, ["forget", str(path), "--player", "Cai"])
    lock.release()
    assert "is being written" in str(refused.exception)
    assert "does not say what" in str(CliRunner().invoke(app, ["forget", str(path)]).exception)
