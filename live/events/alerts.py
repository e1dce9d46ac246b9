"""What an arbiter should know."""

from __future__ import annotations

from typing import Literal

import msgspec

from live.events.reports import Color, FeedName, GameId

AlertKind = Literal[
    "illegal-move",
    "illegal-stands",
    "unreadable",
    "vanished",
    "sources-differ",
    "correction",
    "takeback",
    "clock-still",
    "clock-rising",
    "flag",
    "stale",
    "last-move",
    "late-move",
    "result",
    "result-corrected",
    "players-swapped",
    "repetition",
    "fifty-moves",
    "feed",
    "engine",
    "agreement",
]
"""What an alert is about; each is a module of ``live/alerts``."""

Severity = Literal["look", "warning", "alarm"]
"""Worth a look, act soon, act now."""


class Agreement(msgspec.Struct, frozen=True, gc=False):
    """How often one player chose the engine's move: a screening figure, which accuses nobody."""

    moves: int
    """Moves counted: the sample."""
    share: float
    """Of these, how many were the engine's first choice."""
    expected: float
    """What players of this rating do."""
    z: float
    """Standard deviations above what was expected, as honest games spread."""
    boards: int
    """Boards watched: with so many, some are far out by chance."""
    false_alarms: float
    """Of events like this in which nobody does anything wrong, the share that shows such an alert
    on some board."""
    rests_on: str
    """For people: where the expectation comes from."""


class Alert(msgspec.Struct, frozen=True, kw_only=True):
    """Something an arbiter wants to be told. For arbiters' eyes only."""

    id: str
    """Stable while the cause lasts; a cause that comes back has the same."""
    kind: AlertKind
    severity: Severity
    text: str
    """For people: what is the matter."""
    advice: str
    """For people: what to do about it."""
    game: GameId | None = None
    feed: FeedName | None = None
    ply: int | None = None
    color: Color | None = None
    player: str | None = None
    first_seen_s: float
    """When it was first seen, seconds since 1970 UTC."""
    times: int = 1
    """How often it was seen: a feed may fail, recover and fail again."""
    cleared_s: float | None = None
    """When the cause went; such an alert is to be forgotten."""
    acknowledged_s: float | None = None
    """When an arbiter took note; null again when it happens once more."""
    muted: bool = False
    """This kind, or this board, is not to be shown."""
    note: str = ""
    """What an arbiter wrote to it."""
    agreement: Agreement | None = None
