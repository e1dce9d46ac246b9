"""The work of many connections, one piece in each turn of the loop."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable


class FairTurns:
    """Work of many connections, one piece in each turn of the loop, in order of arrival: what goes
    out to subscribers need not wait for all of it. A piece that fails is reported to the loop, and
    the next follows.

    Loss policy: none is lost but what was taken back; the bound is one piece a connection.
    """

    def __init__(self) -> None:
        self._waiting: deque[FairTurn] = deque()

    def add(self, work: Callable[[], None]) -> FairTurn:
        """Do ``work`` when its turn comes, never from inside this call."""
        turn = FairTurn(work)
        self._waiting.append(turn)
        if len(self._waiting) == 1:
            asyncio.get_running_loop().call_soon(self._next)
        return turn

    def _next(self) -> None:
        turn = self._waiting[0]
        try:
            if turn.work is not None:
                turn.work()
        finally:
            self._waiting.popleft()
            if self._waiting:
                asyncio.get_running_loop().call_soon(self._next)


class FairTurn:
    """One piece of work that waits."""

    __slots__ = ("work",)

    def __init__(self, work: Callable[[], None]) -> None:
        self.work: Callable[[], None] | None = work

    def cancel(self) -> None:
        """Take it back."""
        self.work = None
