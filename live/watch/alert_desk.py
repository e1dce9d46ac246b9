"""The arbiter's desk: which alerts are open, and what arbiters did about them. Pure.

Changes and clock readings come in, messages go out. Applying the messages to the list
of :meth:`AlertDesk.open` gives the list that the desk has. Times are seconds since 1970
UTC and come as arguments; the desk has no clock. Games are the event's records. What
they do not show is remembered for the next run.
"""

from collections import defaultdict
from collections.abc import Iterable

from msgspec.structs import asdict, replace

from live.event.game_change import EventChange
from live.event.game_record import GameRecord
from live.messages.alerts import Alert, AlertKind
from live.messages.to_clients import AlertMessage
from live.messages.values import GameId
from live.watch.alert_kinds import COUNTED, PASSING
from live.watch.finding import Finding, dial, in_order
from live.watch.incident_log import sign_text
from live.watch.result_alerts import ENDING_WAIT_S
from live.watch.watched_board import WatchedBoard
from live.watch.watched_event import (
    BOARD,
    PARTS,
    DeskMemory,
    FindRecord,
    Topic,
    WatchedEvent,
    find_topic,
)

#: Kinds about a clock: they end with a reading of it.
_CLOCKS: tuple[AlertKind, ...] = ("clock-still", "clock-rising", "flag")
#: Longest note an arbiter may write, characters.
NOTE_CHARS = 500
#: Ticks come every second or so. After a longer silence, seconds, or a step back, the
#: machine slept or its clock was set: no wait counts that time.
GAP_S = 120.0


class AlertDesk:
    """All alerts of one event. It has one writer, and nothing in it waits."""

    def __init__(self, find_record: FindRecord) -> None:
        self._watched = WatchedEvent(find_record)
        self._open: dict[str, Alert] = {}
        # Occurrences of open alerts, and of those an arbiter acknowledged; 0 for those
        # that ended by themselves.
        self._counted: defaultdict[Topic, dict[str, int]] = defaultdict(dict)
        # Alerts of an earlier run whose cause has not been seen in this one.
        self._unseen: set[str] = set()
        # What :meth:`mute` has muted: ``alert``, ``kind`` or ``game``, and which.
        self._mutes: set[tuple[str, str]] = set()
        self._ticked_s: float | None = None
        self.unwatched_s = 0.0
        """How long nobody watched, all gaps together: no wait counts them."""

    # --- changes ---

    def apply(self, changes: Iterable[EventChange], now_s: float) -> list[AlertMessage]:
        """Take over changes of the state; return the alerts that change."""
        topics = self._watched.apply(changes, now_s - self.unwatched_s)
        return self._look_at(topics, now_s)

    def tick(self, now_s: float) -> list[AlertMessage]:
        """Look at everything that waits. To be called about once a second."""
        self._count_gap(now_s)
        self._watched.note_rounds()
        boards = self._watched.boards.items()
        topics = [(BOARD, id) for id, board in boards if self._has_waits(board, now_s)]
        return self._look_at([*topics, PARTS], now_s)

    def _has_waits(self, board: WatchedBoard, now_s: float) -> bool:
        """Return whether time alone can change what is wrong with a board."""
        if board.is_running or board.memory.dispute_s is not None:
            return True
        ended_s = board.memory.result_s
        if ended_s is None:
            return False
        return now_s - self.unwatched_s - ended_s <= ENDING_WAIT_S + GAP_S

    def _count_gap(self, now_s: float) -> None:
        if self._ticked_s is not None:
            gap_s = now_s - self._ticked_s
            if not 0 <= gap_s <= GAP_S:
                self.unwatched_s += gap_s
        self._ticked_s = now_s

    def unremembered(self) -> dict[GameId, WatchedBoard | None]:
        """Return the boards whose memory changed since the last call.

        Their sources have more to remember, too. None stands for a board that is gone.
        """
        ids = self._watched.unremembered
        self._watched.unremembered = {}
        return {id: self._watched.boards.get(id) for id in ids}

    # --- restart ---

    def restore(
        self,
        records: Iterable[GameRecord],
        memory: DeskMemory,
        alerts: Iterable[Alert],
        last_s: float,
        now_s: float,
    ) -> None:
        """Restore the games and alerts of an earlier run; send nothing.

        Open alerts stay open, and a cause that lasts does not raise them again. What an
        arbiter acknowledged for good stays settled.

        Args:
            records: of the games that are shown again.
            memory: of the earlier run.
            alerts: as they were sent then, in order.
            last_s: when that run is known to have lived last; waits go on from there.
            now_s: the time.
        """
        self.unwatched_s = memory.unwatched_s
        self._ticked_s = last_s
        self._watched.restore(records, memory, last_s - self.unwatched_s)
        self._count_gap(now_s)
        for alert in {alert.id: alert for alert in alerts}.values():
            topic = find_topic(alert)
            kind, about = topic
            if kind == BOARD and about not in self._watched.boards:
                continue
            finding = self._find_alerts(topic, now_s).get(alert.id)
            if alert.cleared_s is None:
                self._restore_open(topic, alert, finding)
                continue
            is_settled = alert.kind in PASSING and alert.acknowledged_s is not None
            if is_settled and finding is not None:
                self._counted[topic][alert.id] = finding.occurrence

    def _restore_open(
        self, topic: Topic, alert: Alert, finding: Finding | None
    ) -> None:
        self._open[alert.id] = alert
        if alert.muted and not self._is_muted(alert):
            self._mutes.add(("alert", alert.id))
        if finding is not None:
            self._counted[topic][alert.id] = finding.occurrence
            return
        self._unseen.add(alert.id)
        # An event that is seen next has happened since.
        self._counted[topic][alert.id] = 0 if alert.kind in PASSING else 1

    def _is_awaited(self, alert: Alert) -> bool:
        """Return whether an alert stays open although its cause is not seen.

        Since the restart nothing has shown that the cause is gone.
        """
        if alert.id not in self._unseen:
            return False
        if alert.kind == "feed":
            health = self._watched.feeds.get(alert.feed or "")
            return health is None or health.state not in ("live", "finished")
        return alert.kind in PASSING

    # --- arbiters ---

    def acknowledge(self, id: str, now_s: float, by: str = "") -> list[AlertMessage]:
        """Acknowledge an alert, unless it is over or was acknowledged before.

        That ends an event; a state that lasts stays open, marked, until its cause goes.
        """
        alert = self._open.get(id)
        if alert is None or alert.acknowledged_s is not None:
            return []
        alert = replace(alert, acknowledged_s=now_s, acknowledged_by=by)
        if alert.kind in PASSING:
            return [self._close(alert, now_s)]
        return self._send_changed([alert])

    def note(self, id: str, text: str, by: str = "") -> list[AlertMessage]:
        """Write a note to an alert; an empty text deletes it.

        ``by`` names the token of the writer; it stays however long the text is.
        """
        alert = self._open.get(id)
        if alert is None:
            return []
        noted = replace(alert, note=sign_text(text[:NOTE_CHARS], by))
        return self._send_changed([noted])

    def mute(self, muted: bool = True, **what: str | None) -> list[AlertMessage]:
        """Mute one ``alert``, all of a ``kind`` or all of a board (``game``), or
        unmute.

        Muted alerts are not shown; they are still found and logged.
        """
        for part, which in what.items():
            if which is None:
                continue
            if muted:
                self._mutes.add((part, which))
            else:
                self._mutes.discard((part, which))
        return self._send_changed(self._open.values())

    def _is_muted(self, alert: Alert) -> bool:
        parts = {("alert", alert.id), ("kind", alert.kind), ("game", alert.game)}
        return not parts.isdisjoint(self._mutes)

    # --- the list ---

    def open(self) -> list[Alert]:
        """Return the alerts that are not over, the most urgent first."""
        return in_order(self._open.values())

    def _look_at(self, topics: Iterable[Topic], now_s: float) -> list[AlertMessage]:
        messages: list[AlertMessage] = []
        for topic in topics:
            messages += self._update(topic, now_s)
        return messages

    def _update(self, topic: Topic, now_s: float) -> list[AlertMessage]:
        """Make the alerts about one thing those of what is wrong with it now."""
        found = self._find_alerts(topic, now_s)
        counted = self._counted[topic]
        messages: list[AlertMessage] = []
        for id in [each for each in counted if each not in found]:
            alert = self._open.get(id)
            if alert is not None and not self._is_awaited(alert):
                messages.append(self._close(alert, now_s))
            if id not in self._open:
                counted[id] = 0
        self._unseen.difference_update(found)
        raised: list[Alert] = []
        for id, finding in found.items():
            before = self._open.get(id)
            if before is None and counted.get(id) == finding.occurrence:
                continue  # An arbiter has acknowledged it.
            if before is not None and before.game != finding.game:
                # Readers of one board must not keep what is now about another one.
                messages.append(self._close(before, now_s))
            raised.append(self._build_alert(finding, before, counted.get(id), now_s))
            counted[id] = finding.occurrence
        messages += self._forget_gone(topic, now_s)
        return messages + self._send_changed(raised)

    def _forget_gone(self, topic: Topic, now_s: float) -> list[AlertMessage]:
        """Close and forget all about a board or player that is gone."""
        kind, about = topic
        messages: list[AlertMessage] = []
        if topic == PARTS:
            return messages
        if kind == BOARD:
            if about in self._watched.boards:
                return messages
            left = [alert for alert in self._open.values() if alert.game == about]
            for alert in left:
                messages.append(self._close(alert, now_s))
                # What is found about a player of that board is news again.
                self._counted[find_topic(alert)][alert.id] = 0
            self._mutes.discard(("game", about))
        elif about in self._watched.players or self._counted[topic].keys() & self._open:
            return messages
        forgotten = self._counted.pop(topic)
        self._mutes.difference_update(("alert", id) for id in forgotten)
        return messages

    def _find_alerts(self, topic: Topic, now_s: float) -> dict[str, Finding]:
        return self._watched.find_alerts(topic, now_s - self.unwatched_s)

    def _build_alert(
        self, finding: Finding, before: Alert | None, counted: int | None, now_s: float
    ) -> Alert:
        fields = asdict(finding)
        del fields["about"], fields["occurrence"]
        alert = Alert(id=finding.id, first_seen_s=now_s, **fields)
        if before is None:
            return alert
        is_higher = counted is not None and finding.occurrence > counted
        is_raised_again = is_higher and finding.kind not in COUNTED
        return replace(
            alert,
            first_seen_s=before.first_seen_s,
            times=before.times + is_raised_again,
            acknowledged_s=None if is_raised_again else before.acknowledged_s,
            acknowledged_by="" if is_raised_again else before.acknowledged_by,
            note=before.note,
        )

    def _send_changed(self, alerts: Iterable[Alert]) -> list[AlertMessage]:
        """Keep alerts; return messages of those that differ from before."""
        messages = []
        for alert in list(alerts):
            alert_now = replace(alert, muted=self._is_muted(alert))
            if self._open.get(alert.id) != alert_now:
                self._open[alert.id] = alert_now
                messages.append(AlertMessage(alert_now))
        return messages

    def _close(self, alert: Alert, now_s: float) -> AlertMessage:
        del self._open[alert.id]
        self._unseen.discard(alert.id)
        ended = self._describe_end(alert)
        return AlertMessage(replace(alert, cleared_s=now_s, ended=ended))

    def _describe_end(self, alert: Alert) -> str:
        """Return what is seen now in place of an alert's cause; empty if nothing is."""
        kind, about = find_topic(alert)
        if kind != BOARD:
            feed = self._watched.feeds.get(alert.feed or "")
            return feed.state if feed is not None else ""
        board = self._watched.boards.get(about)
        if board is None:
            return "the board is gone"
        if alert.kind == "vanished":
            return "back in its source"
        if alert.kind in _CLOCKS and alert.color and board.is_running:
            clock_s = board.read_clock(alert.color).clock_s
            return (
                "no clock is sent" if clock_s is None else f"it shows {dial(clock_s)}"
            )
        return board.describe_last_event()
