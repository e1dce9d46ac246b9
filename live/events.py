"""What a source reports: players, moves with their clocks, whole games.

What an arbiter should know.

Moments of games that are worth telling, with the figures they rest on.

How sources and engines are doing.

What players of a rating would play, beside what was played.

What the other methods say of a game or a player: each with its interval, or why it has none.

What subscribers get of a game: plies, curve points and figures; and of a player.

The messages of the websocket protocol. ``tag`` is the ``type`` on the wire.

Each is sent as its fields plus ``type`` and ``seq`` (added by the hub). Of games, plies and points
a field that is as it usually is, null most often, is left out: its default says how that is.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Literal, dataclass_transform

import msgspec


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class Value(msgspec.Struct, frozen=True):
    """What is made once and never changed: base of all values that rooms exchange."""


Color = Literal["white", "black"]
GameId = str
FeedName = str

#: What a game's ``result`` may say; anything else is normalised or ``*``.
Result = Literal["*", "1-0", "0-1", "1/2-1/2", "0-0", "1/2-0", "0-1/2"]

#: Points of White and Black for each result.
RESULT_POINTS: dict[str, tuple[float, float]] = {
    "1-0": (1.0, 0.0),
    "0-1": (0.0, 1.0),
    "1/2-1/2": (0.5, 0.5),
    "0-0": (0.0, 0.0),
    "1/2-0": (0.5, 0.0),
    "0-1/2": (0.0, 0.5),
}

#: What the ``problem`` of a game begins with while a file that is being written has lost it, or
#: moves of it. Nothing is wrong with the game.
IN_DOUBT = "kept:"
#: What it begins with where its source has lost the game for good.
NO_LONGER = "no longer in its source"
#: What it holds where an illegal move stands because the game went on from it.
STANDS = "stands, since the game went on from it"
#: What it begins with where the moves are as the source has them, and something else of
#: the game could not be read.
NOT_READ = "not read:"

#: A forced mate counts 39 pawns (Ferreira 2012, section 3).
MATE_CP = 3900


class Score(Value, gc=False):
    """How good a position is, from White's side.

    ``cp`` is clamped to ±3900; a forced mate is ±3900 whatever its distance
    (Ferreira 2012, section 3).
    """

    cp: int
    mate: int | None = None
    """Moves to mate: positive when White mates, negative when Black does,
    0 when the side to move is already mated."""


class Player(Value, gc=False):
    """A player as the source names them."""

    name: str
    elo: int | None = None
    title: str | None = None
    fide_id: int | None = None
    federation: str | None = None
    team: str | None = None
    k: int | None = None
    """FIDE's development coefficient, where a rating list has it."""


class Move(Value, gc=False, omit_defaults=True):
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


class Headers(Value, omit_defaults=True):
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
    termination: str = ""
    """How it ended or why it stands still, as the source tells it (``time forfeit``)."""


Unread = Literal["moves", "result"]


class GameReport(Value, omit_defaults=True):
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
    """Why the game could not be read to its end ("illegal move 12...Qh9"), for people."""
    unread: tuple[Unread, ...] = ()
    """Parts of which the source may say more than could be read: ``moves``, whose line
    may go on behind the last one here, and ``result``. What was known of them before
    stays."""


GameReports = tuple[GameReport, ...]
"""What is said of several games."""


class FeedReport(Value):
    """What one source says now."""

    feed: FeedName
    games: GameReports
    complete: bool = False
    """True when ``games`` is all the source holds, so a game not in it is gone."""


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
"""What an alert is about. ``plugin`` is raised no longer: journals before 0.4 have
such alerts."""

Severity = Literal["look", "warning", "alarm"]
"""Worth a look, act soon, act now."""


class Agreement(Value, gc=False):
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
    """The name of the token by which that came; empty where it was the service's terminal."""
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
"""What happened to an incident. ``changed``: it became more or less urgent;
``entry``: the arbiter wrote it down."""


class IncidentChange(Value):
    """One thing that happened to an incident."""

    at_s: float
    """Seconds since 1970 UTC."""
    what: IncidentWord
    text: str = ""
    """The alert's text then, the note, or the entry; empty where the word says all."""


class Incident(Value, kw_only=True):
    """One alert from its start to its end, or one entry of the arbiter. For arbiters only."""

    number: int
    """From 1 on, in the order they began."""
    kind: str
    """As of alerts; ``entry`` for what the arbiter wrote, ``mute`` for a kind or board muted,
    ``service`` for starts, ends and settings of the service and its sources."""
    severity: Severity
    """The highest it had."""
    text: str
    advice: str = ""
    game: GameId | None = None
    board: str = ""
    """Board and players, for people; empty where it is about none, or that is not known."""
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


class DeskCommand(Value, tag="desk", omit_defaults=True):
    """What an arbiter does about alerts and the incident log. As ``{"type":"desk", …}`` it is a
    message that the websocket of an arbiter's token may send.
    """

    act: Literal["acknowledge", "note", "mute", "mute-kind", "mute-board", "enter"]
    about: str = ""
    """The alert; its kind for ``mute-kind``, a game for ``mute-board`` and, or none, ``enter``."""
    text: str = ""
    """Of a note or an entry."""
    muted: bool = True
    """False: to be shown again."""


MomentKind = Literal[
    "find",
    "trap",
    "turn",
    "missed",
    "scramble",
    "comeback",
    "upset-coming",
    "upset",
    "above",
    "despite",
    "best-played",
    "wildest",
    "highest",
    "lowest",
]

#: Moments that compare all games of a round.
ROUND_MOMENTS: frozenset[MomentKind] = frozenset({"best-played", "wildest", "highest", "lowest"})


class MomentFigure(Value):
    """One figure that a moment rests on."""

    name: str
    value: float


class MomentText(Value):
    """One sentence in each language of the overlays."""

    en: str
    de: str
    fr: str
    es: str
    it: str
    ru: str


class Moment(Value):
    """Something that happened in a game, told from figures that hold."""

    id: str
    game: GameId
    ply: int
    """The position it is about: that after this ply."""
    kind: MomentKind
    color: Color | None
    """Whose moment it is; null where it is of both."""
    at_s: float | None
    """When this service saw the move, seconds since 1970 UTC; null where it came with others."""
    weight: float
    """How much it matters, 0 to 1: by it a director chooses."""
    figures: tuple[MomentFigure, ...]
    text: MomentText
    """What is said of it, as plain text."""


FeedState = Literal["connecting", "waiting", "live", "stale", "retrying", "failed", "finished"]

DIRECTOR = "director"
"""The part that switches scenes of OBS."""
NOTIFICATIONS = "notifications"
"""The part that notifies people."""
ARBITERS_NOTIFICATIONS = "notifications of arbiters"
"""The part that notifies arbiters of what needs them."""
GAME_PART = "game "
"""What the part is called that says that a game was given up; its id follows."""
PRODUCERS_PARTS = frozenset({DIRECTOR, NOTIFICATIONS, ARBITERS_NOTIFICATIONS})
"""Parts that work beside the service, for whoever produces the show: their trouble is nobody
else's, and the service does its work without them.
"""


class FeedHealth(Value):
    """How a source is doing, or a part of the service that is in trouble."""

    feed: FeedName
    state: FeedState
    detail: str = ""
    """For people: what is wrong and what happens next."""
    part: bool = False
    """Not a source but a part of the service, shown only while it fails and is started again."""


part_health = partial(FeedHealth, part=True)
"""How a part of the service is doing."""
HealthReport = Callable[[FeedHealth], None]
"""Told how a source or a part of the service is doing."""


class EngineState(Value):
    """One engine process, as people see it."""

    index: int
    state: Literal["starting", "idle", "searching", "restarting", "failed"]
    knodes_per_s: float | None = None
    searching: str = ""
    """For people: the game and ply being searched."""
    depth: int | None = None
    """Reached in the running search, or in the last one."""


class QueueLengths(Value):
    """Searches that wait for an engine, by class, most urgent first."""

    head: int = 0
    """The newest positions of running games, and what their last moves need."""
    backlog: int = 0
    finished: int = 0
    """Of games that were over when they were first seen."""
    speculate: int = 0
    closing: int = 0
    """Of games that have just ended; they come after the newest positions of running ones."""


class SpeculationFigures(Value):
    """What searching ahead of the moves was good for so far."""

    hits: int = 0
    """Searches a new move needed that had been made before it came."""
    misses: int = 0
    """Searches a new move needed that had not."""


class MeasuringProgress(Value):
    """How far an engine that no calibration knows is measured."""

    done: int
    """Reference positions searched."""
    of: int
    """How many there are."""


class HumanHealth(Value):
    """How the network of human moves is doing."""

    network: str = ""
    """Which one; empty until it is loaded."""
    learned_from: str = ""
    """For people: whose games."""
    waiting: int = 0
    """Positions not yet answered."""
    answered: int = 0
    left_out: int = 0
    """Positions given up because too many waited."""
    ms_per_position: float | None = None
    """All ratings asked for, of the last hundreds of positions."""
    problem: str = ""
    """For people: why there is none."""


class PublicDelay(Value):
    """How far the public is behind the arbiters, who see everything at once."""

    delay_s: float = 0.0
    held_moves: int = 0
    """Moves that wait to be shown."""
    held_boards: int = 0
    """Boards that they were played on."""


class EngineHealth(Value):
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
    """Positions given up after engines died over them."""
    asked: int = 0
    """Searches asked for, those ahead of the moves not counted: ``cache_hits`` of them were
    known."""
    waiting: QueueLengths = QueueLengths()
    speculation: SpeculationFigures | None = None
    """Null when switched off."""
    problem: str = ""
    """For people: what the engines have to do without, and why."""
    behind: str = ""
    """For people: how many moves figures are behind the boards, and what helps; empty where the
    engines keep up."""
    measuring: MeasuringProgress | None = None
    """While the engine in use is compared with that of the calibrations; else null."""
    human: HumanHealth | None = None
    """Null when switched off."""


Mark = Literal["find", "trap"]


class RatingShare(Value, gc=False):
    """How many players of one rating would play a move."""

    elo: int
    share: float
    """0 to 1, to thousandths; 0: fewer than 1 in 200."""


class DifficultyView(Value, gc=False):
    """How hard a position is for players of the rating of the player to move."""

    elo: int | None
    """That rating, in hundreds, within those that the network of human moves learned."""
    best: str
    """The engine's first choice, UCI."""
    best_share: float | None = None
    """0 to 1: how many would find ``best``; null until a short search has said what the other moves
    lose, and where it is a promotion to a lesser piece."""
    best_references: tuple[RatingShare, ...] = ()
    """The same for players of other ratings."""
    error_chance: float | None = None
    """0 to 1: how many would lose a pawn or more with their move; null until a short search has
    said what the moves lose."""
    expected_loss_cp: int | None = None
    """What they would lose on average, centipawns."""


class ComplexityView(Value, gc=False):
    """How much the engine changed its mind about a position while it searched (Alliot 2017,
    section 3.1).
    """

    stability_cp: float
    """Mean change of the score from one depth to the next."""
    jump_cp: int
    """Largest such change."""
    jump_depth: int | None
    """The depth it came after; null if nothing changed."""


class Share(Value, gc=False):
    """A share of moves, with its 95 % interval (by game where there are several)."""

    share: float | None = None
    low: float | None = None
    high: float | None = None
    moves: int = 0
    """Moves counted: the denominator."""


class Intrinsic(Value, gc=False):
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


class MoveMethods(Value):
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
    """Average centipawn loss of the moves scored so far, scores capped at ±1000."""
    accuracy: float | None = None
    """Accuracy of the moves scored so far, in per cent by lichess's published formula."""
    intrinsic: Intrinsic | None = None
    """Choices among several lines; null without Multi-PV."""
    missing: dict[str, str] = {}
    """Why a figure is null, for people, by the figure's name."""


class SideMethods(MoveMethods):
    """One side of one game."""

    mean_gain_cp: float | None = None


class GameMethods(Value):
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


class PlayerMethods(MoveMethods):
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


GainKind = Literal["same-search", "successive"]


GainCounts = tuple[tuple[int, int], ...]
"""How many moves had which gain: pairs of gain in centipawns and moves, gains ascending."""


class EngineInfo(Value):
    """Which engine gives the scores, and how strong it counts."""

    name: str
    limit: str
    """For people: ``100000 nodes``, ``depth 16``, ``500 ms``."""
    rating: int = 0
    """The engine's rating in whole Elo: Algorithm 4 adds a player's difference to it."""
    rating_source: str = "withheld"
    """``fixed`` (configured), ``calibration`` (stored), ``field`` (Algorithm 3 over the rated
    players of the running event), or ``withheld`` where ratings are not shown."""
    rating_moves: int = 0
    """How many moves of rated players ``field`` rests on: of 100 or more the first two digits, as
    everybody is sent what changes here.
    """
    models: tuple[str, ...] = ()
    """Names of the models that perceived ratings are read by; empty where none fits the engine."""
    note: str = ""
    """For people: what they were learned from, how they are read for another engine, or why none
    fits."""


class PlyView(Value, omit_defaults=True):
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
    win: float | None = None
    """How likely White is to win from here, 0 to 1, by score, ratings and point of the game; null
    while the score is unknown or no model of results fits."""
    draw: float | None = None
    """White loses else."""
    played_share: float | None = None
    """0 to 1: how many players of the mover's rating would play this move; null without a rating
    or a network of human moves, and in positions unlike those it learned from."""
    played_elo: int | None = None
    """The rating that ``played_share`` is for: the mover's in hundreds, within those learned."""
    played_references: tuple[RatingShare, ...] = ()
    """The same for players of other ratings."""
    difficulty: DifficultyView | None = None
    """Of the position after the move, for the player to move."""
    mark: Mark | None = None
    """``find``: the engine's best move, which few players of the mover's rating would play, and
    most would err instead. ``trap``: what most of the opponent's rating would reply loses a pawn or
    more."""


PerceivedReason = Literal["early", "no-model"]
"""Why there is no perceived rating: under five moves count, or nothing reads these scores, as the
game's or player's ``note`` says."""


class CurvePoint(Value, omit_defaults=True, kw_only=True):
    """How strong one player plays, after one more move: the perceived rating, and Algorithm 4
    (Ferreira 2012, section 7).
    """

    ply: int
    n: int
    """Moves in Algorithm 4's histogram so far, forced ones too; 0 where one side never
    began the game, which then has no figures."""
    counted: int
    """Moves that the perceived rating rests on; under ten it is early."""
    gain_cp: int
    perceived: int | None = None
    """Elo, 800 to 3200, where an end means *or beyond*: the rating this play looks like. Null
    where ``reason`` says why."""
    low: int | None = None
    """95 % interval of these moves alone, whoever plays; null for an end that lies nowhere."""
    high: int | None = None
    usual_low: int | None = None
    """8 of 10 games by players of the own rating lie between these; null without a rating and
    under ten counted moves."""
    usual_high: int | None = None
    percentile: float | None = None
    """0 to 100: how many games by players of the own rating are worse; null where ``usual_low``
    is."""
    reason: PerceivedReason | None = None
    """Why ``perceived`` is null; null where it is not."""
    score: float
    """Algorithm 4's expected score against the engine, 0 to 1."""
    difference: float | None = None
    """Elo against the engine; null where ``score`` is 0 (no lower bound) or 1 (no upper bound).
    ``EngineInfo.rating + difference`` is Algorithm 4's rating."""
    difference_low: float | None = None
    """Its 95 % interval; one end is null where ``difference`` is."""
    difference_high: float | None = None


class Curves(Value):
    white: tuple[CurvePoint, ...] = ()
    black: tuple[CurvePoint, ...] = ()


class HeadToHead(Value):
    """Algorithm 1, White against Black (Ferreira 2012, section 4)."""

    expected_score: float | None = None
    difference: float | None = None


class GameView(Value, omit_defaults=True):
    """One game without its plies and curves."""

    id: GameId
    feed: FeedName
    event: str
    round: str
    board: int | None
    white: Player
    black: Player
    result: Result
    start_fen: str
    url: str = ""
    start_score_cp: int | None = None
    """Score of the starting position; null until scored."""
    head_to_head: HeadToHead = HeadToHead()
    plies_played: int = 0
    plies_scored: int = 0
    """Plies whose final score is known."""
    variant: str = "standard"
    problem: str | None = None
    site: str = ""
    date: str = ""
    time_control: str = ""
    eco: str = ""
    opening: str = ""
    """As the source names it."""
    model: str | None = None
    """What its perceived ratings are read by: ``classical``, ``blitz``, or ``rapid`` (the mean of
    both); null where nothing reads them."""
    note: str = ""
    """For people: what of that is provisional (``time control unknown: taken as classical``), or
    why there are none; empty where all fits."""
    restored: bool = False
    """Shown from the journal of an earlier start: its source has not told it since."""
    also: tuple[str, ...] = ()
    """Other sources that carry the same game; it is shown once."""
    dispute: str = ""
    """Where these sources contradict each other, for people; empty where they agree."""
    termination: str = ""
    """How it ended or why it stands still (``adjourned``), as the source tells it."""

    @property
    def running(self) -> bool:
        """It has no result yet."""
        return self.result == "*"

    @property
    def adjourned(self) -> bool:
        """It goes on another day: no clock runs until then."""
        return self.running and self.termination.casefold().startswith("adjourned")


class GameDetail(GameView):
    """One game in full."""

    plies: tuple[PlyView, ...] = ()
    curves: Curves = Curves()


class ChoiceEvidence(Value):
    """How often a player chose the engine's move, beside the forecast: accuses nobody."""

    moves: int
    """Choices: from move 9 on, neither forced, decided nor repeated."""
    matches: int
    expected: float
    """Matches by the forecast."""
    log_e_value: float
    """Natural logarithm of the evidence that some moves were the engine's. Where choices follow
    the forecast it ever reaches log(1 / a) with chance a at most."""


class PlayerView(Value):
    """One player pooled over the games of the event (by FIDE id, else by name)."""

    id: str
    name: str
    elo: int | None
    games: int
    moves: int
    """In Algorithm 4's histogram."""
    mean_gain_cp: float | None = None
    counted: int = 0
    """Moves that ``perceived`` rests on."""
    perceived: int | None = None
    """As that of ``CurvePoint``, over the games of ``model``, like all that follow."""
    low: int | None = None
    high: int | None = None
    usual_low: int | None = None
    usual_high: int | None = None
    percentile: float | None = None
    """0 to 100: how many events of as many games by players of the own rating are worse."""
    reason: PerceivedReason | None = None
    score: float | None = None
    """Algorithm 4's expected score against the engine; null without a move."""
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    model: str | None = None
    """What ``perceived`` is read by. Games of another pace are not in it."""
    note: str = ""
    """For people: what of it is provisional, and which games are left out."""
    fide_performance: int | None = None
    """Rating performance by FIDE's table, over finished games against rated opponents."""
    rating_change: float | None = None
    """What these games change of the own rating by FIDE's rules, with ``rating_k``."""
    agreement: ChoiceEvidence | None = None
    """For screening, not for spectators; null without an own rating and where nothing forecasts the
    engine's choices."""
    rating_k: int | None = None
    """FIDE's development coefficient."""
    points: float | None = None
    """Points of finished games, as their results say; null while none is finished. Byes are not in
    it."""
    finished: int = 0
    """Games that have a result."""
    rating_k_listed: bool = False
    """It is from a rating list. Else it is taken from the rating, 10 from 2400 on, else 20: juniors
    and newcomers have 40, which no rating tells."""


class AnalysedGame(GameDetail):
    """A game in full, with what is made on demand."""

    methods: GameMethods | None = None
    """Null in what a live screen exports: ``live-rate report`` has it."""


class AnalysedPlayer(PlayerView):
    """A player, with what is made on demand."""

    methods: PlayerMethods | None = None
    """Null in what a live screen exports: ``live-rate report`` has it."""


class PlayerGains(Value):
    """One player's gains over the event, counted at one centipawn (Ferreira 2012, section 4)."""

    player: str
    """``PlayerView.id``."""
    counts: GainCounts


class HelloMessage(Value, tag="hello"):
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
    """A game appears, or one of its ``GameView`` fields changed. Keeps plies and curves."""

    game: GameView


class GoneMessage(Value, tag="gone"):
    """The source no longer holds this game: forget it, alerts about it and its moments."""

    game: GameId


class MoveMessage(Value, tag="move"):
    """A move is played, replaced or taken back.

    The client drops every ply >= ``ply``, every curve point >= ``ply`` of both colours and every
    moment of the game >= ``ply``, then appends ``move`` unless it is null (a takeback).
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
    """A curve grows or changes: the client drops that colour's points >= ``point.ply``, then
    appends ``point``.
    """

    game: GameId
    color: Color
    point: CurvePoint


class StandingMessage(Value, tag="standing"):
    """A player's pooled figures change; ``moves`` 0 and ``games`` 0 means: forget the player."""

    player: PlayerView


class GainsMessage(Value, tag="gains"):
    """A player has had this gain in so many moves of the event, now; 0: in none any more. Only with
    ``detail=gains``.
    """

    player: str
    gain_cp: int
    moves: int


class EngineMessage(Value, tag="engine"):
    """The engine counts another rating: Algorithm 4's ratings are ``engine.rating`` plus their
    difference.
    """

    engine: EngineInfo


class HealthMessage(Value, tag="health"):
    """A feed or the engines change state."""

    feeds: tuple[FeedHealth, ...]
    engines: EngineHealth = EngineHealth()


class AlertMessage(Value, tag="alert"):
    """An alert is raised, changes or is cleared: replaces the one of that id, or ends it where
    ``cleared_s`` is not null. For arbiters only.
    """

    alert: Alert


class MomentMessage(Value, tag="moment"):
    """Something worth telling: replaces the moment of that id, or withdraws it where ``holds`` is
    false, because its figures do not say so any more.
    """

    game: GameId
    moment: Moment
    holds: bool = True


class HeartbeatMessage(Value, tag="heartbeat", omit_defaults=True):
    """Nothing happened, the connection lives. Its ``seq`` is the last one sent, not a new one."""

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
"""Takes what has changed."""
