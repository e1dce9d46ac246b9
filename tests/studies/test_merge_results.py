from __future__ import annotations

import gzip
from pathlib import Path

from live.studies.corpus_database import CorpusDatabase, MergedResults, SearchSetting, merge
from live.studies.read_games import add_file
from tests.studies.small_corpus import GIVEN, SEARCHED, corpus_of


def test_two_halves_make_the_whole(tmp_path: Path) -> None:
    lines = gzip.decompress(SEARCHED.read_bytes()).splitlines()
    halves = []
    for name, part in (("one", lines[:7]), ("two", lines[5:])):
        file = tmp_path / f"{name}.ndjson"
        file.write_bytes(b"\n".join(part))
        halves.append(corpus_of(tmp_path / f"{name}.db", file))
    whole = corpus_of(tmp_path / "whole.db")
    with CorpusDatabase(halves[0]) as one, CorpusDatabase(halves[1]) as two:
        assert merge(one, two) == MergedResults(games=6, results=6)
        assert merge(one, two) == MergedResults()
    with CorpusDatabase(halves[0]) as one, CorpusDatabase(whole) as all_:
        for table in ("players", "player_keys", "games", "settings", "results"):
            query = f"SELECT * FROM {table} ORDER BY 1, 2"
            assert list(one.rows(query)) == list(all_.rows(query))


def test_results_of_another_limit_are_refused(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path / "one.db")
    with CorpusDatabase(tmp_path / "two.db", create=True) as other:
        add_file(other, str(SEARCHED), SearchSetting(GIVEN.engine, "200 nodes"))
    with CorpusDatabase(corpus) as one, CorpusDatabase(tmp_path / "two.db") as two:
        merged = merge(one, two)
        assert (merged.games, merged.results) == (0, 0)
        assert merged.refused == [
            "Stockfish 19 lite, 200 nodes: limit '200 nodes' is not '100000 nodes'"
        ]
        assert len(one.settings()) == 1
