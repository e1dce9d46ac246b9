"""What is handed to the journal is there after a restart, whatever became of disk and
process; its tables and their versions, checksums, and faults in words with a remedy.
"""

import os
import random
import resource
import shutil
import sqlite3
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from live.cli import app
from live.engine.result_cache import MemoryResultCache
from live.engine.search import Limit, SearchResult
from live.engine.search_key import SearchKey
from live.errors import InputError
from live.games.game import GameGone, MovesPlayed, NewGame, ResultChanged, Step
from live.human.question import HumanAnswer, HumanQuestion
from live.journal import journal_file, journal_writer
from live.journal.game_deletion import delete_games
from live.journal.journal import Journal
from live.journal.journal_faults import describe_write_error, explain_refusal
from live.journal.journal_file import (
    VERSION,
    SqliteConnection,
    lock_journal,
    open_connection,
    read_version,
)
from live.journal.journal_reader import (
    JournalReader,
    JournalRun,
    Memory,
    RecordedChange,
    replay_game,
)
from live.journal.recorded_event import rebuild_event
from live.messages.from_sources import Player, Score
from live.server.analysis import build_analysis
from tests.event.arithmetic import game, line

RUN = JournalRun(
    version="0",
    engine_name="Arithmetic",
    identity="Arithmetic; Hash=16",
    limit="1 look",
)
MOVES = line(3, 5, 7, 11)
RESULT = SearchResult(Score(12), "e2e4", depth=9, by_depth=(None, Score(7)))


def search_key(number: int) -> SearchKey:
    return SearchKey(f"4k3/8/8/8/8/8/8/4K2R w - - {number} 1", (), Limit(nodes=400))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "journal.sqlite"


@contextmanager
def open_journal(path: Path, **changes: object) -> Iterator[Journal]:
    with Journal(path, retry_s=0.01, **changes) as journal:  # type: ignore[arg-type]
        journal.begin_run(RUN)
        yield journal


def alter_file(path: Path, sql: str, *values: object) -> None:
    """Somebody else changes the file."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(sql, values)


def steps_in(path: Path) -> list[Step]:
    with JournalReader.open(path) as reader:
        return [change.step for change in reader.read_changes()]


def test_changes_are_there_after_a_restart_in_order_with_their_time(path: Path) -> None:
    times = iter(range(1_000, 9_000, 1_000))
    with open_journal(path, now_ms=lambda: next(times)) as journal:
        journal.add_change(NewGame(game("g1")))
        journal.add_change(MovesPlayed("g1", 1, MOVES))
        journal.add_change(NewGame(game("g2")))
    with Journal(path) as journal:
        one, two = journal.read_restorable_games(b"measure")
    assert (one.game, two.game) == ("g1", "g2")
    steps = [change.step for change in one.since]
    assert steps == [NewGame(game("g1")), MovesPlayed("g1", 1, MOVES)]
    assert [change.at_ms for change in one.since] == [2_000, 3_000]
    with JournalReader.open(path) as reader:
        ((number, at_ms, run),) = reader.read_runs()
    assert (number, at_ms, run) == (1, 1_000, RUN)


def test_a_game_that_is_kept_needs_only_what_came_after(path: Path) -> None:
    with open_journal(path) as journal:
        journal.add_change(NewGame(game("g1")))
        assert journal.store_game_snapshot("g1", b"measure", b"whole")
        journal.add_change(MovesPlayed("g1", 1, MOVES))
        journal.add_change(NewGame(game("g2")))
    with Journal(path) as journal:
        one, two = journal.read_restorable_games(b"measure")
        assert (one.archived, two.archived) == (b"whole", None)
        assert [change.step for change in one.since] == [MovesPlayed("g1", 1, MOVES)]
    with Journal(path) as journal:
        one, _ = journal.read_restorable_games(b"another measure")
        assert one.archived is None
        assert [change.n for change in one.since] == [1, 2]


def test_what_is_remembered_is_kept_with_the_change_until_it_is_another_or_nothing(
    path: Path,
) -> None:
    with open_journal(path) as journal:
        journal.add_change(NewGame(game("g1")), [remembered("board", "g1", "one")])
        journal.add_change(NewGame(game("g2")), [remembered("board", "g2", "two")])
        journal.keep_memories([remembered("story", "g1", "told")])
        journal.keep_memories([remembered("board", "g1", "another")])
        journal.keep_memories([Memory("board", "g2", None)])
        assert journal.wait_until_written()
        assert journal.read_memories("board") == {"g1": b"another"}
    alter_file(path, "UPDATE remembered SET body = X'00' WHERE kind = 'board'")
    with Journal(path) as journal:
        assert journal.read_memories("board") == {}, (
            "what is damaged is as if it had not been"
        )
        assert journal.read_memories("story") == {"g1": b"told"}


def test_a_game_that_is_gone_stands_no_more_and_its_past_stays(path: Path) -> None:
    with open_journal(path) as journal:
        journal.add_change(NewGame(game("g1")))
        journal.store_game_snapshot("g1", b"measure", b"whole")
        journal.add_change(GameGone("g1"))
        journal.add_change(NewGame(game("g1", MOVES)))
    with Journal(path) as journal:
        (one,) = journal.read_restorable_games(b"measure")
    assert one.archived is None
    assert [change.step for change in one.since] == [NewGame(game("g1", MOVES))]
    assert len(steps_in(path)) == 3


def test_a_game_whose_changes_do_not_fit_together_is_said_and_left_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    steps: list[Step] = [NewGame(game("g1")), MovesPlayed("g1", 1, MOVES)]
    changes = [RecordedChange(n, 1_000, step) for n, step in enumerate(steps, 1)]
    restored = replay_game("g1", changes)
    assert restored is not None
    assert restored.moves == MOVES
    assert replay_game("g1", [*changes, changes[1]]) is None
    assert "game g1 cannot be restored" in caplog.text


def test_numbers_go_on_after_a_restart(path: Path) -> None:
    for name in ("g1", "g2", "g3"):
        with open_journal(path) as journal:
            journal.add_change(NewGame(game(name)))
            journal.add_note("remark", b'"' + name.encode() + b'"', name)
    with JournalReader.open(path) as reader:
        assert [change.n for change in reader.read_changes()] == [1, 2, 3]
        assert [run for run, _, _ in reader.read_runs()] == [1, 2, 3]
        notes = [(note.n, note.run, note.game) for note in reader.read_notes()]
        assert notes == [(1, 1, "g1"), (2, 2, "g2"), (3, 3, "g3")]


def test_a_moment_is_everything_up_to_it_even_where_the_clock_was_set_back(
    path: Path,
) -> None:
    times = iter([0, 1_000, 9_000, 2_000, 10_000])
    with open_journal(path, now_ms=lambda: next(times)) as journal:
        for name in ("g1", "g2", "g3", "g4"):
            journal.add_change(NewGame(game(name)))
    with JournalReader.open(path) as reader:
        assert [change.at_ms for change in reader.read_changes()] == [
            1_000,
            9_000,
            9_000,
            10_000,
        ]
        assert [change.n for change in reader.read_changes(5_000)] == [1]
        assert [change.n for change in reader.read_changes(9_000)] == [1, 2, 3]
        assert list(reader.read_changes(0)) == []


def test_a_result_is_searched_once_and_known_with_engine_and_time(path: Path) -> None:
    with open_journal(path, now_ms=lambda: 77) as journal:
        assert journal.find_result(RUN.identity, search_key(1)) is None
        journal.store_result(RUN.identity, search_key(1), RESULT)
        assert journal.find_result(RUN.identity, search_key(1)) == RESULT
    with open_journal(path, memory=MemoryResultCache(1)) as journal:
        assert journal.find_result(RUN.identity, search_key(1)) == RESULT
        assert journal.find_result("another engine", search_key(1)) is None
    with JournalReader.open(path) as reader:
        scored = reader.read_result(RUN.identity, search_key(1))
    assert scored is not None
    assert scored == (RESULT, 77)


def test_what_players_would_play_is_known_after_a_restart(path: Path) -> None:
    asked = HumanQuestion("8/8/8/4k3/8/8/4K3/8 w - - 0 1", (), (2400, 1500), "otb")
    answer = HumanAnswer("network 1", ({"e2e3": 700}, {"e2e3": 650}))
    with open_journal(path, now_ms=lambda: 77) as journal:
        assert journal.find_answer(asked) is None
        journal.store_answer(asked, answer)
    with open_journal(path) as journal:
        assert journal.find_answer(asked) == answer
        assert journal.find_answer(msgspec.structs.replace(asked, kind="blitz")) is None
    with JournalReader.open(path) as reader:
        held = reader.read_answer(asked)
    assert held == (77, answer)
    # Damaged so that it is no UTF-8: as if nobody had asked.
    alter_file(path, "UPDATE human SET answer = replace(answer, X'6E6574', X'FFFEFD')")
    with open_journal(path) as journal:
        assert journal.find_answer(asked) is None


def test_a_second_service_is_told_so_and_changes_nothing(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with open_journal(path) as first:
        first.add_change(NewGame(game("g1")))
        with open_journal(path) as second:
            assert caplog.messages == [second.problem]
            assert second.problem.endswith(
                "End the other one, or name another file with --journal"
            )
            assert "in use by another live-rate" in second.problem
            assert second.is_unrecoverable and second.read_restorable_games(b"") == []
            second.add_change(NewGame(game("g2")))
            second.store_result(RUN.identity, search_key(1), RESULT)
            assert second.find_result(RUN.identity, search_key(1)) == RESULT
        # By whatever name.
        link = path.with_name("link.sqlite")
        link.symlink_to(path)
        with Journal(link) as third:
            assert "is in use by another live-rate" in third.problem
        first.add_change(NewGame(game("g3")))
        assert first.problem == ""
    assert [step.id for step in steps_in(path) if isinstance(step, NewGame)] == [
        "g1",
        "g3",
    ]
    with Journal(path) as third:
        assert third.problem == ""


@contextmanager
def full_disk(path: Path) -> Iterator[None]:
    """No file of this process may grow any more: a real refusal, for all files
    alike.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size // 2, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def until(holds: Callable[[], bool]) -> None:
    """The writer is a thread of its own: give it a while."""
    ticking = threading.Event()
    for _ in range(1000):
        if holds():
            return
        ticking.wait(0.01)
    raise AssertionError("it never came to that")


def test_a_full_disk_is_said_and_nothing_is_lost_once_there_is_room(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with open_journal(path) as journal:
        journal.add_change(NewGame(game("g1")))
        assert journal.wait_until_written()
        with full_disk(path):
            for number in range(2, 200):
                journal.add_change(NewGame(game(f"g{number}", MOVES)))
            until(lambda: journal.problem != "")
            assert (
                "cannot be written" in journal.problem and not journal.is_unrecoverable
            )
            journal.add_change(ResultChanged("g1", "1-0"))
            assert not journal.wait_until_written(0.05)
        assert journal.wait_until_written()
        until(lambda: journal.problem == "")
    with Journal(path) as journal:
        assert len(journal.read_restorable_games(b"measure")) == 199
    assert steps_in(path)[-1] == ResultChanged("g1", "1-0")
    assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING"]


def test_a_record_that_no_file_takes_is_left_out_and_ends_nothing(
    path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(journal_writer.JournalWriter, "write_memories", fails)
    with open_journal(path) as journal:
        journal.add_note("\ud800", b"no encoding has it")
        journal.add_change(ResultChanged("g1", "\ud800"))  # type: ignore[arg-type]
        journal.keep_memories([Memory("kind", "about", b"")])
        journal.add_note("kind", b"after")
        assert journal.wait_until_written() and [
            note.body for note in journal.read_notes()
        ] == [b"after"]
    assert caplog.text.count("drops a record that cannot be written") == 3


def test_while_much_waits_only_what_can_be_made_again_is_left_out(path: Path) -> None:
    with open_journal(path, backlog=10, memory=MemoryResultCache(1)) as journal:
        journal.add_change(NewGame(game("g1")))
        assert journal.wait_until_written()
        with full_disk(path):
            for number in range(2, 30):
                journal.add_change(NewGame(game(f"g{number}", MOVES)))
                journal.add_note("entry", b"%d" % number)
            journal.store_result(RUN.identity, search_key(1), RESULT)
            until(lambda: journal.problem != "")
            assert not journal.store_game_snapshot("g1", b"", b"")
        assert journal.wait_until_written()
        until(lambda: journal.store_game_snapshot("g1", b"measure", b"whole"))
    with Journal(path) as journal:
        assert [each.game for each in journal.read_restorable_games(b"")] == [
            f"g{n}" for n in range(1, 30)
        ]
        assert [int(note.body) for note in journal.read_notes()] == list(range(2, 30))
        assert journal.find_result(RUN.identity, search_key(1)) is None


def test_what_belongs_together_is_in_the_file_whole_or_not_at_all(path: Path) -> None:
    with open_journal(path) as journal:
        with journal.transaction():
            journal.add_note("alert", b"1", "g1")
            assert journal.wait_until_written() and journal.read_notes() == []
            journal.add_change(NewGame(game("g1")))
        assert journal.wait_until_written()
        assert len(journal.read_notes()) == len(journal.read_changes_of_game("g1")) == 1


def test_games_written_anew_by_an_earlier_version_replace_all_before(
    path: Path,
) -> None:
    """It did so where changes had to be left out."""
    with open_journal(path) as journal:
        for name in ("gone", "kept"):
            journal.add_change(NewGame(game(name)))
        assert journal.wait_until_written()
        values = msgspec.msgpack.encode({"type": "Restated"})
        alter_file(
            path, "INSERT INTO changes VALUES (3, 9, 1, '', ?, NULL, NULL)", values
        )
        journal._n = 3
        journal.add_change(NewGame(game("kept", MOVES)))
    assert steps_in(path)[2:] == [
        GameGone("gone"),
        GameGone("kept"),
        NewGame(game("kept", MOVES)),
    ]


def pgn(path: Path) -> None:
    path.write_text('[Event "?"]\n\n1. e4 *\n' * 50)


def foreign(path: Path) -> None:
    alter_file(path, "CREATE TABLE diary (line TEXT)")


def old(path: Path) -> None:
    shutil.copy(DATA / "journal-version-2.sqlite", path)


def newer(path: Path) -> None:
    alter_file(begun(path), "PRAGMA user_version = 99")


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (pgn, "file is not a database"),
        (foreign, "another program's database"),
        (newer, "is of version 99, written by a newer live-rate"),
        (Path.mkdir, "is a folder"),
    ],
)
def test_a_file_that_is_no_journal_is_named_left_alone_and_done_without(
    tmp_path: Path,
    spoil: Callable[[Path], None],
    says: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    path = tmp_path / "journal.sqlite"
    spoil(path)
    path.chmod(0o755)
    before = path.read_bytes() if path.is_file() else None
    beside = {each.name for each in tmp_path.iterdir()}
    with open_journal(path) as journal:
        assert says in journal.problem and str(path) in journal.problem
        journal.add_change(NewGame(game("g1")))
        journal.store_result(RUN.identity, search_key(1), RESULT)
        assert journal.find_result(RUN.identity, search_key(1)) == RESULT
        assert (
            journal.read_restorable_games(b"measure") == []
            and journal.wait_until_written()
        )
    assert (path.read_bytes() if path.is_file() else None) == before
    assert {each.name for each in tmp_path.iterdir()} == beside
    assert path.stat().st_mode & 0o777 == 0o755 or sys.platform == "win32"
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert says in explain_refusal(path)
    assert {each.name for each in tmp_path.iterdir()} == beside


def test_what_could_be_a_journal_is_looked_at_without_touching_anything(
    tmp_path: Path, path: Path
) -> None:
    assert (
        explain_refusal(path) == ""
        and explain_refusal(tmp_path / "a" / "b.sqlite") == ""
    )
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    assert "is not a folder" in explain_refusal(tmp_path / "file" / "b.sqlite")
    with open_journal(path) as journal:
        journal.add_change(NewGame(game("g1")))
        assert "in use by another live-rate" in explain_refusal(path)
    assert explain_refusal(path) == ""


def test_a_file_damaged_in_the_middle_is_said_and_written_no_more(path: Path) -> None:
    with open_journal(path) as journal:
        for number in range(500):
            journal.add_change(NewGame(game(f"g{number}", MOVES)))
    data = bytearray(path.read_bytes())
    data[8192:] = b"\xff" * (len(data) - 8192)
    path.write_bytes(data)
    with open_journal(path) as journal:
        assert journal.read_restorable_games(b"measure") == []
        assert "damaged" in journal.problem or "cannot be used" in journal.problem
        journal.add_change(NewGame(game("new")))
    assert bytes(data) == path.read_bytes()


def test_a_copy_made_by_vacuum_is_read_while_it_is_written(
    tmp_path: Path, path: Path
) -> None:
    with open_journal(path) as journal:
        journal.add_change(NewGame(game("g1")))
    copy = tmp_path / "copy.sqlite"
    alter_file(path, "VACUUM INTO ?", str(copy))
    with open_journal(copy) as journal:
        with closing(open_connection(copy)) as writing:
            writing.execute("BEGIN EXCLUSIVE")
            assert [
                standing.game for standing in journal.read_restorable_games(b"measure")
            ] == ["g1"]
            writing.execute("ROLLBACK")
        assert journal.problem == ""


def test_a_file_that_is_busy_is_not_called_damaged(path: Path) -> None:
    with open_journal(path) as journal:
        journal.add_change(NewGame(game("g1")))
        assert journal.wait_until_written()
        reader = journal._reader
        assert reader is not None
        reader.close()
        # As where the file system knows no write-ahead log.
        plain = path.with_name("plain.sqlite")
        other = open_connection(plain)
        other.execute("CREATE TABLE notes (n, at_ms, run, game, kind, body)")
        reader._connection = open_connection(plain, busy_s=0)
        other.execute("BEGIN EXCLUSIVE")
        assert journal.read_notes() == [] and not journal.is_unrecoverable
        other.execute("ROLLBACK")
        other.close()


def test_a_journal_where_no_folder_can_be_made_says_so(path: Path) -> None:
    with open_journal(path):
        pass
    with Journal(path / "journal.sqlite") as journal:
        assert "cannot be used" in journal.problem and journal.is_unrecoverable


@pytest.mark.skipif(sys.platform == "win32", reason="rights are not in the mode there")
def test_a_journal_is_its_users_own(path: Path) -> None:
    path.parent.mkdir()
    path.touch(mode=0o644)
    path.chmod(0o644)
    with open_journal(path) as journal:
        journal.add_change(NewGame(game("g1")))
        assert journal.wait_until_written()
        made = [
            each for each in path.parent.iterdir() if each.name.startswith(path.name)
        ]
        # The lock holds nothing.
        holding = [each for each in made if "-lock" not in each.name]
        assert [each.name for each in holding if each.stat().st_mode & 0o077] == []
        assert {f"{path.name}-wal"} <= {each.name for each in made}


DATA = Path(__file__).resolve().parent.parent / "data"
#: What the file of version 1 holds.
CACHED = SearchResult(Score(3900, 2), "e1e2", depth=9)


@pytest.fixture
def first(tmp_path: Path) -> Path:
    """A cache of searches: version 1."""
    return Path(shutil.copy(DATA / "cache-version-1.sqlite", tmp_path))


@pytest.fixture
def released(tmp_path: Path) -> Path:
    """The first released journal."""
    return Path(shutil.copy(DATA / "journal-version-2.sqlite", tmp_path))


def version_in(path: Path) -> int:
    with closing(open_connection(path)) as connection:
        return read_version(connection)


def columns(path: Path) -> dict[str, list[tuple[object, ...]]]:
    names = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
    with closing(sqlite3.connect(path)) as connection:
        return {
            name: connection.execute(f"PRAGMA table_info({name})").fetchall()
            for (name,) in connection.execute(names)
        }


def test_a_cache_of_searches_becomes_a_journal_and_keeps_what_it_knows(
    first: Path,
) -> None:
    assert version_in(first) == 1
    with Journal(first, memory=MemoryResultCache(1)) as journal:
        assert journal.problem == ""
        journal.begin_run(RUN)
        assert journal.find_result("engine", search_key(0)) == CACHED
        journal.store_result("engine", search_key(0), CACHED)
    assert version_in(first) == journal_file.VERSION
    with JournalReader.open(first) as reader:
        scored = reader.read_result("engine", search_key(0))
    assert scored is not None and scored[0] == CACHED


def test_the_first_released_journal_still_opens_with_every_game_and_score(
    released: Path,
) -> None:
    with Journal(released) as journal:
        assert journal.problem == ""
        assert len(journal.read_restorable_games(b"")) == 2
    with JournalReader.open(released) as reader:
        whole = build_analysis(rebuild_event(reader, released).state)
        assert [(game.plies_played, game.plies_scored) for game in whole.games] == [
            (8, 8),
            (4, 4),
        ]
        assert all(
            view.difference is not None or view.score == 0 for view in whole.players
        )
        assert [note.body for note in reader.read_notes() if note.kind == "remark"] == [
            b'"a note"'
        ]
        taken_back = build_analysis(
            rebuild_event(reader, released, 1_777_640_400_000 + 60_000).state
        )
    assert taken_back.games[0].plies_played <= 8


def test_a_file_brought_up_to_date_has_the_tables_of_a_new_one(
    first: Path, released: Path, tmp_path: Path
) -> None:
    new = tmp_path / "new.sqlite"
    for path in (first, released, new):
        with Journal(path) as journal:
            assert journal.problem == ""
            journal.add_note("remark", b"null")
    assert columns(new) == columns(released)
    # A cache may keep books of its own beside.
    assert columns(new).items() <= columns(first).items()


def test_a_step_that_fails_leaves_the_file_as_it_was(
    released: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = columns(released)
    later = (
        *journal_file.MIGRATIONS,
        ("CREATE TABLE extra (n INTEGER)", "this is no SQL"),
    )
    monkeypatch.setattr(journal_file, "MIGRATIONS", later)
    monkeypatch.setattr(journal_file, "VERSION", len(later))
    with Journal(released) as journal:
        assert "cannot be used" in journal.problem
    monkeypatch.undo()
    assert version_in(released) == 2 and columns(released) == before


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A database whose schema names a table in bytes that are no UTF-8."""
    path = tmp_path / "d.sqlite"
    alter_file(path, "CREATE TABLE abcdefgh (n)")
    alter_file(path, "CREATE INDEX ijklmnop ON abcdefgh (n)")
    data = path.read_bytes()
    assert data.count(b"TABLE abcdefgh") == 1
    path.write_bytes(
        data.replace(b"TABLE abcdefgh", b"TABLF abcde\xa8gh").replace(b"abc", b"\xa8bc")
    )
    return path


def test_what_python_cannot_quote_is_damage(damaged: Path) -> None:
    with (
        closing(sqlite3.connect(damaged)) as connection,
        pytest.raises(UnicodeDecodeError),
    ):
        connection.execute("SELECT n FROM abcdefgh")
    with closing(sqlite3.connect(damaged, factory=SqliteConnection)) as connection:
        with pytest.raises(sqlite3.DatabaseError, match="malformed") as told:
            connection.execute("SELECT n FROM abcdefgh")
        assert told.value.sqlite_errorcode == sqlite3.SQLITE_CORRUPT


RESULTS = 40
MUTATIONS = 120


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("journal") / "whole.sqlite"
    moves = line(*range(3, 33))
    with Journal(path) as journal:
        journal.begin_run(RUN)
        for number in range(4):
            journal.add_change(NewGame(game(f"g{number}")))
            for ply, move in enumerate(moves, 1):
                journal.add_change(MovesPlayed(f"g{number}", ply, (move,)))
                journal.add_note("alert", b'{"text":"%d"}' % ply, f"g{number}")
            journal.add_change(ResultChanged(f"g{number}", "1-0"))
        for number in range(RESULTS):
            found = SearchResult(Score(number), "e2e4", depth=number)
            journal.store_result(RUN.identity, search_key(number), found)
        journal.keep_memories([remembered("board", "g1", "one")])
        assert journal.wait_until_written()
    return path


def report(path: Path, said: list[str]) -> list[object]:
    """All that a report is made of; InputError where the file says that it is
    damaged.
    """
    with JournalReader.open(path) as reader:
        said += reader.find_problems(results=True)
        changes = [msgspec.msgpack.encode(each) for each in reader.read_changes()]
        results = [
            reader.read_result(RUN.identity, search_key(number))
            for number in range(RESULTS)
        ]
        return [changes, reader.read_notes(), reader.read_runs(), results]


def spoil(path: Path, chance: random.Random) -> None:
    """Change some bytes anywhere but in the first 100, which say that it is a
    database.
    """
    data = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 1, 2, 8, 64))):
        at = chance.randrange(100, len(data))
        if chance.random() < 0.3:
            data[at : at + 16] = chance.randbytes(min(16, len(data) - at))
        else:
            data[at] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def test_of_many_damaged_journals_none_says_something_else_without_a_word(
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
    "changed": (
        "UPDATE notes SET body = '{}' WHERE n = 7",
        "notes: 1 damaged, and left out",
    ),
    "two exchanged": (
        "UPDATE notes SET n = -1 WHERE n = 5; UPDATE notes SET n = 5 WHERE n = 6;"
        " UPDATE notes SET n = 6 WHERE n = -1",
        "notes: 2 damaged",
    ),
    "its time changed": (
        "UPDATE changes SET at_ms = at_ms + 1 WHERE n = 9",
        "changes: 1 damaged",
    ),
    "a run": ("UPDATE runs SET at_ms = 1", "starts of the service: 1 damaged"),
    "a result": (
        "UPDATE results SET result = X'00' WHERE at_ms > 0",
        "results of searches: 40 damaged",
    ),
    "what an alert rests on": (
        "UPDATE remembered SET body = X'00'",
        "what alerts and moments rest on: 1 damaged, and left out",
    ),
    "no text": (
        "UPDATE notes SET game = CAST(X'FF' AS TEXT) WHERE n = 7",
        "notes: 1 damaged",
    ),
}


def copy_changed(written: Path, folder: Path, statements: str) -> Path:
    """A copy that somebody has changed."""
    path = Path(shutil.copy(written, folder / "spoilt.sqlite"))
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(statements)
    return path


@pytest.mark.parametrize("spoilt", SPOILT)
def test_what_is_changed_or_exchanged_is_left_out_and_said(
    spoilt: str, written: Path, tmp_path: Path
) -> None:
    statements, words = SPOILT[spoilt]
    path = copy_changed(written, tmp_path, statements)
    said: list[str] = []
    notes = report(path, said)[1]
    assert len(said) == 1 and words in said[0]
    if spoilt in ("changed", "two exchanged", "no text"):
        bad = [5, 6] if spoilt == "two exchanged" else [7]
        assert isinstance(notes, list)
        assert [note.n for note in notes] == [n for n in range(1, 121) if n not in bad]


def test_a_journal_goes_on_after_damage_and_says_so_still(
    written: Path, tmp_path: Path
) -> None:
    path = copy_changed(written, tmp_path, "UPDATE notes SET body = '{}' WHERE n = 7")
    with Journal(path) as journal:
        journal.begin_run(RUN)
        journal.add_note("entry", b'{"text":"later"}')
        assert journal.wait_until_written()
    said: list[str] = []
    notes = report(path, said)[1]
    assert isinstance(notes, list)
    assert notes[-1].kind == "entry" and "notes: 1 damaged, and left out" in said[0]


def remove_from_index(path: Path) -> None:
    """Take the changes of a game out of the index that they are found by."""
    with closing(sqlite3.connect(path)) as connection, connection:
        (root,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'changes_of_game'"
        ).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    data = bytearray(path.read_bytes())
    page = data[size * (root - 1) : size * root]
    assert page.count(b"g2") > 1
    data[size * (root - 1) : size * root] = page.replace(b"g2", b"g1")
    path.write_bytes(data)


def test_pages_that_do_not_fit_each_other_are_said(
    written: Path, tmp_path: Path
) -> None:
    """No row is damaged, and yet some would not be found."""
    path = Path(shutil.copy(written, tmp_path))
    remove_from_index(path)
    with Journal(path) as journal:
        [said] = journal.damage
    assert (
        said.startswith("changes: pages of the file are damaged (")
        and said.isprintable()
    )
    assert "changes_of_game" in said and " more)" in said


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
        journal.begin_run(RUN)
        journal.add_change(NewGame(game("g1")))
    return path


def read_refusal(path: Path) -> str:
    with pytest.raises(InputError) as error:
        JournalReader.open(path)
    return str(error.value)


def test_a_journal_that_cannot_be_read_where_it_lies_is_to_be_copied(
    folder: Path,
) -> None:
    begun(folder / "open.sqlite")
    with as_a_guest_in(folder):
        assert (
            "open.sqlite-wal beside it, to where this user may write"
            in read_refusal(folder / "open.sqlite")
        )


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
    connection = open_connection(tmp_path / "full.sqlite")
    connection.execute("CREATE TABLE lines (line BLOB)")
    connection.execute(hindered)
    with pytest.raises(sqlite3.Error) as error:
        connection.execute("INSERT INTO lines VALUES (zeroblob(100000))")
    connection.close()
    assert describe_write_error(error.value) == f"{error.value}; {says}"


def a_folder_of_journals(path: Path) -> None:
    path.mkdir()
    begun(path / "round-1.sqlite")


def cut_short(path: Path) -> None:
    data = begun(path).read_bytes()
    path.write_bytes(data[: len(data) // 2])


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (
            pgn,
            "is not a journal (file is not a database). Name a file that live-rate",
        ),
        (a_folder_of_journals, "is a folder. Name a journal in it: round-1.sqlite"),
        (Path.mkdir, "is a folder. Name a file that live-rate wrote with --journal"),
        (Path.touch, "contains no event yet. Follow an event"),
        (str, "there is no such journal"),
        (newer, ": is of version 99, written by a newer live-rate. Name"),
        (old, f": is of version 2, not {VERSION}. Follow an event with it once"),
        (
            cut_short,
            "is damaged (database disk image is malformed). Save what can be read",
        ),
    ],
)
def test_a_command_says_what_it_was_given_instead(
    tmp_path: Path, make: Callable[[Path], object], says: str
) -> None:
    path = tmp_path / "given"
    make(path)
    assert says in read_refusal(path)


ANN, BO, CAI = (
    Player(n, fide_id=i) for n, i in (("Ann, A", 1), ("Bosse, B", 77001), ("Cai", 3))
)


def remembered(kind: str, about: str, text: str) -> Memory:
    return Memory(kind, about, text.encode())


def of_two_games(folder: Path) -> Path:
    """Two games, one of Bosse, an alert on each and one on Bosse alone."""
    path = folder / "event.sqlite"
    with open_journal(path) as journal:
        for id, black in (("g1", BO), ("g2", CAI)):
            new = NewGame(game(id, white=ANN, black=black))
            journal.add_change(new, [remembered("story", id, black.name)])
            journal.add_note(
                "alert", msgspec.json.encode({"text": f"{black.name} waits"}), id
            )
        journal.add_note("alert", b'{"text":"Bosse, B agrees with an engine"}')
        assert journal.wait_until_written()
    return path


@pytest.mark.parametrize("who", ["bosse,  b", "77001"])
def test_a_player_is_in_no_byte_of_the_file_afterwards(
    who: str, tmp_path: Path
) -> None:
    path = of_two_games(tmp_path)
    assert any(b"Bosse" in each.read_bytes() for each in tmp_path.iterdir())
    done = CliRunner().invoke(app, ["forget", str(path), "--player", who])
    assert (done.exit_code, done.output) == (0, "1 game deleted.\n")
    assert not [each for each in tmp_path.iterdir() if b"Bosse" in each.read_bytes()]
    with JournalReader.open(path) as reader:
        left = {
            each.step.id
            for each in reader.read_changes()
            if isinstance(each.step, NewGame)
        }
        assert left == {"g2"} == reader.read_memories("story").keys()
        assert [note.kind for note in reader.read_notes()][-1] == "forgotten"
        assert reader.find_problems(results=True) == []


def test_old_games_go_with_their_notes_and_what_else_holds_stays(path: Path) -> None:
    now_ms = 1_000
    with open_journal(path, now_ms=lambda: now_ms) as journal:
        for id in ("old", "going on"):
            journal.add_change(NewGame(game(id)))
            journal.add_note("alert", b'{"text":"Bosse, B waits"}', id)
            journal.add_note("ruling", b"{}", id)
        journal.add_note("entry", b'{"text":"Bosse, B was late"}')
        journal.add_note("delay", b"{}")
        now_ms = 9_000
        journal.add_change(MovesPlayed("going on", 1, MOVES))
        journal.add_note("entry", b'{"text":"lights out"}')
    assert delete_games(path, older_than_ms=5_000) == 1
    with JournalReader.open(path) as reader:
        notes = [(note.kind, note.game) for note in reader.read_notes()]
    assert notes == [
        ("alert", "going on"),
        ("ruling", "going on"),
        ("delay", ""),
        ("entry", ""),
        ("forgotten", ""),
    ]


def test_old_games_go_and_a_journal_in_use_is_left_alone(tmp_path: Path) -> None:
    path = of_two_games(tmp_path)
    none = CliRunner().invoke(app, ["forget", str(path), "--older-than", "1"])
    assert none.output == "0 games deleted.\n"
    with lock_journal(path):
        refused = CliRunner().invoke(app, ["forget", str(path), "--player", "Cai"])
    assert "is being written" in str(refused.exception)
    assert "does not say what to delete" in str(
        CliRunner().invoke(app, ["forget", str(path)]).exception
    )
