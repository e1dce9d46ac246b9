"""What is known anywhere is known, and known to the journal from then on."""

from __future__ import annotations

from pathlib import Path

from live.engine.cache import MemoryCache
from live.engine.disk import DiskCache
from live.engine.question import Question
from live.engine.search import Limit, SearchResult
from live.events import Score
from live.store.journal import Journal
from live.store.reader import Reader
from live.store.records import Run
from live.store.results import Results

QUESTION = Question("4k3/8/8/8/8/8/8/4K2R w - - 0 1", (), Limit(nodes=400))
RESULT = SearchResult(Score(12), "e1e2", depth=9)


def journal(path: Path) -> Journal:
    return Journal(path, memory=MemoryCache(1))


def test_both_get_to_know_a_result(tmp_path: Path) -> None:
    one, two = tmp_path / "one.sqlite", tmp_path / "two.sqlite"
    with journal(one) as held, DiskCache(two) as shared:
        results = Results(held, shared)
        assert results.get("engine", QUESTION) is None
        results.put("engine", QUESTION, RESULT)
        assert results.get("engine", QUESTION) == RESULT
    with journal(one) as held, DiskCache(two) as shared:
        assert held.get("engine", QUESTION) == shared.get("engine", QUESTION) == RESULT


def test_the_journal_learns_what_another_event_found(tmp_path: Path) -> None:
    path, two = tmp_path / "one.sqlite", tmp_path / "two.sqlite"
    with DiskCache(two) as shared:
        shared.put("engine", QUESTION, RESULT)
    with journal(path) as held, DiskCache(two) as shared:
        held.begin(Run(version="0", engine_name="engine", identity="engine", limit=""))
        assert Results(held, shared).get("engine", QUESTION) == RESULT
    with Reader.open(path) as reader:
        scored = reader.result("engine", QUESTION)
    assert scored is not None and scored.identity == "engine"


def test_a_shared_cache_that_cannot_be_used_is_said_and_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with journal(tmp_path / "one.sqlite") as held, DiskCache(tmp_path / "file" / "x") as shared:
        results = Results(held, shared)
        results.put("engine", QUESTION, RESULT)
        assert results.get("engine", QUESTION) == RESULT
        assert "cannot be used" in results.problem
