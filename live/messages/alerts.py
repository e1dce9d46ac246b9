"""What an arbiter should know: alerts, and the log of incidents."""

from typing import Literal

from live.messages.values import Color, FeedName, GameId, Value

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
    "not-begun",
    "last-move",
    "late-move",
    "result",
    "result-corrected",
    "players-swapped",
    "drawn",
    "repetition",
    "fifty-moves",
    "feed",
    "engine",
    "agreement",
    "plugin",
]

Severity = Literal["look", "warning", "alarm"]


class Agreement(Value, gc=False):
    """How often one player chose the engine's move: a screening figure, which accuses
    nobody.
    """

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
    """Of events like this in which nobody does anything wrong, the share that shows
    such an alert on some board."""
    rests_on: str
    """For people: where the expectation comes from."""


class Alert(Value, kw_only=True):
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
    ended: str = ""
    """How things stand then, for people: "18...Nd7 stands", "1-0", "live"."""
    acknowledged_s: float | None = None
    """When an arbiter took note; null again when it happens once more."""
    acknowledged_by: str = ""
    """The name of the token by which that came; empty where it was the service's
    terminal."""
    muted: bool = False
    """This kind, or this board, is not to be shown."""
    note: str = ""
    """What an arbiter wrote to it."""
    agreement: Agreement | None = None
    other_game: GameId | None = None
    """The second board, where it is about two."""


IncidentWord = Literal[
    "raised",
    "raised again",
    "changed",
    "acknowledged",
    "noted",
    "muted",
    "unmuted",
    "over",
    "entry",
]


class IncidentChange(Value):
    """One thing that happened to an incident."""

    at_s: float
    """Seconds since 1970 UTC."""
    what: IncidentWord
    text: str = ""
    """The alert's text then, the note, or the entry; empty where the word says all."""


class Incident(Value, kw_only=True):
    """One alert from its start to its end, or one entry of the arbiter. For arbiters
    only.
    """

    number: int
    """From 1 on, in the order they began."""
    kind: str
    """As of alerts; ``entry`` for what the arbiter wrote, ``mute`` for a kind or board
    muted, ``service`` for starts, ends and settings of the service and its sources."""
    severity: Severity
    """The highest it had."""
    text: str
    advice: str = ""
    game: GameId | None = None
    board: str = ""
    """Board and players, for people; empty where it is about none, or that is not
    known."""
    feed: FeedName | None = None
    ply: int | None = None
    color: Color | None = None
    player: str | None = None
    began_s: float
    """Seconds since 1970 UTC."""
    over_s: float | None = None
    """Null while it is open."""
    acknowledged_s: float | None = None
    """When the arbiter took note last."""
    times: int = 1
    muted: bool = False
    note: str = ""
    changes: tuple[IncidentChange, ...] = ()
    """Everything that happened to it, in order."""
