"""The arbiter's desk: the open alerts, and what arbiters did about them. Pure.

The desk receives changes of the event and the current time, and returns messages. A
client that begins with the list from :meth:`AlertDesk.open` and applies every message
has the same list as the desk. Times are seconds since 1970 UTC and are passed as
arguments; the desk reads no clock. It reads games from the event's records. Facts that
the records lack are stored for the next run of the service.
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
from live.watch.arbiter_notes import Mute
from live.watch.finding import Finding, format_hms, sort_by_urgency
from live.watch.incident_log import append_writer_name
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

#: Kinds of alert about a clock. When one ends, its final text gives the clock reading.
_CLOCKS: tuple[AlertKind, ...] = ("clock-still", "clock-rising", "flag")
#: Maximum length of an arbiter's note, characters.
NOTE_CHARS = 500
#: Maximum time between two ticks, seconds; ticks normally come every second. A longer
#: or negative interval means that the machine slept or its clock was set. Such gaps do
#: not count as waiting time.
GAP_S = 120.0


class AlertDesk:
    """All alerts of one event."""

    def __init__(self, find_record: FindRecord) -> None:
        self._watched = WatchedEvent(find_record)
        self._open: dict[str, Alert] = {}
        # The occurrence number last raised or acknowledged, by topic and alert id; 0 if
        # the alert ended without an arbiter.
        self._counted: defaultdict[Topic, dict[str, int]] = defaultdict(dict)
        # Ids of alerts from an earlier run whose cause has not been found in this run.
        self._unseen: set[str] = set()
        # The muted subjects, as pairs: ``alert``, ``kind`` or ``game``, and the id of
        # the alert or game, or the name of the kind.
        self._mutes: set[tuple[str, str]] = set()
        self._ticked_s: float | None = None
        self.unwatched_s = 0.0
        """Total length of the gaps in which the service did not run, seconds. Waiting
        times do not include them.
        """

    # --- changes ---

    def apply(self, changes: Iterable[EventChange], now_s: float) -> list[AlertMessage]:
        """Apply changes of the state; return a message for each alert that changes."""
        topics = self._watched.apply(changes, now_s - self.unwatched_s)
        return self._update_topics(topics, now_s)

    def tick(self, now_s: float) -> list[AlertMessage]:
        """Check all alerts that depend on time; return a message for each change.

        Call this about once a second.
        """
        self._count_gap(now_s)
        self._watched.set_round_beginnings()
        boards = self._watched.boards.items()
        topics = [
            (BOARD, id) for id, board in boards if self._needs_ticks(board, now_s)
        ]
        return self._update_topics([*topics, PARTS], now_s)

    def _needs_ticks(self, board: WatchedBoard, now_s: float) -> bool:
        """Return whether the alerts about a board can change without a new report."""
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
        """Return the boards whose memory changed since the last call, by game id.

        None stands for a board that was removed. The memory of the source of each board
        has changed too.
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
        """Restore the games and alerts of an earlier run, without sending messages.

        Open alerts stay open; an alert whose cause still exists is not raised a second
        time. An alert about an event is not raised again if an arbiter has acknowledged
        it.

        Args:
            records: the records of the games that are shown again.
            memory: the memory of the earlier run.
            alerts: all alerts of the earlier run, in the order they were sent.
            last_s: the last time at which the earlier run is known to have been alive;
                waiting times continue from there.
            now_s: the current time.
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
        # With 0, an event that is found later counts as new. With 1, a lasting state
        # that is found later counts as the state of the earlier run.
        self._counted[topic][alert.id] = 0 if alert.kind in PASSING else 1

    def _is_kept_open(self, alert: Alert) -> bool:
        """Return whether an earlier run's alert stays open although its cause is not
        found.

        The alert is closed only after the restarted service has observed that the cause
        ended.
        """
        if alert.id not in self._unseen:
            return False
        if alert.kind == "feed":
            health = self._watched.feeds.get(alert.feed or "")
            return health is None or health.state not in ("live", "finished")
        return alert.kind in PASSING

    # --- arbiters ---

    def acknowledge(self, id: str, now_s: float, by: str = "") -> list[AlertMessage]:
        """Acknowledge an alert; do nothing if it is closed or already acknowledged.

        An acknowledged alert about an event is closed. An acknowledged alert about a
        lasting state stays open until its cause ends.
        """
        alert = self._open.get(id)
        if alert is None or alert.acknowledged_s is not None:
            return []
        alert = replace(alert, acknowledged_s=now_s, acknowledged_by=by)
        if alert.kind in PASSING:
            return [self._close_alert(alert, now_s)]
        return self._store_changed_alerts([alert])

    def note(self, id: str, text: str, by: str = "") -> list[AlertMessage]:
        """Set the note of an alert; an empty text deletes the note.

        ``by`` is the name of the writer's access token. The text is cut to
        :data:`NOTE_CHARS` before this name is added, so the name is always complete.
        """
        alert = self._open.get(id)
        if alert is None:
            return []
        noted = replace(alert, note=append_writer_name(text[:NOTE_CHARS], by))
        return self._store_changed_alerts([noted])

    def mute(self, mute: Mute) -> list[AlertMessage]:
        """Mute or unmute one alert, all alerts of a kind, or all alerts of a board.

        Muted alerts are hidden, but the desk continues to update and log them.
        """
        for part in ("alert", "kind", "game"):
            identity = getattr(mute, part)
            if identity is not None and mute.muted:
                self._mutes.add((part, identity))
            else:
                self._mutes.discard((part, identity))
        return self._store_changed_alerts(self._open.values())

    def _is_muted(self, alert: Alert) -> bool:
        parts = {("alert", alert.id), ("kind", alert.kind), ("game", alert.game)}
        return not parts.isdisjoint(self._mutes)

    # --- the list ---

    def open(self) -> list[Alert]:
        """Return the open alerts, sorted from the most to the least urgent."""
        return sort_by_urgency(self._open.values())

    def _update_topics(
        self, topics: Iterable[Topic], now_s: float
    ) -> list[AlertMessage]:
        messages: list[AlertMessage] = []
        for topic in topics:
            messages += self._update_alerts_of_topic(topic, now_s)
        return messages

    def _update_alerts_of_topic(self, topic: Topic, now_s: float) -> list[AlertMessage]:
        """Raise, change and close alerts so that they match a topic's present state."""
        findings = self._find_alerts(topic, now_s)
        counted = self._counted[topic]
        messages: list[AlertMessage] = []
        for id in [alert_id for alert_id in counted if alert_id not in findings]:
            alert = self._open.get(id)
            if alert is not None and not self._is_kept_open(alert):
                messages.append(self._close_alert(alert, now_s))
            if id not in self._open:
                counted[id] = 0
        self._unseen.difference_update(findings)
        raised: list[Alert] = []
        for id, finding in findings.items():
            before = self._open.get(id)
            if before is None and counted.get(id) == finding.occurrence:
                continue  # An arbiter has acknowledged this occurrence.
            if before is not None and before.game != finding.game:
                # The alert has moved to another board. Clients that follow only the old
                # board need a message that the alert ended there.
                messages.append(self._close_alert(before, now_s))
            raised.append(self._build_alert(finding, before, counted.get(id), now_s))
            counted[id] = finding.occurrence
        messages += self._close_alerts_of_removed_subject(topic, now_s)
        return messages + self._store_changed_alerts(raised)

    def _close_alerts_of_removed_subject(
        self, topic: Topic, now_s: float
    ) -> list[AlertMessage]:
        """Close and delete the alerts about a board or player that no longer exists."""
        kind, about = topic
        messages: list[AlertMessage] = []
        if topic == PARTS:
            return messages
        if kind == BOARD:
            if about in self._watched.boards:
                return messages
            orphaned = [alert for alert in self._open.values() if alert.game == about]
            for alert in orphaned:
                messages.append(self._close_alert(alert, now_s))
                # An alert about a player of that board can be raised at another board.
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

    def _store_changed_alerts(self, alerts: Iterable[Alert]) -> list[AlertMessage]:
        """Store alerts as open; return a message for each one that has changed."""
        messages = []
        for alert in list(alerts):
            alert_now = replace(alert, muted=self._is_muted(alert))
            if self._open.get(alert.id) != alert_now:
                self._open[alert.id] = alert_now
                messages.append(AlertMessage(alert_now))
        return messages

    def _close_alert(self, alert: Alert, now_s: float) -> AlertMessage:
        del self._open[alert.id]
        self._unseen.discard(alert.id)
        ended = self._describe_end(alert)
        return AlertMessage(replace(alert, cleared_s=now_s, ended=ended))

    def _describe_end(self, alert: Alert) -> str:
        """Return a text about how an alert's cause ended; empty if unknown."""
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
                "the source sends no clock"
                if clock_s is None
                else f"the clock shows {format_hms(clock_s)}"
            )
        return board.describe_last_event()
