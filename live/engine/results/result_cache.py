"""Results already found, by engine identity and search key."""

from __future__ import annotations

from collections import OrderedDict
from typing import Protocol

from live.engine.search import SearchResult
from live.engine.search_key import SearchKey


class ResultCache(Protocol):
    """Where results are looked up before an engine searches, and stored when it has finished.

    Both are called on the event loop and must return at once.
    """

    problem: str
    """For people: what is wrong with it; empty when nothing is."""

    def get(self, identity: str, search_key: SearchKey) -> SearchResult | None:
        """The result, or None. ``identity`` is the engine's name and options."""

    def put(self, identity: str, search_key: SearchKey, result: SearchResult) -> None:
        """Remember a result whose limit was reached."""


class MemoryResultCache:
    """The results used last, up to a number of them (about 1.5 kB each)."""

    problem = ""

    def __init__(self, capacity: int = 50_000) -> None:
        self._capacity = capacity
        self._results: OrderedDict[tuple[str, SearchKey], SearchResult] = OrderedDict()

    def __len__(self) -> int:
        return len(self._results)

    def get(self, identity: str, search_key: SearchKey) -> SearchResult | None:
        result = self._results.get((identity, search_key))
        if result is not None:
            self._results.move_to_end((identity, search_key))
        return result

    def put(self, identity: str, search_key: SearchKey, result: SearchResult) -> None:
        self._results[identity, search_key] = result
        self._results.move_to_end((identity, search_key))
        if len(self._results) > self._capacity:
            self._results.popitem(last=False)
