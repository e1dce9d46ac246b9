"""A corpus of thirteen searched games, and one of the paper's game."""

from __future__ import annotations

from pathlib import Path

from live.studies.corpus_database import CorpusDatabase, SearchSetting
from live.studies.read_games import add_file

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
