"""The incident log: all alerts that arbiters received, and all their actions. Pure.

The log is built from records that are never rewritten: the alerts that were sent, each
with its time, and the entries of arbiters. An alert is one incident from the time it is
raised until it ends; if its cause returns later, a new incident begins. The same
records in the same order give the same log, so the log after a restart and the log in a
report are identical. Times are seconds since 1970 UTC.
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from live.messages.alerts import Alert, Incident, IncidentChange, IncidentWord
from live.messages.figures import GameView
from live.messages.values import GameId
from live.watch.alert_kinds import COUNTED, NAMES
from live.watch.finding import SIGNS, rank_severity, span

#: Time after a gap, seconds, in which a new alert is marked, since its cause can have
#: arisen during the gap.
AFTER_GAP_S = 60.0
#: Maximum length of an arbiter's entry, characters.
ENTRY_CHARS = 500
#: Kind of entries about the service and its sources, and the name of their writer.
SERVICE = "service"


def append_writer_name(text: str, by: str) -> str:
    """Return a text followed by its writer's name in brackets.

    The name is not added if the text already ends with it, or if it is empty.
    """
    name = f" ({by})"
    return f"{text.removesuffix(name)}{name}" if text and by else text


def list_changes(before: Alert | None, now: Alert) -> list[tuple[IncidentWord, str]]:
    """Return the changes of an alert as pairs: the kind of change, and a text about it.

    A new text that differs only in its numbers ("for 12 min") does not count as a
    change.
    """
    changes: list[tuple[IncidentWord, str]] = []
    if before is None:
        changes.append(("raised", now.text))
    elif before.times != now.times:
        changes.append(("raised again", now.text))
    elif before.severity != now.severity:
        became = f"{SIGNS[before.severity]} became {SIGNS[now.severity]}"
        if now.text != before.text:
            became += f": {now.text}"
        changes.append(("changed", became))
    previous = before or replace(now, acknowledged_s=None, note="", muted=False)
    is_acknowledged = now.acknowledged_s is not None and previous.acknowledged_s is None
    if is_acknowledged:
        changes.append(("acknowledged", now.acknowledged_by))
    if now.note != previous.note:
        changes.append(("noted", now.note))
    if now.muted != previous.muted:
        changes.append(("muted" if now.muted else "unmuted", ""))
    # If an acknowledgement ends the alert, no second line about the end is needed.
    if now.cleared_s is not None and not is_acknowledged:
        changes.append(("over", now.ended))
    return changes


#: The wording of log lines, where it differs from the wording of incidents.
_LOGGED: dict[IncidentWord, str] = {
    "raised again": "raised again ({0.times} times)",
    "noted": "noted ({0.note!r})",
    "unmuted": "shown again",
}


def log_lines(alert: Alert, changes: Iterable[tuple[IncidentWord, str]]) -> list[str]:
    """Return one log line for each change that :func:`list_changes` has found."""
    words = (_LOGGED.get(word, word).format(alert) for word, _ in changes)
    return [f"alert {phrase} {SIGNS[alert.severity]} {alert.text}" for phrase in words]


class IncidentLog:
    """All incidents in the order they began. One task adds to them, and no incident is
    deleted.
    """

    def __init__(self) -> None:
        self._incidents: list[Incident] = []
        # The index of the incident and the latest version of each open alert, by alert
        # id.
        self._open: dict[str, tuple[int, Alert]] = {}
        # End of the last gap in which the service did not run (seconds since 1970 UTC),
        # and its length, seconds.
        self._gap: tuple[float, float] | None = None

    def add_alert(
        self, alert: Alert, at_s: float
    ) -> list[tuple[IncidentWord, str]] | None:
        """Enter an alert that was sent at ``at_s``; return its changes, each with a
        text.

        Return None if only numbers in its text have changed.

        An alert that is raised repeatedly is entered the first few times, then the
        eighth time, the sixteenth and so on. This limits the length of the log if a
        source takes a move back with every poll, or a clock rises with every move.
        """
        index, before = self._open.get(alert.id, (len(self._incidents), None))
        self._open[alert.id] = index, alert
        changes = list_changes(before, alert)
        is_counted = alert.kind in COUNTED and alert != before
        if not changes and not is_counted:
            return None
        if before is None:
            fields = {name: getattr(alert, name) for name in _SAME}
            begun = Incident(number=index + 1, began_s=at_s, **fields)
            self._incidents.append(begun)
        incident = self._incidents[index]
        entered = {change.text for change in incident.changes}
        if not should_enter_occurrence(alert.times, is_new=alert.text not in entered):
            changes = [change for change in changes if change[0] != "raised again"]
        self._incidents[index] = replace(
            incident,
            severity=max(incident.severity, alert.severity, key=rank_severity),
            text=alert.text,
            ply=alert.ply,
            times=alert.times,
            acknowledged_s=alert.acknowledged_s or incident.acknowledged_s,
            muted=alert.muted,
            note=alert.note,
            over_s=alert.cleared_s,
            changes=(
                *_update_count(incident.changes, alert, before, at_s),
                *self._build_changes(changes, at_s),
            ),
        )
        if alert.cleared_s is not None:
            del self._open[alert.id]
        return changes

    def _build_changes(
        self, changes: Iterable[tuple[IncidentWord, str]], at_s: float
    ) -> Iterator[IncidentChange]:
        for word, text in changes:
            is_raised = word in ("raised", "raised again")
            after = self._describe_gap(at_s) if is_raised else ""
            yield IncidentChange(at_s, word, f"{text}{after}")

    def _describe_gap(self, at_s: float) -> str:
        """Return a remark about a gap just before ``at_s``; empty if there was none."""
        until_s, gap_s = self._gap or (0.0, 0.0)
        if not gap_s or at_s - until_s > AFTER_GAP_S:
            return ""
        return f" (after {span(gap_s)} in which the service saw nothing)"

    def add_gap(self, from_s: float, to_s: float) -> None:
        """Enter that the service did not run from ``from_s`` to ``to_s``."""
        asleep = "the machine slept, the service was stopped, or the clock was set"
        text = f"The service saw nothing for {span(to_s - from_s)}: {asleep}."
        changes = (
            IncidentChange(from_s, "entry", text),
            IncidentChange(to_s, "over", "the service runs again"),
        )
        self._add(SERVICE, text, from_s, None, over_s=to_s, changes=changes)
        self._gap = (to_s, to_s - from_s)

    def add_entry(
        self,
        text: str,
        at_s: float,
        game: GameId | None = None,
        by: str = "",
        *,
        gap_s: float = 0.0,
    ) -> None:
        """Enter a text by an arbiter, or an event of the service.

        Args:
            text: the text of the entry.
            at_s: the time of the entry.
            game: the game that the entry is about; None for an entry about the event.
            by: the name of the arbiter's access token, or :data:`SERVICE`.
            gap_s: how long the service did not run before the entry, seconds.
        """
        if by == SERVICE:
            after = self._describe_gap(at_s) if game is not None else ""
            self._add(SERVICE, f"{text}{after}", at_s, game)
        else:
            self._add("entry", append_writer_name(text, by), at_s, game)
        if gap_s:
            self._gap = (at_s, gap_s)

    def add_mute(
        self, subject: str, muted: bool, at_s: float, game: GameId | None = None
    ) -> None:
        """Enter that an arbiter muted or unmuted all alerts of a kind or of a board."""
        self._add("mute", f"{subject} {'muted' if muted else 'unmuted'}", at_s, game)

    def _add(
        self,
        kind: str,
        text: str,
        at_s: float,
        game: GameId | None,
        *,
        over_s: float | None = None,
        changes: tuple[IncidentChange, ...] = (),
    ) -> None:
        self._incidents.append(
            Incident(
                number=len(self._incidents) + 1,
                kind=kind,
                severity="look",
                text=text,
                game=game,
                began_s=at_s,
                over_s=at_s if over_s is None else over_s,
                changes=changes or (IncidentChange(at_s, "entry", text),),
            )
        )

    def open(self) -> list[Alert]:
        """Return the latest version of each open alert."""
        return [alert for _, alert in self._open.values()]

    def incidents(self) -> list[Incident]:
        """Return all incidents in the order they began."""
        return list(self._incidents)


def _update_count(
    changes: tuple[IncidentChange, ...], alert: Alert, before: Alert | None, at_s: float
) -> tuple[IncidentChange, ...]:
    """Return the changes of an incident, updated to the present count of its alert.

    If the alert's kind has no count, return the changes unmodified.
    """
    if before is None or alert.kind not in COUNTED or alert.text == before.text:
        return changes
    is_count = changes[-1].what == "changed"
    earlier = changes[:-1] if is_count else changes
    return (*earlier, IncidentChange(at_s, "changed", alert.text))


#: Repetitions up to this number are entered if their text has not been entered before.
ENTERED_TIMES = 4


def should_enter_occurrence(times: int, *, is_new: bool) -> bool:
    """Return whether to enter an alert that is raised for the ``times``-th time.

    ``is_new`` states that its text has not been entered before.
    """
    is_power_of_two = times & (times - 1) == 0
    return is_power_of_two or (is_new and times <= ENTERED_TIMES)


#: Fields that an incident copies from its alert when it begins.
_SAME = (
    "kind",
    "severity",
    "text",
    "advice",
    "game",
    "feed",
    "ply",
    "color",
    "player",
)


#: Kinds of incident other than alerts, with the names that people see.
OWN_KINDS = {"entry": "Arbiter's entry", "mute": "Muted", SERVICE: "Service"}

_KIND_NAMES = {str(kind): name for kind, name in NAMES.items()} | OWN_KINDS


def kind_name(kind: str) -> str:
    """Return the name that people see for a kind of incident."""
    return _KIND_NAMES.get(kind, kind)


def incident_sign(incident: Incident) -> str:
    """Return the sign of an incident's urgency, or ``✎`` if it is not an alert."""
    return "✎" if incident.kind in OWN_KINDS else SIGNS[incident.severity]


def name_boards(
    incidents: Iterable[Incident], boards: Mapping[GameId, str]
) -> list[Incident]:
    """Return the incidents with the names of their boards filled in, where known."""
    return [
        replace(incident, board=boards.get(incident.game or "", incident.board))
        for incident in incidents
    ]


def name_board_and_players(view: GameView) -> str:
    """Return the board number and the players as text: ``12 Carlsen – Ding``."""
    number = f"{view.board} " if view.board is not None else ""
    return f"{number}{view.white.name} – {view.black.name}"


def build_search_text(incident: Incident) -> str:
    """Return the complete text of an incident, for searching."""
    parts = [kind_name(incident.kind), incident.board, incident.text]
    parts.append(incident.player or "")
    parts += (change.text for change in incident.changes)
    return " ".join(parts)


def has_words(incident: Incident, words: Iterable[str]) -> bool:
    """Return whether an incident contains all ``words``, in any order and any case."""
    text = build_search_text(incident).casefold()
    return all(word.casefold() in text for word in words)
