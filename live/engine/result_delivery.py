"""Delivers results to those who requested them."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Hashable
from typing import Final, Protocol

import msgspec

from live.engine.search import Search, SearchFailure, SearchProgress, SearchResult

#: Results delivered in one turn of the event loop; the rest follow in the next.
_A_TURN: Final = 32


class ResultListener(Protocol):
    """Gets the results. Called on the event loop, never from inside ``submit`` or ``drop``; may
    call both.
    """

    def searched(
        self, owner: Hashable, search: Search, result: SearchResult | SearchFailure
    ) -> None:
        """``search`` is over; ``owner`` gets nothing more for it."""

    def progressed(self, owner: Hashable, progress: SearchProgress) -> None:
        """The search of a live head's position (not of the move played) has come so far."""


class ResultDelivery(msgspec.Struct, frozen=True):
    """A result ready to be delivered."""

    owner: Hashable
    search: Search
    result: SearchResult | SearchFailure


class ResultDeliveries:
    """Calls the listener, in order, with a bounded number of results a turn, never one inside
    another: a listener that submits a known search gets its result after it has returned.
    """

    def __init__(self, listener: ResultListener) -> None:
        self._listener = listener
        # Results, and what is to be done between them.
        self._todo: deque[ResultDelivery | Callable[[], None]] = deque()
        self._reporting = False
        self._later: asyncio.Handle | None = None

    def add(self, item: ResultDelivery | Callable[[], None]) -> None:
        """Deliver this after what was added before, or do it then; in the next turn of the loop
        unless :meth:`deliver` is called.
        """
        self._todo.append(item)
        if self._later is None and not self._reporting:
            self._later = asyncio.get_running_loop().call_soon(self.deliver)

    def drop(self, owner: Hashable) -> None:
        """Forget what was not yet delivered to ``owner``."""
        kept = [
            item
            for item in self._todo
            if not (isinstance(item, ResultDelivery) and item.owner == owner)
        ]
        self._todo.clear()
        self._todo.extend(kept)

    def deliver(self) -> None:
        """Deliver what one turn allows, now; nothing if called from inside a listener."""
        if self._reporting:
            return
        self.close()
        self._reporting = True
        try:
            for _ in range(_A_TURN):
                if not self._todo:
                    break
                item = self._todo.popleft()
                if isinstance(item, ResultDelivery):
                    self._listener.searched(item.owner, item.search, item.result)
                else:
                    item()
        finally:
            self._reporting = False
            if self._todo:
                self._later = asyncio.get_running_loop().call_soon(self.deliver)

    def close(self) -> None:
        """Call off what was put on the loop."""
        if self._later is not None:
            self._later.cancel()
            self._later = None
