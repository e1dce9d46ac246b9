from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from live.config import Config, load_config
from live.engine.engine_discovery import EngineCommand
from live.studies.corpus_database import CorpusDatabase
from live.studies.search_corpus import missing_games, search_corpus
from live.studies.study_data import Selection, StudyData
from live.studies.study_table import formatted
from live.studies.tabulate_corpus import study_table
from tests.engine.machines import Machines, until
from tests.studies.small_corpus import DATA, corpus_of

pytestmark = pytest.mark.slow


def config(engine: str) -> Config:
    given = {"engine.path": engine, "engine.nodes": 150, "engine.engines": 1, "engine.hash_mb": 1}
    return load_config(None, {}, given)


def results(corpus: Path) -> list[tuple[object, ...]]:
    """Scores and choices; times differ from run to run."""
    with CorpusDatabase(corpus) as database:
        [number] = database.settings()
        return [
            (game.game, position and (position.whole.cp, position.best, position.whole.nodes))
            for game, searched in database.searched(number, 0, 100)
            for position in searched.positions
        ]


async def test_a_run_in_parts_is_a_run_and_searches_nothing_twice(
    tmp_path: Path,
    require_program: Callable[[str], str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings = config(require_program("stockfish"))
    whole = corpus_of(tmp_path / "whole.db", DATA / "otb-2024-25.pgn")
    parts = corpus_of(tmp_path / "parts.db", DATA / "otb-2024-25.pgn")

    async def searched(corpus: Path, most: int | None) -> int:
        return await search_corpus(settings, corpus, order="as-added", most=most, retrograde=False)

    assert await searched(whole, None) == 0
    assert await searched(parts, 1) == 0
    assert await searched(parts, None) == 0
    assert results(parts) == results(whole)
    assert len(results(whole)) > 50
    assert "2 of 2 games" in capsys.readouterr().err
    # All is there: nothing is left to search.
    assert await searched(parts, None) == 0
    assert "0 of 0 games" in capsys.readouterr().err


def test_orders(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path / "c.db")
    with CorpusDatabase(corpus) as database:
        everything = list(range(1, 14))
        assert missing_games(database, 7, "as-added", None) == everything
        assert missing_games(database, 1, "as-added", None) == []
        by_year = missing_games(database, 7, "year", None)
        dates = [database.stored(game).date or "9" for game in by_year]
        assert dates == sorted(dates)
        sample = missing_games(database, 7, "sample", None)
        assert sorted(sample) == everything != sample
        assert missing_games(database, 7, "sample", 5) == sample[:5]
        assert sorted(missing_games(database, 7, "player", None)) == everything


async def test_what_goes_wrong_while_keeping_a_game_comes_out(
    tmp_path: Path, require_program: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = corpus_of(tmp_path / "c.db", DATA / "otb-2024-25.pgn")

    def full(*given: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(CorpusDatabase, "add_results", full)
    with pytest.raises(OSError, match="No space"):
        await search_corpus(
            config(require_program("stockfish")),
            corpus,
            order="as-added",
            most=1,
            retrograde=False,
        )


@pytest.mark.whole
async def test_a_cluster_whose_workers_die_gives_the_same_tables(
    tmp_path: Path, require_program: Callable[[str], str]
) -> None:
    pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
    path = require_program("stockfish")
    given = {"engine.path": path, "engine.nodes": 20000, "engine.engines": 1}
    own = load_config(None, {}, given)
    alone = corpus_of(tmp_path / "alone.db", DATA / "otb-2024-25.pgn")
    assert await search_corpus(own, alone, order="as-added", most=1, retrograde=False) == 0
    machines = Machines(tmp_path)
    try:
        await machines.schedule()
        command = EngineCommand((path,), "configured", "configured")
        workers = [await machines.work(command) for _ in range(2)]
        shared = corpus_of(tmp_path / "shared.db", DATA / "otb-2024-25.pgn")
        cluster = load_config(None, {}, {**given, "engine.cluster": machines.address})
        run = asyncio.create_task(
            search_corpus(cluster, shared, order="as-added", most=1, retrograde=False)
        )

        for worker, enough in zip(workers, (10, 40), strict=True):
            await until(lambda least=enough: answered(tmp_path) >= least)  # type: ignore[misc]
            assert not run.done()
            os.kill(worker.pid, signal.SIGKILL)
        await machines.work(command)
        assert await run == 0
    finally:
        await machines.close()
    assert tables(shared) == tables(alone)


def answered(folder: Path) -> int:
    """Searches of the shared corpus that are kept so far."""
    path = folder / "shared.db-searches"
    if not path.exists():
        return 0
    with contextlib.closing(sqlite3.connect(path)) as database:
        try:
            return int(database.execute("SELECT count(*) FROM results").fetchone()[0])
        except sqlite3.OperationalError:  # not made yet
            return 0


def tables(corpus: Path) -> list[str]:
    """Some of every paper, as CSV."""
    names = ("matches", "ferreira-1", "ferreira-5", "alliot-conformance", "alliot-6", "career")
    with CorpusDatabase(corpus) as database:
        [(number, setting)] = database.settings().items()
        data = StudyData(database, corpus, number, setting, Selection())
        return [formatted(study_table(name, data), "csv") for name in names]
