"""The incident log: everything an arbiter was shown and did, from first to last. Pure.

Built of what is never rewritten: alerts as they were sent, each with its time, and entries of the
arbiter's own. One open thing is one incident, however often it changes; a cause that comes back
after it was over makes a new one. The same records in the same order make the same log, so a
restart and a report say what the running service said.
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from live.messages.alerts import Alert, Incident, IncidentChange, IncidentWord
from live.messages.figures import GameView
from live.messages.values import GameId
from live.watch.board_alerts import COUNTED, NAMES
from live.watch.finding import SIGNS, span

#: What comes so soon after a gap may have happened in it, seconds.
AFTER_GAP_S = 60.0
#: Longest entry an arbiter may write, characters.
ENTRY_CHARS = 500
#: Who enters what happens to the service and its sources.
SERVICE = "service"


def signed(text: str, by: str) -> str:
    """What somebody has written, with the name where it came by a token; once, where they have
    written it anew.
    """
    name = f" ({by})"
    return f"{text.removesuffix(name)}{name}" if text and by else text


def news(before: Alert | None, now: Alert) -> list[tuple[IncidentWord, str]]:
    """What has happened to an alert, each with its own text. That it is worded with another figure
    ("for 12 min") is no news.
    """
    found: list[tuple[IncidentWord, str]] = []
    if before is None:
        found.append(("raised", now.text))
    elif before.times != now.times:
        found.append(("raised again", now.text))
    elif before.severity != now.severity:
        became = f"{SIGNS[before.severity]} became {SIGNS[now.severity]}"
        found.append(
            ("changed", became if now.text == before.text else f"{became}: {now.text}")
        )
    was = before or replace(now, acknowledged_s=None, note="", muted=False)
    if taken := now.acknowledged_s is not None and was.acknowledged_s is None:
        found.append(("acknowledged", now.acknowledged_by))
    if now.note != was.note:
        found.append(("noted", now.note))
    if now.muted != was.muted:
        found.append(("muted" if now.muted else "unmuted", ""))
    # What has passed ends as it is taken note of.
    if now.cleared_s is not None and not taken:
        found.append(("over", now.ended))
    return found


#: What a log says where it is not the word itself.
_LOGGED: dict[IncidentWord, str] = {
    "raised again": "raised again ({0.times} times)",
    "noted": "noted ({0.note!r})",
    "unmuted": "shown again",
}


def log_lines(alert: Alert, changes: Iterable[tuple[IncidentWord, str]]) -> list[str]:
    """What has happened to an alert (:func:`news`), a line each."""
    words = (_LOGGED.get(what, what).format(alert) for what, _ in changes)
    return [f"alert {each} {SIGNS[alert.severity]} {alert.text}" for each in words]


class IncidentLog:
    """All incidents in the order they began. One writer calls; nothing is ever taken out."""

    def __init__(self) -> None:
        self._incidents: list[Incident] = []
        # Where the incident of an alert that is not over stands, and the alert as it was last.
        self._open: dict[str, tuple[int, Alert]] = {}
        # When nothing ran last: until when, and for how long.
        self._gap: tuple[float, float] | None = None

    def is_to_be_kept(self, alert: Alert) -> bool:
        """Whether there is more to keep of an alert than the same in other words."""
        _, before = self._open.get(alert.id, (0, None))
        is_counted = alert.kind in COUNTED and alert != before
        return is_counted or bool(news(before, alert))

    def alert(self, alert: Alert, at_s: float) -> list[tuple[IncidentWord, str]]:
        """Enter an alert as it was sent at ``at_s``, seconds since 1970 UTC.

        Return what is news of it.

        What is raised again and again is entered the first times, then the eighth, the
        sixteenth and so on: a source that takes a move back with every poll, or a clock
        that rises with every move, does not fill the log.
        """
        if not self.is_to_be_kept(alert):
            self._open[alert.id] = self._open[alert.id][0], alert
            return []
        at, before = self._open.get(alert.id, (len(self._incidents), None))
        self._open[alert.id] = at, alert
        if before is None:
            same = {name: getattr(alert, name) for name in _SAME}
            self._incidents.append(Incident(number=at + 1, began_s=at_s, **same))
        incident = self._incidents[at]
        told = {change.text for change in incident.changes}
        found = news(before, alert)
        if not is_entered(alert.times, is_new=alert.text not in told):
            found = [each for each in found if each[0] != "raised again"]
        self._incidents[at] = replace(
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
                *_counted_on(incident.changes, alert, before, at_s),
                *self._changes(found, at_s),
            ),
        )
        if alert.cleared_s is not None:
            del self._open[alert.id]
        return found

    def _changes(
        self, found: Iterable[tuple[IncidentWord, str]], at_s: float
    ) -> Iterator[IncidentChange]:
        for what, text in found:
            after = self._after_gap(at_s) if what in ("raised", "raised again") else ""
            yield IncidentChange(at_s, what, f"{text}{after}")

    def _after_gap(self, at_s: float) -> str:
        """Return words for what came so soon after a gap that it may be older."""
        until_s, gap_s = self._gap or (0.0, 0.0)
        if not gap_s or at_s - until_s > AFTER_GAP_S:
            return ""
        return f" (after {span(gap_s)} in which nothing was seen)"

    def gap(self, from_s: float, to_s: float) -> None:
        """Nothing ran in this time, seconds since 1970 UTC."""
        asleep = "the machine slept, the service was stopped, or the clock was set"
        text = f"Nothing was seen for {span(to_s - from_s)}: {asleep}."
        changes = (
            IncidentChange(from_s, "entry", text),
            IncidentChange(to_s, "over", "the service goes on"),
        )
        self._add(SERVICE, text, from_s, None, over_s=to_s, changes=changes)
        self._gap = (to_s, to_s - from_s)

    def entry(
        self,
        text: str,
        at_s: float,
        game: GameId | None = None,
        by: str = "",
        *,
        gap_s: float = 0.0,
    ) -> None:
        """Something the arbiter writes down, with or without a board.

        Args:
            text: the words.
            at_s: seconds since 1970 UTC.
            game: the board that it is about.
            by: which arbiter, or :data:`SERVICE`, whose starts, ends and settings
                belong into the log as well.
            gap_s: for how long before it nothing ran.
        """
        if by == SERVICE:
            after = self._after_gap(at_s) if game is not None else ""
            self._add(SERVICE, f"{text}{after}", at_s, game)
        else:
            self._add("entry", signed(text, by), at_s, game)
        if gap_s:
            self._gap = (at_s, gap_s)

    def muted(
        self, what: str, muted: bool, at_s: float, game: GameId | None = None
    ) -> None:
        """The arbiter wants to be shown no alert of a kind or of a board, or wants it again."""
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
        """Alerts that are not over, as they were sent last."""
        return [alert for _, alert in self._open.values()]

    def incidents(self) -> list[Incident]:
        """All of them, in the order they began."""
        return list(self._incidents)


def _counted_on(
    changes: tuple[IncidentChange, ...], alert: Alert, before: Alert | None, at_s: float
) -> tuple[IncidentChange, ...]:
    """Return the changes with the number that an alert has come to, if it counts."""
    if before is None or alert.kind not in COUNTED or alert.text == before.text:
        return changes
    is_number = changes[-1].what == "changed"
    kept = changes[:-1] if is_number else changes
    return (*kept, IncidentChange(at_s, "changed", alert.text))


#: A repeated alert is entered at most this many times for new wording alone.
ENTERED_TIMES = 4


def is_entered(times: int, *, is_new: bool) -> bool:
    """Whether an alert is entered that is raised again; ``is_new``: in other words."""
    is_power_of_two = times & (times - 1) == 0
    return is_power_of_two or (is_new and times <= ENTERED_TIMES)


#: What an incident has of the alert it begins with.
_SAME = ("kind", "severity", "text", "advice", "game", "feed", "ply", "color", "player")


#: Kinds of incident that are no alert's.
OWN_KINDS = {"entry": "Arbiter's entry", "mute": "Muted", SERVICE: "Service"}


def kind_name(kind: str) -> str:
    """What people call a kind of incident."""
    return OWN_KINDS.get(kind) or {str(each): name for each, name in NAMES.items()}.get(
        kind, kind
    )


def incident_sign(incident: Incident) -> str:
    """How urgent it was, or that it is no alert's."""
    return "✎" if incident.kind in OWN_KINDS else SIGNS[incident.severity]


def with_boards(
    incidents: Iterable[Incident], boards: Mapping[GameId, str]
) -> list[Incident]:
    """The incidents with the names of their boards, as far as those are known."""
    return [
        replace(each, board=boards.get(each.game or "", each.board))
        for each in incidents
    ]


def board_words(view: GameView) -> str:
    """``12 Carlsen – Ding``."""
    number = f"{view.board} " if view.board is not None else ""
    return f"{number}{view.white.name} – {view.black.name}"


def said_of(incident: Incident) -> str:
    """All words of an incident, for searching."""
    said = " ".join(change.text for change in incident.changes)
    parts = (
        kind_name(incident.kind),
        incident.board,
        incident.text,
        incident.player or "",
        said,
    )
    return " ".join(parts)


def has_words(incident: Incident, words: Iterable[str]) -> bool:
    """Whether all ``words`` are in it, in any order and case."""
    text = said_of(incident).casefold()
    return all(word.casefold() in text for word in words)
