"""A round played over and over: what a page is told over a day, at any speed.

The changes of one round are recorded once. Told again they begin with every move taken back, so
that a page that follows them plays the same round again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator

from live.events import Change, GameMessage, MoveMessage
from live.publish.published_state import PublishedState
from live.publish.server import Publisher
from tests.web.broadcast import BOARDS, Broadcast


class Replayed:
    """``state`` is the round before the first move, for whoever opens the page now."""

    def __init__(self, boards: int = BOARDS, plies: int = 60) -> None:
        self.state: PublishedState = Broadcast(boards).state
        self._changes: list[Change] = []
        played = Broadcast(boards)
        played.listener = self._record
        for _ in range(plies):
            for board in range(1, boards + 1):
                played.play(1, board=board)
        games = [each.id for each in self.state.games()]
        self._back: list[Change] = [MoveMessage(game, 1, None) for game in games]
        self._back += [GameMessage(each) for each in self.state.games()]

    def _record(self, changes: Iterable[Change]) -> None:
        self._changes.extend(changes)

    @property
    def changes(self) -> int:
        """In one round."""
        return len(self._changes) + len(self._back)

    def rounds(self) -> Iterator[Change]:
        """The same round for ever."""
        while True:
            yield from self._changes
            yield from self._back

    async def tell(
        self, publisher: Publisher, rounds: Iterator[Change], per_s: float, seconds: float
    ) -> int:
        """So many changes a second, one after the other, for so long; returns how many."""
        start_s, told = time.monotonic(), 0
        while (now_s := time.monotonic() - start_s) < seconds:
            due = int(now_s * per_s) - told
            for _ in range(due):
                publisher.publish([next(rounds)])
            told += due
            await asyncio.sleep(min(0.02, 1 / per_s))
        return told
