"""Turns for the work of many connections, so that reads never delay writes."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable


class FairTurns:
    """Work of many connections, one piece in each turn of the loop, in order of
    arrival, so that messages to subscribers need not wait for all of it. A piece that
    fails is reported to the loop, and the next follows.

    Loss policy: none is lost; the bound is one piece a connection.
    """

    def __init__(self) -> None:
        self._waiting: deque[Callable[[], None]] = deque()

    def add(self, work: Callable[[], None]) -> None:
        """Do ``work`` when its turn comes, never from inside this call."""
        self._waiting.append(work)
        if len(self._waiting) == 1:
            asyncio.get_running_loop().call_soon(self._next)

    def _next(self) -> None:
        try:
            self._waiting[0]()
        finally:
            self._waiting.popleft()
            if self._waiting:
                asyncio.get_running_loop().call_soon(self._next)
