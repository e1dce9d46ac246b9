"""The file of a journal: tables and their versions, checksums, faults in words with a remedy."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from live.cli import app
from live.engine.result_cache import MemoryResultCache, ResultFile
from live.engine.search import Limit, SearchKey, SearchResult
from live.errors import InputError
from live.events import Player, Score
from live.games.game import MovesPlayed, NewGame, ResultChanged
from live.jobs.recorded_event import rebuilt
from live.publish.export.analysis_json import analysis
from live.store import journal_file
from live.store.journal import Journal
from live.store.journal_file import (
    START,
    VERSION,
    ForeignDatabase,
    check,
    connected,
    in_words,
    link,
    locked,
    prepare,
    sum_of,
    version_of,
)
from live.store.journal_reader import JournalReader
from tests.ledger.arithmetic import game, line
from tests.store.test_journal import RUN, opened, search_key

DATA = Path(__file__).resolve().parent.parent / "data"
#: What the file of version 1 holds.
QUESTION = SearchKey("4k3/8/8/8/8/8/8/4K2R w - - 0 1", (), Limit(nodes=400))
RESULT = SearchResult(Score(3900, 2), "e1e2", depth=9)


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
    assert version_in(first) == journal_file.VERSION
    with JournalReader.open(first) as reader:
        scored = reader.result("engine", QUESTION)
    assert scored is not None and scored.identity == "engine" and scored.at_ms is not None
    with ResultFile(first) as cache:
        assert f"is of version {journal_file.VERSION}" in cache.problem


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
    later = (*journal_file.MIGRATIONS, ("CREATE TABLE extra (n INTEGER)", "this is no SQL"))
    monkeypatch.setattr(journal_file, "MIGRATIONS", later)
    monkeypatch.setattr(journal_file, "VERSION", len(later))
    with Journal(released) as journal:
        assert "cannot be used" in journal.problem
    monkeypatch.undo()
    assert version_in(released) == 2 and columns(released) == before


def test_later_steps_are_made_in_order(released: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    later = (*journal_file.MIGRATIONS, ("CREATE TABLE extra (n INTEGER)",), ("DROP TABLE extra",))
    monkeypatch.setattr(journal_file, "MIGRATIONS", later)
    monkeypatch.setattr(journal_file, "VERSION", len(later))
    connection = connected(released)
    try:
        assert prepare(connection) == 2
        assert version_of(connection) == len(later)
    finally:
        connection.close()
    monkeypatch.undo()
    with pytest.raises(ForeignDatabase, match="knows up to"):
        version_in(released)


RESULTS = 40
MUTATIONS = 500


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("journal") / "whole.sqlite"
    moves = line(*range(3, 33))
    with Journal(path) as journal:
        journal.begin(RUN)
        for number in range(4):
            journal.change(NewGame(game(f"g{number}")))
            for ply, move in enumerate(moves, 1):
                journal.change(MovesPlayed(f"g{number}", ply, (move,)))
                journal.note("alert", b'{"text":"%d"}' % ply, f"g{number}")
            journal.change(ResultChanged(f"g{number}", "1-0"))
        for number in range(RESULTS):
            found = SearchResult(Score(number), "e2e4", depth=number)
            journal.put(RUN.identity, search_key(number), found)
        assert journal.flush()
    return path


def report(path: Path, said: list[str]) -> list[object]:
    """All that a report is made of; InputError where the file says that it is damaged."""
    with JournalReader.open(path) as reader:
        said += reader.problems(results=True)
        results = (reader.result(RUN.identity, search_key(number)) for number in range(RESULTS))
        return [
            [msgspec.msgpack.encode(each) for each in reader.changes()],
            reader.notes(),
            reader.runs(),
            [(found.result, found.at_ms) if found is not None else None for found in results],
        ]


def spoil(path: Path, chance: random.Random) -> None:
    """Change some bytes anywhere but in the first 100, which say that it is a database."""
    data = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 1, 2, 8, 64))):
        at = chance.randrange(100, len(data))
        if chance.random() < 0.3:
            data[at : at + 16] = chance.randbytes(min(16, len(data) - at))
        else:
            data[at] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


@pytest.mark.slow
def test_of_500_damaged_journals_none_says_something_else_without_a_word(
    written: Path, tmp_path: Path
) -> None:
    whole = report(written, [])
    chance, quiet, noticed = random.Random(18), [], 0
    for number in range(MUTATIONS):
        path = tmp_path / "damaged.sqlite"
        shutil.copy(written, path)
        spoil(path, chance)
        said: list[str] = []
        try:
            told = report(path, said)
        except InputError:
            noticed += 1
            continue
        noticed += bool(said)
        if told != whole and not said:
            quiet.append(number)
    assert quiet == []
    assert noticed > MUTATIONS // 4


SPOILT: dict[str, tuple[str, str]] = {
    "changed": ("UPDATE notes SET body = '{}' WHERE n = 7", "notes 7 damaged, and left out"),
    "two exchanged": (
        "UPDATE notes SET n = -1 WHERE n = 5; UPDATE notes SET n = 5 WHERE n = 6;"
        " UPDATE notes SET n = 6 WHERE n = -1",
        "notes 5, 6 damaged",
    ),
    "its time changed": ("UPDATE changes SET at_ms = at_ms + 1 WHERE n = 9", "changes 9 damaged"),
    "missing": (
        "DELETE FROM changes WHERE n IN (20, 21)",
        "exchanged before changes 22",
    ),
    "missing at the end": ("DELETE FROM notes WHERE n > 110", "before notes 111"),
    "all missing": ("DELETE FROM notes", "before notes 1"),
    "a run": ("UPDATE runs SET at_ms = 1", "starts of the service 1 damaged"),
    "a result": ("UPDATE results SET result = X'00' WHERE at_ms > 0", "40 results of searches are"),
    "results missing": ("DELETE FROM results", "0 of 40 there"),
}


@pytest.mark.parametrize("spoilt", SPOILT)
def test_what_is_changed_missing_or_exchanged_is_noticed_and_said(
    spoilt: str, written: Path, tmp_path: Path
) -> None:
    path = tmp_path / "spoilt.sqlite"
    shutil.copy(written, path)
    statements, words = SPOILT[spoilt]
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(statements)
    said: list[str] = []
    notes = report(path, said)[1]
    assert len(said) == 1 + (spoilt == "two exchanged") and words in said[0]
    if spoilt in ("changed", "two exchanged"):
        bad = [7] if spoilt == "changed" else [5, 6]
        assert isinstance(notes, list)
        assert [note.n for note in notes] == [n for n in range(1, 121) if n not in bad]


def test_a_journal_goes_on_after_damage_and_says_so_still(written: Path, tmp_path: Path) -> None:
    path = tmp_path / "spoilt.sqlite"
    shutil.copy(written, path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM notes WHERE n > 110")
    with Journal(path) as journal:
        journal.begin(RUN)
        journal.note("entry", b'{"text":"later"}')
        assert journal.flush()
    said: list[str] = []
    notes = report(path, said)[1]
    assert isinstance(notes, list)
    assert notes[-1].kind == "entry" and "missing or exchanged before notes 111" in said[0]


def rows(*texts: str) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    chain = START
    for number, text in enumerate(texts, 1):
        record = sum_of(number, text)
        chain = link(chain, record)
        found.append((number, text, record, chain))
    return found


@pytest.mark.parametrize("old", [0, 3])
def test_records_of_the_version_before_have_no_sums(old: int) -> None:
    before: list[tuple[object, ...]] = [(n - 10, "x", None, None) for n in range(old)]
    made = rows("a", "b")
    head = (2, made[-1][3])
    assert isinstance(head[1], bytes)
    assert check([*before, *made], (2, head[1])) == ([], [])


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


def begun(path: Path) -> Path:
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
    path = begun(folder / "open.sqlite")
    path.with_name("open.sqlite-lock").unlink()
    path.chmod(0o444)
    with as_a_guest_in(folder):
        with JournalReader.open(path) as reader:
            assert [change.step for change in reader.changes()] == [NewGame(game("g1"))]
        assert [each.name for each in folder.iterdir()] == ["open.sqlite"]


def test_what_only_the_file_beside_it_knows_is_not_read_past(folder: Path) -> None:
    original = begun(folder / "running.sqlite")
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
    begun(path / "round-1.sqlite")


def nothing_yet(path: Path) -> None:
    path.touch()


def from_later(path: Path) -> None:
    with connected(begun(path)) as connection:
        connection.execute("PRAGMA user_version = 99")


def cut_short(path: Path) -> None:
    data = begun(path).read_bytes()
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


ANN, BO, CAI = (Player(n, fide_id=i) for n, i in (("Ann, A", 1), ("Bosse, B", 77001), ("Cai", 3)))


def of_two_games(folder: Path) -> Path:
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
    path = of_two_games(tmp_path)
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
    path = of_two_games(tmp_path)
    none = CliRunner().invoke(app, ["forget", str(path), "--older-than", "1"])
    assert none.output == "0 games deleted.\n"
    with locked(path):
        refused = CliRunner().invoke(app, ["forget", str(path), "--player", "Cai"])
    assert "is being written" in str(refused.exception)
    assert "does not say what" in str(CliRunner().invoke(app, ["forget", str(path)]).exception)
