from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from live.config import Config, load_config
from live.corpus.corpus_database import CorpusDatabase
from live.jobs.search_corpus import missing_games, search_corpus
from tests.corpus.small_corpus import DATA, corpus_of

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
