"""Distribution of every change of the event to its listeners."""

from collections.abc import Sequence

from live.messages.to_clients import Change, ChangeListener
from live.process.supervision import FaultLog


class Bus:
    """The listeners, in the order in which they subscribed.

    Loss policy: if a listener fails on a change, only that listener loses the change.
    """

    def __init__(self) -> None:
        self._listeners: list[ChangeListener] = []
        self._faults = FaultLog("a listener could not take in a change")

    @property
    def missed(self) -> int:
        """Number of times that a listener failed."""
        return self._faults.count

    def subscribe(self, listener: ChangeListener) -> None:
        """Add a listener, which receives every change from now on, in order; it must
        not block.
        """
        self._listeners.append(self.guard(listener))

    def guard(self, listener: ChangeListener) -> ChangeListener:
        """Return a version of ``listener`` that is allowed to fail: a failure is logged
        and counted, and affects no other listener.
        """
        return self._faults.guarded()(listener)

    def publish(self, changes: Sequence[Change]) -> None:
        """Send changes to every listener."""
        for listener in self._listeners:
            listener(changes)
