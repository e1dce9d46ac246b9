"""What is handed to the journal is there after a restart, whatever became of disk and process."""

from __future__ import annotations

import resource
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from live.engine.result_cache import MemoryResultCache, ResultFile
from live.engine.search import Limit, SearchKey, SearchResult
from live.events import Score
from live.games.game import GameGone, MovesPlayed, NewGame, ResultChanged, Step
from live.human.question import HumanAnswer, HumanQuestion
from live.store import journal as journal_module
from live.store.journal import Journal, StoredResults
from live.store.journal_file import VERSION, connected, why_refused
from live.store.journal_reader import JournalReader, JournalRun, Restated
from tests.ledger.arithmetic import game, line

RUN = JournalRun(
    version="0", engine_name="Arithmetic", identity="Arithmetic; Hash=16", limit="1 look"
)
MOVES = line(3, 5, 7, 11)
RESULT = SearchResult(Score(12), "e2e4", depth=9, by_depth=(None, Score(7)))


def search_key(number: int) -> SearchKey:
    return SearchKey(f"4k3/8/8/8/8/8/8/4K2R w - - {number} 1", (), Limit(nodes=400))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "journal.sqlite"


@contextmanager
def opened(path: Path, **changes: object) -> Iterator[Journal]:
    with Journal(path, retry_s=0.01, **changes) as journal:  # type: ignore[arg-type]
        journal.begin(RUN)
        yield journal


def steps_in(path: Path) -> list[Step | Restated]:
    with JournalReader.open(path) as reader:
        return [change.step for change in reader.changes()]


def test_changes_are_there_after_a_restart_in_order_with_their_time(path: Path) -> None:
    times = iter(range(1_000, 9_000, 1_000))
    with opened(path, now_ms=lambda: next(times)) as journal:
        journal.change(NewGame(game("g1")))
        journal.change(MovesPlayed("g1", 1, MOVES))
        journal.change(NewGame(game("g2")))
    with Journal(path) as journal:
        one, two = journal.standing(b"measure")
    assert (one.game, two.game) == ("g1", "g2")
    assert [change.step for change in one.since] == [
        NewGame(game("g1")),
        MovesPlayed("g1", 1, MOVES),
    ]
    assert [change.at_ms for change in one.since] == [2_000, 3_000]
    assert one.at_ms == 3_000 and two.opened == 3
    with JournalReader.open(path) as reader:
        ((number, at_ms, run),) = reader.runs()
    assert (number, at_ms, run) == (1, 1_000, RUN)


@pytest.mark.slow
def test_a_game_that_is_kept_needs_only_what_came_after(path: Path) -> None:
    with opened(path) as journal:
        journal.change(NewGame(game("g1")))
        assert journal.keep("g1", b"measure", b"rest", b"details")
        journal.change(MovesPlayed("g1", 1, MOVES))
        journal.change(NewGame(game("g2")))
    with Journal(path) as journal:
        one, two = journal.standing(b"measure")
        assert one.kept is not None and two.kept is None
        assert (one.kept.measure, one.kept.rest) == (b"measure", b"rest")
        assert [change.step for change in one.since] == [MovesPlayed("g1", 1, MOVES)]
        assert journal.details("g1") == b"details"
        assert journal.details("g2") is None
    with Journal(path) as journal:
        one, _ = journal.standing(b"another measure")
        assert one.kept is None
        assert [change.n for change in one.since] == [1, 2]


@pytest.mark.slow
def test_a_game_that_is_gone_stands_no_more_and_its_past_stays(path: Path) -> None:
    with opened(path) as journal:
        journal.change(NewGame(game("g1")))
        journal.keep("g1", b"measure", b"rest", b"details")
        journal.change(GameGone("g1"))
        journal.change(NewGame(game("g1", MOVES)))
    with Journal(path) as journal:
        (one,) = journal.standing(b"measure")
    assert one.kept is None
    assert [change.step for change in one.since] == [NewGame(game("g1", MOVES))]
    assert len(steps_in(path)) == 3


@pytest.mark.slow
def test_numbers_go_on_after_a_restart(path: Path) -> None:
    for name in ("g1", "g2", "g3"):
        with opened(path) as journal:
            journal.change(NewGame(game(name)))
            journal.note("remark", b'"' + name.encode() + b'"', name)
    with JournalReader.open(path) as reader:
        assert [change.n for change in reader.changes()] == [1, 2, 3]
        assert [run for run, _, _ in reader.runs()] == [1, 2, 3]
        assert [(note.n, note.run, note.game) for note in reader.notes()] == [
            (1, 1, "g1"),
            (2, 2, "g2"),
            (3, 3, "g3"),
        ]


def test_a_moment_is_everything_up_to_it_even_where_the_clock_was_set_back(path: Path) -> None:
    times = iter([0, 1_000, 9_000, 2_000, 10_000])
    with opened(path, now_ms=lambda: next(times)) as journal:
        for name in ("g1", "g2", "g3", "g4"):
            journal.change(NewGame(game(name)))
    with JournalReader.open(path) as reader:
        assert [change.at_ms for change in reader.changes()] == [1_000, 9_000, 9_000, 10_000]
        assert [change.n for change in reader.changes(5_000)] == [1]
        assert [change.n for change in reader.changes(9_000)] == [1, 2, 3]
        assert list(reader.changes(0)) == []


def test_a_result_is_searched_once_and_known_with_engine_and_time(path: Path) -> None:
    with opened(path, now_ms=lambda: 77) as journal:
        assert journal.get(RUN.identity, search_key(1)) is None
        journal.put(RUN.identity, search_key(1), RESULT)
        assert journal.get(RUN.identity, search_key(1)) == RESULT
    with opened(path, memory=MemoryResultCache(1)) as journal:
        assert journal.get(RUN.identity, search_key(1)) == RESULT
        assert journal.get("another engine", search_key(1)) is None
    with JournalReader.open(path) as reader:
        scored = reader.result(RUN.identity, search_key(1))
    assert scored is not None
    assert (scored.result, scored.identity, scored.at_ms) == (RESULT, RUN.identity, 77)


def test_what_players_would_play_is_known_after_a_restart(path: Path) -> None:
    asked = HumanQuestion("8/8/8/4k3/8/8/4K3/8 w - - 0 1", (), (2400, 1500), "otb")
    answer = HumanAnswer("network 1", ({"e2e3": 700}, {"e2e3": 650}))
    with opened(path, now_ms=lambda: 77) as journal:
        assert journal.answer(asked) is None
        journal.put_answer(asked, answer)
    with opened(path) as journal:
        assert journal.answer(asked) == answer
        assert journal.answer(msgspec.structs.replace(asked, kind="blitz")) is None
    with JournalReader.open(path) as reader:
        held = reader.answer(asked)
    assert held is not None and held.at_ms == 77


def test_a_second_service_is_told_so_and_changes_nothing(path: Path) -> None:
    with opened(path) as first:
        first.change(NewGame(game("g1")))
        with opened(path) as second:
            assert "in use by another live-rate" in second.problem
            assert second.hopeless and second.standing(b"") == []
            second.change(NewGame(game("g2")))
            second.put(RUN.identity, search_key(1), RESULT)
            assert second.get(RUN.identity, search_key(1)) == RESULT
        first.change(NewGame(game("g3")))
        assert first.problem == ""
    assert [step.id for step in steps_in(path) if isinstance(step, NewGame)] == ["g1", "g3"]
    with Journal(path) as third:
        assert third.problem == ""


@pytest.mark.slow
def test_a_killed_service_leaves_no_lock(path: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path; from live.store.journal import Journal\n"
        "from tests.store.test_journal import RUN, game, NewGame\n"
        "journal = Journal(Path(sys.argv[1])).__enter__(); journal.begin(RUN)\n"
        "journal.change(NewGame(game('g1'))); journal.flush(); print('written', flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None and child.stdout.readline() == "written\n"
        with Journal(path) as journal:
            assert "in use" in journal.problem
        child.kill()
    with Journal(path) as journal:
        assert journal.problem == ""
        assert [each.game for each in journal.standing(b"measure")] == ["g1"]


@contextmanager
def full_disk(path: Path) -> Iterator[None]:
    """No file of this process may grow any more: a real refusal, for all files alike."""
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


@pytest.mark.slow
def test_a_full_disk_is_said_and_nothing_is_lost_once_there_is_room(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with opened(path) as journal:
        journal.change(NewGame(game("g1")))
        assert journal.flush()
        with full_disk(path):
            for number in range(2, 200):
                journal.change(NewGame(game(f"g{number}", MOVES)))
            until(lambda: journal.problem != "")
            assert "cannot be written" in journal.problem and not journal.hopeless
            journal.change(ResultChanged("g1", "1-0"))
            assert not journal.flush(0.05)
        assert journal.flush()
        until(lambda: journal.problem == "")
    with Journal(path) as journal:
        assert len(journal.standing(b"measure")) == 199
    assert steps_in(path)[-1] == ResultChanged("g1", "1-0")
    assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING"]


@pytest.mark.slow
def test_when_too_much_had_to_wait_the_games_are_written_anew(path: Path) -> None:
    with opened(path, backlog=10) as journal:
        journal.change(NewGame(game("g1")))
        assert journal.flush()
        with full_disk(path):
            for number in range(2, 30):
                journal.change(NewGame(game(f"g{number}", MOVES)))
            until(lambda: journal.problem != "")
            assert not journal.wants_restating
            assert not journal.keep("g1", b"", b"", b"")
        assert journal.flush()
        until(lambda: journal.wants_restating)
        journal.change(NewGame(game("lost")))
        journal.restate([game(f"g{number}", MOVES) for number in range(2, 30)])
        assert journal.flush() and not journal.wants_restating
        journal.change(ResultChanged("g29", "1-0"))
    with Journal(path) as journal:
        standing = journal.standing(b"measure")
    assert [each.game for each in standing] == [f"g{number}" for number in range(2, 30)]
    assert standing[-1].since[-1].step == ResultChanged("g29", "1-0")


def garbage(path: Path) -> None:
    path.write_bytes(b"not a database, however you look at it" * 100)


def pgn(path: Path) -> None:
    path.write_text('[Event "Open"]\n')


def foreign(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE diary (line TEXT)")
    connection.commit()
    connection.close()


def newer(path: Path) -> None:
    with Journal(path) as journal:
        journal.change(NewGame(game("g1")))
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (garbage, "file is not a database"),
        (pgn, "file is not a database"),
        (foreign, "another program's database"),
        (newer, f"is of version 99, and this live-rate knows up to {VERSION}"),
        (Path.mkdir, "is a folder"),
    ],
)
def test_a_file_that_is_no_journal_is_named_left_alone_and_done_without(
    tmp_path: Path, spoil: Callable[[Path], None], says: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "journal.sqlite"
    spoil(path)
    path.chmod(0o755)
    before = path.read_bytes() if path.is_file() else None
    beside = {each.name for each in tmp_path.iterdir()}
    with opened(path) as journal:
        assert says in journal.problem and str(path) in journal.problem
        journal.change(NewGame(game("g1")))
        journal.put(RUN.identity, search_key(1), RESULT)
        assert journal.get(RUN.identity, search_key(1)) == RESULT
        assert journal.standing(b"measure") == [] and journal.flush()
    assert (path.read_bytes() if path.is_file() else None) == before
    assert {each.name for each in tmp_path.iterdir()} == beside
    assert path.stat().st_mode & 0o777 == 0o755 or sys.platform == "win32"
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert says in why_refused(path)
    assert {each.name for each in tmp_path.iterdir()} == beside


def test_what_could_be_a_journal_is_looked_at_without_touching_anything(
    tmp_path: Path, path: Path
) -> None:
    assert why_refused(path) == "" and why_refused(tmp_path / "a" / "b.sqlite") == ""
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    assert "is no folder" in why_refused(tmp_path / "file" / "b.sqlite")
    with opened(path) as journal:
        journal.change(NewGame(game("g1")))
        assert "in use by another live-rate" in why_refused(path)
    assert why_refused(path) == ""


def test_a_file_damaged_in_the_middle_is_said_and_written_no_more(path: Path) -> None:
    with opened(path) as journal:
        for number in range(500):
            journal.change(NewGame(game(f"g{number}", MOVES)))
    data = bytearray(path.read_bytes())
    data[8192:] = b"\xff" * (len(data) - 8192)
    path.write_bytes(data)
    with opened(path) as journal:
        assert journal.standing(b"measure") == []
        assert "damaged" in journal.problem or "cannot be used" in journal.problem
        journal.change(NewGame(game("new")))
    assert bytes(data) == path.read_bytes()


def test_a_copy_made_by_vacuum_is_read_while_it_is_written(tmp_path: Path, path: Path) -> None:
    with opened(path) as journal:
        journal.change(NewGame(game("g1")))
    copy = tmp_path / "copy.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("VACUUM INTO ?", (str(copy),))
    connection.close()
    with opened(copy) as journal:
        writing = connected(copy)
        writing.execute("BEGIN EXCLUSIVE")
        assert [standing.game for standing in journal.standing(b"measure")] == ["g1"]
        writing.execute("ROLLBACK")
        writing.close()
        assert journal.problem == ""


def test_a_file_that_is_busy_is_not_called_damaged(path: Path) -> None:
    with opened(path) as journal:
        journal.change(NewGame(game("g1")))
        assert journal.flush()
        reader = journal._reader
        assert reader is not None
        reader.close()
        # As where the file system knows no write-ahead log.
        plain = path.with_name("plain.sqlite")
        other = connected(plain)
        other.execute("CREATE TABLE games (game, details)")
        reader._connection = connected(plain, busy_s=0)
        other.execute("BEGIN EXCLUSIVE")
        assert journal.details("g1") is None and not journal.hopeless
        other.execute("ROLLBACK")
        other.close()


def test_one_file_has_one_lock_by_whatever_name(tmp_path: Path, path: Path) -> None:
    link = tmp_path / "link.sqlite"
    with opened(path) as journal:
        journal.change(NewGame(game("g1")))
        assert journal.flush()
        link.symlink_to(path)
        with Journal(link) as second:
            assert "is in use by another live-rate" in second.problem


def test_a_journal_of_nothing_leaves_no_file(path: Path) -> None:
    with opened(path):
        pass
    assert not path.exists()
    with opened(path) as journal:
        journal.change(NewGame(game("g1")))
    with opened(path):
        pass
    assert path.exists()


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with Journal(tmp_path / "file" / "journal.sqlite") as journal:
        assert "cannot be used" in journal.problem and journal.hopeless


def test_what_no_file_can_hold_costs_nobody_else_anything(path: Path) -> None:
    with opened(path) as journal:
        journal.change(NewGame(game("g1")))
        journal.change(ResultChanged("g1", "\ud800"))  # type: ignore[arg-type]
        journal.change(NewGame(game("g2")))
    assert [type(step) for step in steps_in(path)] == [NewGame, NewGame]


@pytest.mark.parametrize("durable", [False, True])
def test_durable_is_sqlites_own_full_synchronisation(path: Path, durable: bool) -> None:
    path.parent.mkdir()
    connection = connected(path, durable=durable)
    assert connection.execute("PRAGMA synchronous").fetchone() == (2 if durable else 1,)
    connection.close()


QUESTION = SearchKey("4k3/8/8/8/8/8/8/4K2R w - - 0 1", (), Limit(nodes=400))
SHARED_RESULT = SearchResult(Score(12), "e1e2", depth=9)


def journal(path: Path) -> Journal:
    return Journal(path, memory=MemoryResultCache(1))


def test_both_get_to_know_a_result(tmp_path: Path) -> None:
    one, two = tmp_path / "one.sqlite", tmp_path / "two.sqlite"
    with journal(one) as held, ResultFile(two) as shared:
        results = StoredResults(held, shared)
        assert results.get("engine", QUESTION) is None
        results.put("engine", QUESTION, SHARED_RESULT)
        assert results.get("engine", QUESTION) == SHARED_RESULT
    with journal(one) as held, ResultFile(two) as shared:
        assert held.get("engine", QUESTION) == shared.get("engine", QUESTION) == SHARED_RESULT


def test_the_journal_learns_what_another_event_found(tmp_path: Path) -> None:
    path, two = tmp_path / "one.sqlite", tmp_path / "two.sqlite"
    with ResultFile(two) as shared:
        shared.put("engine", QUESTION, SHARED_RESULT)
    with journal(path) as held, ResultFile(two) as shared:
        held.begin(JournalRun(version="0", engine_name="engine", identity="engine", limit=""))
        assert StoredResults(held, shared).get("engine", QUESTION) == SHARED_RESULT
    with JournalReader.open(path) as reader:
        scored = reader.result("engine", QUESTION)
    assert scored is not None and scored.identity == "engine"


def test_a_shared_cache_that_cannot_be_used_is_said_and_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with journal(tmp_path / "one.sqlite") as held, ResultFile(tmp_path / "file" / "x") as shared:
        results = StoredResults(held, shared)
        results.put("engine", QUESTION, SHARED_RESULT)
        assert results.get("engine", QUESTION) == SHARED_RESULT
        assert "cannot be used" in results.problem


@pytest.mark.skipif(sys.platform == "win32", reason="rights are not in the mode there")
def test_a_journal_is_its_users_own(path: Path) -> None:
    path.parent.mkdir()
    path.touch(mode=0o644)
    path.chmod(0o644)
    with opened(path) as journal:
        journal.change(NewGame(game("g1")))
        assert journal.flush()
        made = [each for each in path.parent.iterdir() if each.name.startswith(path.name)]
        # The lock holds nothing.
        holding = [each for each in made if "-lock" not in each.name]
        assert [each.name for each in holding if each.stat().st_mode & 0o077] == []
        assert {f"{path.name}-wal"} <= {each.name for each in made}


class FailsOnce:
    """A connection whose first commit fails as on a full disk; all else is the real one."""

    def __init__(self, real: sqlite3.Connection, failures: list[str]) -> None:
        self._real = real
        self._failures = failures

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        if sql == "COMMIT" and self._failures:
            raise sqlite3.OperationalError(self._failures.pop())
        return self._real.execute(sql, *values)

    def close(self) -> None:
        self._real.close()


def test_after_a_failed_commit_the_writer_begins_with_a_new_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it knew of the engines' numbers was rolled back with the commit."""
    path = tmp_path / "journal.sqlite"
    failures = ["database or disk is full"]

    def failing(path: Path, *, durable: bool) -> FailsOnce:
        return FailsOnce(connected(path, durable=durable), failures)

    with Journal(path, retry_s=0.01) as journal:
        # The writer connects when it has something to write.
        monkeypatch.setattr(journal_module, "connected", failing)
        journal.begin(RUN)
        journal.put("Engine; Hash=16", search_key(1), RESULT)
        assert journal.flush(20)
        assert not failures
    connection = connected(path)
    named = connection.execute("SELECT identity FROM results JOIN engines USING (engine)")
    assert named.fetchall() == [("Engine; Hash=16",)]
    connection.close()
