"""A queue that delays changes for the public. Pure."""

from collections import Counter, deque
from collections.abc import Iterable
from operator import itemgetter
from typing import TypeGuard

from live.messages.health import PublicDelay
from live.messages.to_clients import Change, MoveMessage
from live.messages.values import GameId
from live.process.clock import ReadClock

TimedChange = tuple[float, Change]
"""A change with the time when it happened, by the clock of its delay line, seconds."""


class DelayLine:
    """The changes that wait, in the order in which they happened.

    No change is dropped. Only changes that happened within the delay wait.
    """

    def __init__(self, clock: ReadClock) -> None:
        self.delay_s = 0.0
        """The delay, seconds; it also applies to changes that already wait."""
        self._clock = clock
        self._waiting: deque[TimedChange] = deque()
        self._moves: Counter[GameId] = Counter()

    @property
    def is_empty(self) -> bool:
        """True if no change waits."""
        return not self._waiting

    @property
    def next_s(self) -> float | None:
        """Seconds until the next waiting change is due; None if no change waits."""
        if not self._waiting:
            return None
        return max(0.0, self._waiting[0][0] + self.delay_s - self._clock())

    def add(self, changes: Iterable[Change]) -> None:
        """Add changes that happen now."""
        now_s = self._clock()
        self._extend((now_s, change) for change in changes)

    def add_earlier(self, changes: Iterable[TimedChange]) -> None:
        """Add changes that happened in the past; they need not be sorted by time.

        Changes with the same time stay in the given order, after those that already
        wait.
        """
        self._extend(changes)
        self._waiting = deque(sorted(self._waiting, key=itemgetter(0)))

    def _extend(self, changes: Iterable[TimedChange]) -> None:
        for at_s, change in changes:
            self._waiting.append((at_s, change))
            if _is_move(change):
                self._moves[change.game] += 1

    def take_due(self) -> list[Change]:
        """Remove and return all changes that are due by now, in order."""
        until_s = self._clock() - self.delay_s
        due: list[Change] = []
        while self._waiting and self._waiting[0][0] <= until_s:
            _, change = self._waiting.popleft()
            due.append(change)
            if _is_move(change):
                self._moves[change.game] -= 1
        self._moves = +self._moves
        return due

    def describe(self) -> PublicDelay:
        """Return the delay, and how many moves of how many games wait."""
        return PublicDelay(self.delay_s, self._moves.total(), len(self._moves))


def _is_move(change: Change) -> TypeGuard[MoveMessage]:
    """Return whether a change adds a move; False for a move taken back."""
    return isinstance(change, MoveMessage) and change.move is not None
