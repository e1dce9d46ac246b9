"""The arbiter's desk: which alerts there are now, and what the arbiter did about them. Pure.

Changes and clock readings in, messages out. Whoever applies the messages to the list of
:meth:`AlertDesk.open` holds what the desk holds. Times are seconds since 1970 UTC and come as
arguments; the desk has no clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from live.alerts.board_alerts import (
    clock_faults,
    contradicted_results,
    contradicting_sources,
    corrected_moves,
    corrected_pairings,
    draw_claims,
    flag_fall,
    is_gone,
    is_lost,
    missing_endings,
    stalled_boards,
    standing_illegal_moves,
    unreadable_games,
    vanished_boards,
)
from live.alerts.event_alerts import (
    BOARD,
    ENGINES,
    FEEDS,
    PLAYER,
    AlertTopic,
    WatchedEvent,
    engine_agreement,
    failing_engines,
    failing_feeds,
    topic_of,
)
from live.alerts.finding import PASSING, Finding, in_order
from live.events import Alert, AlertKind, AlertMessage, Change, GameId

#: Longest note an arbiter may write, characters.
NOTE_CHARS = 500
#: Ticks come every second or so; after a longer silence, seconds, or a step back, the machine
#: slept or its clock was set, and nothing is held against those who were waited for.
GAP_S = 120.0

#: Kinds of alert about a board.
_ALWAYS = (
    unreadable_games,
    standing_illegal_moves,
    vanished_boards,
    corrected_moves,
    corrected_pairings,
    clock_faults,
    contradicting_sources,
)
#: Their text says what has happened and keeps saying it; others say how long a state has lasted.
_HAPPENED = PASSING | {"vanished"}
#: What rests on knowing where the board stands.
_WHILE_READ = (flag_fall, stalled_boards, missing_endings, contradicted_results, draw_claims)


def findings(watched: WatchedEvent, topic: AlertTopic, now_s: float) -> Iterator[Finding]:
    """Findings of every kind about one board, one player, the feeds or the engines."""
    if topic.kind == BOARD:
        board = watched.boards.get(topic.id)
        if board is not None:
            read = not is_lost(board) and not is_gone(board)
            for kind in (*_ALWAYS, *_WHILE_READ) if read else _ALWAYS:
                yield from kind(board, now_s)
            for found in watched.noticed.get(topic.id, {}).values():
                yield from found
    elif topic.kind == PLAYER:
        yield from engine_agreement(watched, topic.id)
    elif topic.kind == FEEDS:
        yield from failing_feeds(watched, now_s)
    elif topic.kind == ENGINES:
        yield from failing_engines(watched, now_s)


class AlertDesk:
    """All alerts of one event. One writer calls; nothing waits."""

    def __init__(self) -> None:
        self.awaits_plugins = False
        """Plugins watch boards: what one found before a restart stands until one has looked."""
        self._watched = WatchedEvent()
        self._open: dict[str, Alert] = {}
        self._counted: dict[AlertTopic, dict[str, int]] = {}
        # Passing things an arbiter took note of, by how often they had happened then.
        self._settled: dict[AlertTopic, dict[str, int]] = {}
        self._restored: dict[str, Alert] = {}
        # Alerts of a run before this one whose cause has not been seen in this one.
        self._unseen: set[str] = set()
        # What is not shown, as :meth:`mute` names it: ``alert``, ``kind`` or ``game``, and which.
        self._mutes: set[tuple[str, str]] = set()
        self._ticked_s: float | None = None

    # --- news -----------------------------------------------------------------------------------

    def changes(self, changes: Iterable[Change], now_s: float) -> list[AlertMessage]:
        """Take in changes of the state; costs O(1) a change, whatever the length of games."""
        topics: dict[AlertTopic, None] = {}
        for change in changes:
            topic = self._watched.take(change, now_s)
            if topic is not None:
                topics[topic] = None
                if topic.kind == FEEDS:
                    topics[AlertTopic(ENGINES)] = None
        return [message for topic in topics for message in self._look(topic, now_s)]

    def tick(self, now_s: float) -> list[AlertMessage]:
        """Time has passed: look at what waits. To be called about once a second."""
        self._pass(now_s)
        # Boards with which time alone can change what is the matter.
        topics = [
            AlertTopic(BOARD, id)
            for id, board in self._watched.boards.items()
            if board.running or board.result_s is not None or board.dispute_s is not None
        ]
        topics += [AlertTopic(FEEDS), AlertTopic(ENGINES)]
        return [message for topic in topics for message in self._look(topic, now_s)]

    def _pass(self, now_s: float) -> None:
        if self._ticked_s is not None:
            gap_s = now_s - self._ticked_s
            if not 0 <= gap_s <= GAP_S:
                self._watched.shift(gap_s)
        self._ticked_s = now_s

    def noticed(
        self, plugin: str, game: GameId, found: Sequence[Finding], now_s: float
    ) -> list[AlertMessage]:
        """All that a plugin finds the matter with a board now."""
        if game not in self._watched.boards:
            return []
        self._watched.noticed.setdefault(game, {})[plugin] = tuple(found)
        return self._look(AlertTopic(BOARD, game), now_s)

    # --- a run before this one ------------------------------------------------------------------

    def recall(self, change: Change, at_s: float) -> None:
        """A change of then, at its time: taken in, and no message is sent."""
        self._watched.take(change, at_s)

    def restore(self, alert_now: Iterable[Alert], last_s: float, now_s: float) -> None:
        """Alerts as they were sent then, in order; to be called when everything else is recalled.

        Those that were not over stand as they stood, and are not raised a second time by a cause
        that stands. What an arbiter took note of for good stays settled. ``last_s``: until when
        that run is known to have lived; what was waited for, is waited for from there on.
        """
        last = {alert.id: alert for alert in alert_now}
        self._ticked_s = last_s
        self._pass(now_s)
        seen: dict[AlertTopic, dict[str, Finding]] = {}
        for id, alert in last.items():
            topic = topic_of(alert)
            if topic.kind == BOARD and topic.id not in self._watched.boards:
                continue
            if topic not in seen:
                seen[topic] = {each.id: each for each in findings(self._watched, topic, now_s)}
            finding = seen[topic].get(id)
            if alert.cleared_s is None:
                self._reopen(topic, alert, finding)
            elif alert.kind in PASSING and alert.acknowledged_s is not None and finding is not None:
                self._counted.setdefault(topic, {})[id] = finding.occurrence
                self._settled.setdefault(topic, {})[id] = finding.occurrence

    def _reopen(self, topic: AlertTopic, alert: Alert, finding: Finding | None) -> None:
        id = alert.id
        if alert.muted and not self._is_muted(alert):
            self._mutes.add(("alert", id))
        if finding is not None:
            occurrence = finding.occurrence
        else:
            self._unseen.add(id)
            # Whatever passing thing is seen next has happened since.
            occurrence = 0 if alert.kind in PASSING else 1
        self._open[id] = alert
        self._counted.setdefault(topic, {})[id] = occurrence

    def _awaited(self, alert: Alert) -> bool:
        """Whether it stands although its cause is not seen: nothing since the restart says that it
        is gone.
        """
        if alert.id not in self._unseen:
            return False
        if alert.kind == "feed":
            health = self._watched.feeds.get(alert.feed or "")
            return health is None or health.state not in ("live", "finished")
        if alert.kind == "plugin":
            return self.awaits_plugins and alert.game not in self._watched.noticed
        return alert.kind in PASSING

    # --- what the arbiter does ------------------------------------------------------------------

    def acknowledge(self, id: str, now_s: float, note: str = "") -> list[AlertMessage]:
        """The arbiter has taken note. What is merely past is thereby over; a state that lasts
        stays open, marked, until its cause goes.
        An alert that is over by now is left alone.
        """
        alert = self._open.get(id)
        if alert is None:
            return []
        alert_now = msgspec.structs.replace(
            alert, acknowledged_s=now_s, note=note[:NOTE_CHARS] if note else alert.note
        )
        if alert.kind in PASSING:
            topic = topic_of(alert)
            self._settled.setdefault(topic, {})[id] = self._counted[topic][id]
            return [self._close(alert_now, now_s)]
        return self._say([alert_now])

    def note(self, id: str, text: str) -> list[AlertMessage]:
        """Write something to an alert; an empty text takes it away."""
        alert = self._open.get(id)
        if alert is None:
            return []
        return self._say([msgspec.structs.replace(alert, note=text[:NOTE_CHARS])])

    def mute(
        self,
        muted: bool = True,
        *,
        alert: str | None = None,
        kind: AlertKind | None = None,
        game: GameId | None = None,
    ) -> list[AlertMessage]:
        """Do not show one alert, any of a kind, or any of a board; or show them again.

        They are still found and logged.
        """
        for way, which in (("alert", alert), ("kind", kind), ("game", game)):
            if which is not None:
                (self._mutes.add if muted else self._mutes.discard)((way, which))
        return self._say(self._open.values())

    def _is_muted(self, alert: Alert) -> bool:
        ways = {("alert", alert.id), ("kind", alert.kind), ("game", alert.game or "")}
        return not ways.isdisjoint(self._mutes)

    # --- what is held ---------------------------------------------------------------------------

    def open(self) -> list[Alert]:
        """Those not cleared: unseen ones first, then by urgency, then the newest first."""
        return in_order(self._open.values())

    # --- the list -------------------------------------------------------------------------------

    def _look(self, topic: AlertTopic, now_s: float) -> list[AlertMessage]:
        """Bring the alerts about one thing to what is the matter with it now."""
        found = {each.id: each for each in findings(self._watched, topic, now_s)}
        held = [id for id in self._counted.get(topic, ()) if id in self._open]
        over = [id for id in held if id not in found and not self._awaited(self._open[id])]
        messages = [self._close(self._open[id], now_s) for id in over]
        self._unseen.difference_update(found)
        for id in held:
            # Whoever looks at one board only must not be left with what is about another now.
            if id in found and self._open[id].game != found[id].game:
                self._restored[id] = self._open[id]
                messages.append(self._close(self._open[id], now_s))
        settled = self._settled.get(topic, {})
        raised = [
            self._alert(topic, finding, now_s)
            for id, finding in found.items()
            if settled.get(id) != finding.occurrence
        ]
        if topic.kind == BOARD and topic.id not in self._watched.boards:
            about = [alert for alert in self._open.values() if alert.game == topic.id]
            messages += [self._close(alert, now_s) for alert in about]
            self._settled.pop(topic, None)
            self._mutes.discard(("game", topic.id))
            self._mutes.difference_update(("alert", id) for id in self._counted.pop(topic, ()))
        return messages + self._say(raised)

    def _alert(self, topic: AlertTopic, finding: Finding, now_s: float) -> Alert:
        id = finding.id
        before = self._open.get(id) or self._restored.pop(id, None)
        counted = self._counted.setdefault(topic, {})
        again = finding.occurrence > counted.get(id, finding.occurrence)
        counted[id] = finding.occurrence
        fields = msgspec.structs.asdict(finding)
        del fields["about"], fields["occurrence"]
        alert = Alert(id=id, first_seen_s=now_s, **fields)
        if before is None:
            return alert
        lost = (finding.ply or 0) <= (before.ply or 0) and before.game == finding.game
        if lost and not again and finding.kind in _HAPPENED:
            # What comes back of a board, or goes after it, does not change what was lost.
            alert = msgspec.structs.replace(alert, text=before.text, ply=before.ply)
        return msgspec.structs.replace(
            alert,
            first_seen_s=before.first_seen_s,
            times=before.times + again,
            acknowledged_s=None if again else before.acknowledged_s,
            note=before.note,
        )

    def _say(self, alerts: Iterable[Alert]) -> list[AlertMessage]:
        messages = []
        for alert in list(alerts):
            alert_now = msgspec.structs.replace(alert, muted=self._is_muted(alert))
            if self._open.get(alert.id) != alert_now:
                self._open[alert.id] = alert_now
                messages.append(AlertMessage(alert_now))
        return messages

    def _close(self, alert: Alert, now_s: float) -> AlertMessage:
        del self._open[alert.id]
        self._unseen.discard(alert.id)
        return AlertMessage(msgspec.structs.replace(alert, cleared_s=now_s))
