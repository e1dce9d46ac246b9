"""Every table is the same bytes again, and every move a row."""

from __future__ import annotations

import itertools
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path

import polars
import pytest

from live.manual.pages import manual_page
from live.studies.corpus_database import CorpusDatabase
from live.studies.study_corpus import TABLES, study_table
from live.studies.study_data import (
    COLUMNS,
    formatted,
    move_files,
)
from tests.studies.small_corpus import DATA, corpus_of, study_of

#: Knights that go out and home, past the first nine turns.
_MOVES = ("g1f3", "g8f6", "f3g1", "f6g8") * 7
#: Tables that need times, several lines a position, or more moves a year.
TOO_FEW = {"alliot-depths", "regan", "alliot-best-year"}
_SIDES = tuple(itertools.permutations(("Ann", "Bob", "Cid", "Dora"), 2))


def games(count: int) -> Iterator[str]:
    """Of four players in two years and two events, with evaluations that are never the same."""
    lot = random.Random(1)
    for number in range(count):
        white, black = _SIDES[number % len(_SIDES)]
        year = 2010 + number // len(_SIDES) % 2
        level = lot.randrange(-150, 150)
        cp = [level + lot.randrange(4) for _ in _MOVES]
        gains = [lot.choice((0, 0, lot.randrange(1, 9))) for _ in _MOVES]
        before = [level, *cp[:-1]]
        yield json.dumps(
            {
                "white": white,
                "black": black,
                "white_elo": 2500,
                "black_elo": 2500,
                "event": f"Event {year}",
                "date": f"{year}.{number // 28 % 12 + 1:02}.{number % 28 + 1:02}",
                "round": str(number),
                "result": lot.choice(("1-0", "0-1", "1/2-1/2")),
                "moves": " ".join(_MOVES),
                "start_cp": level,
                "cp": cp,
                "depth": [9] * len(_MOVES),
                "stability": [float(lot.randrange(9)) for _ in _MOVES],
                "jump": [lot.randrange(9) for _ in _MOVES],
                "jump_depth": [lot.randrange(9) for _ in _MOVES],
                "best": [
                    "a2a3" if gain else move for gain, move in zip(gains, _MOVES, strict=True)
                ],
                "played": [
                    score + (gain if ply % 2 else -gain)
                    for ply, (score, gain) in enumerate(zip(before, gains, strict=True))
                ],
            }
        )


@pytest.mark.slow
def test_every_table_is_the_same_bytes_again(tmp_path: Path) -> None:
    file = tmp_path / "games.ndjson"
    file.write_text("\n".join(games(72)))
    corpus = corpus_of(tmp_path / "c.db", file)
    for name in TABLES:
        made = []
        for _ in range(2):
            with study_of(corpus) as data:
                made.append(study_table(name, data))
        first, table = made
        for form in ("text", "csv", "json"):
            assert formatted(table, form) == formatted(first, form)
        assert table.name == name
        assert table.rows or name in TOO_FEW
        assert all(len(row) == len(table.columns) for row in table.rows)
        assert len({each.name for each in table.columns}) == len(table.columns)


# --- every move as a row --------------------------------------------------------------------------


def test_columns_are_what_the_file_says(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path / "c.db", DATA / "figure-1.pgn")
    with CorpusDatabase(corpus) as database:
        [file] = move_files(database, 1)
    frame = polars.read_parquet(file)
    # Ferreira 2012, Figure 1: the first gains of Byrne, and 11.Bg5.
    assert frame["successive_cp"].to_list()[:4] == [-1, 0, -5, -16]
    assert frame["successive_cp"].to_list()[20] == -137
    assert frame["gain_cp"].is_null().all()
    assert frame["score"].to_list()[:2] == [0.0, 1.0]


def test_a_file_is_made_again_only_when_something_changed(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path / "c.db")
    with CorpusDatabase(corpus) as database:
        [file] = move_files(database, 1)
        os.utime(file, (1, 1))
        assert move_files(database, 1) == [file]
        assert file.stat().st_mtime == 1
        content = file.read_bytes()
        # As a kill leaves it.
        file.rename(file.with_suffix(".partial"))
        move_files(database, 1)
        assert file.read_bytes() == content
        list(database.rows("UPDATE games SET white_elo = 1"))
        [other] = move_files(database, 1)
        assert list(other.parent.iterdir()) == [other]
        assert other.read_bytes() != content


def test_the_manual_has_every_column() -> None:
    page = manual_page("studies").text
    for name, kind, meaning in COLUMNS:
        assert f"| `{name}` | {kind} | {meaning} |" in page
