"""The messages of the websocket protocol. ``tag`` is the ``type`` on the wire.

Each message is sent as its fields plus ``type`` and ``seq``, which the stream hub adds.
In games, plies and points, a field that has its default value (usually null) is left
out.
"""

from collections.abc import Callable, Sequence
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
    """The first message on every connection."""

    protocol: int
    epoch: str
    engine: EngineInfo
    gain: GainKind
    version: str
    resumed: bool = False
    """True if the messages after ``since`` follow without a snapshot, so that the
    client must keep its state."""
    sight: Literal["venue", "public", "arbiter"] = "public"
    """Visibility level of this connection: ``venue`` excludes all data from engines,
    ``public`` excludes data for arbiters, and ``arbiter`` excludes nothing."""
    public_delay: PublicDelay = PublicDelay()
    """Delay of the public view when this connection began."""


class SnapshotMessage(Value, tag="snapshot"):
    """All state that the filter selects; it replaces the client's whole state."""

    engine: EngineInfo
    games: tuple[GameDetail, ...]
    players: tuple[PlayerView, ...] = ()
    feeds: tuple[FeedHealth, ...] = ()
    engines: EngineHealth = EngineHealth()
    alerts: tuple[Alert, ...] = ()
    """All open alerts, in the order of their ids; for arbiters only."""
    moments: tuple[Moment, ...] = ()
    """All present moments, in the order of their ids."""
    gains: tuple[PlayerGains, ...] = ()
    """With ``detail=gains``: the gains of all players listed in ``players`` who have
    any."""
    engine_gains: GainCounts = ()
    """With ``detail=gains``: the gains of the engine itself, with which players are
    compared."""


class GameMessage(Value, tag="game"):
    """A game is new, or its ``GameView`` fields change; plies and curves stay."""

    game: GameView


class GoneMessage(Value, tag="gone"):
    """A game is gone: the client drops it with its alerts and moments."""

    game: GameId


class MoveMessage(Value, tag="move"):
    """A move is played, replaced or taken back.

    The client drops every ply >= ``ply``, every curve point >= ``ply`` of both colours
    and every moment of the game >= ``ply``. Then it appends ``move``, unless that is
    null (a takeback).
    """

    game: GameId
    ply: int
    move: PlyView | None


class ClockMessage(Value, tag="clock"):
    """The clock reading of a past move was corrected; nothing else changes."""

    game: GameId
    ply: int
    clock_s: float | None
    spent_s: float | None = None


class ScoreMessage(Value, tag="score"):
    """The provisional or final figures of one ply; the message replaces that ply.

    The starting position's score is a field of the game (``start_score_cp``).
    """

    game: GameId
    ply: PlyView


class PointMessage(Value, tag="point"):
    """A rating curve grows or changes.

    The client drops that colour's points >= ``point.ply``, then appends ``point``.
    """

    game: GameId
    color: Color
    point: CurvePoint


class StandingMessage(Value, tag="standing"):
    """A player's figures over the event change.

    If ``moves`` and ``games`` are 0, the client drops the player.
    """

    player: PlayerView


class GainsMessage(Value, tag="gains"):
    """The number of a player's moves with a given gain changes.

    This message is sent only with ``detail=gains``.
    """

    player: str
    gain_cp: int
    """The gain, centipawns."""
    moves: int
    """Number of the player's moves in the event that now have this gain; can be 0."""


class EngineMessage(Value, tag="engine"):
    """The engine's data changes, above all its rating.

    Algorithm 4's ratings are ``engine.rating`` plus the players' differences.
    """

    engine: EngineInfo


class HealthMessage(Value, tag="health"):
    """The health of a feed or of the engines changes."""

    feeds: tuple[FeedHealth, ...]
    engines: EngineHealth = EngineHealth()


class AlertMessage(Value, tag="alert"):
    """An alert is raised, changes or ends. For arbiters only.

    The client replaces the alert with the same id, or drops it if ``cleared_s`` is not
    null.
    """

    alert: Alert


class MomentMessage(Value, tag="moment"):
    """A moment is new, changes or is withdrawn.

    The client replaces the moment with the same id, or drops it if ``holds`` is false
    because the figures no longer support it.
    """

    game: GameId
    moment: Moment
    holds: bool = True


class HeartbeatMessage(Value, tag="heartbeat", omit_defaults=True):
    """A sign that the connection is alive although nothing changes.

    Its ``seq`` is the last one sent, not a new one.
    """

    public_delay: PublicDelay | None = None
    """Present delay of the public view; null in messages through a broker."""


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

ChangeListener = Callable[[Sequence[Change]], None]
