"""Open questions of the papers, on corpora whose answers are known."""

from __future__ import annotations

from pathlib import Path

import polars
import pytest

from live.studies.corpus_database import CorpusDatabase
from live.studies.open_questions import colours_table, engine_gap_table
from live.studies.study_data import Selection, StudyData
from live.studies.study_table import StudyTable
from tests.studies.small_corpus import corpus_of


def made(corpus: Path, monkeypatch: pytest.MonkeyPatch, rows: polars.DataFrame) -> list[StudyTable]:
    """Both tables of these moves."""
    monkeypatch.setattr(
        StudyData, "moves", lambda self, names, all_players: iter([rows.select(names)])
    )
    with CorpusDatabase(corpus) as database:
        data = StudyData(database, corpus, 1, database.settings()[1], Selection())
        return [colours_table(data), engine_gap_table(data)]


@pytest.mark.slow
def test_colours_that_move_alike_are_told_from_those_that_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = corpus_of(tmp_path / "c.db")

    def moves(black_gain_cp: int) -> polars.DataFrame:
        rows = [
            {
                "game": game,
                "colour": color,
                "best_cp": 100,
                "gain_cp": 0 if (game + ply) % 3 else black_gain_cp if color == "black" else -60,
                "counted": True,
                "successive_cp": (game * ply) % 7 - 3,
                "move": "e2e4",
                "best": "e2e4" if ply % 2 else "d2d4",
            }
            for game in range(30)
            for ply in range(12)
            for color in ("white", "black")
        ]
        return polars.DataFrame(rows)

    alike, _ = made(corpus, monkeypatch, moves(-60))
    other, _ = made(corpus, monkeypatch, moves(-140))
    assert alike.rows[-1][-1] == 1.0 and alike.rows[-1][-2] == 0.0
    chance, distance = other.rows[-1][-1], other.rows[-1][-2]
    assert isinstance(chance, float) and chance < 0.01
    assert distance == pytest.approx(1 / 3, abs=0.01)


@pytest.mark.slow
def test_against_a_measured_engine_differences_agree_better(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Normal gains around an engine with normal gains: the spike stretches differences."""
    import numpy as np

    rng = np.random.default_rng(3)
    rows = [
        {
            "game": game,
            "colour": color,
            "best_cp": 0,
            "gain_cp": 0,
            "counted": True,
            "successive_cp": int(rng.normal(-8 if color == "white" else -game % 9, 12)),
            "move": "e2e4",
            "best": "d2d4",
        }
        for game in range(60)
        for _ in range(40)
        for color in ("white", "black")
    ]
    # The engine's own, in a game too short to be compared.
    rows += [
        rows[0] | {"game": 99, "successive_cp": int(rng.normal(0, 12)), "best": "e2e4"}
        for _ in range(2000)
    ]
    _, table = made(corpus_of(tmp_path / "c.db"), monkeypatch, polars.DataFrame(rows))
    spike, measured = table.rows
    assert isinstance(spike[2], float) and isinstance(measured[2], float)
    assert spike[1] == measured[1] == 60
    assert abs(measured[2] - 1) < 0.1 < spike[2] - 1
