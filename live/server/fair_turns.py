"""A queue for the work of many connections, so that reading does not delay writing."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable


class FairTurns:
    """A queue that does one piece of work in each turn of the event loop.

    The pieces come from many connections and are done in order of arrival. Between
    them the loop can send messages to subscribers. If a piece raises an error, the
    error is reported to the loop and the next piece follows. No piece is dropped; at
    most one per connection waits.
    """

    def __init__(self) -> None:
        self._waiting: deque[Callable[[], None]] = deque()

    def add(self, work: Callable[[], None]) -> None:
        """Add a piece of work to the queue, for a later turn of the event loop."""
        self._waiting.append(work)
        if len(self._waiting) == 1:
            asyncio.get_running_loop().call_soon(self._run_next_work)

    def _run_next_work(self) -> None:
        try:
            self._waiting[0]()
        finally:
            self._waiting.popleft()
            if self._waiting:
                asyncio.get_running_loop().call_soon(self._run_next_work)
