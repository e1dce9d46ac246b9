"""The messages of the websocket protocol. ``tag`` is the ``type`` on the wire.

Each is sent as its fields plus ``type`` and ``seq`` (added by the hub). Of games, plies
and points a field that is as it usually is, null most often, is left out: its default
says how that is.
"""

from collections.abc import Callable, Iterable
from typing import Literal

from live.messages.alerts import Alert
from live.messages.figures import (
    CurvePoint,
    EngineInfo,
    GainCounts,
    GainKind,
    GameDetail,
    GameView,
    PlayerGains,
    PlayerView,
    PlyView,
)
from live.messages.health import EngineHealth, FeedHealth, PublicDelay
from live.messages.moments import Moment
from live.messages.values import Color, GameId, Value


class HelloMessage(Value, tag="hello"):
    """First on every connection."""

    protocol: int
    epoch: str
    engine: EngineInfo
    gain: GainKind
    version: str
    resumed: bool = False
    """True when the messages after ``since`` follow and no snapshot: keep what you
    hold."""
    sight: Literal["venue", "public", "arbiter"] = "public"
    """What this connection is shown: at a venue nothing an engine said, for an arbiter
    all."""
    public_delay: PublicDelay = PublicDelay()
    """How far the public is behind, as it was when this connection began."""


class SnapshotMessage(Value, tag="snapshot"):
    """All state that the filter selects. Replaces everything the client held."""

    engine: EngineInfo
    games: tuple[GameDetail, ...]
    players: tuple[PlayerView, ...] = ()
    feeds: tuple[FeedHealth, ...] = ()
    engines: EngineHealth = EngineHealth()
    alerts: tuple[Alert, ...] = ()
    """Those not cleared, in the order of their ids; for arbiters only."""
    moments: tuple[Moment, ...] = ()
    """Those that stand, in the order of their ids."""
    gains: tuple[PlayerGains, ...] = ()
    """With ``detail=gains`` those of everybody above who has any."""
    engine_gains: GainCounts = ()
    """With ``detail=gains`` the engine's own, which players are measured against."""


class GameMessage(Value, tag="game"):
    """A game appears, or one of its ``GameView`` fields changed. Keeps plies and
    curves.
    """

    game: GameView


class GoneMessage(Value, tag="gone"):
    """The source no longer holds this game: forget it, its alerts and its moments."""

    game: GameId


class MoveMessage(Value, tag="move"):
    """A move is played, replaced or taken back.

    The client drops every ply >= ``ply``, every curve point >= ``ply`` of both colours
    and every moment of the game >= ``ply``, then appends ``move`` unless it is null (a
    takeback).
    """

    game: GameId
    ply: int
    move: PlyView | None


class ClockMessage(Value, tag="clock"):
    """The clock of a move already played was corrected; nothing else changes."""

    game: GameId
    ply: int
    clock_s: float | None
    spent_s: float | None = None


class ScoreMessage(Value, tag="score"):
    """What is known of one ply, provisional or final: replaces that ply.

    The starting position's score is a field of the game (``start_score_cp``).
    """

    game: GameId
    ply: PlyView


class PointMessage(Value, tag="point"):
    """A curve grows or changes: the client drops that colour's points >= ``point.ply``,
    then appends ``point``.
    """

    game: GameId
    color: Color
    point: CurvePoint


class StandingMessage(Value, tag="standing"):
    """A player's pooled figures change; ``moves`` 0 and ``games`` 0 means: forget the
    player.
    """

    player: PlayerView


class GainsMessage(Value, tag="gains"):
    """A player has had this gain in so many moves of the event, now; 0: in none any
    more. Only with ``detail=gains``.
    """

    player: str
    gain_cp: int
    moves: int


class EngineMessage(Value, tag="engine"):
    """The engine counts another rating: Algorithm 4's ratings are ``engine.rating``
    plus their difference.
    """

    engine: EngineInfo


class HealthMessage(Value, tag="health"):
    """A feed or the engines change state."""

    feeds: tuple[FeedHealth, ...]
    engines: EngineHealth = EngineHealth()


class AlertMessage(Value, tag="alert"):
    """An alert is raised, changes or is cleared: replaces the one of that id, or ends
    it where ``cleared_s`` is not null. For arbiters only.
    """

    alert: Alert


class MomentMessage(Value, tag="moment"):
    """Something worth telling: replaces the moment of that id, or withdraws it where
    ``holds`` is false, because its figures do not say so any more.
    """

    game: GameId
    moment: Moment
    holds: bool = True


class HeartbeatMessage(Value, tag="heartbeat", omit_defaults=True):
    """Nothing happened, the connection lives. Its ``seq`` is the last one sent, not a
    new one.
    """

    public_delay: PublicDelay | None = None
    """How far the public is behind now; left out by a broker."""


Change = (
    GameMessage
    | GoneMessage
    | MoveMessage
    | ClockMessage
    | ScoreMessage
    | PointMessage
    | StandingMessage
    | GainsMessage
    | EngineMessage
    | HealthMessage
    | AlertMessage
    | MomentMessage
)

Message = HelloMessage | SnapshotMessage | HeartbeatMessage | Change

ChangeListener = Callable[[Iterable[Change]], None]
