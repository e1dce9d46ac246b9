"""Every version of a journal that was ever released opens, and nothing in it is lost."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from live.engine.results.result_cache import MemoryResultCache
from live.engine.results.result_file import ResultFile
from live.engine.search import Limit, SearchResult
from live.engine.search_key import SearchKey
from live.events import Score
from live.jobs.recorded_event import rebuilt
from live.publish.export.analysis_json import analysis
from live.store import journal_tables
from live.store.journal import Journal
from live.store.journal_reader import JournalReader
from live.store.journal_records import JournalRun
from live.store.journal_tables import ForeignDatabase, connected, prepare, version_of

DATA = Path(__file__).resolve().parent.parent / "data"
#: What the file of version 1 holds.
QUESTION = SearchKey("4k3/8/8/8/8/8/8/4K2R w - - 0 1", (), Limit(nodes=400))
RESULT = SearchResult(Score(3900, 2), "e1e2", depth=9)
RUN = JournalRun(version="0", engine_name="engine", identity="engine", limit="400 nodes")


@pytest.fixture
def first(tmp_path: Path) -> Path:
    """A cache of searches: version 1."""
    return Path(shutil.copy(DATA / "cache-version-1.sqlite", tmp_path))


@pytest.fixture
def released(tmp_path: Path) -> Path:
    """The first released journal."""
    return Path(shutil.copy(DATA / "journal-version-2.sqlite", tmp_path))


def version_in(path: Path) -> int:
    connection = connected(path)
    try:
        return version_of(connection)
    finally:
        connection.close()


def columns(path: Path) -> dict[str, list[tuple[object, ...]]]:
    connection = sqlite3.connect(path)
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    found = {
        name: connection.execute(f"PRAGMA table_info({name})").fetchall() for (name,) in tables
    }
    connection.close()
    return found


def test_a_cache_of_searches_becomes_a_journal_and_keeps_what_it_knows(first: Path) -> None:
    assert version_in(first) == 1
    with Journal(first, memory=MemoryResultCache(1)) as journal:
        assert journal.problem == ""
        journal.begin(RUN)
        assert journal.get("engine", QUESTION) == RESULT
        journal.put("engine", QUESTION, RESULT)
    assert version_in(first) == journal_tables.VERSION
    with JournalReader.open(first) as reader:
        scored = reader.result("engine", QUESTION)
    assert scored is not None and scored.identity == "engine" and scored.at_ms is not None
    with ResultFile(first) as cache:
        assert f"is of version {journal_tables.VERSION}" in cache.problem


def test_the_first_released_journal_still_opens_with_every_game_and_score(released: Path) -> None:
    with Journal(released) as journal:
        assert journal.problem == ""
        one, two = journal.standing(b"")
        assert (one.opened, two.opened) < (two.opened, one.opened)
    with JournalReader.open(released) as reader:
        whole = analysis(rebuilt(reader, released).state)
        assert [(game.plies_played, game.plies_scored) for game in whole.games] == [(8, 8), (4, 4)]
        assert all(view.difference is not None or view.score == 0 for view in whole.players)
        assert [note.body for note in reader.notes() if note.kind == "remark"] == [b'"a note"']
        taken_back = analysis(rebuilt(reader, released, 1_777_640_400_000 + 60_000).state)
    assert taken_back.games[0].plies_played <= 8


def test_a_file_brought_up_to_date_has_the_tables_of_a_new_one(
    first: Path, released: Path, tmp_path: Path
) -> None:
    new = tmp_path / "new.sqlite"
    for path in (first, released, new):
        with Journal(path) as journal:
            assert journal.problem == ""
            journal.note("remark", b"null")
    assert columns(new) == columns(released)
    # A cache may keep books of its own beside.
    assert columns(new).items() <= columns(first).items()


def test_a_step_that_fails_leaves_the_file_as_it_was(
    released: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = columns(released)
    later = (*journal_tables.MIGRATIONS, ("CREATE TABLE extra (n INTEGER)", "this is no SQL"))
    monkeypatch.setattr(journal_tables, "MIGRATIONS", later)
    monkeypatch.setattr(journal_tables, "VERSION", len(later))
    with Journal(released) as journal:
        assert "cannot be used" in journal.problem
    monkeypatch.undo()
    assert version_in(released) == 2 and columns(released) == before


def test_later_steps_are_made_in_order(released: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    later = (*journal_tables.MIGRATIONS, ("CREATE TABLE extra (n INTEGER)",), ("DROP TABLE extra",))
    monkeypatch.setattr(journal_tables, "MIGRATIONS", later)
    monkeypatch.setattr(journal_tables, "VERSION", len(later))
    connection = connected(released)
    try:
        assert prepare(connection) == 2
        assert version_of(connection) == len(later)
    finally:
        connection.close()
    monkeypatch.undo()
    with pytest.raises(ForeignDatabase, match="knows up to"):
        version_in(released)


def test_a_file_of_the_very_next_version_is_refused(
    released: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = (*journal_tables.MIGRATIONS, ("CREATE TABLE extra (n INTEGER)",))
    monkeypatch.setattr(journal_tables, "MIGRATIONS", later)
    monkeypatch.setattr(journal_tables, "VERSION", len(later))
    connection = connected(released)
    try:
        prepare(connection)
    finally:
        connection.close()
    monkeypatch.undo()
    with pytest.raises(ForeignDatabase, match="knows up to"):
        version_in(released)
