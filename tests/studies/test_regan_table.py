"""(s, c) of made-up players by rating, and the straight line through c."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars
import pytest

from live.ratings.regan.choice_model import ChoiceSkill
from live.studies.corpus_database import CorpusDatabase
from live.studies.regan_table import regan_table
from live.studies.study_data import Selection, StudyData
from tests.benchmarks.ratings.regan_recovery import real_turns, simulate
from tests.studies.small_corpus import corpus_of


def holding(monkeypatch: pytest.MonkeyPatch, frame: polars.DataFrame) -> None:
    """Every study holds these moves."""
    monkeypatch.setattr(
        StudyData, "moves", lambda self, names, all_players: iter([frame.select(names)])
    )


def test_groups_are_the_same_however_many_turns_are_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = polars.DataFrame(
        [
            {
                "game": 1,
                "player": 1,
                "event": None,
                "year": year,
                "elo": 2000,
                "deltas": [0.0, 0.1 * turn],
                "played_line": turn % 2,
                "turn_left_out": "opening" if turn == 7 else "",
            }
            for turn in range(8)
            for year in range(2000, 2001 + turn % 4)
        ]
    )
    holding(monkeypatch, frame)
    corpus = corpus_of(tmp_path / "c.db")
    with CorpusDatabase(corpus) as database:
        data = StudyData(database, corpus, 1, database.settings()[1], Selection())
        whole = regan_table(data, "year")
        monkeypatch.setattr("live.studies.regan_table.MOST_HELD", 5)
        assert regan_table(data, "year") == whole
    assert [row[:2] for row in whole.rows] == [(2000, 7), (2001, 5), (2002, 3), (2003, 1)]
    assert whole.notes[0].startswith("4 turns left out")


@pytest.mark.slow
def test_by_rating_c_lies_on_a_line_and_s_goes_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = []
    for elo, s in ((1800, 0.3), (2200, 0.12), (2600, 0.05)):
        turns = simulate(real_turns(), ChoiceSkill(s, 0.5), 600, np.random.default_rng(elo))
        for deltas, is_move, played in zip(turns.deltas, turns.is_move, turns.played, strict=True):
            rows.append(
                {
                    "game": 1,
                    "player": 1,
                    "event": None,
                    "year": 2008,
                    "elo": elo,
                    "deltas": deltas[is_move].tolist(),
                    "played_line": int(played),
                    "turn_left_out": "",
                }
            )
    frame = polars.DataFrame(rows)
    holding(monkeypatch, frame)
    corpus = corpus_of(tmp_path / "c.db")
    with CorpusDatabase(corpus) as database:
        data = StudyData(database, corpus, 1, database.settings()[1], Selection())
        table = regan_table(data, "rating")
        years = regan_table(data, "year")
    at = {column.name: index for index, column in enumerate(table.columns)}
    ratings, c, c_fit, s_fit = (
        [float(row[at[name]] or 0) for row in table.rows]
        for name in ("rating", "c", "c_fit", "s_fit")
    )
    assert ratings == [1800, 2200, 2600]
    slope, start = np.polyfit(ratings, c, 1)
    assert c_fit == pytest.approx(start + slope * np.array(ratings))
    assert s_fit == sorted(s_fit, reverse=True)
    assert [row[at["c_fit"]] for row in years.rows] == [None]
