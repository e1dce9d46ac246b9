"""Results kept, up to a number."""

from __future__ import annotations

from live.engine.result_cache import MemoryResultCache
from live.engine.search import Limit, SearchKey, SearchResult
from live.events import Score


def search_key(number: int) -> SearchKey:
    return SearchKey(f"4k3/8/8/8/8/8/8/4K2R w - - {number} 1", (), Limit(nodes=1000))


def result(cp: int) -> SearchResult:
    return SearchResult(score=Score(cp), best="e1e2", depth=1)


def test_a_result_is_found_again() -> None:
    cache = MemoryResultCache()
    cache.put("engine", search_key(1), result(1))
    assert cache.get("engine", search_key(1)) == result(1)


def test_another_engine_limit_or_root_move_is_another_result() -> None:
    cache = MemoryResultCache()
    cache.put("engine", search_key(1), result(1))
    deeper = SearchKey(search_key(1).fen, (), Limit(depth=20))
    restricted = SearchKey(search_key(1).fen, (), Limit(nodes=1000), only="e1e2")
    assert cache.get("another", search_key(1)) is None
    assert cache.get("engine", deeper) is None
    assert cache.get("engine", restricted) is None


def test_the_least_used_goes_first() -> None:
    cache = MemoryResultCache(capacity=2)
    cache.put("engine", search_key(1), result(1))
    cache.put("engine", search_key(2), result(2))
    cache.get("engine", search_key(1))
    cache.put("engine", search_key(3), result(3))
    assert len(cache) == 2
    assert cache.get("engine", search_key(2)) is None
    assert cache.get("engine", search_key(1)) == result(1)
