"""Alerts as lines of a log: each thing that happened to one, once. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from live.alerts.finding import SIGNS
from live.events import Alert, AlertMessage


class AlertLog:
    """Turns messages into lines. What only words another figure ("for 12 min") makes no line."""

    def __init__(self) -> None:
        self._told: dict[str, Alert] = {}

    def lines(self, messages: Iterable[AlertMessage]) -> list[str]:
        """What to write for ``messages``, in order."""
        lines = []
        for message in messages:
            alert = message.alert
            before = self._told.get(alert.id)
            happened = _happened(before, alert)
            if alert.cleared_s is None:
                self._told[alert.id] = alert
            else:
                self._told.pop(alert.id, None)
            lines += [f"alert {each} {SIGNS[alert.severity]} {alert.text}" for each in happened]
        return lines


def _happened(before: Alert | None, now: Alert) -> list[str]:
    words = []
    if before is None:
        words.append("raised")
    elif before.times != now.times:
        words.append(f"raised again ({now.times} times)")
    if now.acknowledged_s is not None and (before is None or before.acknowledged_s is None):
        words.append("acknowledged")
    if now.note and (before is None or before.note != now.note):
        words.append(f"noted ({now.note!r})")
    if before is not None and before.muted != now.muted:
        words.append("muted" if now.muted else "shown again")
    if now.cleared_s is not None:
        words.append("over")
    return words
