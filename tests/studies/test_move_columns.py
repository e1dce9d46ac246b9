from __future__ import annotations

import os
from pathlib import Path

import pytest

from live.manual.pages import manual_page
from live.studies.corpus_database import CorpusDatabase
from live.studies.study_data import COLUMNS, MoveFolder
from tests.studies.small_corpus import DATA, corpus_of

duckdb = pytest.importorskip("duckdb")
pandas = pytest.importorskip("pandas")


def test_pandas_and_duckdb_read_the_documented_columns(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path / "c.db")
    with CorpusDatabase(corpus) as database:
        files = MoveFolder(corpus, 1).refresh(database)
        plies = next(database.rows("SELECT sum(plies) FROM games"))[0]
    frame = pandas.read_parquet(files[0])
    assert list(frame.columns) == [name for name, _, _ in COLUMNS]
    assert len(frame) == plies
    games, zeros, best = duckdb.sql(
        "SELECT count(DISTINCT game), count(*) FILTER (gain_cp = 0), max(gain_cp)"
        f" FROM '{files[0]}'"
    ).fetchall()[0]
    assert games == 13 and best == 0
    # More than half of all moves are the engine's choice, or as good (METHODS, section 6).
    assert 0.4 < zeros / plies < 0.8


def test_columns_are_what_the_file_says(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path / "c.db", DATA / "figure-1.pgn")
    with CorpusDatabase(corpus) as database:
        [file] = MoveFolder(corpus, 1).refresh(database)
    frame = pandas.read_parquet(file)
    # Ferreira 2012, Figure 1: the first gains of Byrne, and 11.Bg5.
    assert frame["successive_cp"].tolist()[:4] == [-1, 0, -5, -16]
    assert frame["successive_cp"].tolist()[20] == -137
    assert frame["gain_cp"].isna().all()
    assert frame["score"].tolist()[:2] == [0.0, 1.0]


def test_a_file_is_made_again_only_when_something_changed(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path / "c.db")
    with CorpusDatabase(corpus) as database:
        [file] = MoveFolder(corpus, 1).refresh(database)
        content = file.read_bytes()
        os.utime(file, (1, 1))
        MoveFolder(corpus, 1).refresh(database)
        assert file.stat().st_mtime == 1
        # As a kill leaves it: no mark.
        file.with_suffix(".mark").unlink()
        MoveFolder(corpus, 1).refresh(database)
        assert file.stat().st_mtime != 1
        assert file.read_bytes() == content


def test_the_manual_has_every_column() -> None:
    page = manual_page("studies").text
    for name, kind, meaning in COLUMNS:
        assert f"| `{name}` | {kind} | {meaning} |" in page
