"""Constants are chosen on some games and tried on others."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from live.studies import alliot_covariance
from live.studies.alliot_games import CountedGame
from live.studies.corpus_database import CorpusDatabase
from live.studies.study_data import Selection, StudyData
from tests.studies.small_corpus import corpus_of


def test_with_few_games_nothing_is_chosen(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path / "c.db")
    with CorpusDatabase(corpus) as database:
        data = StudyData(database, corpus, 1, database.settings()[1], Selection())
        table = alliot_covariance.fits_table(data)
    assert not table.rows and table.notes == ("Under 41 games nothing is chosen.",)


@pytest.mark.slow
def test_noise_chosen_among_many_constants_is_worth_nothing_on_other_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is chosen fits its own games better than others: that is what is shown."""
    corpus = corpus_of(tmp_path / "c.db")
    with CorpusDatabase(corpus) as database:
        data = StudyData(database, corpus, 1, database.settings()[1], Selection())
        # Thirteen games many times over: shortfalls that have nothing to do with the results.
        held = [
            CountedGame(
                at % 13 + 1,
                float((at * 7919) % 3 - 1),
                tuple((ply * 13 % 90 - 40, -(at * ply * 31 % 57)) for ply in range(12)),
                tuple((ply * 17 % 90 - 40, -(at * ply * 37 % 57)) for ply in range(12)),
            )
            for at in range(65)
        ]
        monkeypatch.setattr(alliot_covariance, "counted_games", lambda data: iter(held))
        rows = alliot_covariance.fits_table(data).rows
        lost = [
            [sum(gain for _, gain in side) for side in (each.white, each.black)] for each in held
        ]
        worth = [
            msgspec.structs.replace(game, result=1.0 if white > black else -1.0)
            for game, (white, black) in zip(held, lost, strict=True)
        ]
        monkeypatch.setattr(alliot_covariance, "counted_games", lambda data: iter(worth))
        told = alliot_covariance.fits_table(data).rows
    for row, other in zip(rows, told, strict=True):
        assert isinstance(row[3], float) and isinstance(row[4], float)
        assert row[4] < row[3]
        assert isinstance(other[3], float) and other[3] > 0.5
