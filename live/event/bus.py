"""Gives every change of the event to those who listen."""

from collections.abc import Iterable

from live.messages.to_clients import Change, ChangeListener
from live.process.supervision import FaultLog


class Bus:
    """The listeners, in the order in which they subscribed.

    Loss policy: a change that a listener fails on is lost to it alone.
    """

    def __init__(self) -> None:
        self._listeners: list[ChangeListener] = []
        self._faults = FaultLog("a listener could not take in a change")

    @property
    def missed(self) -> int:
        """How often a listener failed."""
        return self._faults.count

    def subscribe(self, listener: ChangeListener) -> None:
        """Give a listener every change from now on, in order; it must not wait."""
        self._listeners.append(self.guard(listener))

    def guard(self, listener: ChangeListener) -> ChangeListener:
        """Return a listener that may fail: that is logged, counted, and costs nobody
        else anything.
        """
        return self._faults.guarded()(listener)

    def publish(self, changes: Iterable[Change]) -> None:
        """Give these changes to every listener."""
        for listener in self._listeners:
            listener(changes)
