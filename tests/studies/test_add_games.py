from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from live.errors import InputError
from live.studies.corpus_database import CorpusDatabase
from live.studies.read_games import AddedGames, add_file
from live.studies.study_corpus import status_of
from tests.studies.small_corpus import DATA, GIVEN, SEARCHED, corpus_of


def content(path: Path) -> list[object]:
    """Everything in a corpus but when its files were written."""
    with CorpusDatabase(path) as database:
        tables = ("players", "player_keys", "events", "games", "settings", "results")
        return [
            *(list(database.rows(f"SELECT * FROM {table} ORDER BY 1, 2")) for table in tables),
            list(database.rows("SELECT name, texts, finished FROM sources")),
        ]


def test_every_game_is_there_once(tmp_path: Path) -> None:
    with CorpusDatabase(tmp_path / "c.db", create=True) as database:
        first = add_file(database, str(SEARCHED), GIVEN)
        again = add_file(database, str(SEARCHED), GIVEN)
        copy = tmp_path / "copy.ndjson"
        copy.write_bytes(gzip.decompress(SEARCHED.read_bytes()))
        third = add_file(database, str(copy), GIVEN)
    assert first == AddedGames(str(SEARCHED), texts=13, new=13, evaluated=13)
    assert again == AddedGames(str(SEARCHED), texts=13, passed_over=13)
    assert third == AddedGames(str(copy), texts=13, known=13)


def test_damaged_games_are_counted_named_and_gone_past(tmp_path: Path) -> None:
    lines = gzip.decompress(SEARCHED.read_bytes()).splitlines()
    file = tmp_path / "games.ndjson"
    bad = [
        b'{"white":1,"black":2,"result":"1-0","moves":["e2e5"]}',
        b'{"white":1,"black":2,"result":"1-0","moves":[]}',
        b"{not json",
        b'{"white":1,"black":2,"result":"1-0","moves":["e2e4"],"cp":[1,2]}',
    ]
    file.write_bytes(b"\n".join([lines[0], *bad, lines[1]]))
    with CorpusDatabase(tmp_path / "c.db", create=True) as database:
        for _ in range(2):
            add_file(database, str(file), GIVEN)
            status = status_of(database)
            assert status.games == 2
            assert [(each.text, each.problem.split(":")[0]) for each in status.damaged] == [
                (2, "illegal move e2e5 at ply 1"),
                (3, "no moves"),
                (4, "JSON is malformed"),
                (5, "2 evaluations for 1 moves"),
            ]


def test_a_game_with_two_results_has_none(tmp_path: Path) -> None:
    line = gzip.decompress(SEARCHED.read_bytes()).splitlines()[0]
    row = msgspec.json.decode(line)
    other = msgspec.json.encode({**row, "result": "0-1" if row["result"] != "0-1" else "1-0"})
    for order in ([line, other], [other, line]):
        file = tmp_path / "games.ndjson"
        file.write_bytes(b"\n".join(order))
        corpus = corpus_of(tmp_path / f"{hash(order[0])}.db", file)
        with CorpusDatabase(corpus) as database:
            [disputed] = status_of(database).disputed
            assert set(disputed.results) == {row["result"], msgspec.json.decode(other)["result"]}
            assert database.stored(1).result == "*"


def test_players_are_told_apart_by_number_and_name(tmp_path: Path) -> None:
    game = '[White "{}"]\n[Black "Other"]\n{}[Result "1-0"]\n\n{} 1-0\n\n'
    fide = '[WhiteFideId "1503014"]\n'
    namesake = '[WhiteFideId "7"]\n'
    file = tmp_path / "games.pgn"
    file.write_text(
        game.format("Carlsen, Magnus", "", "1. e4")
        + game.format("Magnus Carlsen", fide, "1. d4")
        + game.format("Carlsen,M", fide, "1. c4")
        + game.format("Carlsen, Magnus", namesake, "1. f4")
    )
    with CorpusDatabase(corpus_of(tmp_path / "c.db", file)) as database:
        white = [database.stored(number).white for number in (1, 2, 3, 4)]
    assert white[0] == white[1] == white[2] != white[3]


KILLED = """
import os, signal, sys
from pathlib import Path
import live.studies.corpus_database as database_module
from live.studies import read_games
database_module.BATCH = 3
read_games._REPORT_EVERY = 1
corpus, last, *files = sys.argv[1:]
def progress(added):
    if added.texts >= int(last):
        os.kill(os.getpid(), signal.SIGKILL)
from tests.studies.small_corpus import GIVEN
with database_module.CorpusDatabase(Path(corpus), create=True) as database:
    for file in files:
        read_games.add_file(database, file, GIVEN, progress)
"""


@pytest.mark.slow
def test_kills_change_nothing(tmp_path: Path) -> None:
    files = [SEARCHED, DATA / "four-boards.pgn", DATA / "otb-2024-25.pgn"]
    whole = corpus_of(tmp_path / "whole.db", *files)
    killed = tmp_path / "killed.db"
    for last in (1, 2, 5, 5, 8, 9, 11, 13, 13, 13):
        command = [sys.executable, "-c", KILLED, str(killed), str(last), *map(str, files)]
        done = subprocess.run(command, cwd=DATA.parent.parent, env={**os.environ}, check=False)
        assert done.returncode in (-signal.SIGKILL, 0)
    corpus_of(killed, *files)
    assert content(killed) == content(whole)


def test_a_full_disk_is_said_and_what_was_written_stays(tmp_path: Path) -> None:
    corpus = tmp_path / "c.db"
    with CorpusDatabase(corpus, create=True) as database:
        add_file(database, str(DATA / "otb-2024-25.pgn"), GIVEN)
        pages = next(database.rows("PRAGMA page_count"))[0]
        list(database.rows(f"PRAGMA max_page_count = {pages + 1}"))
        with pytest.raises(InputError, match="Make room"):
            add_file(database, str(SEARCHED), GIVEN)
        database.roll_back()
    with CorpusDatabase(corpus) as database:
        assert database.count("games") == 2


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    other.write_bytes(b"SQLite format 3\0" + bytes(4080))
    for path in (other, DATA / "cache-version-1.sqlite"):
        with pytest.raises(InputError, match=path.name):
            CorpusDatabase(path, create=True)
    with pytest.raises(InputError, match="no such corpus"):
        CorpusDatabase(tmp_path / "none.db")
