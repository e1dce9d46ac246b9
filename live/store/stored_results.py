"""Results of searches for the engine room: from the journal, and from a cache of several events."""

from __future__ import annotations

from live.engine.results.result_cache import ResultCache
from live.engine.search import SearchResult
from live.engine.search_key import SearchKey
from live.store.journal import Journal


class StoredResults:
    """A :class:`live.engine.results.result_cache.ResultCache`. What either knows is known, and the
    journal gets to know it too, since figures are explained from it.
    """

    def __init__(self, journal: Journal, shared: ResultCache | None = None) -> None:
        self.problem = shared.problem if shared else ""
        """Of the shared one; the journal's is told on its own."""
        self._journal = journal
        self._shared = shared

    def get(self, identity: str, question: SearchKey) -> SearchResult | None:
        known = self._journal.get(identity, question)
        if known is None and self._shared is not None:
            known = self._shared.get(identity, question)
            self.problem = self._shared.problem
            if known is not None:
                self._journal.put(identity, question, known)
        return known

    def put(self, identity: str, question: SearchKey, result: SearchResult) -> None:
        self._journal.put(identity, question, result)
        if self._shared is not None:
            self._shared.put(identity, question, result)
            self.problem = self._shared.problem
