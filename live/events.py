"""The frozen values that cross folders: what a feed tells, what subscribers get.

Nothing here behaves. Units are in the names: ``_cp`` centipawns, ``_s``
seconds, ``_ms`` milliseconds. Scores are from White's side unless a name says
otherwise; gains are from the mover's side. A ply counts half-moves from 1;
ply 0 is the starting position.

The second half are the messages of the websocket protocol. Each is sent as
its fields plus ``type`` (the tag below) and ``seq`` (added by the hub).
"""

from __future__ import annotations

from typing import Literal

import msgspec

Color = Literal["white", "black"]
GameId = str
FeedName = str

#: What a game's ``result`` may say; anything else is normalised or ``*``.
Result = Literal["*", "1-0", "0-1", "1/2-1/2", "0-0", "1/2-0", "0-1/2"]

GainKind = Literal["same-search", "successive"]

#: A forced mate counts 39 pawns (Ferreira 2012, section 3).
MATE_CP = 3900


class Score(msgspec.Struct, frozen=True, gc=False):
    """How good a position is, from White's side.

    ``cp`` is clamped to ±3900; a forced mate is ±3900 whatever its distance
    (Ferreira 2012, section 3).
    """

    cp: int
    mate: int | None = None
    """Moves to mate: positive when White mates, negative when Black does,
    0 when the side to move is already mated."""


class Player(msgspec.Struct, frozen=True, gc=False):
    """A player as the source names them."""

    name: str
    elo: int | None = None
    title: str | None = None
    fide_id: int | None = None
    federation: str | None = None
    team: str | None = None


class Move(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One ply as a source told it, already checked to be legal."""

    uci: str
    """UCI; castling is king-to-rook in Chess960, king's two steps otherwise."""
    san: str
    """Canonical: ``+`` and ``#`` by the rules, whatever the source wrote."""
    clock_s: float | None = None
    """The mover's clock after the move, seconds."""
    spent_s: float | None = None
    """Time the move took, seconds."""
    eval: Score | None = None
    """An evaluation the source itself gave (``[%eval]``), White's side."""


class Headers(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a game says about itself, as far as this product uses it."""

    white: Player
    black: Player
    event: str = ""
    site: str = ""
    round: str = ""
    board: int | None = None
    date: str = ""
    time_control: str = ""
    url: str = ""
    """Where people can watch the game."""
    variant: str = "standard"
    """``standard``, ``chess960``, or the name of a variant we leave alone."""
    eco: str = ""
    """Opening code as the source tells it (``B31``)."""
    opening: str = ""


class GameReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """A whole game as one source holds it now. A missed report is healed by the next."""

    key: str
    """The source's own stable name of the game (lichess game id, ``uuid/round/board``),
    empty when it has none and the game must be told by its headers."""
    headers: Headers
    start_fen: str
    """Full FEN of the position before the first move."""
    moves: tuple[Move, ...] = ()
    result: Result = "*"
    start_eval: Score | None = None
    """The source's evaluation of the starting position, if it gave one."""
    problem: str | None = None
    """Why the game could not be read to its end ("illegal move Qh9 at ply 24"), for people."""


class FeedReport(msgspec.Struct, frozen=True):
    """What one source says now."""

    feed: FeedName
    games: tuple[GameReport, ...]
    complete: bool = False
    """True when ``games`` is all the source holds, so a game not in it is gone."""


FeedState = Literal["connecting", "live", "stale", "retrying", "failed", "finished"]


class FeedHealth(msgspec.Struct, frozen=True):
    """How a source is doing, or a part of the service that is in trouble."""

    feed: FeedName
    state: FeedState
    detail: str = ""
    """For people: what is wrong and what happens next."""
    part: bool = False
    """Not a source but a part of the service, shown only while it fails and is started again."""


# --- what subscribers get -----------------------------------------------------------------------


class CalibrationInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A calibration in use; ``GameView.calibration`` says which games it rates."""

    name: str
    time_control: str
    prior_elo: float
    """What is believed before the first move: the field, as far as its ratings are known."""
    prior_sd_elo: float
    elo_low: float | None = None
    """It was learned from players rated ``elo_low`` to ``elo_high`` (the middle 95 %): a calibrated
    rating beyond them is an extrapolation. Null where that is not known."""
    elo_high: float | None = None


class EngineInfo(msgspec.Struct, frozen=True):
    """Which engine gives the scores, and how strong it counts."""

    name: str
    limit: str
    """For people: ``100000 nodes``, ``depth 16``, ``500 ms``."""
    rating: int
    """The engine's rating in whole Elo: Algorithm 4 adds a player's difference to it."""
    rating_source: str
    """``fixed`` (configured), ``calibration`` (stored), or ``field`` (Algorithm 3 over the
    rated players of the running event)."""
    rating_moves: int = 0
    """How many moves of rated players ``field`` rests on."""
    calibration: str | None = None
    """Name of the usual calibration; null where none fits engine, limit and gain."""
    calibration_note: str = ""
    """For people: what it was learned from, or why none fits."""
    calibrations: tuple[CalibrationInfo, ...] = ()
    """All in use, the usual one first: which one rates a game goes by its time control."""


class ComplexityView(msgspec.Struct, frozen=True, gc=False):
    """How much the engine changed its mind about a position while it searched (Alliot 2017,
    section 3.1).
    """

    stability_cp: float
    """Mean change of the score from one depth to the next."""
    jump_cp: int
    """Largest such change."""
    jump_depth: int | None
    """The depth it came after; null if nothing changed."""


class PlyView(msgspec.Struct, frozen=True):
    """One ply with everything known about it."""

    ply: int
    san: str
    uci: str
    clock_s: float | None = None
    spent_s: float | None = None
    score_cp: int | None = None
    """Score of the position after the move, White's side; null until scored."""
    mate: int | None = None
    depth: int | None = None
    final: bool = False
    """False while the engine is still searching: shown, but in no histogram."""
    best: str | None = None
    """The engine's first choice before the move (UCI)."""
    played_cp: int | None = None
    """Score of the move played, searched from the same position as ``best``, White's side."""
    gain_cp: int | None = None
    """The gain that feeds the curves, mover's side."""
    gain_same_search_cp: int | None = None
    gain_successive_cp: int | None = None
    complexity: ComplexityView | None = None
    """Of the position after the move; null until its score is final, and where it follows from
    the rules or was not searched here."""


class CurvePoint(msgspec.Struct, frozen=True):
    """Algorithm 4 after one more move of one player (Ferreira 2012, section 7).

    ``difference`` and ``rating`` are null where unbounded: ``expected_score`` 0 (no lower
    bound: ``low`` is null, ``high`` finite) or 1 (the other way round).
    """

    ply: int
    n: int
    """Moves in the histogram so far."""
    gain_cp: int
    expected_score: float
    difference: float | None
    """Elo against the engine."""
    difference_low: float | None
    difference_high: float | None
    rating: float | None
    """``EngineInfo.rating + difference``, exactly."""
    low: float | None
    """95 % interval of ``rating``: ``EngineInfo.rating + difference_low``."""
    high: float | None
    calibrated: float | None = None
    """Posterior rating on the Elo scale; null where no calibration fits."""
    calibrated_low: float | None = None
    calibrated_high: float | None = None
    form: float | None = None
    """Elo above the player's own rating, as far as these moves tell; null where that rating is
    unknown or no calibration fits."""


class Curves(msgspec.Struct, frozen=True):
    white: tuple[CurvePoint, ...] = ()
    black: tuple[CurvePoint, ...] = ()


class HeadToHead(msgspec.Struct, frozen=True):
    """Algorithm 1, White against Black (Ferreira 2012, section 4)."""

    expected_score: float | None = None
    difference: float | None = None


class Share(msgspec.Struct, frozen=True, gc=False):
    """A share of moves, with its 95 % interval (by game where there are several)."""

    share: float | None = None
    low: float | None = None
    high: float | None = None
    moves: int = 0
    """Moves counted: the denominator."""


class Intrinsic(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One player's choices among several lines (Regan and Haworth 2011), from move 9 on, decided
    and repeated positions left out. Holds for one engine, limit and number of lines.

    The z-scores are screening figures: they say where to look, and accuse nobody.
    """

    turns: int
    rating: float | None
    """Elo whose players would have chosen these moves most probably; null where the table does not
    reach."""
    low: float | None
    """95 % interval of the level shown; null for an end beyond the table's reach."""
    high: float | None
    beyond: bool
    """``rating`` lies outside the ratings the table was learned from."""
    move_match: float
    """Share of turns in which the engine's first choice was played."""
    average_difference: float
    """Mean distance of the move played from the best one, pawns, corrected for the size of the
    evaluation."""
    projected_match: float | None
    """The same two for players of this one's own rating; null for the unrated."""
    projected_difference: float | None
    match_z: float | None
    """Standard deviations towards the engine."""
    difference_z: float | None
    table: str
    """Which correspondence of choices and Elo it is by."""
    note: str = "a screening figure: it says where to look, and accuses nobody"


class MoveMethods(msgspec.Struct, frozen=True, kw_only=True):
    """What methods beside Algorithm 4 say of one player's moves. Null is never zero: ``missing``
    says why a figure is null.
    """

    conformance: Share = Share()
    """``p(30 cp)``: share of moves that fall at most 30 centipawns short of the engine's (Alliot
    2017, section 4.2); from move 10 on, forced moves left out."""
    guid_bratko: Share = Share()
    """``p(20 cp)``, where the position is within two pawns of level."""
    ponderated: Share = Share()
    """``p(30 cp)``, each shortfall divided by how far ahead or behind the mover is."""
    first_choice: Share = Share()
    """Share of moves that were the engine's first choice: from move 9 on, forced moves and
    positions decided by more than three pawns left out (after Regan and Haworth 2011)."""
    centipawn_loss: float | None = None
    """Average centipawn loss of a move, scores capped at ±1000; null until all are scored."""
    centipawn_loss_so_far: float | None = None
    """The same over the moves scored so far."""
    accuracy: float | None = None
    """Accuracy in per cent by lichess's published formula; null until all moves are scored."""
    accuracy_so_far: float | None = None
    intrinsic: Intrinsic | None = None
    """Choices among several lines; null without Multi-PV."""
    missing: dict[str, str] = {}
    """Why a figure is null, for people, by the figure's name."""


class SideMethods(MoveMethods, frozen=True, kw_only=True):
    """One side of one game."""

    mean_gain_cp: float | None = None


class GameMethods(msgspec.Struct, frozen=True):
    """One game by the methods that need nothing but its own moves."""

    white: SideMethods = SideMethods()
    black: SideMethods = SideMethods()
    expected_score: float | None = None
    """White's, by the difference of conformance (Alliot 2017, section 4.2)."""
    low: float | None = None
    """95 % interval of ``expected_score``."""
    high: float | None = None
    missing: str = ""
    """Why ``expected_score`` is null, for people."""


class PlayerMethods(MoveMethods, frozen=True, kw_only=True):
    """One player over all games of the event."""

    tournament_rating: int | None = None
    """Algorithm 2: whole Elo, from all comparisons of the event, the mean of the rated players
    kept (Ferreira 2012, section 5)."""
    tournament_difference: int | None = None
    """The same as Elo above the mean of those who can be compared (``tournament_group``)."""
    tournament_low: int | None = None
    """95 % interval of ``tournament_rating``, games counted as clusters; where nobody of the group
    is rated, of ``tournament_difference``."""
    tournament_high: int | None = None
    tournament_group: int | None = None
    """Players of one group are linked by games; between groups nothing can be compared."""
    markov_moves: int = 0
    """Moves that count for the Markov predictor; it needs 500 (Alliot 2017, section 4.4.1)."""


class GameView(msgspec.Struct, frozen=True):
    """One game without its plies and curves."""

    id: GameId
    feed: FeedName
    event: str
    round: str
    board: int | None
    white: Player
    black: Player
    result: Result
    url: str
    start_fen: str
    start_score_cp: int | None
    """Score of the starting position; null until scored."""
    head_to_head: HeadToHead
    plies_played: int
    plies_scored: int
    """Plies whose final score is known."""
    variant: str = "standard"
    problem: str | None = None
    site: str = ""
    date: str = ""
    time_control: str = ""
    methods: GameMethods = GameMethods()
    eco: str = ""
    opening: str = ""
    """As the source names it."""
    calibration: str | None = None
    """Name of the calibration behind this game's ``calibrated``; null where none fits."""
    calibration_note: str = ""
    """For people: what of that choice is provisional (``nearest: classical``), or why there is
    none; empty where time control and calibration agree."""
    restored: bool = False
    """Shown from the journal of an earlier start: its source has not told it since."""


class GameDetail(GameView, frozen=True, kw_only=True):
    """One game in full."""

    plies: tuple[PlyView, ...] = ()
    curves: Curves = Curves()


class PlayerView(msgspec.Struct, frozen=True):
    """One player pooled over the games of the event (by FIDE id, else by name)."""

    id: str
    name: str
    elo: int | None
    games: int
    moves: int
    mean_gain_cp: float | None
    expected_score: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    rating: float | None
    low: float | None
    high: float | None
    calibrated: float | None = None
    """Posterior rating on the Elo scale; null where no calibration fits."""
    calibrated_low: float | None = None
    calibrated_high: float | None = None
    form: float | None = None
    methods: PlayerMethods = PlayerMethods()
    calibration: str | None = None
    """Name of the calibration behind ``calibrated``. Games rated by another one are not in it:
    ratings of different pools are not one scale."""
    calibration_note: str = ""
    """For people: what of it is provisional, which games are left out, and whether it lies beyond
    the ratings it was learned from."""


class EngineState(msgspec.Struct, frozen=True):
    """One engine process, as people see it."""

    index: int
    state: Literal["starting", "idle", "searching", "restarting", "failed"]
    knodes_per_s: float | None = None
    searching: str = ""
    """For people: the game and ply being searched."""
    depth: int | None = None
    """Reached in the running search, or in the last one."""


class QueueLengths(msgspec.Struct, frozen=True):
    """Searches that wait for an engine, by class, most urgent first."""

    head: int = 0
    """The newest positions of running games, and what their last moves need."""
    backlog: int = 0
    finished: int = 0
    deepen: int = 0
    """A second, longer look at what is scored already."""
    speculate: int = 0


class SpeculationFigures(msgspec.Struct, frozen=True):
    """What searching ahead of the moves was good for so far."""

    hits: int = 0
    """Searches a new move needed that had been made before it came."""
    misses: int = 0
    """Searches a new move needed that had not."""
    wasted_nodes: int = 0
    """Spent on searches that have not come true, scouts included."""


class EngineHealth(msgspec.Struct, frozen=True):
    engines: tuple[EngineState, ...] = ()
    queued: int = 0
    """Searches somebody waits for; those ahead of the moves are in ``waiting`` only."""
    oldest_wait_s: float = 0.0
    """Of those somebody waits for."""
    searches: int = 0
    """Made, those ahead of the moves included."""
    cache_hits: int = 0
    """Searches asked for whose result was known already."""
    restarts: int = 0
    set_aside: int = 0
    """Positions given up after killing three engines."""
    asked: int = 0
    """Searches asked for, those ahead of the moves not counted: ``cache_hits`` of them were
    known."""
    waiting: QueueLengths = QueueLengths()
    speculation: SpeculationFigures | None = None
    """Null when switched off."""
    problem: str = ""
    """For people: what the engines have to do without, and why."""


AlertKind = Literal[
    "illegal-move",
    "unreadable",
    "correction",
    "takeback",
    "clock-still",
    "clock-rising",
    "flag",
    "stale",
    "last-move",
    "late-move",
    "result",
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


# The messages. ``tag`` is the ``type`` on the wire.


class HelloMessage(msgspec.Struct, frozen=True, tag="hello"):
    """First on every connection."""

    protocol: int
    epoch: str
    engine: EngineInfo
    gain: GainKind
    version: str
    resumed: bool = False
    """True when the messages after ``since`` follow and no snapshot: keep what you hold."""
    sight: Literal["venue", "public", "arbiter"] = "public"
    """What this connection is shown: at a venue nothing an engine said, for an arbiter all."""


class SnapshotMessage(msgspec.Struct, frozen=True, tag="snapshot"):
    """All state that the filter selects. Replaces everything the client held."""

    engine: EngineInfo
    games: tuple[GameDetail, ...]
    players: tuple[PlayerView, ...]
    feeds: tuple[FeedHealth, ...]
    engines: EngineHealth
    alerts: tuple[Alert, ...] = ()
    """Those not cleared, in the order of their ids; for arbiters only."""


class GameMessage(msgspec.Struct, frozen=True, tag="game"):
    """A game appears, or one of its ``GameView`` fields changed. Keeps plies and curves."""

    game: GameView


class GoneMessage(msgspec.Struct, frozen=True, tag="gone"):
    """The source no longer holds this game: forget it, and alerts about it."""

    game: GameId


class MoveMessage(msgspec.Struct, frozen=True, tag="move"):
    """A move is played, replaced or taken back.

    The client drops every ply >= ``ply`` and every curve point >= ``ply`` of both colours,
    then appends ``move`` unless it is null (a takeback).
    """

    game: GameId
    ply: int
    move: PlyView | None


class ClockMessage(msgspec.Struct, frozen=True, tag="clock"):
    """The clock of a move already played was corrected; nothing else changes."""

    game: GameId
    ply: int
    clock_s: float | None
    spent_s: float | None


class ScoreMessage(msgspec.Struct, frozen=True, tag="score"):
    """What is known of one ply, provisional or final: replaces that ply.

    The starting position's score is a field of the game (``start_score_cp``).
    """

    game: GameId
    ply: PlyView


class PointMessage(msgspec.Struct, frozen=True, tag="point"):
    """A curve grows or changes: the client drops that colour's points >= ``point.ply``, then
    appends ``point``.
    """

    game: GameId
    color: Color
    point: CurvePoint


class StandingMessage(msgspec.Struct, frozen=True, tag="standing"):
    """A player's pooled figures change; ``moves`` 0 and ``games`` 0 means: forget the player."""

    player: PlayerView


class EngineMessage(msgspec.Struct, frozen=True, tag="engine"):
    """The engine's rating changed: every ``rating``, ``low`` and ``high`` the client holds is
    now ``engine.rating`` plus the difference beside it (null stays null).
    """

    engine: EngineInfo


class HealthMessage(msgspec.Struct, frozen=True, tag="health"):
    """A feed or the engines change state."""

    feeds: tuple[FeedHealth, ...]
    engines: EngineHealth


class AlertMessage(msgspec.Struct, frozen=True, tag="alert"):
    """An alert is raised, changes or is cleared: replaces the one of that id, or ends it where
    ``cleared_s`` is not null. For arbiters only.
    """

    alert: Alert


class HeartbeatMessage(msgspec.Struct, frozen=True, tag="heartbeat"):
    """Nothing happened, the connection lives. Its ``seq`` is the last one sent, not a new one."""


Change = (
    GameMessage
    | GoneMessage
    | MoveMessage
    | ClockMessage
    | ScoreMessage
    | PointMessage
    | StandingMessage
    | EngineMessage
    | HealthMessage
    | AlertMessage
)
Message = HelloMessage | SnapshotMessage | HeartbeatMessage | Change
