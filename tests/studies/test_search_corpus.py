"""Searches of a game and of a corpus, including interrupted runs."""

import asyncio
from collections.abc import Callable, Hashable
from pathlib import Path

import chess
import pytest

from live.commands.read_settings import read_settings
from live.engine.search import Search, SearchFailure, SearchOptions, SearchResult
from live.messages.from_sources import MATE_CP, Score
from live.settings import Config
from live.studies.corpus_database import CorpusDatabase, NumberedGame
from live.studies.corpus_games import STANDARD_FEN
from live.studies.corpus_search import (
    CorpusSearcher,
    find_missing_games,
    search_corpus,
    search_game,
)
from tests.studies.small_corpus import DATA, corpus_of

FOOLS_MATE = ("f2f3", "e7e5", "g2g4", "d8h4")


def game(moves: tuple[str, ...]) -> NumberedGame:
    return NumberedGame(
        1, None, None, None, None, None, "", None, "*", STANDARD_FEN, False, moves
    )


async def test_a_move_that_was_the_first_choice_needs_no_search_of_its_own() -> None:
    """The last position is mate, so the rules give its score without a search."""
    asked = []

    async def ask(search: Search, place: int) -> SearchResult:
        asked.append((len(search.position.moves), search.only, place))
        best = (
            FOOLS_MATE[len(search.position.moves)] if search.position.moves else "e2e4"
        )
        cp = -31 if search.only else 12
        return SearchResult(
            Score(cp), best, 7, nodes=11, seldepth=9, tbhits=1, time_ms=2
        )

    searched, failed = await search_game(game(FOOLS_MATE), SearchOptions(), ask)
    assert set(asked) == {(0, "f2f3", 0), *((ply, None, ply) for ply in range(4))}
    assert not failed and len(asked) == 5
    found = searched.positions
    assert found[0] is not None and found[0].played is not None
    assert (found[0].best, found[0].played.cp) == ("e2e4", -31)
    whole = found[0].whole
    assert (whole.depth, whole.seldepth, whole.tbhits, whole.nodes, whole.time_ms) == (
        7,
        9,
        1,
        11,
        2,
    )
    assert found[3] is not None and found[3].played is None
    assert found[4] is not None and found[4].whole.cp == -MATE_CP


async def test_a_position_that_no_engine_can_search_leaves_the_others() -> None:
    """The search goes from the last position to the first, which fails."""
    places = {}

    async def ask(search: Search, place: int) -> SearchResult | SearchFailure:
        places[len(search.position.moves)] = place
        if search.position.moves:
            return SearchResult(Score(1), chess.Move.null().uci(), 7)
        return SearchFailure("three engines died of it")

    searched, failed = await search_game(
        game(("e2e4",)), SearchOptions(), ask, retrograde=True
    )
    assert failed == "three engines died of it"
    assert searched.positions[0] is None and searched.positions[1] is not None
    assert places == {0: 1, 1: 0}


def config(engine: str) -> Config:
    given = {
        "engine.path": engine,
        "engine.nodes": 150,
        "engine.engines": 1,
        "engine.hash_mb": 1,
    }
    return read_settings(None, {}, given)


def results(corpus: Path) -> list[tuple[object, ...]]:
    """Return the scores and first choices of all positions. Times are left out, because
    they differ between runs.
    """
    with CorpusDatabase(corpus) as database:
        [number] = database.read_settings()
        found: list[tuple[object, ...]] = []
        for game, searched in database.read_searched_games(number, 0, 100):
            for each in searched.positions:
                choice = each and (each.whole.cp, each.best, each.whole.nodes)
                found.append((game.game, choice))
        return found


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
        return await search_corpus(settings, corpus, most_games=most, retrograde=False)

    assert await searched(whole, None) == 0
    assert await searched(parts, 1) == 0
    assert await searched(parts, None) == 0
    assert results(parts) == results(whole)
    assert len(results(whole)) > 50
    assert "2 of 2 games" in capsys.readouterr().err
    # All positions have results, so nothing is left to search.
    assert await searched(parts, None) == 0
    assert "0 of 0 games" in capsys.readouterr().err
    # Results from a file name no version; their games are not searched again either.
    with CorpusDatabase(parts) as database:
        database.execute("UPDATE settings SET version = ''")
        database.commit()
    assert await searched(parts, None) == 0
    assert "0 of 0 games" in capsys.readouterr().err
    with CorpusDatabase(parts) as database:
        assert len(database.read_settings()) == 1


def test_what_is_missing(tmp_path: Path) -> None:
    with CorpusDatabase(corpus_of(tmp_path / "c.db")) as database:
        assert find_missing_games(database, 7) == list(range(1, 14))
        assert find_missing_games(database, 1) == []


class RecordingPool:
    """Engine pool that records submitted searches and never completes them."""

    slots = 1

    def __init__(self) -> None:
        self.submitted: list[tuple[Hashable, Search]] = []
        self.is_asked = asyncio.Event()

    def submit(self, search: Search, owner: Hashable, priority: object) -> None:
        self.submitted.append((owner, search))
        self.is_asked.set()


async def test_an_answer_after_a_stop_is_dropped(tmp_path: Path) -> None:
    """An engine that is still searching when the run stops returns its result
    afterwards.
    """
    pool = RecordingPool()
    answer = SearchResult(Score(1), "e2e4", 7)
    with CorpusDatabase(
        corpus_of(tmp_path / "c.db", DATA / "otb-2024-25.pgn")
    ) as database:
        searcher = CorpusSearcher(database, SearchOptions(), retrograde=False)
        run = asyncio.create_task(searcher.run(pool, 1, [1]))  # type: ignore[arg-type]
        await pool.is_asked.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        for owner, search in pool.submitted:
            searcher.on_result(owner, search, answer)
        assert searcher.done == 0 and not database.count_rows("results")


async def test_what_goes_wrong_while_keeping_a_game_comes_out(
    tmp_path: Path,
    require_program: Callable[[str], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    corpus = corpus_of(tmp_path / "c.db", DATA / "otb-2024-25.pgn")

    def full(*given: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(CorpusDatabase, "add_results", full)
    with pytest.raises(OSError, match="No space"):
        settings = config(require_program("stockfish"))
        await search_corpus(settings, corpus, most_games=1, retrograde=False)
