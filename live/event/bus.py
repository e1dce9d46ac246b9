"""Distributes every change of the event to followers and listeners."""

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

from live.event.game_change import EventChange, select_messages
from live.messages.health import HealthReport, part_health
from live.messages.to_clients import ChangeListener
from live.process.supervision import FaultLog

TakeChanges = Callable[[Sequence[EventChange]], None]
"""A function that gets changes of the event, in order."""


class Bus:
    """Distributes changes to followers and listeners, in the order in which these were
    added.

    Followers are parts of the service that work for the event. They receive every kind
    of change. Listeners are called after all followers, and receive only messages.
    Changes that a follower publishes in turn are queued until all receivers have the
    changes that caused them.

    If a receiver fails on a change, only that receiver loses the change. If it is a
    follower, the call that published the change then raises the first error.

    Args:
        transaction: opens a transaction for everything that receivers store because of
            a change.
    """

    def __init__(
        self, transaction: Callable[[], AbstractContextManager[None]] = nullcontext
    ) -> None:
        self._transaction = transaction
        self._followers: list[TakeChanges] = []
        self._listeners: list[ChangeListener] = []
        self._waiting: deque[Sequence[EventChange]] = deque()
        self._is_publishing = False
        self._faults = FaultLog("a receiver could not take in a change")

    def follow(self, follower: TakeChanges) -> None:
        """Add a follower, which must not block."""
        self._followers.append(follower)

    def subscribe(self, listener: ChangeListener) -> None:
        """Add a listener, which receives every later message in order and must not
        block.
        """
        self._listeners.append(self.guard(listener))

    def guard(self, listener: ChangeListener) -> ChangeListener:
        """Return a version of ``listener`` that does not raise errors.

        A failure is logged and counted, and affects no other listener.
        """
        return self._faults.guarded()(listener)

    def publish(self, changes: Sequence[EventChange]) -> None:
        """Pass changes to every follower, and the messages among them to every
        listener.
        """
        self._waiting.append(changes)
        if self._is_publishing:
            return
        self._is_publishing = True
        errors: list[Exception] = []
        try:
            # A step and its alerts are stored in one transaction. If the program were
            # killed between two transactions, the alert that a step raises would be
            # raised again after the restart.
            with self._transaction():
                while self._waiting:
                    errors += self._distribute(self._waiting.popleft())
        finally:
            self._is_publishing = False
        if errors:
            raise errors[0]

    def _distribute(self, changes: Sequence[EventChange]) -> list[Exception]:
        """Pass changes to every receiver; return the errors of followers."""
        errors: list[Exception] = []
        if not changes:
            return errors
        for follower in self._followers:
            try:
                follower(changes)
            except Exception as error:
                self._faults.record(error)
                errors.append(error)
        messages = select_messages(changes)
        if messages:
            for listener in self._listeners:
                listener(messages)
        return errors

    def report_missed(self, report: HealthReport) -> None:
        """Report that changes were missed, if a receiver has failed."""
        # The message does not contain the number of failures: a listener that fails on
        # this message would change the number, and so cause the message again.
        if self._faults.count:
            reason = (
                "a program fault caused missed changes: the log says where;"
                " restart live-rate"
            )
            report(part_health("changes", "failed", reason))
