"""What is wrong with a journal's file is said so that people know what to do."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from live.errors import InputError
from live.games.game import NewGame
from live.store.journal import Journal
from live.store.journal_faults import in_words
from live.store.journal_reader import JournalReader
from live.store.journal_tables import VERSION, connected
from tests.ledger.arithmetic import game
from tests.store.test_journal import RUN

#: A user who owns nothing: root could write anywhere.
NOBODY = 65534


@pytest.fixture
def folder() -> Iterator[Path]:
    """Reachable by everybody, which pytest's own folders are not."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o755)
    yield path
    path.chmod(0o755)
    shutil.rmtree(path)


@contextmanager
def as_a_guest_in(folder: Path) -> Iterator[None]:
    folder.chmod(0o555)
    if os.geteuid():
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def written(path: Path) -> Path:
    with Journal(path) as journal:
        journal.begin(RUN)
        journal.change(NewGame(game("g1")))
    return path


def said(path: Path) -> str:
    with pytest.raises(InputError) as error:
        JournalReader.open(path)
    return str(error.value)


def test_a_journal_on_a_write_protected_stick_is_read_and_nothing_is_put_beside_it(
    folder: Path,
) -> None:
    path = written(folder / "open.sqlite")
    path.with_name("open.sqlite-lock").unlink()
    path.chmod(0o444)
    with as_a_guest_in(folder):
        with JournalReader.open(path) as reader:
            assert [change.step for change in reader.changes()] == [NewGame(game("g1"))]
        assert [each.name for each in folder.iterdir()] == ["open.sqlite"]


def test_what_only_the_file_beside_it_knows_is_not_read_past(folder: Path) -> None:
    original = written(folder / "running.sqlite")
    running = connected(original)
    running.execute("UPDATE runs SET at_ms = 7")
    copy = folder / "copy.sqlite"
    for suffix in ("", "-wal"):
        shutil.copyfile(f"{original}{suffix}", f"{copy}{suffix}")
    running.close()
    with as_a_guest_in(folder):
        assert "copy.sqlite-wal beside it, to where this user may write" in said(copy)


def test_a_service_says_which_folder_it_may_not_write(folder: Path) -> None:
    path = folder / "new.sqlite"
    with as_a_guest_in(folder), Journal(path) as journal:
        assert f"{folder}: this folder cannot be written" in journal.problem


@pytest.mark.parametrize(
    ("hindered", "says"),
    [
        ("PRAGMA query_only = ON", "let this user write it and its folder"),
        ("PRAGMA max_page_count = 2", "make room on its disk"),
    ],
)
def test_a_file_that_takes_nothing_is_said_with_what_helps(
    tmp_path: Path, hindered: str, says: str
) -> None:
    connection = connected(tmp_path / "full.sqlite")
    connection.execute("CREATE TABLE lines (line BLOB)")
    connection.execute(hindered)
    with pytest.raises(sqlite3.Error) as error:
        connection.execute("INSERT INTO lines VALUES (zeroblob(100000))")
    connection.close()
    assert in_words(error.value) == f"{error.value}; {says}"


def a_pgn(path: Path) -> None:
    path.write_text('[Event "?"]\n\n1. e4 *\n' * 50)


def a_folder_of_journals(path: Path) -> None:
    path.mkdir()
    written(path / "round-1.sqlite")


def nothing_yet(path: Path) -> None:
    path.touch()


def from_later(path: Path) -> None:
    with connected(written(path)) as connection:
        connection.execute("PRAGMA user_version = 99")


def cut_short(path: Path) -> None:
    data = written(path).read_bytes()
    path.write_bytes(data[: len(data) // 2])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "says"),
    [
        (a_pgn, "is no journal (file is not a database). Name what live-rate wrote"),
        (a_folder_of_journals, "is a folder. Name a journal in it: round-1.sqlite"),
        (Path.mkdir, "is a folder. Name what live-rate wrote with --journal"),
        (nothing_yet, "holds no event yet. Follow one"),
        (from_later, f": is of version 99, and this live-rate knows up to {VERSION}. Name"),
        (cut_short, "is damaged (database disk image is malformed). Save what can be read"),
    ],
)
def test_a_command_says_what_it_was_given_instead(
    tmp_path: Path, make: Callable[[Path], None], says: str
) -> None:
    path = tmp_path / "given"
    make(path)
    assert says in said(path)
