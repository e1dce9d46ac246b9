"""What is known anywhere is known, and known to the journal from then on."""

from __future__ import annotations

from pathlib import Path

from live.engine.results.result_cache import MemoryResultCache
from live.engine.results.result_file import ResultFile
from live.engine.search import Limit, SearchResult
from live.engine.search_key import SearchKey
from live.events import Score
from live.store.journal import Journal
from live.store.journal_reader import JournalReader
from live.store.journal_records import JournalRun
from live.store.stored_results import StoredResults

QUESTION = SearchKey("4k3/8/8/8/8/8/8/4K2R w - - 0 1", (), Limit(nodes=400))
RESULT = SearchResult(Score(12), "e1e2", depth=9)


def journal(path: Path) -> Journal:
    return Journal(path, memory=MemoryResultCache(1))


def test_both_get_to_know_a_result(tmp_path: Path) -> None:
    one, two = tmp_path / "one.sqlite", tmp_path / "two.sqlite"
    with journal(one) as held, ResultFile(two) as shared:
        results = StoredResults(held, shared)
        assert results.get("engine", QUESTION) is None
        results.put("engine", QUESTION, RESULT)
        assert results.get("engine", QUESTION) == RESULT
    with journal(one) as held, ResultFile(two) as shared:
        assert held.get("engine", QUESTION) == shared.get("engine", QUESTION) == RESULT


def test_the_journal_learns_what_another_event_found(tmp_path: Path) -> None:
    path, two = tmp_path / "one.sqlite", tmp_path / "two.sqlite"
    with ResultFile(two) as shared:
        shared.put("engine", QUESTION, RESULT)
    with journal(path) as held, ResultFile(two) as shared:
        held.begin(JournalRun(version="0", engine_name="engine", identity="engine", limit=""))
        assert StoredResults(held, shared).get("engine", QUESTION) == RESULT
    with JournalReader.open(path) as reader:
        scored = reader.result("engine", QUESTION)
    assert scored is not None and scored.identity == "engine"


def test_a_shared_cache_that_cannot_be_used_is_said_and_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with journal(tmp_path / "one.sqlite") as held, ResultFile(tmp_path / "file" / "x") as shared:
        results = StoredResults(held, shared)
        results.put("engine", QUESTION, RESULT)
        assert results.get("engine", QUESTION) == RESULT
        assert "cannot be used" in results.problem
