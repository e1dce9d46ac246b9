"""The alert desk of a running service: its clock, its log, its way to subscribers.

Part of the composition root.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Sequence

from live.alerts.desk import AlertDesk
from live.alerts.wording import LogBook
from live.events import Alert, AlertKind, AlertMessage, Change, EngineInfo, GameId

log = logging.getLogger(__name__)


class Arbiter:
    """What the terminal calls. Every call is told to all subscribers who may know of alerts."""

    def __init__(
        self,
        publish: Callable[[Sequence[Change]], None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._desk = AlertDesk()
        self._publish = publish
        self._clock = clock
        self._book = LogBook()

    def measured_by(self, engine: EngineInfo) -> None:
        """Which engine the event starts with."""
        self._desk.measured_by(engine)

    def with_alerts(self, changes: Iterable[Change]) -> Sequence[Change]:
        """The changes, and what arbiters are to be told because of them.

        A fault of ours in here costs alerts, never the changes.
        """
        told = list(changes)
        try:
            return [*told, *self._logged(self._desk.changes(told, self._clock()))]
        except Exception:
            log.exception("alerts are missed")
            return told

    def tick(self) -> None:
        """To be called about once a second."""
        try:
            messages = self._desk.tick(self._clock())
        except Exception:
            log.exception("alerts are missed")
        else:
            self._say(messages)

    def alerts(self) -> Sequence[Alert]:
        """Those not cleared, in the order in which people should look at them."""
        return self._desk.open()

    def history(self) -> Sequence[Alert]:
        """Those that are over, the latest last."""
        return self._desk.history()

    def acknowledge(self, alert: str, note: str = "") -> None:
        """The arbiter has taken note; see :meth:`live.alerts.desk.AlertDesk.acknowledge`."""
        self._say(self._desk.acknowledge(alert, self._clock(), note))

    def note(self, alert: str, text: str) -> None:
        """The arbiter writes something to an alert."""
        self._say(self._desk.note(alert, text))

    def mute(self, alert: str, muted: bool) -> None:
        """Do not show this alert, or show it again; it is still found and logged."""
        self._say(self._desk.mute(muted, alert=alert))

    def mute_kind(self, kind: AlertKind, muted: bool) -> None:
        """The same for all alerts of a kind."""
        self._say(self._desk.mute(muted, kind=kind))

    def mute_board(self, game: GameId, muted: bool) -> None:
        """The same for all alerts of a board."""
        self._say(self._desk.mute(muted, game=game))

    def restore(self, alerts: Iterable[Alert]) -> None:
        """Alerts of a former run."""
        self._desk.restore(alerts)

    def _say(self, messages: Sequence[AlertMessage]) -> None:
        if messages:
            self._publish(self._logged(messages))

    def _logged(self, messages: Sequence[AlertMessage]) -> Sequence[AlertMessage]:
        for line in self._book.lines(messages):
            # Whatever level people ask for, what an arbiter is told and does is on record.
            log.warning("%s", line)
        return messages
