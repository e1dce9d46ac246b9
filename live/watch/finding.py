"""What a watch finds: an alert before anybody knows whether it is new. Pure."""

from collections.abc import Collection, Iterable
from typing import Literal

from live.messages.alerts import Agreement, Alert, AlertKind, Severity
from live.messages.values import Color, FeedName, GameId, Value

#: Least urgent first, each with a sign that needs neither colour nor a font.
SIGNS: dict[Severity, str] = {"look": "?", "warning": "!", "alarm": "!!"}


class Finding(Value, kw_only=True):
    """Something is the matter now. Fields are those of :class:`live.messages.alerts.Alert`."""

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
    """What it is about where that is neither its game nor its feed."""
    occurrence: int = 1
    """A higher number means that it happened again: once acknowledged, it asks for notice anew."""

    @property
    def id(self) -> str:
        """One for each kind, board or source, and side."""
        parts = [self.kind, self.about or self.game or self.feed, self.color]
        return " ".join(str(part) for part in parts if part is not None)


#: What each kind of alert doubts: what is known of the game, or its result. The others
#: doubt neither: how clocks and sources work, what may be claimed, what accuses nobody.
DOUBTS: dict[AlertKind, Literal["game", "result"]] = {
    "illegal-move": "game",
    "illegal-stands": "game",
    "unreadable": "game",
    "vanished": "game",
    "sources-differ": "result",
    "correction": "game",
    "takeback": "game",
    "flag": "result",
    "last-move": "game",
    "late-move": "result",
    "result": "result",
    "result-corrected": "result",
    "players-swapped": "result",
    "drawn": "result",
}
#: Contradictions that end by themselves, without an arbiter: until then nothing is told
#: of how the game ended.
CONTRADICTIONS: frozenset[AlertKind] = frozenset({"result", "sources-differ"})


def doubted(
    alerts: Iterable[Alert], kinds: Collection[AlertKind] = frozenset(DOUBTS)
) -> set[GameId]:
    """Return the games that one of these alerts, which stand, doubts."""
    doubting = [each for each in alerts if each.kind in kinds]
    games = [each.game for each in doubting] + [each.other_game for each in doubting]
    return {game for game in games if game is not None}


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
    return (
        f"{minutes} min"
        if minutes < 60
        else f"{minutes // 60} h {minutes % 60:02d} min"
    )


def dial(seconds: float) -> str:
    """A clock for people, five cells at most: ``1h40m``, ``99:59``, ``0:07.3`` is ``0:07``."""
    whole = max(0, int(seconds))
    if whole < 6000:
        return f"{whole // 60}:{whole % 60:02d}"
    return f"{whole // 3600}h{whole // 60 % 60:02d}m"


def move_number(ply: int) -> str:
    """How a scoresheet counts: ``12.`` for White, ``12...`` for Black (in games White began)."""
    return f"{(ply + 1) // 2}{'.' if ply % 2 else '...'}"
