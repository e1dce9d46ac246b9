"""What a watch finds: an alert before anybody knows whether it is new. Pure."""

from collections.abc import Iterable

from live.events import Agreement, Alert, AlertKind, Color, FeedName, GameId, Severity, Value

#: Least urgent first, each with a sign that needs neither colour nor a font.
SIGNS: dict[Severity, str] = {"look": "?", "warning": "!", "alarm": "!!"}


class Finding(Value, kw_only=True):
    """Something is the matter now. Fields are those of :class:`live.events.Alert`."""

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
    about: str | None = None
    """What it is about where that is neither its game nor its feed."""
    occurrence: int = 1
    """A higher number means that it happened again: once acknowledged, it asks for notice anew."""

    @property
    def id(self) -> str:
        """One for each kind, board or source, and side."""
        parts = [self.kind, self.about or self.game or self.feed, self.color]
        return " ".join(str(part) for part in parts if part is not None)


def doubted(alerts: Iterable[Alert]) -> set[GameId]:
    """Games whose result one of these doubts: those that stand."""
    doubts = {"result", "sources-differ"}
    return {each.game for each in alerts if each.game and each.kind in doubts}


_URGENCY = list(SIGNS)


def in_order(alerts: Iterable[Alert]) -> list[Alert]:
    """Unseen ones first, then by urgency, then the newest first; muted ones last."""
    return sorted(
        alerts,
        key=lambda alert: (
            alert.muted,
            alert.acknowledged_s is not None,
            -_URGENCY.index(alert.severity),
            -alert.first_seen_s,
            alert.id,
        ),
    )


def span(seconds: float) -> str:
    """A time for people: ``45 s``, ``12 min``, ``1 h 05 min``."""
    if seconds < 100:
        return f"{max(0, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def dial(seconds: float) -> str:
    """A clock for people, five cells at most: ``1h40m``, ``99:59``, ``0:07.3`` is ``0:07``."""
    whole = max(0, int(seconds))
    if whole < 6000:
        return f"{whole // 60}:{whole % 60:02d}"
    return f"{whole // 3600}h{whole // 60 % 60:02d}m"


def move_number(ply: int) -> str:
    """How a scoresheet counts: ``12.`` for White, ``12...`` for Black (in games White began)."""
    return f"{(ply + 1) // 2}{'.' if ply % 2 else '...'}"
