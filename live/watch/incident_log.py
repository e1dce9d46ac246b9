"""The incident log: everything that arbiters were shown and did. Pure.

It is built from records that are never rewritten: alerts as they were sent, each with
its time, and entries of arbiters. An open alert is one incident, however often it
changes; a cause that comes back after it was over begins a new one. The same records in
the same order give the same log, after a restart and in a report. Times are seconds
since 1970 UTC.
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from live.messages.alerts import Alert, Incident, IncidentChange, IncidentWord
from live.messages.figures import GameView
from live.messages.values import GameId
from live.watch.alert_kinds import COUNTED, NAMES
from live.watch.finding import SIGNS, span

#: What is seen this soon after a gap may have happened in it, seconds.
AFTER_GAP_S = 60.0
#: Longest entry an arbiter may write, characters.
ENTRY_CHARS = 500
#: The writer of entries about the service and its sources.
SERVICE = "service"


def sign_text(text: str, by: str) -> str:
    """Return a text with its writer in brackets, once, if a token names the writer."""
    name = f" ({by})"
    return f"{text.removesuffix(name)}{name}" if text and by else text


def list_changes(before: Alert | None, now: Alert) -> list[tuple[IncidentWord, str]]:
    """Return what happened to an alert, each with its own text.

    Other figures in the same words ("for 12 min") are no change.
    """
    found: list[tuple[IncidentWord, str]] = []
    if before is None:
        found.append(("raised", now.text))
    elif before.times != now.times:
        found.append(("raised again", now.text))
    elif before.severity != now.severity:
        became = f"{SIGNS[before.severity]} became {SIGNS[now.severity]}"
        if now.text != before.text:
            became += f": {now.text}"
        found.append(("changed", became))
    was = before or replace(now, acknowledged_s=None, note="", muted=False)
    is_acknowledged = now.acknowledged_s is not None and was.acknowledged_s is None
    if is_acknowledged:
        found.append(("acknowledged", now.acknowledged_by))
    if now.note != was.note:
        found.append(("noted", now.note))
    if now.muted != was.muted:
        found.append(("muted" if now.muted else "unmuted", ""))
    # An acknowledgement says enough where it ends the alert.
    if now.cleared_s is not None and not is_acknowledged:
        found.append(("over", now.ended))
    return found


#: Words of log lines that differ from those of incidents.
_LOGGED: dict[IncidentWord, str] = {
    "raised again": "raised again ({0.times} times)",
    "noted": "noted ({0.note!r})",
    "unmuted": "shown again",
}


def log_lines(alert: Alert, changes: Iterable[tuple[IncidentWord, str]]) -> list[str]:
    """Return a line for each change of an alert (:func:`list_changes`)."""
    words = (_LOGGED.get(what, what).format(alert) for what, _ in changes)
    return [f"alert {each} {SIGNS[alert.severity]} {alert.text}" for each in words]


class IncidentLog:
    """All incidents in the order they began. It has one writer; nothing is deleted."""

    def __init__(self) -> None:
        self._incidents: list[Incident] = []
        # Index of the incident and the last message of each alert that is not over.
        self._open: dict[str, tuple[int, Alert]] = {}
        # End and length of the last gap in which nothing ran.
        self._gap: tuple[float, float] | None = None

    def is_to_be_kept(self, alert: Alert) -> bool:
        """Return whether an alert changed in more than figures of its text."""
        _, before = self._open.get(alert.id, (0, None))
        is_counted = alert.kind in COUNTED and alert != before
        return is_counted or bool(list_changes(before, alert))

    def add_alert(self, alert: Alert, at_s: float) -> list[tuple[IncidentWord, str]]:
        """Enter an alert as it was sent at ``at_s``; return what changed.

        What is raised again and again is entered the first times, then the eighth, the
        sixteenth and so on: a source that takes a move back with every poll, or a clock
        that rises with every move, does not fill the log.
        """
        if not self.is_to_be_kept(alert):
            index, _ = self._open[alert.id]
            self._open[alert.id] = index, alert
            return []
        index, before = self._open.get(alert.id, (len(self._incidents), None))
        self._open[alert.id] = index, alert
        if before is None:
            same = {name: getattr(alert, name) for name in _SAME}
            begun = Incident(number=index + 1, began_s=at_s, **same)
            self._incidents.append(begun)
        incident = self._incidents[index]
        entered = {change.text for change in incident.changes}
        found = list_changes(before, alert)
        if not is_entered(alert.times, is_new=alert.text not in entered):
            found = [each for each in found if each[0] != "raised again"]
        self._incidents[index] = replace(
            incident,
            severity=max(incident.severity, alert.severity, key=list(SIGNS).index),
            text=alert.text,
            ply=alert.ply,
            times=alert.times,
            acknowledged_s=alert.acknowledged_s or incident.acknowledged_s,
            muted=alert.muted,
            note=alert.note,
            over_s=alert.cleared_s,
            changes=(
                *_update_count(incident.changes, alert, before, at_s),
                *self._build_changes(found, at_s),
            ),
        )
        if alert.cleared_s is not None:
            del self._open[alert.id]
        return found

    def _build_changes(
        self, found: Iterable[tuple[IncidentWord, str]], at_s: float
    ) -> Iterator[IncidentChange]:
        for what, text in found:
            is_raised = what in ("raised", "raised again")
            after = self._describe_gap(at_s) if is_raised else ""
            yield IncidentChange(at_s, what, f"{text}{after}")

    def _describe_gap(self, at_s: float) -> str:
        """Return words about a gap just before ``at_s``; empty if there was none."""
        until_s, gap_s = self._gap or (0.0, 0.0)
        if not gap_s or at_s - until_s > AFTER_GAP_S:
            return ""
        return f" (after {span(gap_s)} in which nothing was seen)"

    def add_gap(self, from_s: float, to_s: float) -> None:
        """Enter that nothing ran between two times."""
        asleep = "the machine slept, the service was stopped, or the clock was set"
        text = f"Nothing was seen for {span(to_s - from_s)}: {asleep}."
        changes = (
            IncidentChange(from_s, "entry", text),
            IncidentChange(to_s, "over", "the service goes on"),
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
        """Enter what an arbiter wrote, or what happened to the service.

        Args:
            text: the words.
            at_s: the time.
            game: the board that it is about.
            by: the arbiter, or :data:`SERVICE`.
            gap_s: for how long before it nothing ran.
        """
        if by == SERVICE:
            after = self._describe_gap(at_s) if game is not None else ""
            self._add(SERVICE, f"{text}{after}", at_s, game)
        else:
            self._add("entry", sign_text(text, by), at_s, game)
        if gap_s:
            self._gap = (at_s, gap_s)

    def add_mute(
        self, what: str, muted: bool, at_s: float, game: GameId | None = None
    ) -> None:
        """Enter that an arbiter muted or unmuted all alerts of a kind or of a board."""
        self._add("mute", f"{what} {'muted' if muted else 'unmuted'}", at_s, game)

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
        """Return the alerts that are not over, as they were sent last."""
        return [alert for _, alert in self._open.values()]

    def incidents(self) -> list[Incident]:
        """Return all incidents in the order they began."""
        return list(self._incidents)


def _update_count(
    changes: tuple[IncidentChange, ...], alert: Alert, before: Alert | None, at_s: float
) -> tuple[IncidentChange, ...]:
    """Return the changes with the present count of an alert, if it counts."""
    if before is None or alert.kind not in COUNTED or alert.text == before.text:
        return changes
    is_count = changes[-1].what == "changed"
    kept = changes[:-1] if is_count else changes
    return (*kept, IncidentChange(at_s, "changed", alert.text))


#: A repeated alert is entered at most this many times for new words alone.
ENTERED_TIMES = 4


def is_entered(times: int, *, is_new: bool) -> bool:
    """Return whether to enter the ``times``-th repetition; ``is_new``: in new words."""
    is_power_of_two = times & (times - 1) == 0
    return is_power_of_two or (is_new and times <= ENTERED_TIMES)


#: Fields that an incident takes over from its first alert.
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


#: Kinds of incident that are not alerts.
OWN_KINDS = {"entry": "Arbiter's entry", "mute": "Muted", SERVICE: "Service"}

_KIND_NAMES = {str(kind): name for kind, name in NAMES.items()} | OWN_KINDS


def kind_name(kind: str) -> str:
    """Return what people call a kind of incident."""
    return _KIND_NAMES.get(kind, kind)


def incident_sign(incident: Incident) -> str:
    """Return the sign of its urgency, or of an incident that is not an alert."""
    return "✎" if incident.kind in OWN_KINDS else SIGNS[incident.severity]


def with_boards(
    incidents: Iterable[Incident], boards: Mapping[GameId, str]
) -> list[Incident]:
    """Return the incidents with the names of their boards, if those are known."""
    return [
        replace(each, board=boards.get(each.game or "", each.board))
        for each in incidents
    ]


def board_words(view: GameView) -> str:
    """Return the name of a board: ``12 Carlsen – Ding``."""
    number = f"{view.board} " if view.board is not None else ""
    return f"{number}{view.white.name} – {view.black.name}"


def said_of(incident: Incident) -> str:
    """Return all words of an incident, for searching."""
    parts = [kind_name(incident.kind), incident.board, incident.text]
    parts.append(incident.player or "")
    parts += (change.text for change in incident.changes)
    return " ".join(parts)


def has_words(incident: Incident, words: Iterable[str]) -> bool:
    """Return whether all ``words`` are in an incident, in any order and case."""
    text = said_of(incident).casefold()
    return all(word.casefold() in text for word in words)
