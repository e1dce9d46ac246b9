"""Answers on their way to whoever asked."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Hashable
from typing import Final, Protocol

import msgspec

from live.engine.search import Search, SearchFailure, SearchProgress, SearchResult

#: Answers given in one turn of the event loop; the rest follow in the next.
_A_TURN: Final = 32


class ResultListener(Protocol):
    """Who is told. Called on the event loop, never from inside ``want`` or ``drop``; may call
    both.
    """

    def searched(
        self, owner: Hashable, search: Search, result: SearchResult | SearchFailure
    ) -> None:
        """``search`` is over; ``owner`` is not told of it again."""

    def progressed(self, owner: Hashable, progress: SearchProgress) -> None:
        """The search of a live head's position (not of the move played) has come so far."""


class ResultDelivery(msgspec.Struct, frozen=True):
    """An answer ready to be told."""

    owner: Hashable
    search: Search
    result: SearchResult | SearchFailure


class ResultDeliveries:
    """Tells the listener, in order, a bounded number of answers a turn, never one inside
    another: a listener that wants what is known already is told after it has returned.
    """

    def __init__(self, listener: ResultListener) -> None:
        self._listener = listener
        # Answers, and what is to be done between them.
        self._todo: deque[ResultDelivery | Callable[[], None]] = deque()
        self._reporting = False
        self._later: asyncio.Handle | None = None

    def add(self, item: ResultDelivery | Callable[[], None]) -> None:
        """Tell this after what was added before, or do it then; in the next turn of the loop
        unless :meth:`deliver` is called.
        """
        self._todo.append(item)
        if self._later is None and not self._reporting:
            self._later = asyncio.get_running_loop().call_soon(self.deliver)

    def drop(self, owner: Hashable) -> None:
        """Forget what was not yet told to ``owner``."""
        kept = [
            item
            for item in self._todo
            if not (isinstance(item, ResultDelivery) and item.owner == owner)
        ]
        self._todo.clear()
        self._todo.extend(kept)

    def deliver(self) -> None:
        """Tell now what may be told in one turn; nothing if called from inside a listener."""
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
