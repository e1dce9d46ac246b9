"""Alerts for arbiters, and the log of incidents."""

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
    """How often a player chose the engine's move: a screening result, not an
    accusation.
    """

    moves: int
    """Number of moves counted: the sample size."""
    share: float
    """Share of the counted moves that were the engine's first choice, 0 to 1."""
    expected: float
    """Forecast of ``share`` for a player of the same rating in the same positions."""
    z: float
    """Number of standard deviations by which ``share`` is above ``expected``."""
    boards: int
    """Number of boards watched: with many boards, some differ strongly by chance."""
    false_alarms: float
    """Maximum chance that an event in which all players are honest has an alert of this
    kind, 0 to 1."""
    rests_on: str
    """Text for people: the basis of the forecast."""


class Alert(Value, kw_only=True):
    """A problem that an arbiter should know about. Sent to arbiters only."""

    id: str
    """The id stays the same while the cause lasts, and if the cause returns later."""
    kind: AlertKind
    severity: Severity
    text: str
    """Text for people: the problem."""
    advice: str
    """Text for people: what to do about the problem."""
    game: GameId | None = None
    feed: FeedName | None = None
    ply: int | None = None
    color: Color | None = None
    player: str | None = None
    first_seen_s: float
    """Time when the problem was first seen, seconds since 1970 UTC."""
    times: int = 1
    """Number of times the alert was raised: a feed can fail, recover and fail again."""
    cleared_s: float | None = None
    """Time when the alert ended, seconds since 1970 UTC; null while it is open. Clients
    remove an alert that has ended."""
    ended: str = ""
    """Text for people: the state when the alert ended ("18...Nd7 stands", "1-0",
    "live")."""
    acknowledged_s: float | None = None
    """Time when an arbiter acknowledged the alert, seconds since 1970 UTC; null if not
    acknowledged, and null again if the problem recurs."""
    acknowledged_by: str = ""
    """Name of the token with which the alert was acknowledged; empty if this was done
    in the terminal of the service."""
    muted: bool = False
    """True if the alert must not be shown, since an arbiter muted the alert, its kind
    or its board."""
    note: str = ""
    """Note by an arbiter."""
    agreement: Agreement | None = None
    other_game: GameId | None = None
    """Id of the second game, if the alert is about two."""


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
    """One change of an incident."""

    at_s: float
    """Time of the change, seconds since 1970 UTC."""
    what: IncidentWord
    text: str = ""
    """The text of the alert at that time, of the note or of the entry; can be empty."""


class Incident(Value, kw_only=True):
    """An alert from its start to its end, or an entry in the log. For arbiters only."""

    number: int
    """Number of the incident; incidents are numbered from 1 in the order they began."""
    kind: str
    """Kind of the alert, or: ``entry`` for a text by an arbiter; ``mute`` if a kind or
    a board was muted or unmuted; ``service`` for starts, ends and settings of the
    service and its sources."""
    severity: Severity
    """Highest severity that the alert had."""
    text: str
    advice: str = ""
    game: GameId | None = None
    board: str = ""
    """Text for people: the board and its players; empty if unknown or not about a
    board."""
    feed: FeedName | None = None
    ply: int | None = None
    color: Color | None = None
    player: str | None = None
    began_s: float
    """Time when the incident began, seconds since 1970 UTC."""
    over_s: float | None = None
    """Time when the incident ended, seconds since 1970 UTC; null while it is open."""
    acknowledged_s: float | None = None
    """Time of the last acknowledgement, seconds since 1970 UTC; null without one."""
    times: int = 1
    muted: bool = False
    note: str = ""
    changes: tuple[IncidentChange, ...] = ()
    """All changes of the incident, in order."""
