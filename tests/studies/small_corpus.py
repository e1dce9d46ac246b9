"""Small corpora for tests: thirteen searched games, and variations of them."""

import contextlib
import gzip
import itertools
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from live.studies.add_games import add_file
from live.studies.corpus_database import CorpusDatabase
from live.studies.searched_games import SearchSetting
from live.studies.study_data import Selection, StudyData

DATA = Path(__file__).resolve().parent.parent / "data"
SEARCHED = DATA / "searched-games.ndjson.gz"
LINES = gzip.decompress(SEARCHED.read_bytes()).splitlines()
SAMPLE = DATA / "alliot-2017-sample.pgn"
GIVEN = SearchSetting("Stockfish 19 lite", "100000 nodes")


def corpus_of(path: Path, *files: Path) -> Path:
    """Create a corpus of these files, or of the searched games if no file is given;
    return its path.
    """
    with CorpusDatabase(path, create=True) as database:
        for file in files or (SEARCHED,):
            add_file(database, str(file), GIVEN)
    return path


def corpus_with(path: Path, changes: Iterable[dict[str, str]]) -> Path:
    """Create a corpus that repeats the searched games, one for each of ``changes``;
    return its path. Each change replaces players, date or result.
    """
    rows = map(json.loads, itertools.cycle(LINES))
    file = path.with_suffix(".ndjson")
    file.write_text(
        "\n".join(
            json.dumps(row | each) for each, row in zip(changes, rows, strict=False)
        )
    )
    return corpus_of(path, file)


@contextlib.contextmanager
def study_of(corpus: Path, selection: Selection | None = None) -> Iterator[StudyData]:
    """Yield the study of the corpus's searched games with its first setting."""
    with CorpusDatabase(corpus) as database:
        setting = database.read_settings()[1]
        yield StudyData(database, 1, setting, selection or Selection())


def rated_games(games: int = 160, moves: int = 30, seed: int = 5) -> str:
    """Return searched games as NDJSON, in which White loses less the higher the rating
    is. Only White's moves are evaluated. The knights move out and back.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for player in range(games):
        elo = int(rng.integers(1200, 2600))
        lost = rng.exponential((3000 - elo) / 40, moves) * (rng.random(moves) < 0.6)
        cp = rng.integers(-90, 90, 2 * moves).tolist()
        played = [
            at - int(loss) for at, loss in zip([20, *cp[1::2]], lost, strict=False)
        ]
        uci = [
            *itertools.islice(
                itertools.cycle(("g1f3", "g8f6", "f3g1", "f6g8")), 2 * moves
            )
        ]
        columns = {"moves": uci, "cp": cp, "start_cp": 20}
        columns |= {"played": [*itertools.chain(*((each, None) for each in played))]}
        columns |= {"best": ["h2h4", None] * moves}
        rows.append(
            {"white": player, "white_elo": elo, "black": "", "result": "*"} | columns
        )
    return "\n".join(map(json.dumps, rows))
