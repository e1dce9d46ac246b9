"""Stores of search results."""

from typing import Protocol

from live.engine.lru_dict import LruDict
from live.engine.search import SearchResult
from live.engine.search_key import SearchKey


class ResultCache(Protocol):
    """Store of results, read before an engine searches and written when it has
    finished.

    Its methods are called on the event loop and must return at once.
    """

    def find_result(self, identity: str, search_key: SearchKey) -> SearchResult | None:
        """Return the stored result, or None. ``identity`` is the engine's name and
        options.
        """

    def store_result(
        self, identity: str, search_key: SearchKey, result: SearchResult
    ) -> None:
        """Store the result of a search that reached its limit."""


class MemoryResultCache:
    """Store in memory for the results used last, at most ``capacity`` (1.5 kB each)."""

    def __init__(self, capacity: int = 50_000) -> None:
        self._results: LruDict[tuple[str, SearchKey], SearchResult] = LruDict(capacity)

    def __len__(self) -> int:
        return len(self._results)

    def find_result(self, identity: str, search_key: SearchKey) -> SearchResult | None:
        result = self._results.get((identity, search_key))
        if result is not None:
            self._results.move_to_end((identity, search_key))
        return result

    def store_result(
        self, identity: str, search_key: SearchKey, result: SearchResult
    ) -> None:
        self._results[identity, search_key] = result
