"""The findings of alert rules, and functions for times and numbers in texts. Pure."""

from collections.abc import Iterable

from live.messages.alerts import Agreement, Alert, AlertKind, Severity
from live.messages.values import Color, FeedName, GameId, Value

#: The levels of urgency from low to high, each with a sign in ASCII characters.
SIGNS: dict[Severity, str] = {"look": "?", "warning": "!", "alarm": "!!"}


class Finding(Value, kw_only=True):
    """A statement by an alert rule that something is wrong now.

    The desk turns it into a new or changed alert. Fields without a description are
    those of :class:`live.messages.alerts.Alert`.
    """

    kind: AlertKind
    severity: Severity
    text: str
    advice: str
    game: GameId | None = None
    feed: FeedName | None = None
    ply: int | None = None
    color: Color | None = None
    player: str | None = None
    agreement: Agreement | None = None
    other_game: GameId | None = None
    about: str | None = None
    """Id of the subject, if that is neither the game nor the feed."""
    occurrence: int = 1
    """Number that rises when the event happens again, so that an acknowledged alert is
    raised again.
    """

    @property
    def id(self) -> str:
        """The id of the alert: one for each kind, board or source, and side."""
        parts = [self.kind, self.about or self.game or self.feed, self.color]
        return " ".join(str(part) for part in parts if part is not None)


def rank_severity(severity: Severity) -> int:
    """Return the rank of a level of urgency, from 0 for the lowest level."""
    return list(SIGNS).index(severity)


def sort_by_urgency(alerts: Iterable[Alert]) -> list[Alert]:
    """Return the alerts sorted by urgency, and by age (newest first) at the same
    urgency.

    Acknowledged alerts follow after all these, and muted alerts come last.
    """
    return sorted(
        alerts,
        key=lambda alert: (
            alert.muted,
            alert.acknowledged_s is not None,
            -rank_severity(alert.severity),
            -alert.first_seen_s,
            alert.id,
        ),
    )


def format_count(number: int, noun: str) -> str:
    """Return a number with a noun, plural unless the number is 1: ``2 boards``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def span(seconds: float) -> str:
    """Return a duration for people: ``45 s``, ``12 min``, ``1 h 05 min``."""
    if seconds < 100:
        return f"{max(0, round(seconds))} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def format_hms(seconds: float) -> str:
    """Return a clock time for people: ``1:40:00``, ``59:59``, ``0:07``."""
    minutes, second = divmod(max(0, int(seconds)), 60)
    hours, minute = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minute:02d}:{second:02d}"
    return f"{minute}:{second:02d}"
