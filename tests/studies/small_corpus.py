"""A corpus of thirteen searched games, and one of the paper's game."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from live.studies.corpus_database import CorpusDatabase, SearchSetting
from live.studies.read_games import add_file
from live.studies.study_data import Selection, StudyData

DATA = Path(__file__).resolve().parent.parent / "data"
SEARCHED = DATA / "searched-games.ndjson.gz"
SAMPLE = DATA / "alliot-2017-sample.pgn"
GIVEN = SearchSetting("Stockfish 19 lite", "100000 nodes")


def corpus_of(path: Path, *files: Path) -> Path:
    """A corpus of these files, the searched games unless any are named."""
    with CorpusDatabase(path, create=True) as database:
        for file in files or (SEARCHED,):
            add_file(database, str(file), GIVEN)
    return path


@contextlib.contextmanager
def study_of(corpus: Path, selection: Selection | None = None) -> Iterator[StudyData]:
    """Its searched games of the first setting."""
    with CorpusDatabase(corpus) as database:
        setting = database.settings()[1]
        yield StudyData(database, corpus, 1, setting, selection or Selection())
