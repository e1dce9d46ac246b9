"""The alert desk of a running service: its clock, its log, its way to subscribers.

Part of the composition root.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

import msgspec

from live.alerts.alert_desk import AlertDesk
from live.alerts.finding import AlertLog, Finding
from live.alerts.incident_log import ENTRY_CHARS, IncidentLog
from live.events import (
    Alert,
    AlertKind,
    AlertMessage,
    Change,
    EngineInfo,
    FeedHealth,
    GameId,
    Incident,
)
from live.service.alert_restore import (
    ALIVE_S,
    ArbiterEntry,
    OpenAlert,
    RestoredAlerts,
    RestoredMute,
    muted_words,
)

log = logging.getLogger(__name__)

#: What the desk is called where parts of the service are listed.
PART = "alerts"


class AlertService:
    """What the terminal calls. Every call is sent to all subscribers who may see alerts."""

    def __init__(
        self,
        publish: Callable[[Sequence[Change]], None],
        clock: Callable[[], float] = time.time,
        report: Callable[[FeedHealth], None] = lambda health: None,
        remember: Callable[[RestoredMute | OpenAlert | ArbiterEntry], None] = lambda what: None,
        aloud: Callable[[], bool] = lambda: True,
    ) -> None:
        """``aloud``: whether who reads the log may know of alerts, as soon as they are raised."""
        self._desk = AlertDesk()
        self._publish = publish
        self._clock = clock
        self._report = report
        self._remember = remember
        self._aloud = aloud
        self.missed = 0
        """How often alerts were missed by a fault of ours."""
        self._book = AlertLog()
        self._log = IncidentLog()
        self._asleep = False
        # Changes that came while those before them are recalled.
        self._waiting: list[Change] | None = None
        # When it was noted last that the desk watches.
        self._noted_s = 0.0

    def await_plugins(self) -> None:
        """Plugins watch boards, too."""
        self._desk.awaits_plugins = True

    def measured_by(self, engine: EngineInfo) -> None:
        """Which engine the event starts with."""
        self._desk.measured_by(engine)

    def with_alerts(self, changes: Iterable[Change]) -> Sequence[Change]:
        """The changes, and the alerts that follow from them.

        A fault of ours in here costs alerts, never the changes.
        """
        all_of_them = list(changes)
        if self._waiting is not None:
            self._waiting += all_of_them
        if self._asleep or self._waiting is not None:
            return all_of_them
        try:
            return [*all_of_them, *self._logged(self._desk.changes(all_of_them, self._clock()))]
        except Exception:
            # Broad: sixteen kinds of alert look at what feeds say, and whichever of them breaks a
            # rule of ours, subscribers get the change. It is reported by :meth:`tick`.
            self._missed()
            return all_of_them

    def noticed(self, plugin: str, game: GameId, found: Sequence[Finding]) -> None:
        """All that a plugin finds the matter with a board now."""
        self._say(self._desk.noticed(plugin, game, found, self._clock()))

    def tick(self) -> None:
        """To be called about once a second."""
        now_s = self._clock()
        if not 0 <= now_s - self._noted_s < ALIVE_S:
            self._noted_s = now_s
            self._remember(OpenAlert())
        try:
            self._say(self._desk.tick(now_s))
        except Exception:
            # Broad for the same reason: what is called after this each second has to be called.
            self._missed()
        if self.missed:
            times = "once" if self.missed == 1 else f"{self.missed} times"
            why = f"alerts were missed {times} by a fault of ours; the log says where"
            self._report(FeedHealth(PART, "failed", why, part=True))

    def _missed(self) -> None:
        self.missed += 1
        # The first is logged whole; a fault at every change must not fill disks.
        if self.missed == 1:
            log.exception("alerts are missed")
        elif self.missed & (self.missed - 1) == 0:
            log.error("alerts were missed %d times", self.missed)

    def alerts(self) -> Sequence[Alert]:
        """Those not cleared, in the order in which people should look at them."""
        return self._desk.open()

    def history(self) -> Sequence[Alert]:
        """Those that are over, the latest last."""
        return self._desk.history()

    def incidents(self) -> Sequence[Incident]:
        """Everything that arbiters were shown and did, in the order it began."""
        return self._log.incidents()

    def enter(self, text: str, game: GameId | None = None) -> None:
        """The arbiter writes something down, with or without a board. It is never rewritten."""
        entry = ArbiterEntry(text[:ENTRY_CHARS], game)
        self._remember(entry)
        self._log.entry(entry.text, self._clock(), game)

    def acknowledge(self, alert: str, note: str = "") -> None:
        """The arbiter has taken note; see :meth:`live.alerts.alert_desk.AlertDesk.acknowledge`."""
        self._say(self._desk.acknowledge(alert, self._clock(), note))

    def note(self, alert: str, text: str) -> None:
        """The arbiter writes something to an alert."""
        self._say(self._desk.note(alert, text))

    def mute(self, alert: str, muted: bool) -> None:
        """Do not show this alert, or show it again; it is still found and logged."""
        self._mute(RestoredMute(muted=muted, alert=alert))

    def mute_kind(self, kind: AlertKind, muted: bool) -> None:
        """The same for all alerts of a kind."""
        self._mute(RestoredMute(muted=muted, kind=kind))

    def mute_board(self, game: GameId, muted: bool) -> None:
        """The same for all alerts of a board."""
        self._mute(RestoredMute(muted=muted, game=game))

    def _mute(self, mute: RestoredMute) -> None:
        self._remember(mute)
        if (what := muted_words(mute)) is not None:
            self._log.muted(what, mute.muted, self._clock(), mute.game)
        self._say(self._desk.mute(mute.muted, alert=mute.alert, kind=mute.kind, game=mute.game))

    @contextlib.contextmanager
    def asleep(self) -> Iterator[None]:
        """Changes say nothing to arbiters while the block runs: games of before come back."""
        self._asleep = True
        try:
            yield
        finally:
            self._asleep = False

    @contextlib.contextmanager
    def behind(self) -> Iterator[None]:
        """Changes wait for the end of the block: what happened before them is being recalled."""
        waiting: list[Change] = []
        self._waiting = waiting
        try:
            yield
        finally:
            self._waiting = None
            try:
                self._say(self._desk.changes(waiting, self._clock()))
            except Exception:
                # Broad as in with_alerts, and reported as there.
                self._missed()

    def resume(self, past: RestoredAlerts) -> Generator[None, None, None]:
        """Show again what a run before this one showed, without a word; within :meth:`behind`.
        Yields wherever others may have a turn.
        """
        for mute in past.mutes:
            self._desk.mute(mute.muted, alert=mute.alert, kind=mute.kind, game=mute.game)
        for at_s, change in past.told:
            self._desk.recall(change, at_s)
            yield
        self._desk.restore(past.alerts, past.last_s, self._clock())
        # They are in the log of that run.
        self._book.lines(map(AlertMessage, self._desk.open()))
        self._log = past.log
        stand = {alert.id for alert in self._desk.open()}
        now_s = self._clock()
        ended = [alert for alert in past.log.open() if alert.id not in stand]
        # What the restart has ended, a board of a source that is followed no more, ends in the log.
        self._say([AlertMessage(msgspec.structs.replace(each, cleared_s=now_s)) for each in ended])

    def _say(self, messages: Sequence[AlertMessage]) -> None:
        if messages:
            self._publish(self._logged(messages))

    def _logged(self, messages: Sequence[AlertMessage]) -> Sequence[AlertMessage]:
        for message in messages:
            self._log.alert(message.alert, self._clock())
        lines = self._book.lines(messages)
        if self._aloud():
            for line in lines:
                # Whatever level people ask for, what an arbiter sees and does is on record.
                log.warning("%s", line)
        return messages
