"""No journal says something else than was written without saying so."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from live.engine.search import SearchResult
from live.errors import InputError
from live.events import Score
from live.games.game import MovesPlayed, NewGame, ResultChanged
from live.store.journal import Journal
from live.store.journal_checksums import START, check, link, sum_of, together
from live.store.journal_reader import JournalReader
from tests.ledger.arithmetic import game, line
from tests.store.test_journal import RUN, search_key

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
    statement, words = SPOILT[spoilt]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)
    said: list[str] = []
    report(path, said)
    assert len(said) == 1 and words in said[0]


def test_two_records_exchanged_are_noticed(written: Path, tmp_path: Path) -> None:
    path = tmp_path / "spoilt.sqlite"
    shutil.copy(written, path)
    with closing(sqlite3.connect(path)) as connection, connection:
        for old, new in ((5, -1), (6, 5), (-1, 6)):
            connection.execute("UPDATE notes SET n = ? WHERE n = ?", (new, old))
    said: list[str] = []
    assert len(report(path, said)[1]) == 118  # type: ignore[arg-type]
    assert "notes 5, 6 damaged" in said[0]


def test_what_is_damaged_is_left_out_and_the_rest_stands(written: Path, tmp_path: Path) -> None:
    path = tmp_path / "spoilt.sqlite"
    shutil.copy(written, path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE notes SET body = 'x' WHERE n = 7")
    notes = report(path, [])[1]
    assert isinstance(notes, list)
    assert [note.n for note in notes] == [n for n in range(1, 121) if n != 7]


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
    found = check([*before, *made], (2, head[1]))
    assert (found.damaged, found.gaps) == ([], [])


def test_sums_together_have_no_order() -> None:
    one, other = sum_of("a"), sum_of("b")
    forth: Callable[[], bytes] = lambda: together(together(START, one), other)  # noqa: E731
    assert forth() == together(together(START, other), one) != START
    assert together(forth(), other) == one
