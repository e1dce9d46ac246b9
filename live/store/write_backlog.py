"""What waits to be written: a bounded queue that is emptied as a whole.

Loss policy: when it is full, what comes is turned away, and who brought it decides what that means.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Generic, TypeVar

Item = TypeVar("Item")


class WriteBacklog(Generic[Item]):
    """Filled by one thread, emptied by another; neither waits long for the other."""

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._items: deque[Item] = deque()
        self._changed = threading.Condition()
        # Items handed out by the last take and not yet reported as written.
        self._taken = 0
        self._closed = False

    def __len__(self) -> int:
        """How many wait, those being written included."""
        return len(self._items) + self._taken

    def put(self, item: Item, *, must: bool = False) -> bool:
        """Add one, if there is room (``must``: in any case); whether it was."""
        with self._changed:
            if self._closed or (not must and len(self) >= self._bound):
                return False
            self._items.append(item)
            self._changed.notify_all()
            return True

    def take(self, most: int) -> list[Item]:
        """The next ones, as soon as there is one; none when closed and empty. What was taken
        before counts as written now.
        """
        with self._changed:
            self._taken = 0
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._items or self._closed)
            taken = [self._items.popleft() for _ in range(min(most, len(self._items)))]
            self._taken = len(taken)
            return taken

    def wait_empty(self, timeout_s: float) -> bool:
        """Wait until all is written; whether it is."""
        with self._changed:
            return self._changed.wait_for(lambda: not len(self), timeout_s)

    def pause(self, seconds: float) -> bool:
        """Wait for that long, or until closed; whether it is closed."""
        with self._changed:
            return self._changed.wait_for(lambda: self._closed, seconds)

    def close(self) -> None:
        """Nothing more comes."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
